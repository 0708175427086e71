"""A decision about one host, wherever it belongs: to a cluster or to the pool."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from firstlight.core.decision import Decision, HostKey
from firstlight.core.errors import NotFound
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.roles import key_of
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.writes import Write
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import TRIES, change_cluster, change_pool_host, no_such_host
from firstlight.server.usecases.world import World

HostDecision = Callable[[HostState, Cluster | None, datetime], Decision]


class PlacedHost(Struct, frozen=True, kw_only=True):
    """A host as committed, with the cluster it belongs to."""

    state: HostState
    cluster: Cluster | None = None


async def change_host(
    world: World, key: HostKey, decide: HostDecision, *, caller: Caller, also: Sequence[Write] = ()
) -> PlacedHost:
    """Decide about a host and what follows for its cluster, in one commit together with the writes of `also`.

    The host may be bound or unbound between looking where it is and deciding: then it is looked for again.
    """
    for remaining in reversed(range(TRIES)):
        known = await world.store.host(key)
        if known is None:
            break
        try:
            if known.host.cluster_id is None:
                return await _in_pool(world, key, decide, caller=caller, also=also)
            return await _in_cluster(world, known, decide, caller=caller, also=also)
        except NotFound:
            if not remaining:
                raise
    raise no_such_host(key)


async def _in_pool(
    world: World, key: HostKey, decide: HostDecision, *, caller: Caller, also: Sequence[Write]
) -> PlacedHost:
    def command(pool: PoolHost, now: datetime) -> Decision:
        return decide(pool.state, None, now)

    def more(_: object, __: datetime) -> Iterator[Write]:
        return iter(also)

    return PlacedHost(state=await change_pool_host(world, key, command, caller=caller, also=more))


async def _in_cluster(
    world: World, known: HostState, decide: HostDecision, *, caller: Caller, also: Sequence[Write]
) -> PlacedHost:
    key, cluster_id = key_of(known), known.host.cluster_id
    if cluster_id is None:
        raise no_such_host(key)

    def command(state: ClusterState, now: datetime) -> Decision:
        return decide(host_in(state, key), state.cluster, now)

    def more(_: object, __: datetime) -> Iterator[Write]:
        return iter(also)

    state = await change_cluster(world, cluster_id, command, caller=caller, also=more)
    return PlacedHost(state=host_in(state, key), cluster=state.cluster)


def host_in(state: ClusterState, key: HostKey) -> HostState:
    host = next((host for host in state.hosts if key_of(host) == key), None)
    if host is None:
        raise no_such_host(key)
    return host
