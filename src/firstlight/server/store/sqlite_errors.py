"""What SQLite's error codes mean for the person who runs the service."""

import sqlite3
from pathlib import Path
from typing import Final

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import LostRace, Statement

PRIMARY: Final = 0xFF
"""The low byte of an error code is its family; the rest is detail."""

ADVICE: Final = {
    sqlite3.SQLITE_FULL: "has no space left on its disk. Free some space; the service goes on by itself",
    sqlite3.SQLITE_READONLY: "cannot be written. Check the file's permissions and that its disk is mounted writable",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and that the service may use it",
    sqlite3.SQLITE_PERM: "cannot be used by this user. Check the file's owner and permissions",
    sqlite3.SQLITE_BUSY: "is locked by another program. End that program (a shell, a backup) or wait for it",
    sqlite3.SQLITE_LOCKED: "is locked by another program. End that program (a shell, a backup) or wait for it",
    sqlite3.SQLITE_CORRUPT: "is damaged. Stop the service and restore the file from a backup",
    sqlite3.SQLITE_NOTADB: "is not a database. Point the service at another file or restore this one from a backup",
    sqlite3.SQLITE_IOERR: "met an error of its disk; whether the last change was kept is not known. Check the disk",
    sqlite3.SQLITE_NOMEM: "needs more memory than there is. Free memory or lower the load",
    sqlite3.SQLITE_PROTOCOL: "is locked by another program. End that program (a shell, a backup) or wait for it",
}
TAKEN: Final = (sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID)


def translated(path: Path, error: sqlite3.Error, *, statement: Statement | None = None) -> Exception:
    """The error to raise instead; a mistake in our own SQL stays what it is."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    if code in TAKEN:
        return LostRace(statement, "The same name was taken by somebody else meanwhile. Look again and try again.")
    advice = ADVICE.get(code & PRIMARY)
    if advice is None:
        return error
    return Unavailable(f"The database file {path} {advice}. ({error})")
