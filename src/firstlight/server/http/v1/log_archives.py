"""Logs of hosts in pieces, for agents that go on after a cut line; the service offers it when they register."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import log_uploads
from firstlight.server.usecases.log_uploads import PIECE_BYTES, Announced, Reached
from firstlight.server.usecases.world import World

ARCHIVE: Final = "/v1/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}/log-archives/{sha256}"
Bytes = Annotated[int, Meta(ge=0, lt=10**12)]


class ArchiveQuery(Struct, frozen=True, kw_only=True):
    size: Bytes
    """Of the whole archive."""


class PieceQuery(ArchiveQuery, frozen=True, kw_only=True):
    offset: Bytes


@operation(
    "GET",
    ARCHIVE,
    id="getLogArchiveProgress",
    access=Access.AGENT,
    query=ArchiveQuery,
    answer=Reached,
    errors=(400, 404, 409),
)
async def get_log_archive_progress(world: World, call: Call[None, ArchiveQuery]) -> Reached:
    """How much of an archive of logs has arrived, and whether it was taken."""
    return await log_uploads.reached(world, _announced(call))


@operation(
    "PUT",
    ARCHIVE,
    id="putLogArchivePiece",
    access=Access.AGENT,
    body_cap=PIECE_BYTES,
    query=PieceQuery,
    answer=Reached,
    errors=(400, 404, 409, 413),
)
async def put_log_archive_piece(world: World, call: Call[None, PieceQuery]) -> Reached:
    """One more piece of an archive of logs; with the last one it is taken."""
    data = b"".join([piece async for piece in call.stream()])
    return await log_uploads.take(world, _announced(call), data, offset=call.query.offset, caller=call.actor)


def _announced(call: Call[None, ArchiveQuery] | Call[None, PieceQuery]) -> Announced:
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    return Announced(key=key, sha256=call.text("sha256"), size=call.query.size)
