"""Databases with the newest schema for tests: migrated once per run, copied for each test."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from tests.peers import Postgres

TEMPLATE: Final = "template_firstlight"
MADE: Final[set[str]] = set()
"""URLs of the templates of the servers of this run."""


def migrated(url: str) -> None:
    """What `schema.migrate` does, for callers with or without a loop."""
    command = [sys.executable, "-m", "firstlight.server.store.migrations"]
    subprocess.run(command, input=f"{url}\n", text=True, check=True)


@cache
def migrated_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "template.sqlite")
        migrated(str(path))
        return path.read_bytes()


def fresh_sqlite(folder: Path) -> str:
    """The URL of a new file in the folder."""
    path = folder / "firstlight.sqlite"
    path.write_bytes(migrated_file())
    return f"sqlite://{path}"


def fresh_postgres(server: Postgres) -> str:
    """The URL of a new database; `server.drop(url)` removes it."""
    make_template(server.url(TEMPLATE), server)
    name = f"test_{next(server.numbers)}"
    server.run("createdb", "--template", TEMPLATE, name)
    return server.url(name)


def make_template(url: str, server: Postgres) -> None:
    if url not in MADE:
        server.run("createdb", TEMPLATE)
        migrated(url)
        MADE.add(url)
