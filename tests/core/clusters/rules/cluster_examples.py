"""Facts about a cluster that make every check pass; a test names only what it changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.book import cluster_rules
from firstlight.core.model.host import HostState
from firstlight.core.rules import Finding
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.hosts import host_state, some_reports
from tests.builders.moments import NOW

USER_NETWORK: dict[str, Any] = {"user_managed_networking": True, "api_vips": (), "ingress_vips": ()}
SINGLE_NODE: dict[str, Any] = USER_NETWORK | {"control_plane_count": 1}


def three_hosts() -> list[HostState]:
    return [host_state(number) for number in (1, 2, 3)]


def silent_host(number: int = 1, **changes: Any) -> HostState:
    """A host that has not sent its inventory yet."""
    return host_state(number, reports=some_reports(number, inventory=None), **changes)


def facts_of(
    *, hosts: Sequence[HostState] | None = None, candidate_roles: Mapping[UUID, str] | None = None, **changes: Any
) -> ClusterFacts:
    """`changes` go to the cluster."""
    return ClusterFacts(
        cluster=a_cluster(**changes),
        hosts=tuple(three_hosts() if hosts is None else hosts),
        policy=a_policy(),
        now=NOW,
        candidate_roles=candidate_roles or {},
    )


def finding(rule_id: str, facts: ClusterFacts) -> Finding:
    return next(found for found in cluster_rules.judge(facts) if found.id == rule_id)
