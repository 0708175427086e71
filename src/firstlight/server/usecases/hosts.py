"""What users do with hosts: look at them, change them, install and reset those added later; and how installers
report their progress."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.commands import actions
from firstlight.core.commands.progress import report_host_progress
from firstlight.core.decision import Change, Decision, HostKey
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.events.host import HostDeregistered, HostResetFailed
from firstlight.core.hosts import changes
from firstlight.core.hosts.triggers import Identity
from firstlight.core.hosts.wishes import HostWish
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import Stage
from firstlight.core.model.reports import ReportKind
from firstlight.core.roles import key_of
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import Cancel, DeleteHost, PutHost, PutSecret, Write
from firstlight.server.usecases import live_logs
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    TRIES,
    busy,
    cluster_writes,
    events_of,
    load_cluster,
    no_such_host,
    note_in_cluster,
)
from firstlight.server.usecases.host_ignition import write_day_two_ignition
from firstlight.server.usecases.manifests import known_cluster
from firstlight.server.usecases.one_host import PlacedHost, change_host, host_in
from firstlight.server.usecases.refusals import telling
from firstlight.server.usecases.world import World

ENDPOINT_CREDENTIAL: Final = "ignition_endpoint_token"
"""The name of a host's secret for a custom Ignition endpoint."""
REPEATABLE_CHECKS: Final[Mapping[str, ReportKind]] = {
    "sufficient-installation-disk-speed": ReportKind.DISK_SPEEDS,
    "container-images-available": ReportKind.IMAGES,
}
"""Checks whose measurement is made once and can be asked for again."""


class ShownHost(Struct, frozen=True, kw_only=True):
    """A host with what it takes to show it."""

    state: HostState
    cluster: Cluster | None
    raw: Mapping[ReportKind, bytes]


# --- looking


async def list_hosts(world: World, infra_env_id: UUID) -> list[ShownHost]:
    """Without connectivity: that of a large cluster is megabytes, and `get_host` has it."""
    if await world.store.infra_env(infra_env_id) is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    states = await world.store.hosts_of_infra_env(infra_env_id)
    raw = await world.store.raw_reports([key_of(state) for state in states], kinds=[ReportKind.INVENTORY])
    clusters = await _clusters_of(world, states)
    return [
        ShownHost(
            state=state,
            cluster=None if state.host.cluster_id is None else clusters.get(state.host.cluster_id),
            raw=raw.get(key_of(state), {}),
        )
        for state in states
    ]


async def _clusters_of(world: World, states: Sequence[HostState]) -> Mapping[UUID, Cluster]:
    ids = dict.fromkeys(state.host.cluster_id for state in states if state.host.cluster_id is not None)
    found = {cluster_id: await world.store.cluster(cluster_id) for cluster_id in ids}
    return {cluster_id: cluster for cluster_id, cluster in found.items() if cluster is not None}


async def get_host(world: World, key: HostKey) -> ShownHost:
    state = await world.store.host(key)
    if state is None:
        raise no_such_host(key)
    clusters = await _clusters_of(world, (state,))
    cluster = None if state.host.cluster_id is None else clusters.get(state.host.cluster_id)
    return await shown(world, PlacedHost(state=state, cluster=cluster))


async def shown(world: World, placed: PlacedHost) -> ShownHost:
    key = key_of(placed.state)
    raw = await world.store.raw_reports([key], kinds=[ReportKind.INVENTORY, ReportKind.CONNECTIVITY])
    return ShownHost(state=placed.state, cluster=placed.cluster, raw=raw.get(key, {}))


# --- changing


async def update_host(world: World, key: HostKey, wish: HostWish, *, caller: Caller) -> ShownHost:
    """All fields in one commit, then the host and its cluster as they follow from it."""

    def decide(state: HostState, cluster: Cluster | None, now: datetime) -> Decision:
        return changes.update_host(state, wish, cluster=cluster, policy=world.policy, now=now)

    token = wish.ignition_endpoint_token
    kept: tuple[Write, ...] = ()
    if token is not None:
        kept = (PutSecret(subject=host_subject(key), name=ENDPOINT_CREDENTIAL, value=token or None),)
    return await shown(world, await change_host(world, key, decide, caller=caller, also=kept))


async def set_installer_arguments(
    world: World, key: HostKey, arguments: tuple[str, ...], *, caller: Caller
) -> ShownHost:
    def decide(state: HostState, _: Cluster | None, now: datetime) -> Decision:
        return changes.set_installer_arguments(state, arguments, now=now)

    return await shown(world, await change_host(world, key, decide, caller=caller))


