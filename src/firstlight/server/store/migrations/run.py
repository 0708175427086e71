"""Bring a database to the newest schema. Imports alembic, so only the child process of `schema.migrate` comes here."""

import asyncio
import io
import sqlite3
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config

from firstlight.server.store.filelock import FileLock
from firstlight.server.store.places import SqlitePlace, place
from firstlight.server.store.postgres_pool import connect
from firstlight.server.store.schema import VERSION, check_known, version_of_file

LOCK: Final = 0x66697273746C
"""PostgreSQL's advisory lock that one migrating replica holds; the others wait and find the work done."""


def render(dialect: str, *, since: str | None) -> str:
    """The SQL of every step after `since`, as one transaction."""
    script = io.StringIO()
    config = Config(output_buffer=script)
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["dialect"] = dialect
    command.upgrade(config, f"{since or 'base'}:head", sql=True)
    return script.getvalue()


def upgrade(url: str) -> None:
    """Safe to call at any time, from any number of replicas at once."""
    target = place(url)
    if isinstance(target, SqlitePlace):
        upgrade_file(target.path)
    else:
        asyncio.run(upgrade_server(target.url))


def upgrade_file(path: Path) -> None:
    with FileLock(path):
        since = version_of_file(path)
        if check_known(since, str(path)):
            return
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.executescript(render("sqlite", since=since))
        finally:
            connection.close()


async def upgrade_server(url: str) -> None:
    connection = await connect(url)
    try:
        await connection.execute(f"SELECT pg_advisory_lock({LOCK})")
        exists = await connection.fetch("SELECT to_regclass('alembic_version') IS NOT NULL AS it")
        rows = await connection.fetch(VERSION.postgres) if exists[0]["it"] else []
        since = str(rows[0]["version_num"]) if rows else None
        if not check_known(since, "PostgreSQL"):
            await connection.execute(render("postgresql", since=since))
    finally:
        await connection.close()
