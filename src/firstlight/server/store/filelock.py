"""One service per SQLite file: a lock beside it that ends with the process, however that ends."""

import fcntl
import os
from pathlib import Path
from typing import Self

from firstlight.core.errors import Unavailable


class FileLock:
    """Held from creation to `release`. The lock is on a file of its own: SQLite keeps its locks on the data file."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".lock")
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(
                f"The lock file {self.path} cannot be opened ({error.strerror})."
                " Check that the folder exists and that the service may write to it."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._file)
            raise Unavailable(
                f"The database file {database} is in use by another service (process {holder})."
                " Stop it, give this one a file of its own, or use PostgreSQL to run several."
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()
