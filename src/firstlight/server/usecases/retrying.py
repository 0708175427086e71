"""A host that failed on day 1 is tried again, or replaced by another machine, while its cluster waits for it."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.commands import retries
from firstlight.core.decision import Decision, HostKey, applied, combined, host_after
from firstlight.core.errors import Conflict, NotFound
from firstlight.core.install import ignition
from firstlight.core.install.from_records import install_host
from firstlight.core.install.pointer import host_config
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.host_status import HostStatus
from firstlight.core.roles import key_of
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import Cancel
from firstlight.server.usecases.binding import due_for, guarded, joined, unbound_host
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    TRIES,
    busy,
    change_cluster,
    cluster_writes,
    load_cluster,
    no_such_host,
)
from firstlight.server.usecases.generated_files import inputs_of
from firstlight.server.usecases.image_access import agent_token
from firstlight.server.usecases.object_names import host_ignition_object, object_name
from firstlight.server.usecases.one_host import host_in
from firstlight.server.usecases.world import World


class TriedHost(Struct, frozen=True, kw_only=True):
    """The host that installs now, and its cluster."""

    host_id: UUID
    infra_env_id: UUID
    name: str
    status: HostStatus
    status_info: str
    tries: int
    cluster_id: UUID
    cluster_status: ClusterStatus


async def retry(world: World, key: HostKey, *, caller: Caller) -> TriedHost:
    cluster_id = await _cluster_of(world, key)

    def command(state: ClusterState, now: datetime) -> Decision:
        return retries.retry_host(state, key, policy=world.policy, now=now)

    state = await change_cluster(world, cluster_id, command, caller=caller)
    return _told(state, key)


async def replace_by(world: World, key: HostKey, *, replacement: HostKey, keep_name: bool, caller: Caller) -> TriedHost:
    """Three subjects change in one commit: the cluster, the machine that leaves it and the one that joins."""
    cluster_id = await _cluster_of(world, key)
    async with world.turns.of(cluster_subject(cluster_id)):
        for _ in range(TRIES):
            pool = await unbound_host(world, replacement)
            state = await load_cluster(world, cluster_id)
            now = world.clock.now()
            decided = retries.replace_host(state, key, pool.state, keep_name=keep_name, policy=world.policy, now=now)
            await _write_ignition(world, state, replace(pool.state, host=decided.hosts[replacement]))
            after = await _replaced(world, state, pool, decided, key=key, now=now, caller=caller)
            if after is not None:
                return _told(after, replacement)
    raise busy(f"Cluster {cluster_id}")


async def _replaced(
    world: World, state: ClusterState, pool: PoolHost, decided: Decision, *, key: HostKey, now: datetime, caller: Caller
) -> ClusterState | None:
    """The cluster as committed; None when somebody else was faster."""
    left = host_after(host_in(state, key), decided)
    middle = joined(_without(applied(state, decided), key_of(pool.state)), pool, decided)
    in_cluster = await world.evaluate_cluster(middle, now)
    in_pool = await world.evaluate_pool_host(left, state.infra_envs[key[0]], now)
    decision = combined(combined(decided, in_cluster), in_pool)
    writes = cluster_writes(
        state, replace(decision, next_deadline=in_cluster.next_deadline), caller=caller, now=now, world=world
    )
    newcomer = key_of(pool.state)
    try:
        await world.store.commit(
            *guarded(writes, newcomer, pool.revision),
            Cancel(subject=host_subject(newcomer)),
            *due_for(key, in_pool.next_deadline),
        )
    except LostRace:
        return None
    return applied(middle, in_cluster)


def _without(state: ClusterState, key: HostKey) -> ClusterState:
    return replace(state, hosts=tuple(host for host in state.hosts if key_of(host) != key))


async def _write_ignition(world: World, state: ClusterState, newcomer: HostState) -> None:
    """The preparation made a config for every host it knew; the newcomer's is made like those, from its role's."""
    cluster = state.cluster
    infra_env = state.infra_envs.get(newcomer.host.infra_env_id)
    token = "" if infra_env is None else agent_token(world, infra_env)
    host = install_host(newcomer, cluster=cluster, agent_token=token)
    name = object_name(cluster.id, f"{host.node_role}.ign")
    try:
        base = ignition.decode(await world.blobs.get(name))
    except NotFound:
        raise Conflict(
            f"The installation files of cluster {cluster.name} are gone, so no other machine can take part. "
            "Reset the cluster and install it again."
        ) from None
    inputs = await inputs_of(world, state)
    pools = (host.machine_config_pool,) if host.machine_config_pool else ()
    config = host_config(inputs, host, base=base, pools=pools)
    await world.blobs.put(host_ignition_object(newcomer, cluster), ignition.encode(config))


async def _cluster_of(world: World, key: HostKey) -> UUID:
    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    if known.host.cluster_id is None:
        raise Conflict(f"Host {key[1]} belongs to no cluster, so there is no installation to try again.")
    return known.host.cluster_id


def _told(state: ClusterState, key: HostKey) -> TriedHost:
    found = host_in(state, key)
    host = found.host
    return TriedHost(
        host_id=host.id,
        infra_env_id=host.infra_env_id,
        name=hostname_of(host, found.reports),
        status=host.status,
        status_info=host.status_info,
        tries=host.tries,
        cluster_id=state.cluster.id,
        cluster_status=state.cluster.status,
    )