async def measure_again(world: World, key: HostKey, check_id: str, *, caller: Caller) -> ShownHost:
    """Forget what was measured for a check, so that the agent is asked to measure it anew."""
    kind = REPEATABLE_CHECKS.get(check_id)
    if kind is None:
        known = " and ".join(REPEATABLE_CHECKS)
        raise Invalid(f"The check '{check_id[:80]}' cannot be reset. Only {known} can.")

    def decide(state: HostState, cluster: Cluster | None, _: datetime) -> Decision:
        if cluster is None:
            raise Conflict(f"Host {key[1]} belongs to no cluster, so {check_id} is not checked. Bind it first.")
        return actions.retry_check(state, kind=kind)

    return await shown(world, await change_host(world, key, decide, caller=caller))


# --- day 2


async def install_host(world: World, key: HostKey, *, caller: Caller) -> ShownHost:
    """The host's Ignition is made before it can be asked for."""
    known = await world.store.host(key)
    if known is not None and known.host.is_day_two and known.host.cluster_id is not None:
        await write_day_two_ignition(world, known, await known_cluster(world, known.host.cluster_id))

    def decide(state: HostState, cluster: Cluster | None, now: datetime) -> Decision:
        return actions.install_day_two_host(state, cluster=cluster, policy=world.policy, now=now)

    return await shown(world, await change_host(world, key, decide, caller=caller))


async def reset_host(world: World, key: HostKey, *, caller: Caller) -> ShownHost:
    def decide(state: HostState, cluster: Cluster | None, now: datetime) -> Decision:
        return actions.reset_day_two_host(state, cluster=cluster, policy=world.policy, now=now)

    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    who = Identity(known.host, known.reports)

    def refused(why: str) -> HostResetFailed:
        return HostResetFailed(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            error=why,
        )

    async with telling(world, refused, caller=caller):
        return await shown(world, await change_host(world, key, decide, caller=caller))


# --- leaving for good


async def deregister_host(world: World, key: HostKey, *, caller: Caller) -> None:
    for _ in range(TRIES):
        known = await world.store.host(key)
        if known is None:
            raise no_such_host(key)
        try:
            if known.host.cluster_id is None:
                await _delete_from_pool(world, key, caller=caller)
            else:
                await _delete_from_cluster(world, key, known.host.cluster_id, caller=caller)
        except LostRace:
            continue
        return await live_logs.forget(world, key)
    raise busy(f"Host {key[1]}")


async def _delete_from_pool(world: World, key: HostKey, *, caller: Caller) -> None:
    pool: PoolHost | None = await world.store.pool_host(key)
    if pool is None:
        raise LostRace(None, f"Host {key[1]} left the pool meanwhile.")
    now = world.clock.now()
    await world.store.commit(
        PutHost(host=pool.state.host, expect_revision=pool.revision),
        *_deletion(pool.state, caller=caller, now=now),
    )


async def _delete_from_cluster(world: World, key: HostKey, cluster_id: UUID, *, caller: Caller) -> None:
    """The cluster is judged again without the host: its roles may be dealt anew."""
    async with world.turns.of(cluster_subject(cluster_id)):
        state = await load_cluster(world, cluster_id)
        host = host_in(state, key)
        now = world.clock.now()
        followed = await world.evaluate_cluster(_without(state, host), now)
        await world.store.commit(
            *cluster_writes(state, followed, caller=caller, now=now, world=world),
            *_deletion(host, caller=caller, now=now),
        )


def _without(state: ClusterState, gone: HostState) -> ClusterState:
    hosts = tuple(host for host in state.hosts if host is not gone)
    return ClusterState(
        cluster=state.cluster,
        hosts=hosts,
        infra_envs=state.infra_envs,
        findings=state.findings,
        revision=state.revision,
    )


def _deletion(state: HostState, *, caller: Caller, now: datetime) -> Sequence[Write]:
    who = Identity(state.host, state.reports)
    event = HostDeregistered(
        host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
    )
    key = key_of(state)
    told = Change(event=event, before={"status": state.host.status.value, "role": state.host.role.value})
    return (
        DeleteHost(key=key, at=now),
        Cancel(subject=host_subject(key)),
        *events_of((told,), caller=caller, now=now),
    )


# --- installers report


async def report_progress(world: World, key: HostKey, *, stage: Stage, info: str, caller: Caller) -> None:
    """One host's stage is written at once; what it means for its cluster is left to the engine."""
    known = await world.store.host(key)
    if known is None:
        raise no_such_host(key)
    cluster_id = known.host.cluster_id
    if cluster_id is None:
        raise Invalid(f"Host {key[1]} belongs to no cluster, so it cannot report installation progress.")

    def command(state: ClusterState, now: datetime) -> Decision:
        return report_host_progress(
            host_in(state, key), stage=stage, info=info, cluster=state.cluster, policy=world.policy, now=now
        )

    await note_in_cluster(world, cluster_id, command, caller=caller)
