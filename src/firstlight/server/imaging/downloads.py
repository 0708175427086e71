"""Fetching one base image: resumed where it broke off, checked, and in its place only when it is whole."""

import asyncio
import errno
import fcntl
import hashlib
import os
import re
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import aiohttp
import msgspec
import structlog
from msgspec import Struct
from yarl import URL

from firstlight.core.errors import Error, Invalid, Unavailable
from firstlight.server.durable import sync_folder

log = structlog.get_logger(__name__)

CHUNK: Final = 1024 * 1024
ATTEMPTS: Final = 5
FIRST_PAUSE: Final = 1.0
RESERVE: Final = 256 * 1024 * 1024
"""Bytes that a download leaves free on the disk."""
TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=60)
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
WORTH_ANOTHER_TRY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE: Final = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)", re.ASCII)


class Source(Struct, frozen=True, kw_only=True):
    """Where an image comes from. An empty `sha256` is not checked."""

    url: str
    sha256: str = ""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    ca_file: str = ""
    insecure: bool = False


class Progress(Struct):
    """Shared between the download and whoever is asked about it."""

    done: int = 0
    total: int = 0

    @property
    def percent(self) -> int | None:
        return min(100, self.done * 100 // self.total) if self.total else None


class _Begun(Struct, frozen=True, kw_only=True):
    """Kept beside what has come so far, so that a later attempt goes on with the same file and no other."""

    url: str
    validator: str
    """Strong ETag or Last-Modified; without one there is no going on."""


class _Broken(Exception):
    """The next attempt may succeed."""


async def download(
    source: Source,
    target: Path,
    *,
    check: Callable[[Path], object],
    progress: Progress,
    first_pause: float = FIRST_PAUSE,
) -> None:
    """Bring the image to `target`. `check` looks at the whole file before it gets its name and may refuse it.

    Raises Unavailable, or Invalid when what came is not what was wanted; nothing is at `target` then.
    """
    part = part_of(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _only_one(part) as file:
            # Another process may have been faster.
            if not await asyncio.to_thread(target.exists):
                digest = await _attempts(source, file, part, progress, first_pause)
                await asyncio.to_thread(_finish, source, file, part, target, digest, check)
    except OSError as error:
        if error.errno in FULL:
            _forget(part)
            size = f" of {progress.total}" if progress.total else ""
            raise Unavailable(
                f"The disk is full: after {progress.done}{size} bytes there was no more room in {target.parent}."
                " Make room there, or choose another folder with FIRSTLIGHT_IMAGES_DIR."
            ) from None
        raise Unavailable(f"It cannot be stored: {error.strerror or error}.") from None


@contextmanager
def _only_one(part: Path) -> Generator[BinaryIO]:
    with part.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable("Another process is downloading it at the moment.") from None
        yield file


async def _attempts(source: Source, file: BinaryIO, part: Path, progress: Progress, first_pause: float) -> str:
    failure: Error | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(first_pause * 2 ** (attempt - 1))
        try:
            return await _fetch(source, file, part, progress)
        except (_Broken, aiohttp.ClientError, TimeoutError) as broken:
            # Texts of the client name the address, which may carry a password.
            reason = str(broken) if isinstance(broken, _Broken) else type(broken).__name__
            failure = Unavailable(f"The download broke off: {reason}.")
            log.warning("a download broke off", image=part.name, reason=reason, attempt=attempt + 1)
    assert failure is not None
    raise failure


async def _fetch(source: Source, file: BinaryIO, part: Path, progress: Progress) -> str:
    """Fetch what is missing and answer with the checksum of the whole."""
    begun = _begun(part)
    have = file.seek(0, os.SEEK_END)
    if begun is None or begun.url != source.url or not begun.validator:
        have = _empty(file)
    headers = {**source.headers, "Accept-Encoding": "identity"}
    if have and begun:
        headers |= {"Range": f"bytes={have}-", "If-Range": begun.validator}
    url = URL(source.url).update_query(source.query) if source.query else URL(source.url)
    async with (
        aiohttp.ClientSession(timeout=TIMEOUT, auto_decompress=False, trust_env=True) as session,
        session.get(url, headers=headers, ssl=_trust(source)) as response,
    ):
        if response.status == 416 and have and _total(response) == have:
            return await asyncio.to_thread(_hash, file, have)
        have = _accepted(response, file, have)
        validator = response.headers.get("ETag", "")
        if not validator or validator.startswith("W/"):
            validator = response.headers.get("Last-Modified", "")
        _begin(part, _Begun(url=source.url, validator=validator))
        length = response.content_length
        progress.done, progress.total = have, have + length if length is not None else 0
        _require_room(file, (length or 0))
        return await _receive(response, file, have, progress)


def _accepted(response: aiohttp.ClientResponse, file: BinaryIO, have: int) -> int:
    """From which byte on the answer is; what does not fit is thrown away."""
    if response.status == 206 and have:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match is None or match[1] is None or int(match[1]) != have:
            _empty(file)
            raise _Broken("the server sent another part than it was asked for")
        return have
    if response.status == 200:
        return _empty(file)
    if response.status == 416 or response.status in WORTH_ANOTHER_TRY:
        if response.status == 416:
            _empty(file)
        raise _Broken(f"the server answered {response.status}")
    raise Unavailable(f"Its server answered {response.status}. Check the URL in OS_IMAGES.")


async def _receive(response: aiohttp.ClientResponse, file: BinaryIO, have: int, progress: Progress) -> str:
    digest = await asyncio.to_thread(_digest, file, have)

    waiting = bytearray()

    def keep() -> None:
        digest.update(waiting)
        file.write(waiting)
        file.flush()
        waiting.clear()

    try:
        async for piece in response.content.iter_any():
            waiting += piece
            progress.done += len(piece)
            if len(waiting) >= CHUNK:
                await asyncio.to_thread(keep)
    finally:
        # What came before the line broke need not come again.
        await asyncio.to_thread(keep)
    if progress.total and progress.done != progress.total:
        raise _Broken(f"{progress.done} of {progress.total} bytes came")
    return digest.hexdigest()


def _finish(
    source: Source, file: BinaryIO, part: Path, target: Path, digest: str, check: Callable[[Path], object]
) -> None:
    try:
        if source.sha256 and digest != source.sha256:
            raise Invalid(f"Its checksum is {digest}, but {source.sha256} was expected.")
        check(part)
    except Invalid:
        _forget(part)
        raise
    os.fsync(file.fileno())
    part.rename(target)
    sync_folder(target.parent)
    note_of(part).unlink(missing_ok=True)


def _require_room(file: BinaryIO, needed: int) -> None:
    state = os.fstatvfs(file.fileno())
    if needed + RESERVE > state.f_bavail * state.f_frsize:
        raise OSError(errno.ENOSPC, "no room")


def _trust(source: Source) -> ssl.SSLContext | bool:
    if source.insecure:
        return False
    if not source.ca_file:
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(cafile=source.ca_file)
    return context


def _total(response: aiohttp.ClientResponse) -> int | None:
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return int(match[2]) if match else None


def _hash(file: BinaryIO, length: int) -> str:
    return _digest(file, length).hexdigest()


class _Digest(Protocol):
    def update(self, data: bytes | bytearray, /) -> None: ...

    def hexdigest(self) -> str: ...


def _digest(file: BinaryIO, length: int) -> _Digest:
    """Of the first bytes; the file stands at its end afterwards."""
    digest = hashlib.sha256()
    file.seek(0)
    while length > 0 and (chunk := file.read(min(CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
    file.seek(0, os.SEEK_END)
    return digest


def _empty(file: BinaryIO) -> int:
    file.truncate(0)
    return file.seek(0)


def part_of(target: Path) -> Path:
    """Where a download is gathered until it is whole."""
    return target.with_name(f".{target.name}.part")


def note_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _begun(part: Path) -> _Begun | None:
    try:
        return msgspec.json.decode(note_of(part).read_bytes(), type=_Begun)
    except (OSError, msgspec.DecodeError, UnicodeError):
        return None


def _begin(part: Path, begun: _Begun) -> None:
    note_of(part).write_bytes(msgspec.json.encode(begun))


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    note_of(part).unlink(missing_ok=True)
