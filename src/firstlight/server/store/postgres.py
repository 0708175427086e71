"""PostgreSQL behind the database port: one transaction per commit, and a connection apart that listens.

A read that meets a lost connection is tried again; so is a commit, as long as it is certain that nothing was kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeVar

import asyncpg

from firstlight.core.errors import Error
from firstlight.server.ports.database import LostRace, Notify, Param, Row, Sql, Statement
from firstlight.server.store.notices import Readers, Subscription
from firstlight.server.store.places import PostgresPlace
from firstlight.server.store.postgres_errors import lost, outcome_unknown, translated
from firstlight.server.store.postgres_listener import Listener
from firstlight.server.store.postgres_merge import merged, trips
from firstlight.server.store.postgres_pool import Pool

PAUSES: Final = (0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds between tries; after the last the caller is told."""
BEGIN: Final = "BEGIN"
BEGIN_RELAXED: Final = "BEGIN; SET LOCAL synchronous_commit = off"
TAKEN: Final = "The same name was taken by somebody else meanwhile. Look again and try again."
CHANGED: Final = "Somebody else changed it meanwhile. Look again and try again."
PG_NOTIFY: Final = "SELECT pg_notify($1, $2)"

T = TypeVar("T")


class PostgresDatabase:
    """Made inside the loop that will use it; connects on first use."""

    def __init__(self, url: str) -> None:
        self._where = PostgresPlace(url).shown
        self._pool = Pool(url)
        self._readers = Readers()
        self._listener = Listener(url, self._readers)

    async def fetch(self, sql: Sql, /, *, large: bool = False, **params: Param) -> Sequence[Row]:
        del large  # rows arrive piece by piece from the network: the loop is not held
        return await self._rows(sql, params)

    async def fetch_one(self, sql: Sql, /, **params: Param) -> Row | None:
        rows = await self._rows(sql, params)
        return rows[0] if rows else None

    async def _rows(self, sql: Sql, params: Mapping[str, Param]) -> Sequence[Row]:
        arguments = sql.for_postgres(params)
        return await self._persist(lambda connection: connection.fetch(sql.postgres, *arguments))

    async def commit(self, *work: Statement | Notify, relaxed: bool = False) -> tuple[int, ...]:
        if not work:
            return ()
        only = work[0] if len(work) == 1 and not relaxed else None
        if only is not None and (isinstance(only, Notify) or only.expect_rows is None):
            # One statement is a transaction of its own: one trip instead of three.
            return (await self._persist(lambda connection: self._alone(run(connection, only))),)

        async def all_of_it(connection: asyncpg.Connection) -> tuple[int, ...]:
            counts: list[int] = []
            for trip in trips(work):
                counts.extend(await run_together(connection, trip))
            return tuple(counts)

        return await self._persist(lambda connection: self._transaction(connection, all_of_it, relaxed=relaxed))

    async def claim(self, sql: Sql, /, *, relaxed: bool = False, **params: Param) -> Sequence[Row]:
        arguments = sql.for_postgres(params)

        async def it(connection: asyncpg.Connection) -> Sequence[Row]:
            return await connection.fetch(sql.postgres, *arguments)

        if relaxed:
            return await self._persist(lambda connection: self._transaction(connection, it, relaxed=True))
        return await self._persist(lambda connection: self._alone(it(connection)))

    async def notify(self, channel: str, payload: str = "") -> None:
        await self.commit(Notify(channel, payload))

    def subscribe(self, channel: str) -> Subscription:
        return self._listener.subscribe(channel)

    async def close(self) -> None:
        await self._listener.close()
        await self._readers.close()
        await self._pool.close()

    async def _persist(self, attempt: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Try until it is done. A lost connection leaves `attempt` as asyncpg's own error only if nothing was kept."""
        for pause in (*PAUSES, None):
            connection, healthy = None, False
            try:
                connection = await self._pool.take()
                result = await attempt(connection)
                healthy = True
                return result
            except Error as error:
                healthy = isinstance(error, LostRace)
                raise
            except Exception as error:
                healthy = isinstance(error, asyncpg.PostgresError) and not lost(error)
                if pause is None or not lost(error):
                    raise translated(self._where, error) from error
            finally:
                if connection is not None:
                    self._pool.give(connection, healthy=healthy)
            self._pool.drop_idle()
            await asyncio.sleep(pause)
        raise AssertionError("the last pause is None")

    async def _alone(self, statement: Awaitable[T]) -> T:
        try:
            return await statement
        except Exception as error:
            if lost(error):
                raise outcome_unknown(self._where, error) from error
            raise

    async def _transaction(
        self, connection: asyncpg.Connection, body: Callable[[asyncpg.Connection], Awaitable[T]], *, relaxed: bool
    ) -> T:
        await connection.execute(BEGIN_RELAXED if relaxed else BEGIN)
        try:
            result = await body(connection)
        except (LostRace, asyncpg.PostgresError):
            try:
                await connection.execute("ROLLBACK")
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()
            raise
        await self._alone(connection.execute("COMMIT"))
        return result


async def run_together(connection: asyncpg.Connection, trip: Sequence[Statement | Notify]) -> list[int]:
    """The number of rows each touched, in order."""
    statements = [item for item in trip if isinstance(item, Statement)]
    if len(trip) == 1 or not statements:
        return [await run(connection, item) for item in trip]
    text, arguments = merged(trip)
    try:
        row = (await connection.fetch(text, *arguments))[0]
    except asyncpg.UniqueViolationError as error:
        raise LostRace(None, TAKEN) from error
    touched = iter(range(len(statements)))
    counts = [0 if isinstance(item, Notify) else int(row[f"c{next(touched)}"]) for item in trip]
    for item, count in zip(trip, counts, strict=True):
        if isinstance(item, Statement) and item.expect_rows not in (None, count):
            raise LostRace(item, CHANGED)
    return counts


async def run(connection: asyncpg.Connection, item: Statement | Notify) -> int:
    """The number of rows it touched."""
    if isinstance(item, Notify):
        await connection.execute(PG_NOTIFY, item.channel, item.payload)
        return 0
    sql, rows = item.sql, item.rows
    try:
        if rows is None:
            count = tagged(await connection.execute(sql.postgres, *sql.for_postgres(item.params)))
        elif not rows:
            count = 0
        elif sql.postgres_many:
            count = tagged(await connection.execute(sql.postgres_many, *sql.columns(rows)))
        else:
            # A row per row touched: asyncpg does not tell the numbers of a batch.
            count = len(await connection.fetchmany(sql.postgres + " RETURNING 1", map(sql.for_postgres, rows)))
    except asyncpg.UniqueViolationError as error:
        raise LostRace(item, TAKEN) from error
    if item.expect_rows is not None and count != item.expect_rows:
        raise LostRace(item, CHANGED)
    return count


def tagged(tag: str) -> int:
    """The count in `UPDATE 3` or `INSERT 0 1`; other commands touch no rows."""
    number = tag.rpartition(" ")[2]
    return int(number) if number.isdigit() else 0
