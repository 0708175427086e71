"""The same database twice: a SQLite file, and a real PostgreSQL."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from firstlight.server.ports.database import Database
from firstlight.server.sealing.seal import Seal
from firstlight.server.store.connect import open_database
from firstlight.server.store.sql_store import SqlStore, open_store
from tests.databases import fresh_postgres, fresh_sqlite
from tests.peers import Postgres


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return fresh_sqlite(tmp_path)


@pytest.fixture
def server_url(postgres: Postgres) -> Iterator[str]:
    url = fresh_postgres(postgres)
    yield url
    postgres.drop(url)


@pytest.fixture(params=["sqlite_url", pytest.param("server_url", marks=pytest.mark.peer("postgres"))])
def database_url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@pytest.fixture
async def database(database_url: str, anyio_backend: str) -> AsyncIterator[Database]:
    database = await open_database(database_url)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> SqlStore:
    return open_store(database, seal=Seal([bytes(range(32))]))
