"""Clusters and hosts at given moments, and what an evaluation at another moment makes of them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from firstlight.core.decision import Decision, applied, host_after
from firstlight.core.evaluate import Surroundings, evaluate_cluster, evaluate_pool_host
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.policy import Policy
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_presence, host_state
from tests.builders.moments import NOW

FAR = NOW + timedelta(days=400)
"""Agents that are heard of until then do not fall silent in between."""


def a_cluster_of(statuses: Iterable[HostStatus], *, cluster: dict[str, Any], host: dict[str, Any]) -> ClusterState:
    """Masters in these statuses; `host` goes to the last of them. All came there now, and all are heard of."""
    statuses = tuple(statuses)
    numbers = range(1, len(statuses) + 1)
    usual = {"role": HostRole.MASTER, "status_updated_at": NOW, "registered_at": NOW}
    hosts = [
        host_state(number, peers=numbers, presence=a_presence(checked_in_at=FAR), **usual | {"status": status})
        for number, status in zip(numbers, statuses, strict=True)
    ]
    if host:
        presence = host.get("presence", hosts[-1].presence)
        changes = {name: value for name, value in host.items() if name != "presence"}
        hosts[-1] = replace(hosts[-1], host=replace(hosts[-1].host, **changes), presence=presence)
    return cluster_state(hosts=hosts, **{"status_updated_at": NOW} | cluster)


def around(now: datetime, policy: Policy, *, listening_since: datetime | None = None) -> Surroundings:
    return Surroundings(policy=policy, now=now, listening_since=listening_since)


def evaluated(state: ClusterState | HostState, surroundings: Surroundings) -> tuple[ClusterState | HostState, Decision]:
    """The subject as it is after the evaluation, and the decision."""
    if isinstance(state, HostState):
        decision = evaluate_pool_host(state, an_infra_env(cluster_id=None), surroundings)
        return host_after(state, decision), decision
    decision = evaluate_cluster(state, surroundings)
    return applied(state, decision), decision
