"""From nothing to the newest schema, on both databases, by one or by many at once."""

import asyncio
import sqlite3
from pathlib import Path

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

import firstlight.server.store.migrations
from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.store.connect import open_database
from firstlight.server.store.filelock import FileLock
from firstlight.server.store.migrations import HEAD
from firstlight.server.store.places import PostgresPlace, SqlitePlace, place
from firstlight.server.store.schema import migrate, version_of_file
from tests.store.rows import SECRETS, add_secret

pytestmark = pytest.mark.anyio


def test_the_constant_is_the_newest_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(firstlight.server.store.migrations.__file__).parent))
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [HEAD]
    revisions = [step.revision for step in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True), "numbers are compared as text"


async def test_both_databases_have_the_same_tables(sqlite_url: str, server_url: str) -> None:
    file = sqlite3.connect(sqlite_url.removeprefix("sqlite://"))
    named = file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'")
    tables = [name for (name,) in named]
    here = {
        (table, name): (kind.replace("BLOB", "bytea").replace("INTEGER", "bigint").lower(), bool(required), key)
        for table in tables
        for _, name, kind, required, _, key in file.execute(f"PRAGMA table_info({table})")
    }
    indexes = {
        (name, tuple(column for *_, column in file.execute(f"PRAGMA index_info({name})")))
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    }
    file.close()
    server = await asyncpg.connect(server_url)
    there = {
        (row["table_name"], row["column_name"]): (row["kind"], row["is_nullable"] == "NO", row["key"])
        for row in await server.fetch(
            "SELECT c.table_name, c.column_name, c.is_nullable, coalesce(k.ordinal_position, 0) AS key,"
            " CASE WHEN c.data_type LIKE 'character%' THEN 'varchar(32)' ELSE c.data_type END AS kind"
            " FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k"
            " USING (table_schema, table_name, column_name) WHERE c.table_schema = 'public'"
        )
    }
    found = await server.fetch(
        "SELECT i.relname AS name, array_agg(a.attname ORDER BY a.attnum) AS columns FROM pg_index x"
        " JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace n ON n.oid = i.relnamespace"
        " JOIN pg_attribute a ON a.attrelid = i.oid WHERE n.nspname = 'public' AND NOT x.indisprimary GROUP BY 1"
    )
    await server.close()
    assert here == there
    assert indexes == {(row["name"], tuple(row["columns"])) for row in found}
    assert len(tables) >= 15


async def test_replicas_may_start_at_once(postgres_url: str) -> None:
    databases = await asyncio.gather(*(open_database(postgres_url) for _ in range(3)))
    for number, database in enumerate(databases):
        await database.commit(add_secret(str(number)))
    assert [len(await database.fetch(SECRETS)) for database in databases] == [3, 3, 3]
    for database in databases:
        await database.close()


async def test_migrating_again_keeps_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "new" / "db.sqlite"
    database = await open_database(str(path))
    await database.commit(add_secret("a"))
    await database.close()
    assert version_of_file(path) == HEAD
    await migrate(str(path))
    database = await open_database(path.as_uri())
    assert len(await database.fetch(SECRETS)) == 1
    await database.close()


async def test_a_running_service_keeps_its_file_from_being_migrated(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    with FileLock(path), pytest.raises(Unavailable, match="in use by another service"):
        await migrate(str(path))


async def test_a_newer_schema_is_refused(sqlite_url: str, server_url: str) -> None:
    file = sqlite3.connect(sqlite_url.removeprefix("sqlite://"))
    file.execute("UPDATE alembic_version SET version_num = '9999'")
    file.commit()
    file.close()
    server = await asyncpg.connect(server_url)
    await server.execute("UPDATE alembic_version SET version_num = '9999'")
    await server.close()
    for url in (sqlite_url, server_url):
        for call in (open_database, migrate):
            with pytest.raises(Unavailable, match="schema 9999"):
                await call(url)


async def test_a_step_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE manifests (something TEXT)")
    file.close()
    with pytest.raises(Unavailable, match="manifests already exists"):
        await open_database(str(path))
    assert version_of_file(path) is None
    file = sqlite3.connect(path)
    assert [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")] == ["manifests"]
    file.close()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///data/x.sqlite", "/data/x.sqlite"),
        ("sqlite:////data/x.sqlite", "/data/x.sqlite"),
        ("sqlite:x.sqlite", "x.sqlite"),
        ("sqlite:///a%20b?mode=rw", "/a b"),
        ("file:///data/x", "/data/x"),
        ("/data/x", "/data/x"),
        ("data/x", "data/x"),
    ],
)
def test_places_of_files(url: str, path: str) -> None:
    assert place(url) == SqlitePlace(Path(path))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db.example:5432/name", "db.example:5432/name"),
        ("postgres://db/name", "db/name"),
        ("postgresql:///name?host=/run/postgresql", "the local socket/name"),
    ],
)
def test_places_of_servers_hide_the_password(url: str, shown: str) -> None:
    found = place(url)
    assert isinstance(found, PostgresPlace)
    assert found.shown == shown


@pytest.mark.parametrize("url", ["", "mysql://x/y", "http://x"])
def test_other_places_are_refused(url: str) -> None:
    with pytest.raises(Invalid, match="postgresql://"):
        place(url)
