"""Users change clusters, say which checks may fail, and give clusters up."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from firstlight.core.clusters.wish import ClusterWish
from firstlight.core.commands import cluster_settings, cluster_waivers
from firstlight.core.commands.cluster_ending import Ending, end_cluster
from firstlight.core.commands.cluster_settings import OperatorWish
from firstlight.core.decision import Change, Decision
from firstlight.core.events.cluster import ClusterDeregistered, ClusterDeregisterFailed
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import (
    Cancel,
    DeleteCluster,
    DeleteHost,
    DropReports,
    MakeDue,
    PutHost,
    PutSecret,
    Write,
)
from firstlight.server.usecases import live_logs
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.cluster_registration import KEPT_AS, grounds_of
from firstlight.server.usecases.deciding import EVALUATE, TRIES, busy, change_cluster, events_of, load_cluster
from firstlight.server.usecases.refusals import telling
from firstlight.server.usecases.world import World


async def update(
    world: World, cluster_id: UUID, wish: ClusterWish, *, operators: OperatorWish | None, caller: Caller
) -> ClusterState:
    grounds = grounds_of(world)

    def command(state: ClusterState, now: datetime) -> Decision:
        return cluster_settings.update_cluster(state, wish, operators=operators, grounds=grounds, now=now)

    def secret(_state: ClusterState, _now: datetime) -> Iterator[Write]:
        if wish.pull_secret is not None:
            yield PutSecret(subject=cluster_subject(cluster_id), name=KEPT_AS, value=wish.pull_secret or None)

    return await change_cluster(world, cluster_id, command, caller=caller, also=secret)


async def ignore_validations(
    world: World,
    cluster_id: UUID,
    *,
    of_cluster: tuple[str, ...] | None,
    of_hosts: tuple[str, ...] | None,
    caller: Caller,
) -> Cluster:
    def command(state: ClusterState, now: datetime) -> Decision:
        return cluster_waivers.waive(state, of_cluster=of_cluster, of_hosts=of_hosts, now=now)

    return (await change_cluster(world, cluster_id, command, caller=caller)).cluster


async def keep_ui_settings(world: World, cluster_id: UUID, *, settings: str, caller: Caller) -> Cluster:
    """Text that only the user interface reads."""

    def command(state: ClusterState, _now: datetime) -> Decision:
        return cluster_waivers.keep_ui_settings(state.cluster, settings=settings)

    return (await change_cluster(world, cluster_id, command, caller=caller)).cluster


async def deregister(world: World, cluster_id: UUID, *, caller: Caller) -> None:
    async with world.turns.of(cluster_subject(cluster_id)):
        for _ in range(TRIES):
            state = await load_cluster(world, cluster_id)
            now = world.clock.now()
            async with telling(
                world, lambda why: ClusterDeregisterFailed(cluster_id=cluster_id, error=why), caller=caller
            ):
                ending = end_cluster(state, policy=world.policy, now=now)
            try:
                await world.store.commit(*_ending_writes(state, ending, caller=caller, now=now))
            except LostRace:
                continue
            world.sessions.forget(cluster_subject(cluster_id))
            world.wake()
            return await live_logs.forget(world, *ending.deleted)
    raise busy(f"Cluster {cluster_id}")


def _ending_writes(state: ClusterState, ending: Ending, *, caller: Caller, now: datetime) -> Iterator[Write]:
    cluster = state.cluster
    yield DeleteCluster(cluster_id=cluster.id, expect_revision=state.revision, at=now)
    yield Cancel(subject=cluster_subject(cluster.id))
    for key in ending.deleted:
        yield DeleteHost(key=key, at=now)
    for key, host in ending.returned.hosts.items():
        yield PutHost(host=host)
        yield MakeDue(subject=host_subject(key), kind=EVALUATE, at=now)
    for key, kinds in ending.returned.dropped_reports.items():
        yield DropReports(key=key, kinds=kinds)
    ended = Change(event=ClusterDeregistered(cluster_id=cluster.id), before={"status": cluster.status.value})
    yield from events_of((ended, *ending.returned.changes), caller=caller, now=now)
