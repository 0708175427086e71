"""What can befall a PostgreSQL server: a restart under load, a crash, long absence, a paused neighbour."""

import asyncio
import itertools
from collections.abc import Iterator

import asyncpg
import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import Database, LostRace, Sql, Statement
from firstlight.server.store.connect import open_database
from firstlight.server.store.postgres import PostgresDatabase
from tests.databases import fresh_postgres
from tests.peers import Postgres, free_port
from tests.restarting import Server, restarting_postgres
from tests.store.rows import ADD_EVENT, EVENTS, SECRETS, SET_SECRET, add_secret, events

pytestmark = [pytest.mark.anyio, pytest.mark.peer("postgres")]


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    with restarting_postgres() as server:
        yield server


WAITING: Sql = Sql(
    postgres="SELECT count(*) AS n, pg_sleep(0.01) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    sqlite="SELECT 1 AS n",
)


async def somebody_waits(database: Database) -> None:
    """Return once a transaction waits for a row that another one holds."""
    row = await database.fetch_one(WAITING)
    while row is not None and row["n"] == 0:
        row = await database.fetch_one(WAITING)


class Load:
    """Writers and a reader at full speed, and what each of them was told."""

    def __init__(self, database: Database, run: str) -> None:
        self._database = database
        self._run = run
        self._going = True
        self.acknowledged: set[str] = set()
        self.refused: list[str] = []
        self.reads = 0
        self._progress = asyncio.Event()

    async def write(self, writer: int) -> None:
        for number in itertools.count():
            if not self._going:
                return
            key = f"{self._run}-{writer}-{number}"
            # Two kinds: a single statement, and a transaction of several.
            more = events(key) if writer % 2 else ()
            try:
                await self._database.commit(add_secret(key), *more)
                self.acknowledged.add(key)
                self._progress.set()
            except Unavailable as error:
                self.refused.append(str(error))

    async def read(self) -> None:
        while self._going:
            try:
                await self._database.fetch(SECRETS)
                self.reads += 1
            except Unavailable as error:
                self.refused.append(str(error))

    def start(self) -> "asyncio.Future[list[None]]":
        return asyncio.gather(*(self.write(writer) for writer in range(6)), self.read())

    async def until(self, acknowledged: int) -> None:
        while len(self.acknowledged) < acknowledged:
            self._progress.clear()
            await self._progress.wait()

    def end(self) -> None:
        self._going = False


@pytest.mark.parametrize("how", ["fast", "immediate"])
async def test_a_restart_under_load_loses_nothing_acknowledged(own_server: Server, how: str) -> None:
    url = await asyncio.to_thread(fresh_postgres, own_server.peer)
    database = await open_database(url)
    load = Load(database, how)
    async with database.subscribe("c") as notices:
        assert await anext(notices) == ""
        running = load.start()
        await load.until(100)
        await own_server.stop(how)
        await own_server.start()
        await load.until(len(load.acknowledged) + 100)
        load.end()
        await running
        assert await anext(notices) == "", "the listener is back and says that something may have been missed"
        await database.notify("c", "after")
        assert await anext(notices) == "after"
    kept = {row["subject"] for row in await database.fetch(SECRETS)}
    assert load.acknowledged <= kept
    unknown = [sentence for sentence in load.refused if "not known" in sentence]
    assert len(kept - load.acknowledged) <= len(unknown), "a commit was kept whose writer was told it was not"
    assert load.reads > 0
    numbered = await database.fetch(EVENTS)
    assert [row["seq"] for row in numbered] == list(range(1, len(numbered) + 1))
    assert {row["message"] for row in numbered} == {key for key in kept if int(key.split("-")[1]) % 2}
    await database.close()


