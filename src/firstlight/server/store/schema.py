"""Which schema a database has, and the call that brings it to ours."""

import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Final

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import Sql
from firstlight.server.store.migrations import HEAD

VERSION: Final = Sql("SELECT version_num FROM alembic_version")


def check_known(version: str | None, where: str) -> bool:
    """True when it is ours, False when it is older; a newer one is refused: we would write what it cannot read."""
    if version is not None and version > HEAD:
        raise Unavailable(
            f"The database ({where}) has schema {version}, but this Firstlight knows schemas up to {HEAD}."
            " Start the newer version again or restore a backup made before it."
        )
    return version == HEAD


def version_of_file(path: Path) -> str | None:
    """None for a file that is missing or has no tables yet."""
    if not path.exists():
        return None
    connection = sqlite3.connect(path)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'").fetchall()
        rows = connection.execute(VERSION.sqlite).fetchall() if tables else []
    finally:
        connection.close()
    return str(rows[0][0]) if rows else None


async def migrate(url: str) -> None:
    """Bring the database to the newest schema; does nothing when it is there. Safe from several replicas at once.

    A child process does it, so that the service neither waits for the import nor keeps its memory.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "firstlight.server.store.migrations",
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await child.communicate(url.encode() + b"\n")
    if child.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines() or ["it ended without a word"]
        raise Unavailable(f"The database could not be brought to schema {HEAD}: {lines[-1]}")
