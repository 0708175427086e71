"""The log of an agent as it grows: the last part of it, in pieces that carry their place in the whole.

Bounded per host; what is older falls out at the front. Places never move, so that a reader and the agent can both go on
where they were.
"""

import asyncio
from typing import Final

import structlog
from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.errors import NotFound, Unavailable
from firstlight.server.usecases.deciding import no_such_host
from firstlight.server.usecases.object_names import live_logs_of, log_uploads_of
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

MOST_BYTES: Final = 2 * 2**20
"""Kept of each host."""
FULL_PIECE: Final = 64 * 1024
"""A piece that is smaller is written anew with what comes next, so that pieces stay few."""
LARGEST_READ: Final = 256 * 1024
LARGEST_POST: Final = 256 * 1024
LONGEST_WAIT: Final = 30
LOOK_SECONDS: Final = 0.5
"""Between two looks of a waiting reader. Another replica may have taken what it waits for, so it has to look."""


class Piece(Struct, frozen=True):
    key: str
    begin: int
    end: int


class LogPart(Struct, frozen=True, kw_only=True):
    offset: int
    """Where the text begins; later than asked for if that part is gone."""
    next: int
    """Where to go on."""
    end: int
    """How far the log goes by now."""
    text: str


class LogTaken(Struct, frozen=True, kw_only=True):
    next: int


def folder_of(key: HostKey) -> str:
    return live_logs_of(*key)


async def forget(world: World, *keys: HostKey) -> None:
    """Hosts are gone, and what they sent while they were here goes with them; nobody could read it any more."""
    for key in keys:
        try:
            await world.blobs.delete_under(folder_of(key))
            await world.blobs.delete_under(log_uploads_of(*key))
        except Unavailable as reason:
            # The host stays deleted; what is left goes when the last traces of it do.
            log.warning("the log of a deleted host could not be removed", host_id=str(key[1]), reason=str(reason))


async def take(world: World, key: HostKey, data: bytes, *, offset: int | None) -> LogTaken:
    """Add to the log. What lies before its end is known already; without `offset` everything is new."""
    if await world.store.host(key) is None:
        raise no_such_host(key)
    async with world.turns.of(folder_of(key)):
        pieces = await _pieces(world, key)
        end = pieces[-1].end if pieces else 0
        if offset is not None:
            # A gap is an agent whose memory was too short while we were away: the numbers show it.
            data = data[max(0, end - offset) :]
            end = max(end, offset)
        if data:
            await _append(world, key, pieces, data, end)
        return LogTaken(next=end + len(data))


async def _append(world: World, key: HostKey, pieces: list[Piece], data: bytes, end: int) -> None:
    last = pieces[-1] if pieces else None
    begin = end
    if last is not None and last.end == end and last.end - last.begin < FULL_PIECE:
        data = await world.blobs.get(last.key) + data
        begin = last.begin
    new = Piece(f"{folder_of(key)}/{begin:015d}-{begin + len(data):015d}", begin, begin + len(data))
    await world.blobs.put(new.key, data)
    if begin != end and last is not None:
        await world.blobs.delete(last.key)
    for old in pieces:
        if old.end < new.end - MOST_BYTES:
            await world.blobs.delete(old.key)


async def follow(world: World, key: HostKey, *, offset: int | None, limit: int, seconds: float) -> LogPart:
    """As `read`, but where there is nothing to read, something is waited for: not beyond the end of the service."""
    part = await read(world, key, offset=offset, limit=limit)
    end = asyncio.get_running_loop().time() + seconds
    while not part.text and not world.waits.closed and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(LOOK_SECONDS)
        part = await read(world, key, offset=offset, limit=limit)
    return part


async def read(world: World, key: HostKey, *, offset: int | None, limit: int) -> LogPart:
    """From `offset` on, or the last part; empty if there is nothing new."""
    if await world.store.host(key) is None:
        raise no_such_host(key)
    limit = max(1, min(limit, LARGEST_READ))
    pieces = await _pieces(world, key)
    end = pieces[-1].end if pieces else 0
    start = max(0, end - limit) if offset is None else offset
    text, at = bytearray(), start
    for piece in pieces:
        if piece.end <= at or len(text) >= limit:
            continue
        try:
            data = await world.blobs.get(piece.key)
        except NotFound:
            # Replaced by a longer one since the list was made: whoever asks again gets it.
            break
        if not text:
            at = start = max(start, piece.begin)
        elif piece.begin != at:
            break
        text += data[max(0, at - piece.begin) :]
        at = piece.end
    shown = bytes(text[:limit])
    return LogPart(offset=start, next=start + len(shown), end=end, text=shown.decode("utf-8", "replace"))


async def _pieces(world: World, key: HostKey) -> list[Piece]:
    """In order. Where a longer piece replaced a shorter one that is still there, the longer one counts."""
    found: dict[int, Piece] = {}
    for blob in await world.blobs.list_under(folder_of(key)):
        begin, _, end = blob.key.rpartition("/")[2].partition("-")
        if begin.isdecimal() and end.isdecimal():
            piece = Piece(blob.key, int(begin), int(end))
            known = found.get(piece.begin)
            if known is None or known.end < piece.end:
                found[piece.begin] = piece
    return [found[begin] for begin in sorted(found)]
