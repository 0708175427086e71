"""Archives of logs that arrive piece by piece: a line that is cut costs a piece and not the archive.

An archive is named by its digest and goes on wherever it was, at any replica. Whole and true, it becomes what one sent
in one go would have become. A host has one of them under way.
"""

import hashlib
import re
from collections.abc import AsyncIterator
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.errors import Conflict, Invalid, TooLarge
from firstlight.server.usecases import logs
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import no_such_host
from firstlight.server.usecases.object_names import log_uploads_of
from firstlight.server.usecases.world import World

PIECE_BYTES: Final = 2**20
MOST_BYTES: Final = logs.MOST_BYTES
COMPLETE: Final = "complete"
"""The file that is left of an archive: whoever did not hear that it was taken may ask."""
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_PIECE: Final = re.compile(r"([0-9]{12})-([0-9]{12})")


class Announced(Struct, frozen=True, kw_only=True):
    """Which archive of which host, and how large it will be."""

    key: HostKey
    sha256: str
    size: int

    @property
    def folder(self) -> str:
        return f"{log_uploads_of(*self.key)}/{self.sha256}"


class Reached(Struct, frozen=True, kw_only=True):
    next: int
    """Where to go on."""
    complete: bool = False


class Piece(Struct, frozen=True):
    key: str
    begin: int
    end: int


async def reached(world: World, announced: Announced) -> Reached:
    await _cluster_of(world, announced)
    return await _reached(world, announced)


async def take(world: World, announced: Announced, data: bytes, *, offset: int, caller: Caller) -> Reached:
    """One more piece. What is known already is passed over; what would leave a gap is not taken."""
    if announced.size > MOST_BYTES:
        raise TooLarge(f"The archive has {announced.size} bytes; at most {MOST_BYTES} are taken.")
    if offset + len(data) > announced.size:
        raise Invalid(f"The piece ends behind the archive, which is to have {announced.size} bytes.")
    cluster_id = await _cluster_of(world, announced)
    async with world.turns.of(log_uploads_of(*announced.key)):
        now = await _reached(world, announced)
        if now.complete or offset > now.next:
            return now
        if not now.next:
            await _drop_others(world, announced)
        fresh = data[now.next - offset :]
        end = now.next + len(fresh)
        if fresh:
            await world.blobs.put(f"{announced.folder}/{now.next:012d}-{end:012d}", fresh)
        if end < announced.size:
            return Reached(next=end)
        try:
            await logs.take_host_logs(world, cluster_id, announced.key[1], _joined(world, announced), caller=caller)
        except Invalid:
            await world.blobs.delete_under(announced.folder)
            raise
        await world.blobs.put(f"{announced.folder}/{COMPLETE}", b"")
        for piece in await _pieces(world, announced):
            await world.blobs.delete(piece.key)
        return Reached(next=announced.size, complete=True)


async def _cluster_of(world: World, announced: Announced) -> UUID:
    if not _DIGEST.fullmatch(announced.sha256):
        raise Invalid("An archive is named by its SHA-256 digest: 64 hexadecimal digits in small letters.")
    known = await world.store.host(announced.key)
    if known is None:
        raise no_such_host(announced.key)
    if known.host.cluster_id is None:
        raise Conflict(f"Host {announced.key[1]} belongs to no cluster, so there is no place for its logs. Bind it.")
    return known.host.cluster_id


async def _reached(world: World, announced: Announced) -> Reached:
    found = await world.blobs.list_under(announced.folder)
    if any(blob.key.endswith(f"/{COMPLETE}") for blob in found):
        return Reached(next=announced.size, complete=True)
    pieces = await _pieces(world, announced)
    return Reached(next=pieces[-1].end if pieces else 0)


async def _pieces(world: World, announced: Announced) -> list[Piece]:
    """Those that follow one another from the beginning."""
    found: list[Piece] = []
    for blob in await world.blobs.list_under(announced.folder):
        name = _PIECE.fullmatch(blob.key.rpartition("/")[2])
        if name is not None and int(name[1]) == (found[-1].end if found else 0):
            found.append(Piece(blob.key, int(name[1]), int(name[2])))
    return found


async def _joined(world: World, announced: Announced) -> AsyncIterator[bytes]:
    digest = hashlib.sha256()
    for piece in await _pieces(world, announced):
        data = await world.blobs.get(piece.key)
        digest.update(data)
        yield data
    if digest.hexdigest() != announced.sha256:
        raise Invalid("What arrived of the archive is not what was announced: its digest differs. Send it anew.")


async def _drop_others(world: World, announced: Announced) -> None:
    folder = log_uploads_of(*announced.key)
    for blob in await world.blobs.list_under(folder):
        if not blob.key.startswith(f"{announced.folder}/"):
            await world.blobs.delete(blob.key)
