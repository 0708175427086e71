"""Private folders that go when their work is done, and when the program that made them was killed.

Whoever works in a folder holds its lock, which ends with the process: what nobody holds was left behind.
"""

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


@asynccontextmanager
async def work_folder(parent: Path, *, prefix: str) -> AsyncGenerator[Path]:
    """A folder that only we can read, gone afterwards. It may be renamed meanwhile, and then stays."""
    folder, lock = await asyncio.to_thread(_made, parent, prefix)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path, *, prefix: str) -> None:
    """Remove what killed processes left; blocking."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    parent.mkdir(parents=True, exist_ok=True)
    while True:
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            # File systems without locks have nobody who could take a folder away either.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_SH)
            # Between its making and its lock somebody may have taken it for a left one.
            if folder.exists():
                return folder, lock
            os.close(lock)
