"""Logs: uploaded by agents and controllers, downloaded by users."""

from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.model.host_status import LogsState
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import LOG_UPLOAD_CAP, Access, operation
from firstlight.server.http.reply import Download, Empty
from firstlight.server.http.upload import uploaded_file
from firstlight.server.http.v2.downloads import sent
from firstlight.server.usecases import file_links, logs
from firstlight.server.usecases.world import World

LOGS: Final = "/v2/clusters/{cluster_id:uuid}/logs"
AROUND_THE_FILE: Final = 64 * 1024
"""Bytes of a multipart body that are not the file itself."""


class UploadQuery(Struct, frozen=True, kw_only=True):
    logs_type: Literal["host", "controller"]
    infra_env_id: UUID | None = None
    host_id: UUID | None = None


class DownloadQuery(Struct, frozen=True, kw_only=True):
    logs_type: Literal["host", "controller", "all"] | None = None
    host_id: UUID | None = None
    expires: int | None = None
    signature: str = ""


@operation(
    "POST",
    LOGS,
    id="V2UploadLogs",
    access=Access.AGENT,
    body_cap=LOG_UPLOAD_CAP + AROUND_THE_FILE,
    query=UploadQuery,
    success=204,
    errors=(400, 401, 403, 404, 405, 409, 413, 500, 503),
)
async def upload_logs(world: World, call: Call[None, UploadQuery]) -> Empty:
    """Logs of a host or of the controller."""
    cluster_id, chunks = call.uuid("cluster_id"), uploaded_file(call, "upfile")
    if call.query.logs_type == "host":
        await logs.take_host_logs(world, cluster_id, call.query.host_id, chunks, caller=call.actor)
    else:
        await logs.take_controller_logs(world, cluster_id, chunks, caller=call.actor)
    return Empty()


@operation(
    "GET",
    LOGS,
    id="V2DownloadClusterLogs",
    access=Access.READ | Access.URL | Access.LINK,
    query=DownloadQuery,
    answer=Download,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def download_logs(world: World, call: Call[None, DownloadQuery]) -> Download:
    """Logs of a host, of the controller, or everything there is."""
    cluster_id, query = call.uuid("cluster_id"), call.query
    wanted = file_links.logs(cluster_id, logs_type=query.logs_type or "", host_id=query.host_id)
    file_links.require(world, wanted, expires=query.expires, signature=query.signature)
    match query.logs_type:
        case "host":
            return sent(world, await logs.host_logs(world, cluster_id, query.host_id))
        case "controller":
            return sent(world, await logs.controller_logs(world, cluster_id))
        case _:
            everything = await logs.all_logs(world, cluster_id)
            return Download(file_name=everything.file_name, content=everything.chunks)


@operation(
    "PUT",
    "/v2/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}/logs-progress",
    id="v2UpdateHostLogsProgress",
    access=Access.AGENT,
    body=wire.LogsProgressParams,
    body_name="logsProgressParams",
    success=204,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
)
async def update_host_logs_progress(world: World, call: Call[wire.LogsProgressParams, NoQuery]) -> Empty:
    """How far a host is with collecting its logs."""
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    await logs.report_host_logs(world, key, logs=LogsState(call.body.logs_state), caller=call.actor)
    return Empty()
