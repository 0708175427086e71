"""PostgreSQL behind the database port: one statement per commit where possible, and a connection apart that listens.

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
from firstlight.server.store.postgres_merge import LOST, RELAXED, Trip, trips
from firstlight.server.store.postgres_pool import Pool

PAUSES: Final = (0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds between tries; after the last the caller is told."""
BEGIN: Final = "BEGIN"
BEGIN_RELAXED: Final = f"BEGIN; SELECT {RELAXED}"
CLAIM_RELAXED: Final = "WITH claimed AS ({claim}) SELECT *, {relaxed} FROM claimed"
TAKEN: Final = "The same name was taken by somebody else meanwhile. Look again and try again."
CHANGED: Final = "Somebody else changed it meanwhile. Look again and try again."

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
        made = trips(work, relaxed=relaxed)
        if not made:
            return ()
        if len(made) == 1 and made[0].text:
            # One statement is a transaction of its own: one trip instead of three.
            only = made[0]
            return tuple(await self._persist(lambda connection: self._alone(run(connection, only))))

        async def all_of_it(connection: asyncpg.Connection) -> tuple[int, ...]:
            counts: list[int] = []
            for trip in made:
                counts.extend(await run(connection, trip))
            return tuple(counts)

        return await self._persist(lambda connection: self._transaction(connection, all_of_it, relaxed=relaxed))

    async def claim(self, sql: Sql, /, *, relaxed: bool = False, **params: Param) -> Sequence[Row]:
        arguments = sql.for_postgres(params)
        text = CLAIM_RELAXED.format(claim=sql.postgres, relaxed=RELAXED) if relaxed else sql.postgres
        return await self._persist(lambda connection: self._alone(connection.fetch(text, *arguments)))

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


async def run(connection: asyncpg.Connection, trip: Trip) -> list[int]:
    """The number of rows each item touched, in order."""
    try:
        if trip.text:
            return trip.counts((await connection.fetch(trip.text, *trip.arguments))[0])
        return [await run_rows(connection, item) for item in trip.items if isinstance(item, Statement)]
    except asyncpg.UniqueViolationError as error:
        raise LostRace(trip.loser(table=error.table_name), TAKEN) from error
    except asyncpg.InvalidTextRepresentationError as error:
        if not LOST.search(str(error)):
            raise
        raise LostRace(trip.loser(message=str(error)), CHANGED) from error


async def run_rows(connection: asyncpg.Connection, item: Statement) -> int:
    """A statement that goes alone."""
    sql, rows = item.sql, item.rows
    if rows is None:
        count = tagged(await connection.execute(sql.postgres, *sql.for_postgres(item.params)))
    elif not rows:
        count = 0
    elif sql.postgres_many:
        count = tagged(await connection.execute(sql.postgres_many, *sql.columns(rows)))
    else:
        # A row per row touched: asyncpg does not tell the numbers of a batch.
        count = len(await connection.fetchmany(sql.postgres + " RETURNING 1", map(sql.for_postgres, rows)))
    if item.expect_rows is not None and count != item.expect_rows:
        raise LostRace(item, CHANGED)
    return count


def tagged(tag: str) -> int:
    """The count in `UPDATE 3` or `INSERT 0 1`; other commands touch no rows."""
    number = tag.rpartition(" ")[2]
    return int(number) if number.isdigit() else 0
