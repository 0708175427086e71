"""An archive to a service that takes it in pieces: after a cut it goes on where the service has it."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.session import ServiceSession
from firstlight.host.calling import Refused, Unreachable

PAUSES: Final = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 60.0)
"""After failures in a row; every piece that arrives makes up for them."""


class Parcel(Struct, frozen=True, kw_only=True):
    """What goes where."""

    infra_env_id: UUID
    host_id: UUID
    archive: Path
    sha256: str
    size: int


async def upload_in_pieces(
    session: ServiceSession,
    archive: Path,
    *,
    infra_env_id: UUID,
    host_id: UUID,
    piece_bytes: int,
    sleep: Callable[[float], Awaitable[None]],
    log: Log,
) -> None:
    """Raises `Refused` when the service does not want it, `Unreachable` when it stays away, OSError."""
    size, digest = await asyncio.to_thread(_measured, archive)
    parcel = Parcel(infra_env_id=infra_env_id, host_id=host_id, archive=archive, sha256=digest, size=size)
    pauses, place = iter(PAUSES), None
    while True:
        try:
            before, (place, complete) = place, await _one_call(session, parcel, place=place, piece_bytes=piece_bytes)
        except (Refused, Unreachable) as reason:
            pause = None if isinstance(reason, Refused) and reason.is_final else next(pauses, None)
            if pause is None:
                raise
            log.warning("The upload of the logs goes on in a moment.", reason=reason, at=place, seconds=pause)
            place = None
            await sleep(pause)
            continue
        if complete:
            return
        if before is not None:
            pauses = iter(PAUSES)


async def _one_call(
    session: ServiceSession, parcel: Parcel, *, place: int | None, piece_bytes: int
) -> tuple[int, bool]:
    """How far the service is then, and whether it has everything. Without a place it is only asked."""
    data = None if place is None else await asyncio.to_thread(_piece, parcel.archive, place, piece_bytes)
    reached = await session.archive_piece(
        parcel.host_id,
        infra_env_id=parcel.infra_env_id,
        sha256=parcel.sha256,
        size=parcel.size,
        offset=place or 0,
        data=data,
    )
    if not reached.complete and place is not None and reached.next <= place:
        raise Unreachable(f"it does not go on behind {place} bytes of the archive")
    return reached.next, reached.complete


def _measured(archive: Path) -> tuple[int, str]:
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), digest


def _piece(archive: Path, place: int, size: int) -> bytes:
    with archive.open("rb") as file:
        file.seek(place)
        return file.read(size)
