"""Logs of hosts and of the controller: taken as they stream in, handed out one by one or all together."""

from collections.abc import AsyncIterable, AsyncIterator
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.commands import installation_files
from firstlight.core.decision import Decision, HostKey
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import LogsState
from firstlight.server.usecases import file_links
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster, load_cluster
from firstlight.server.usecases.downloads import StoredFile
from firstlight.server.usecases.links import FOR_FILES, Link, make_link
from firstlight.server.usecases.log_archive import archive, controller_logs_name, host_logs_name, plain_name
from firstlight.server.usecases.object_names import CONTROLLER, logs_object
from firstlight.server.usecases.one_host import change_host
from firstlight.server.usecases.world import World

MOST_BYTES: Final = 262_144_000
"""Of one uploaded archive."""


class Archive(Struct, frozen=True):
    """Everything about a cluster, written while it is sent."""

    file_name: str
    chunks: AsyncIterator[bytes]


# --- taking


async def take_host_logs(
    world: World, cluster_id: UUID, host_id: UUID | None, chunks: AsyncIterable[bytes], *, caller: Caller
) -> None:
    if host_id is None:
        raise Invalid("Logs of a host need to say of which. Add host_id to the request.")
    _member(await load_cluster(world, cluster_id), host_id)
    await world.blobs.put_stream(logs_object(cluster_id, host_id), chunks, max_bytes=MOST_BYTES)

    def command(state: ClusterState, now: datetime) -> Decision:
        return installation_files.take_host_logs(_member(state, host_id), now=now)

    await change_cluster(world, cluster_id, command, caller=caller)


async def take_controller_logs(world: World, cluster_id: UUID, chunks: AsyncIterable[bytes], *, caller: Caller) -> None:
    await load_cluster(world, cluster_id)
    await world.blobs.put_stream(logs_object(cluster_id, CONTROLLER), chunks, max_bytes=MOST_BYTES)

    def command(state: ClusterState, now: datetime) -> Decision:
        return installation_files.take_controller_logs(state.cluster, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)


def _member(state: ClusterState, host_id: UUID) -> HostState:
    found = next((member for member in state.hosts if member.host.id == host_id), None)
    if found is None:
        raise NotFound(f"There is no host {host_id} in cluster {state.cluster.name}.")
    return found


async def report_host_logs(world: World, key: HostKey, *, logs: LogsState, caller: Caller) -> None:
    def decide(state: HostState, _: Cluster | None, now: datetime) -> Decision:
        return installation_files.report_host_logs(state, logs=logs, now=now)

    await change_host(world, key, decide, caller=caller)


# --- handing out; clusters that were given up keep their logs until they are purged


async def _state(world: World, cluster_id: UUID) -> ClusterState:
    state = await world.store.cluster_state(cluster_id)
    if state is not None:
        return state
    gone = await world.store.cluster(cluster_id, with_deleted=True)
    if gone is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    return ClusterState(cluster=gone)


async def host_logs(world: World, cluster_id: UUID, host_id: UUID | None) -> StoredFile:
    if host_id is None:
        raise Invalid("Logs of a host need to say of which. Add host_id to the request.")
    state = await _state(world, cluster_id)
    if state.cluster.deleted_at is None:
        _member(state, host_id)
    return await _stored(world, cluster_id, str(host_id), file_name=host_logs_name(state, str(host_id)))


async def controller_logs(world: World, cluster_id: UUID) -> StoredFile:
    state = await _state(world, cluster_id)
    return await _stored(world, cluster_id, CONTROLLER, file_name=controller_logs_name(state.cluster))


async def _stored(world: World, cluster_id: UUID, origin: str, *, file_name: str) -> StoredFile:
    try:
        found = await world.blobs.head(logs_object(cluster_id, origin))
    except NotFound:
        raise Conflict(f"No logs of {origin} have been collected yet. Ask again when they have.") from None
    return StoredFile(key=found.key, file_name=file_name, size=found.size)


async def all_logs(world: World, cluster_id: UUID) -> Archive:
    state = await _state(world, cluster_id)
    return Archive(f"{plain_name(state.cluster.name)}_{cluster_id}.tar", archive(world, state))


async def presigned(world: World, cluster_id: UUID, *, logs_type: str, host_id: UUID | None) -> Link:
    wanted = file_links.logs(cluster_id, logs_type=logs_type, host_id=host_id)
    if logs_type in ("host", CONTROLLER):
        host = logs_type == "host"
        file = await (host_logs(world, cluster_id, host_id) if host else controller_logs(world, cluster_id))
        return file_links.presign(world, wanted, object_name=file.key, file_name=file.file_name)
    await _state(world, cluster_id)
    return make_link(world, wanted.path, wanted.query, lifetime=FOR_FILES)
