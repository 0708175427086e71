"""Giving pool hosts to clusters and taking them back: two subjects change in one commit, the cluster first."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.commands import actions
from firstlight.core.decision import Change, Decision, HostKey, applied, combined, host_after
from firstlight.core.errors import Conflict, Error, Invalid
from firstlight.core.events.event import Event
from firstlight.core.events.host import HostBindFailed, HostUnbindFailed
from firstlight.core.hosts.wishes import require_arbiter_cluster, require_fencing_cluster
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import Cancel, MakeDue, PutHost, Write
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    EVALUATE,
    TRIES,
    busy,
    cluster_writes,
    events_of,
    load_cluster,
    no_such_host,
)
from firstlight.server.usecases.hosts import ShownHost, shown
from firstlight.server.usecases.one_host import PlacedHost, host_in
from firstlight.server.usecases.world import World


async def bind(world: World, key: HostKey, *, cluster_id: UUID, caller: Caller) -> ShownHost:
    """The host joins the cluster; its agent is told to register again, now for the cluster."""
    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    try:
        async with world.turns.of(cluster_subject(cluster_id)):
            placed = await _bind(world, key, cluster_id, caller)
    except Error as refusal:
        event = HostBindFailed(host_id=key[1], infra_env_id=key[0], cluster_id=cluster_id, text=str(refusal))
        await _tell(world, event, caller)
        raise
    return await shown(world, placed)


async def _bind(world: World, key: HostKey, cluster_id: UUID, caller: Caller) -> PlacedHost:
    for _ in range(TRIES):
        pool = await unbound_host(world, key)
        state = await world.store.cluster_state(cluster_id)
        if state is None:
            raise Invalid(f"There is no cluster {cluster_id} that host {key[1]} could be bound to.")
        _require_fitting(pool.state, state)
        now = world.clock.now()
        decided = actions.bind(pool.state, cluster=state.cluster, policy=world.policy, now=now)
        within = joined(state, pool, decided)
        followed = await world.evaluate_cluster(within, now)
        decision = combined(decided, followed)
        writes = cluster_writes(state, decision, caller=caller, now=now, world=world)
        try:
            await world.store.commit(*guarded(writes, key, pool.revision), Cancel(subject=host_subject(key)))
        except LostRace:
            continue
        after = applied(within, followed)
        return PlacedHost(state=host_in(after, key), cluster=after.cluster)
    raise busy(f"Host {key[1]}")


async def unbound_host(world: World, key: HostKey) -> PoolHost:
    pool = await world.store.pool_host(key)
    if pool is not None:
        return pool
    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    raise Conflict(f"Host {key[1]} is bound to cluster {known.host.cluster_id} already. Unbind it first.")


def _require_fitting(host: HostState, state: ClusterState) -> None:
    if host.host.role is HostRole.ARBITER:
        require_arbiter_cluster(state.cluster)
    if host.host.fencing is not None:
        require_fencing_cluster(state.cluster)


def joined(state: ClusterState, pool: PoolHost, decided: Decision) -> ClusterState:
    """The cluster with the new host in its place: hosts stand in the order of their registration."""
    hosts = [*state.hosts, host_after(pool.state, decided)]
    hosts.sort(key=lambda host: (host.host.registered_at, host.host.id))
    return replace(state, hosts=tuple(hosts), infra_envs={**state.infra_envs, pool.infra_env.id: pool.infra_env})


def guarded(writes: Iterator[Write], key: HostKey, revision: int) -> Iterator[Write]:
    """The same, but the host must still be the pool host the decision was made on."""
    for write in writes:
        if isinstance(write, PutHost) and (write.host.infra_env_id, write.host.id) == key:
            yield PutHost(host=write.host, expect_revision=revision)
        else:
            yield write


async def unbind(world: World, key: HostKey, *, caller: Caller) -> ShownHost:
    """Back to the pool; the cluster is judged again without the host."""
    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    cluster_id = known.host.cluster_id
    try:
        if cluster_id is None:
            raise Conflict(f"Host {key[1]} is bound to no cluster, so it cannot be unbound.")
        async with world.turns.of(cluster_subject(cluster_id)):
            placed = await _unbind(world, key, cluster_id, caller)
    except Error as refusal:
        event = HostUnbindFailed(host_id=key[1], infra_env_id=key[0], cluster_id=cluster_id, text=str(refusal))
        await _tell(world, event, caller)
        raise
    return await shown(world, placed)


async def _unbind(world: World, key: HostKey, cluster_id: UUID, caller: Caller) -> PlacedHost:
    for _ in range(TRIES):
        state = await load_cluster(world, cluster_id)
        host = host_in(state, key)
        infra_env = state.infra_envs[key[0]]
        now = world.clock.now()
        decided = actions.unbind(host, infra_env=infra_env, cluster=state.cluster, policy=world.policy, now=now)
        left = host_after(host, decided)
        in_cluster = await world.evaluate_cluster(applied(state, decided), now)
        in_pool = await world.evaluate_pool_host(left, infra_env, now)
        decision = replace(
            combined(combined(decided, in_cluster), in_pool),
            next_deadline=in_cluster.next_deadline,
        )
        writes = cluster_writes(state, decision, caller=caller, now=now, world=world)
        try:
            await world.store.commit(*writes, *due_for(key, in_pool.next_deadline))
        except LostRace:
            continue
        return PlacedHost(state=host_after(left, in_pool))
    raise busy(f"Host {key[1]}")


def due_for(key: HostKey, at: datetime | None) -> Iterator[Write]:
    if at is not None:
        yield MakeDue(subject=host_subject(key), kind=EVALUATE, at=at)


async def _tell(world: World, event: Event, caller: Caller) -> None:
    await world.store.commit(*events_of((Change(event=event),), caller=caller, now=world.clock.now()))