async def test_a_server_that_stays_away_is_named_and_found_again(
    own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.server.store.postgres.PAUSES", (0.01, 0.02))
    url = await asyncio.to_thread(fresh_postgres, own_server.peer)
    database = await open_database(url)
    await database.commit(add_secret("a"))
    await own_server.stop("fast")
    for call in (
        database.fetch(SECRETS),
        database.commit(add_secret("b")),
        database.commit(add_secret("b"), *events("b")),
    ):
        with pytest.raises(Unavailable) as caught:
            await call
        assert f"127.0.0.1:{own_server.peer.port}" in str(caught.value)
        assert own_server.peer.password not in str(caught.value)
    await own_server.start()
    await database.commit(add_secret("c"))
    assert [row["subject"] for row in await database.fetch(SECRETS)] == ["a", "c"]
    await database.close()


async def test_a_number_waits_for_the_paused_commit_before_it(server_url: str) -> None:
    """Two replicas: one has taken its number and pauses; the other's later number must not be seen first."""
    database = await open_database(server_url)
    paused = await asyncpg.connect(server_url)
    await paused.execute("BEGIN")
    await paused.execute(ADD_EVENT.postgres, "first")
    later = asyncio.create_task(database.commit(add_secret("a"), *events("second")))
    await somebody_waits(database)
    assert list(await database.fetch(EVENTS)) == []
    assert not later.done()
    await paused.execute("COMMIT")
    await later
    assert [(row["seq"], row["message"]) for row in await database.fetch(EVENTS)] == [(1, "first"), (2, "second")]
    await paused.close()
    await database.close()


async def test_a_deadlock_is_a_lost_race(server_url: str) -> None:
    database = await open_database(server_url)
    await database.commit(add_secret("a"), add_secret("b"))
    other = await asyncpg.connect(server_url)
    await other.execute("SET deadlock_timeout = '60s'")  # so that ours is the one that finds it, and gives way
    await other.execute("BEGIN")
    await other.execute(SET_SECRET.postgres, b"other", "b")
    ours = [Statement(SET_SECRET, {"subject": subject, "value": b"ours"}) for subject in ("a", "b")]
    committing = asyncio.create_task(database.commit(*ours))
    await somebody_waits(database)
    await other.execute(SET_SECRET.postgres, b"other", "a")
    with pytest.raises(LostRace):
        await committing
    await other.execute("COMMIT")
    await other.close()
    assert {bytes(row["value"]) for row in await database.fetch(SECRETS)} == {b"other"}
    await database.close()


@pytest.mark.parametrize(
    ("part", "wrong", "advice"),
    [
        (":{password}@", ":wrong@", "password"),
        ("/test_", "/absent_", "Create it"),
        (":{port}/", ":{free}/", "PostgreSQL runs"),
    ],
    ids=["password", "database", "port"],
)
async def test_what_is_wrong_with_a_url_is_said_without_the_password(
    postgres: Postgres, server_url: str, monkeypatch: pytest.MonkeyPatch, part: str, wrong: str, advice: str
) -> None:
    monkeypatch.setattr("firstlight.server.store.postgres.PAUSES", (0.01,))
    part = part.format(password=postgres.password, port=postgres.port)
    assert part in server_url
    with pytest.raises(Unavailable, match=advice) as caught:
        await open_database(server_url.replace(part, wrong.format(free=free_port())))
    assert postgres.password not in str(caught.value)


async def test_a_row_locked_for_too_long_is_unavailable(server_url: str) -> None:
    database = PostgresDatabase(server_url)
    await database.commit(add_secret("a"))
    holder = await asyncpg.connect(server_url)
    await holder.execute("BEGIN")
    await holder.execute(SET_SECRET.postgres, b"x", "a")
    impatient = Statement(Sql(postgres="SET LOCAL lock_timeout = '50ms'", sqlite="SELECT 1"))
    with pytest.raises(Unavailable, match="pg_stat_activity"):
        await database.commit(impatient, Statement(SET_SECRET, {"subject": "a", "value": b"y"}))
    await holder.close()
    await database.commit(Statement(SET_SECRET, {"subject": "a", "value": b"y"}, expect_rows=1))
    await database.close()


async def test_a_socket_is_a_place_too(postgres: Postgres, server_url: str) -> None:
    name = server_url.rpartition("/")[2]
    database = await open_database(f"postgresql:///{name}?host={postgres.sockets}&port={postgres.port}&user=firstlight")
    await database.commit(add_secret("a"))
    assert len(await database.fetch(SECRETS)) == 1
    await database.close()


async def test_more_callers_than_connections_take_turns(server_url: str) -> None:
    database = await open_database(server_url)
    await asyncio.gather(*(database.commit(add_secret(f"{number:03}")) for number in range(200)))
    row = await database.fetch_one(
        Sql(postgres="SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()", sqlite="SELECT 1")
    )
    assert row is not None
    assert row["n"] <= 10
    assert len(await database.fetch(SECRETS)) == 200
    with pytest.raises(LostRace):
        await database.commit(add_secret("000"))
    await database.close()
