"""Housekeeping, a due row for each chore: what nobody uses any more goes, first from view, then for good."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from msgspec.structs import replace

from firstlight.core.errors import Error
from firstlight.core.events.cluster import (
    ClustersDeletedForGood,
    InactiveClusterDeregistered,
    InactiveClustersDeregistered,
)
from firstlight.core.events.event import ClusterEvent
from firstlight.core.events.recorded import Recorded, record
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.subjects import SERVICE_SUBJECT
from firstlight.server.ports.writes import AddEvents, Cancel, MakeDue, PurgeCluster, PurgeHost, PurgeInfraEnv
from firstlight.server.usecases import infra_envs, live_logs
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.cluster_changes import deregister
from firstlight.server.usecases.hosts import deregister_host
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

EVERY: Final = timedelta(hours=1)
MOST: Final = 50
"""Things that one turn of a chore deals with; when there are more it is due again at once."""
PURGED: Final = 5
"""Clusters that go for good in one turn: removing their files takes a while, and the queue waits for it."""
NOBODY: Final = UUID(int=0)
BEING_INSTALLED: Final = frozenset(
    {
        ClusterStatus.PREPARING_FOR_INSTALLATION,
        ClusterStatus.INSTALLING,
        ClusterStatus.INSTALLING_PENDING_USER_ACTION,
        ClusterStatus.FINALIZING,
    }
)

Chore = Callable[[World], Awaitable[datetime | None]]
"""Does its work and answers when it is due again."""


async def deregister_inactive(world: World) -> datetime:
    """Clusters that nobody changed and no host called for long. One that is being installed is never touched."""
    now = world.clock.now()
    found = await world.store.inactive_clusters_before(now - world.policy.timeouts.inactive_cluster, limit=MOST)
    gone = [cluster for cluster in found if await _deregistered(world, cluster)]
    if gone:
        names = ", ".join(cluster.name for cluster in gone)
        told = InactiveClustersDeregistered(
            cluster_id=NOBODY,
            text=f"{len(gone)} clusters in which nothing happened for long were deregistered: {names}",
        )
        await world.store.commit(AddEvents(events=(_of_the_service(told, now),)))
    return _next(now, more=len(gone) >= MOST)


async def _deregistered(world: World, cluster: Cluster) -> bool:
    if cluster.status in BEING_INSTALLED:
        return False
    try:
        await deregister(world, cluster.id, caller=SERVICE)
    except Error as refusal:
        log.warning("an inactive cluster was not deregistered", cluster_id=str(cluster.id), reason=str(refusal))
        return False
    event = InactiveClusterDeregistered(cluster_id=cluster.id)
    await world.store.commit(AddEvents(events=(record(event, now=world.clock.now(), actor=SERVICE.name),)))
    return True


async def purge_deleted(world: World) -> datetime:
    """Deregistered clusters go for good, files first: a turn that is cut short begins again with the same cluster."""
    now = world.clock.now()
    found = await world.store.deleted_clusters_before(now - world.policy.timeouts.purge_deleted)
    for cluster_id in found[:PURGED]:
        files = await world.blobs.delete_under(str(cluster_id))
        told = ClustersDeletedForGood(
            cluster_id=NOBODY, text=f"Cluster {cluster_id} was permanently deleted, with {files} files"
        )
        event = AddEvents(events=(_of_the_service(told, now),))
        await world.store.commit(PurgeCluster(cluster_id=cluster_id), event)
    more = await _purge_pool(world, now - world.policy.timeouts.purge_deleted)
    return _next(now, more=more or len(found) > PURGED)


async def _purge_pool(world: World, before: datetime) -> bool:
    """Hosts of no cluster, then infra-envs none of whose hosts is left; answers whether there may be more."""
    hosts = await world.store.deleted_pool_hosts_before(before, limit=MOST)
    for key in hosts:
        if await world.store.host(key) is None:
            await live_logs.forget(world, key)
        await _purged(world, PurgeHost(key=key))
    infra_env_ids = await world.store.deleted_infra_envs_before(before, limit=MOST)
    for infra_env_id in infra_env_ids:
        await _purged(world, PurgeInfraEnv(infra_env_id=infra_env_id))
    if hosts or infra_env_ids:
        log.info("deleted things went for good", hosts=len(hosts), infra_envs=len(infra_env_ids))
    return MOST in (len(hosts), len(infra_env_ids))


async def _purged(world: World, write: PurgeHost | PurgeInfraEnv) -> None:
    try:
        await world.store.commit(write)
    except LostRace:
        log.info("somebody made it again meanwhile; it stays", what=repr(write))


async def deregister_inactive_infra_envs(world: World) -> datetime:
    """Infra-envs that nobody changed and no host called for long, unless a cluster still counts on them."""
    now = world.clock.now()
    found = await world.store.inactive_infra_envs_before(now - world.policy.timeouts.inactive_infra_env, limit=MOST)
    gone = [infra_env for infra_env in found if await _infra_env_deregistered(world, infra_env)]
    return _next(now, more=len(gone) >= MOST)


async def _infra_env_deregistered(world: World, infra_env: InfraEnv) -> bool:
    if infra_env.cluster_id is not None and await world.store.cluster(infra_env.cluster_id) is not None:
        return False
    hosts = await world.store.hosts_of_infra_env(infra_env.id)
    if any(state.host.cluster_id is not None for state in hosts):
        return False
    try:
        for state in hosts:
            await deregister_host(world, (infra_env.id, state.host.id), caller=SERVICE)
        await infra_envs.deregister(world, infra_env.id, caller=SERVICE)
    except Error as refusal:
        log.warning("an inactive infra-env was not deregistered", infra_env_id=str(infra_env.id), reason=str(refusal))
        return False
    return True


def _of_the_service(event: ClusterEvent, now: datetime) -> Recorded:
    """About no single cluster, or about one that no longer exists: it belongs to nobody and so outlives them."""
    return replace(record(event, now=now, actor=SERVICE.name), cluster_id=None)


def _next(now: datetime, *, more: bool) -> datetime:
    return now if more else now + EVERY


DEREGISTER_INACTIVE: Final = "deregister-inactive"
INACTIVE_INFRA_ENVS: Final = "inactive-infra-envs"
PURGE_DELETED: Final = "purge-deleted"

CHORES: Final[Mapping[str, Chore]] = {
    DEREGISTER_INACTIVE: deregister_inactive,
    INACTIVE_INFRA_ENVS: deregister_inactive_infra_envs,
    PURGE_DELETED: purge_deleted,
}
"""By the kind of their due row."""


async def plan_chores(world: World, *, inactive: bool, purge: bool) -> None:
    """Make the wanted chores due now. Rows of chores that were switched off since the last start go."""
    wanted = {DEREGISTER_INACTIVE: inactive, INACTIVE_INFRA_ENVS: inactive, PURGE_DELETED: purge}
    now = world.clock.now()
    await world.store.commit(
        Cancel(subject=SERVICE_SUBJECT),
        *(MakeDue(subject=SERVICE_SUBJECT, kind=kind, at=now) for kind, on in wanted.items() if on),
    )
