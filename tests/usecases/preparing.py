"""Preparations to run: a cluster that is being prepared, its operation as an engine claims it, and quick keys."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from firstlight.core.decision import prepare
from firstlight.core.install.certificates import Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.identity import Identity
from firstlight.core.model.cluster import Cluster, ClusterState, Preparation
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.server.ports.installer import Installer
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import PutManifest, PutOperation
from firstlight.server.release import pki
from firstlight.server.usecases.object_names import manifest_object
from firstlight.server.usecases.preparation import prepare_installation
from firstlight.server.usecases.world import World
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.core.install.installations import quick_key
from tests.worlds import put_cluster


class QuickPki:
    """Real certificates with elliptic keys, and a count of how often they were made."""

    def __init__(self) -> None:
        self.made = 0

    def make_identity(self, cluster_name: str) -> Identity:
        return pki.make_identity(cluster_name)

    def make_certificates(self, cluster: ClusterInputs, *, now: datetime) -> Certificates:
        self.made += 1
        return pki.make_certificates(cluster, now=now, new_key=quick_key)


def a_preparing_state(*, masters: int = 3, workers: int = 1, **changes: Any) -> ClusterState:
    """Masters, of which the first bootstraps, and some workers."""
    count = masters + workers
    hosts = tuple(
        host_state(
            number,
            peers=range(1, count + 1),
            role=HostRole.MASTER if number <= masters else HostRole.WORKER,
            status=HostStatus.PREPARING_SUCCESSFUL,
            bootstrap=number == 1,
        )
        for number in range(1, count + 1)
    )
    preparing: dict[str, Any] = {
        "status": ClusterStatus.PREPARING_FOR_INSTALLATION,
        "preparation": Preparation(attempt=1),
        "install_started_at": cluster_state().cluster.created_at,
        "schedulable_masters_forced": False,
    }
    return cluster_state(hosts=hosts, **(preparing | changes))


async def a_preparing_cluster(world: World, **changes: Any) -> tuple[ClusterState, OperationRow]:
    state = await put_cluster(world, a_preparing_state(**changes))
    return state, await claimed(world, state.cluster)


async def claimed(world: World, cluster: Cluster) -> OperationRow:
    """The operation of the cluster's attempt, as the engine has just claimed it; others stay with their owners."""
    effect = prepare(cluster)
    now = world.clock.now()
    row = OperationRow(
        id=world.new_id(),
        kind=effect.kind,
        subject=effect.subject,
        attempt=effect.attempt,
        state="waiting",
        created_at=now,
        updated_at=now,
    )
    await world.store.commit(PutOperation(operation=row, expect_epoch=None))
    return await claimed_again(world, silent_since=now - timedelta(minutes=1))


async def claimed_again(world: World, *, silent_since: datetime | None = None) -> OperationRow:
    """What a replica gets that finds the operation's owner silent."""
    now = world.clock.now()
    stale = silent_since or now + timedelta(seconds=1)
    rows = await world.store.claim_operations(owner="replica", now=now, stale_before=stale, limit=4)
    assert len(rows) == 1
    return rows[0]


async def silent(_: str) -> None:
    """Progress that nobody wants to hear of."""


async def run(
    world: World, row: OperationRow, *, pki: QuickPki | None = None, installer: Installer | None = None
) -> None:
    await prepare_installation(world, row, silent, pki=pki or QuickPki(), installer=installer)


async def put_manifest(
    world: World, cluster_id: UUID, name: str, content: bytes, *, folder: str = "manifests", source: str = "user"
) -> None:
    await world.blobs.put(manifest_object(cluster_id, folder, name), content)
    await world.store.commit(
        PutManifest(
            cluster_id=cluster_id,
            folder=folder,
            file_name=name,
            source=source,
            size=len(content),
            at=world.clock.now(),
        )
    )


async def cluster_of(world: World, cluster_id: UUID) -> Cluster:
    cluster = await world.store.cluster(cluster_id)
    assert cluster is not None
    return cluster
