"""Preparing an installation: the lasting work behind "install", from records to files ready to be downloaded.

It may be killed at any moment and run again: keys are made once per attempt, files are written whole, and the result
counts only through the one commit at the end.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

import structlog
from msgspec.structs import replace

from firstlight.core.decision import PREPARE_INSTALLATION, Change, Decision
from firstlight.core.errors import Error, Unavailable
from firstlight.core.events.cluster import PreparationFailed, PreparationStarted
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import ClusterStatus, PreparationStatus
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.installer import Installer
from firstlight.server.ports.pki import Pki
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import DeleteManifest, PutManifest, PutOperation, PutSecret, Write
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.deciding import change_cluster
from firstlight.server.usecases.generated_files import SYSTEM, Prepared, inputs_of, prepared, store_files
from firstlight.server.usecases.installer_runs import is_simulated, made_by_installer, output_name
from firstlight.server.usecases.object_names import logs_of_cluster
from firstlight.server.usecases.preparation_keys import KEYS, keys_of
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

UNEXPECTED: Final = "The service failed while making the installation files; its log has the reason"
MOMENT: Final = timedelta(milliseconds=100)
"""As long as whoever had the right to write files a while ago has it still."""
Report = Callable[[str], Awaitable[None]]
Operation = Callable[[World, OperationRow, Report], Awaitable[None]]


def operations(pki: Pki, installer: Installer | None = None) -> Mapping[str, Operation]:
    """Lasting work this module knows, by kind. Without an installer all files are our own."""
    return {PREPARE_INSTALLATION: partial(prepare_installation, pki=pki, installer=installer)}


async def prepare_installation(
    world: World, row: OperationRow, report: Report, *, pki: Pki, installer: Installer | None = None
) -> None:
    cluster_id = UUID(row.subject.partition(":")[2])
    state = await world.store.cluster_state(cluster_id)
    if state is None or not _is_wanted(state.cluster, row):
        await _forget(world, row)
        return
    try:
        made = await _make(world, row, state, report, pki=pki, installer=installer)
    except (Unavailable, LostRace):
        # The operation stays as it is: whoever claims it next tries again.
        raise
    except Error as problem:
        await _fail(world, row, cluster_id, reason=str(problem).removesuffix("."))
        return
    except Exception:
        log.exception("installation files could not be made", cluster_id=str(cluster_id), attempt=row.attempt)
        await _fail(world, row, cluster_id, reason=UNEXPECTED)
        return
    try:
        await _store(world, row, cluster_id, made, report)
    except Unwanted:
        await _forget(world, row)
        return
    await _succeed(world, row, cluster_id, made=made)


class Unwanted(Exception):
    """The cluster has gone on without this attempt."""


async def _forget(world: World, row: OperationRow) -> None:
    """Keys made for this attempt would lie about for ever; those of another one may still be in use."""
    unused = PutSecret(subject=row.subject, name=output_name(row), value=None)
    await world.store.commit(unused, _finished(row, "done", now=world.clock.now()))


async def _store(world: World, row: OperationRow, cluster_id: UUID, made: Prepared, report: Report) -> None:
    """Files have the same names in every attempt. Whoever stalled may wake up when a later one has written them, so
    nothing is written unless the work was ours (the report) and wanted a moment ago. No other attempt is that quick."""
    asked: datetime | None = None

    async def require_turn() -> None:
        nonlocal asked
        now = world.clock.now()
        if asked is not None and abs(now - asked) < MOMENT:
            return
        await report("storing files")
        cluster = await world.store.cluster(cluster_id)
        if cluster is None or not _is_wanted(cluster, row):
            raise Unwanted
        asked = now

    await require_turn()
    await world.blobs.delete_under(logs_of_cluster(cluster_id))
    await store_files(world, cluster_id, made, before_each=require_turn)


def _is_wanted(cluster: Cluster, row: OperationRow) -> bool:
    preparation = cluster.preparation
    return (
        cluster.status is ClusterStatus.PREPARING_FOR_INSTALLATION
        and preparation.attempt == row.attempt
        and preparation.status is PreparationStatus.NOT_STARTED
    )


async def _make(
    world: World, row: OperationRow, state: ClusterState, report: Report, *, pki: Pki, installer: Installer | None
) -> Prepared:
    inputs = await inputs_of(world, state)
    if installer is not None and not is_simulated(state):
        return await made_by_installer(world, row, state, inputs, report, installer=installer)
    await report("making certificates and files")
    keys = await keys_of(world, row, inputs, pki=pki)
    return await prepared(world, state, inputs, keys)


async def _succeed(world: World, row: OperationRow, cluster_id: UUID, *, made: Prepared) -> None:
    rows = await world.store.manifests(cluster_id)
    names = {(one.folder, one.name) for one in made.system}

    def command(state: ClusterState, now: datetime) -> Decision:
        cluster = state.cluster
        if not _is_wanted(cluster, row):
            return Decision()
        return Decision(
            cluster=replace(
                cluster,
                preparation=replace(cluster.preparation, status=PreparationStatus.SUCCESS, reason=""),
                openshift_cluster_id=made.openshift_cluster_id,
                release_parts=dict(made.release_parts),
                updated_at=now,
            ),
            changes=(Change(event=PreparationStarted(cluster_id=cluster_id), after=_told(PreparationStatus.SUCCESS)),),
        )

    def also(state: ClusterState, now: datetime) -> Iterator[Write]:
        yield _finished(row, "done", now=now)
        if state.cluster.preparation.attempt != row.attempt:
            return
        for one in made.system:
            size = len(one.content.encode())
            yield PutManifest(
                cluster_id=cluster_id, folder=one.folder, file_name=one.name, source=SYSTEM, size=size, at=now
            )
        for old in rows:
            if old.source == SYSTEM and (old.folder, old.file_name) not in names:
                yield DeleteManifest(cluster_id=cluster_id, folder=old.folder, file_name=old.file_name)
        # The files hold everything now; nobody needs the keys a second time.
        yield from _forgotten(row)

    await change_cluster(world, cluster_id, command, caller=SERVICE, also=also)


async def _fail(world: World, row: OperationRow, cluster_id: UUID, *, reason: str) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        cluster = state.cluster
        if not _is_wanted(cluster, row):
            return Decision()
        failed = replace(cluster.preparation, status=PreparationStatus.FAILED, reason=reason)
        return Decision(
            cluster=replace(cluster, preparation=failed, updated_at=now),
            changes=(
                Change(
                    event=PreparationFailed(cluster_id=cluster_id, error=reason),
                    after=_told(PreparationStatus.FAILED),
                ),
            ),
        )

    def also(state: ClusterState, now: datetime) -> Iterator[Write]:
        yield _finished(row, "failed", now=now)
        if state.cluster.preparation.attempt == row.attempt:
            yield from _forgotten(row)

    await change_cluster(world, cluster_id, command, caller=SERVICE, also=also)


def _forgotten(row: OperationRow) -> Iterator[PutSecret]:
    for name in (KEYS, output_name(row)):
        yield PutSecret(subject=row.subject, name=name, value=None)


def _told(status: PreparationStatus) -> dict[str, object]:
    return {"preparation": status.value}


def _finished(row: OperationRow, state: str, *, now: datetime) -> PutOperation:
    return PutOperation(operation=replace(row, state=state, updated_at=now), expect_epoch=row.epoch)
