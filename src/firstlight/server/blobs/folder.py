"""Blobs as files in a folder. A file is written beside, flushed to the disk and renamed into place."""

import asyncio
import errno
import os
import secrets
import stat
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Final, TypeVar

from firstlight.core.errors import Invalid, NotFound, TooLarge, Unavailable
from firstlight.server.durable import sync_folder
from firstlight.server.ports.blobs import RESERVED, BlobInfo, checked_key, checked_prefix

PIECE_BYTES: Final = 256 * 1024
LEFTOVER_SECONDS: Final = 24 * 3600
"""An unfinished file of this age was left by a service that was killed; younger ones may be another replica's."""
WRITE_TRIES: Final = 5
"""Somebody may remove the last file of a folder, and the folder, between our making it and our rename."""

T = TypeVar("T")


class FolderBlobs:
    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._incoming = self._root / RESERVED
        self._now("", self._prepare, writing=True)

    def _prepare(self) -> None:
        self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
        for leftover in self._incoming.iterdir():
            with suppress(FileNotFoundError):
                if leftover.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
                    leftover.unlink()

    # --- writing ---

    async def put(self, key: str, data: bytes) -> None:
        target = self._path(key)
        await self._call(key, lambda: self._write(target, data), writing=True)

    def _write(self, target: Path, data: bytes) -> None:
        temporary = self._incoming / secrets.token_hex(16)
        try:
            with create(temporary, buffering=0) as file:
                write_all(file.fileno(), data)
                os.fsync(file.fileno())
            self._place(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    async def put_stream(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int) -> int:
        target = self._path(key)
        temporary = self._incoming / secrets.token_hex(16)
        file = await self._call(key, lambda: create(temporary, buffering=PIECE_BYTES))
        size = 0
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise too_large(max_bytes)
                await self._call(key, lambda chunk=chunk: file.write(chunk))

            def finish() -> None:
                file.flush()
                os.fsync(file.fileno())
                self._place(temporary, target)

            await self._call(key, finish, writing=True)
        finally:
            # Closing may try to flush once more onto a full disk; the file is thrown away either way.
            with suppress(OSError):
                file.close()
            temporary.unlink(missing_ok=True)
        return size

    def _place(self, temporary: Path, target: Path) -> None:
        for attempt in range(WRITE_TRIES):
            self._make_folder(target.parent)
            try:
                temporary.replace(target)
            except FileNotFoundError:
                if attempt == WRITE_TRIES - 1:
                    raise
            else:
                break
        sync_folder(target.parent)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        sync_folder(folder.parent)

    # --- reading ---

    async def get(self, key: str) -> bytes:
        target = self._path(key)
        return await self._call(key, target.read_bytes)

    async def get_range(self, key: str, *, start: int, length: int) -> bytes:
        target = self._path(key)

        def read() -> bytes:
            with target.open("rb") as file:
                file.seek(start)
                return file.read(length)

        return await self._call(key, read)

    async def stream(self, key: str, *, start: int = 0) -> AsyncIterator[bytes]:
        target = self._path(key)
        file = await self._call(key, lambda: target.open("rb", buffering=0))
        try:
            file.seek(start)
            while piece := await self._call(key, lambda: file.read(PIECE_BYTES)):
                yield piece
        finally:
            file.close()

    async def head(self, key: str) -> BlobInfo:
        target = self._path(key)
        found = await self._call(key, target.stat)
        if not stat.S_ISREG(found.st_mode):
            raise not_found(key)
        return info(key, found)

    async def list_under(self, prefix: str) -> Sequence[BlobInfo]:
        folder = self._root / checked_prefix(prefix)
        return await self._call(prefix, lambda: self._list(folder))

    def _list(self, folder: Path) -> Sequence[BlobInfo]:
        found: list[BlobInfo] = []
        for parent, folders, names in os.walk(folder):
            if Path(parent) == self._root:
                folders.remove(RESERVED)
            for name in names:
                path = Path(parent, name)
                with suppress(FileNotFoundError):
                    found.append(info(path.relative_to(self._root).as_posix(), path.stat()))
        return sorted(found, key=lambda blob: blob.key)

    def presign(self, key: str, *, expires: timedelta, file_name: str | None = None) -> str | None:
        """A folder has no address of its own."""
        del key, expires, file_name
        return None

    # --- deleting ---

    async def delete(self, key: str) -> None:
        target = self._path(key)
        await self._call(key, lambda: self._delete(target))

    async def delete_under(self, prefix: str) -> int:
        blobs = await self.list_under(prefix)
        for blob in blobs:
            await self.delete(blob.key)
        return len(blobs)

    def _delete(self, target: Path) -> None:
        try:
            target.unlink()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return
        folder = target.parent
        with suppress(FileNotFoundError):
            sync_folder(folder)
        with suppress(OSError):  # not empty: that is where the blobs of others begin
            while folder != self._root:
                folder.rmdir()
                folder = folder.parent

    async def close(self) -> None:
        """Nothing is kept open."""

    # --- edges ---

    def _path(self, key: str) -> Path:
        return self._root / checked_key(key)

    async def _call(self, key: str, function: Callable[[], T], *, writing: bool = False) -> T:
        return await asyncio.to_thread(self._now, key, function, writing=writing)

    def _now(self, key: str, function: Callable[[], T], *, writing: bool) -> T:
        try:
            return function()
        except OSError as error:
            raise self._translated(key, error, writing=writing) from error

    def _translated(self, key: str, error: OSError, *, writing: bool) -> Exception:
        match error.errno:
            case errno.ENOENT:
                return not_found(key)
            case errno.ENOTDIR | errno.EISDIR | errno.EEXIST | errno.ENOTEMPTY if writing:
                return Invalid(f"The file name {key!r} is already used as a folder, or within a file. Choose another.")
            case errno.ENOTDIR | errno.EISDIR:
                return not_found(key)
            case errno.ENAMETOOLONG:
                return Invalid(f"The file name {key[:80]!r}… is too long for the disk. Choose a shorter one.")
            case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
                return Unavailable(
                    f"The folder {self._root} has no space left. Free some space and try again. ({error})"
                )
            case errno.EACCES | errno.EPERM | errno.EROFS:
                return Unavailable(
                    f"The folder {self._root} cannot be used. Check that the service may read and write it. ({error})"
                )
            case _:
                return Unavailable(f"The folder {self._root} cannot be used. Check its disk. ({error})")


def create(path: Path, *, buffering: int) -> IO[bytes]:
    """A new file that only the service's own user may read."""
    return open(path, "xb", buffering=buffering, opener=lambda name, flags: os.open(name, flags, 0o600))


def write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def info(key: str, found: os.stat_result) -> BlobInfo:
    return BlobInfo(key=key, size=found.st_size, modified=datetime.fromtimestamp(found.st_mtime, UTC))


def not_found(key: str) -> NotFound:
    return NotFound(f"The file {key!r} does not exist.")


def too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The file is larger than the {max_bytes} bytes that are accepted. Send a smaller one.")
