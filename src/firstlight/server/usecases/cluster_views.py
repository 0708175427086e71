"""Reading clusters: one, many, their hosts."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from firstlight.core.clusters.retrying import beneath
from firstlight.core.decision import HostKey
from firstlight.core.errors import Forbidden, NotFound
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.reports import ReportKind
from firstlight.core.operators.bundles import bundles_of
from firstlight.core.roles import key_of
from firstlight.core.wire.views import ClusterView, HostView
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import load_cluster
from firstlight.server.usecases.world import World

SHOWN: Final = (ReportKind.INVENTORY, ReportKind.CONNECTIVITY)
"""Reports that answers show as agents sent them."""
LARGE: Final = 50
"""Hosts above which an answer leaves out who reaches whom: it grows with their square. The list of hosts has it."""

RawReports = Mapping[HostKey, Mapping[ReportKind, bytes]]
NO_REPORTS: Final[RawReports] = {}


async def shown(world: World, state: ClusterState, *, with_hosts: bool = True) -> ClusterView:
    """A state with what it takes to show it."""
    raw = await _reports_of(world, [state]) if with_hosts else NO_REPORTS
    return _view(world, state, raw=raw, with_hosts=with_hosts)


async def _reports_of(world: World, states: Sequence[ClusterState]) -> RawReports:
    small = [host for state in states if len(state.hosts) <= LARGE for host in state.hosts]
    large = [host for state in states if len(state.hosts) > LARGE for host in state.hosts]
    return {
        **await raw_reports(world, small, kinds=SHOWN),
        **await raw_reports(world, large, kinds=(ReportKind.INVENTORY,)),
    }


async def hosts_of(
    world: World,
    cluster_id: UUID,
    *,
    role: str | None,
    status: str | None,
    with_inventory: bool,
    with_connectivity: bool,
    installing: bool = False,
) -> Sequence[HostView]:
    """The hosts with that role and status; none when there is no such cluster. `installing` programs see no failure
    that may be taken back."""
    state = await world.store.cluster_state(cluster_id)
    if state is None:
        return ()
    state = beneath(state) if installing else state
    hosts = [
        host
        for host in state.hosts
        if role in (None, host.host.role.value) and status in (None, host.host.status.value)
    ]
    kinds = [ReportKind.INVENTORY] if with_inventory else []
    kinds += [ReportKind.CONNECTIVITY] if with_connectivity else []
    raw = await raw_reports(world, hosts, kinds=kinds)
    return [
        HostView(state=host, cluster=state.cluster, policy=world.policy, raw=raw.get(key_of(host), {}))
        for host in hosts
    ]


async def raw_reports(world: World, hosts: Sequence[HostState], *, kinds: Sequence[ReportKind]) -> RawReports:
    keys = [key_of(host) for host in hosts]
    return await world.store.raw_reports(keys, kinds=kinds) if keys and kinds else NO_REPORTS


def _view(world: World, state: ClusterState, *, raw: RawReports, with_hosts: bool) -> ClusterView:
    names = [operator.name for operator in state.cluster.operators]
    bundles = {name: bundles_of(name) for name in names}
    return ClusterView(state=state, policy=world.policy, raw=raw, bundles=bundles, with_hosts=with_hosts)


async def get(
    world: World,
    cluster_id: UUID,
    *,
    with_hosts: bool,
    with_deleted: bool,
    caller: Caller,
    installing: bool = False,
) -> ClusterView:
    """Administrators may also look at clusters that were given up; `installing` programs see no failure that may be
    taken back."""
    state = await world.store.cluster_state(cluster_id)
    if state is None and with_deleted and caller.is_admin:
        gone = await world.store.cluster(cluster_id, with_deleted=True)
        state = None if gone is None else ClusterState(cluster=gone)
    if state is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    return await shown(world, beneath(state) if installing else state, with_hosts=with_hosts)


async def find(world: World, query: ClusterQuery, *, caller: Caller) -> Sequence[ClusterView]:
    """Newest first; users see their own."""
    if query.with_deleted and not caller.is_admin:
        raise Forbidden("Only administrators may list clusters that were given up.")
    states = await world.store.clusters(query)
    if not caller.is_admin:
        states = [state for state in states if may_see(state.cluster, caller)]
    if not query.with_hosts:
        return [_view(world, state, raw={}, with_hosts=False) for state in states]
    raw = await _reports_of(world, states)
    return [_view(world, state, raw=raw, with_hosts=True) for state in states]


def may_see(cluster: Cluster, caller: Caller) -> bool:
    return cluster.user_name == caller.name or (bool(caller.org_id) and cluster.org_id == caller.org_id)


async def cluster_of(world: World, cluster_id: UUID) -> Cluster:
    cluster = await world.store.cluster(cluster_id)
    if cluster is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    return cluster


async def state_of(world: World, cluster_id: UUID) -> ClusterState:
    return await load_cluster(world, cluster_id)
