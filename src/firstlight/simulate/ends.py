"""What a fleet looks like to its user at one moment, and when a run has reached its end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.simulate.documents import ClusterDocument, HostDocument, Validation
from firstlight.simulate.machines import Machine
from firstlight.simulate.scenarios import Expected, Scenario

KNOWN: Final = frozenset({"known", "known-unbound"})
FINISHED: Final = frozenset({"installed", "added-to-existing-cluster"})
HOPELESS: Final = frozenset({"error", "cancelled"})


class Snapshot(Struct, frozen=True, kw_only=True):
    """Hosts of the fleet and their cluster as the service shows them."""

    hosts: Mapping[UUID, HostDocument]
    cluster: ClusterDocument | None = None
    event_names: frozenset[str] = frozenset()
    wanted: int = 0
    """How many machines there are."""

    @property
    def cluster_status(self) -> str:
        return "" if self.cluster is None else self.cluster.status

    def status_counts(self) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for host in self.hosts.values():
            counts[host.status] = counts.get(host.status, 0) + 1
        return dict(sorted(counts.items()))


Until = Callable[[Snapshot], bool]


def everything_registered(snapshot: Snapshot) -> bool:
    return len(snapshot.hosts) >= snapshot.wanted


def all_known(snapshot: Snapshot) -> bool:
    return everything_registered(snapshot) and all(host.status in KNOWN for host in snapshot.hosts.values())


def all_finished(snapshot: Snapshot) -> bool:
    """Day 2 has no cluster to look at: every host has to be done itself."""
    return everything_registered(snapshot) and all(host.status in FINISHED for host in snapshot.hosts.values())


def cluster_is(*statuses: str) -> Until:
    return lambda snapshot: snapshot.cluster_status in statuses


def is_complete(snapshot: Snapshot) -> bool:
    """Somebody installed the cluster, or added every host to one that runs already.

    Hosts alone do not tell: theirs is done while the controller, which lives on them, still waits for operators.
    """
    if snapshot.cluster_status in ("", "adding-hosts"):
        return all_finished(snapshot)
    return snapshot.cluster_status == "installed"


def never(_: Snapshot) -> bool:
    return False


def is_hopeless(snapshot: Snapshot) -> bool:
    return snapshot.cluster_status in HOPELESS


def scenario_shows(scenario: Scenario, machines: Sequence[Machine]) -> Until:
    """Every fault of the scenario shows the way it should."""

    def holds(snapshot: Snapshot) -> bool:
        return all(
            _shows(hit.fault.expected, snapshot, [machines[index].id for index in hit.indexes]) for hit in scenario.hits
        )

    return holds


def _shows(expected: Expected, snapshot: Snapshot, host_ids: Sequence[UUID]) -> bool:
    hosts = [snapshot.hosts[host_id] for host_id in host_ids if host_id in snapshot.hosts]
    if len(hosts) < len(host_ids):
        return False
    # Two machines without a path between them: the larger part of the cluster keeps one of them.
    suspects = hosts or [*snapshot.hosts.values()]
    if expected.host_statuses and not any(host.status in expected.host_statuses for host in suspects):
        return False
    if expected.host_finding and not any(expected.host_finding in failing(host.validations_info) for host in suspects):
        return False
    if expected.cluster_statuses and snapshot.cluster_status not in expected.cluster_statuses:
        return False
    if expected.cluster_finding and (
        snapshot.cluster is None or expected.cluster_finding not in failing(snapshot.cluster.validations_info)
    ):
        return False
    return not expected.event or expected.event in snapshot.event_names


def failing(validations_info: str) -> Mapping[str, str]:
    """Failed validations and their messages, out of the JSON text hosts and clusters carry."""
    if not validations_info:
        return {}
    groups = msgspec.json.decode(validations_info, type=dict[str, tuple[Validation, ...]])
    return {
        validation.id: validation.message
        for validations in groups.values()
        for validation in validations
        if validation.status in ("failure", "error")
    }
