"""From a URL to a database that is ready to use."""

import asyncio
import sqlite3
from pathlib import Path

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.store import due, operations
from firstlight.server.store.places import PostgresPlace, SqlitePlace, place
from firstlight.server.store.postgres import PostgresDatabase
from firstlight.server.store.schema import VERSION, check_known, migrate, version_of_file
from firstlight.server.store.sqlite import SqliteDatabase
from firstlight.server.store.sqlite_errors import translated

HAS_VERSION = Sql(
    postgres="SELECT 1 AS it WHERE to_regclass('alembic_version') IS NOT NULL",
    sqlite="SELECT 1 AS it FROM sqlite_master WHERE name = 'alembic_version'",
)


async def open_database(url: str) -> Database:
    """Open it, bringing its schema up to date first when it is behind."""
    target = place(url)
    return await (open_sqlite(target) if isinstance(target, SqlitePlace) else open_postgres(target))


async def open_sqlite(target: SqlitePlace) -> Database:
    """The file is ours alone: what a service that was killed had claimed is free again at once."""
    make_file(target.path)
    try:
        version = await asyncio.to_thread(version_of_file, target.path)
    except sqlite3.Error as error:
        raise translated(target.path, error) from error
    if not check_known(version, str(target.path)):
        await migrate(str(target.path))
    database = await SqliteDatabase.open(target.path)
    try:
        await database.commit(Statement(due.FREE_ALL), Statement(operations.FREE_ALL), relaxed=True)
    except BaseException:
        await database.close()
        raise
    return database


def make_file(path: Path) -> None:
    """It will hold pull secrets and keys: a new one is for the service's own user only, with all SQLite puts beside."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise Unavailable(
            f"The database file {path} cannot be made ({error.strerror})."
            " Check that its folder exists and that the service may write to it."
        ) from error


async def open_postgres(target: PostgresPlace) -> Database:
    database = PostgresDatabase(target.url)
    try:
        row = await database.fetch_one(VERSION) if await database.fetch_one(HAS_VERSION) else None
        if not check_known(str(row["version_num"]) if row else None, target.shown):
            await migrate(target.url)
    except BaseException:
        await database.close()
        raise
    return database
