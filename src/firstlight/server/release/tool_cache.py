"""Programs taken out of releases, kept within a bound: whoever uses one holds a lock that keeps it from being evicted.

The locks belong to the file system, so several processes may share the folder, and a killed one holds nothing.
"""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from firstlight.core.errors import Unavailable
from firstlight.server.release.work_folders import sweep, work_folder

log = structlog.get_logger(__name__)

LOCK: Final = ".in-use"
UNFINISHED: Final = ".unfinished-"

Make = Callable[[Path], Awaitable[None]]
"""Writes a program to the path it is given."""


class ToolCache:
    """One folder per program, the least recently used goes first."""

    def __init__(self, folder: Path, *, capacity: int) -> None:
        """`capacity` in bytes; 0 means without bound."""
        self._folder = folder
        self._capacity = capacity
        self._making: dict[str, asyncio.Lock] = {}
        sweep(folder, prefix=UNFINISHED)

    @asynccontextmanager
    async def using(self, key: str, program: str, *, make: Make) -> AsyncGenerator[Path]:
        """The path of a program, made now if nobody did before; it stays while the block runs."""
        place = self._folder / key
        lock = await self._held(place, program)
        if lock is None:
            async with self._making.setdefault(key, asyncio.Lock()):
                lock = await self._held(place, program)
                if lock is None:
                    await self._make(place, program, make=make)
                    lock = await self._held(place, program)
        if lock is None:
            raise Unavailable(f"{program} was removed from {self._folder} while it was wanted. Try again.")
        try:
            yield place / program
        finally:
            os.close(lock)

    async def _make(self, place: Path, program: str, *, make: Make) -> None:
        try:
            async with work_folder(self._folder, prefix=UNFINISHED) as part:
                await make(part / program)
                await asyncio.to_thread(_publish, part, place, program)
        except OSError as problem:
            raise Unavailable(f"{program} cannot be kept in {self._folder}: {problem.strerror}.") from problem
        await asyncio.to_thread(self._evict, keep=place)

    async def _held(self, place: Path, program: str) -> int | None:
        return await asyncio.to_thread(_hold, place, program)

    def _evict(self, *, keep: Path) -> None:
        if not self._capacity:
            return
        kept = sorted(_entries(self._folder), key=lambda entry: entry.stat().st_mtime, reverse=True)
        total = 0
        for entry in kept:
            size = sum(file.stat().st_size for file in entry.iterdir())
            total += size
            if total > self._capacity and entry != keep and _removed(entry):
                log.info("a tool was evicted", entry=entry.name, bytes=size)
                total -= size


def _entries(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.name.startswith(UNFINISHED):
            yield entry


def _publish(part: Path, place: Path, program: str) -> None:
    (part / LOCK).touch()
    with (part / program).open("rb") as file:
        os.fsync(file.fileno())
    # Somebody else may have been faster; theirs is as good as ours.
    with suppress(OSError):
        part.rename(place)


def _hold(place: Path, program: str) -> int | None:
    """Share the entry's lock; None if there is no entry (any more)."""
    try:
        lock = os.open(place / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    if not (place / program).exists():
        os.close(lock)
        return None
    os.utime(place)
    return lock


def _removed(entry: Path) -> bool:
    """Remove an entry that nobody uses."""
    try:
        lock = os.open(entry / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
