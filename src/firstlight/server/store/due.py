"""The queue of what is due. A claim is one short statement; who claimed is remembered until the row is settled.

Leases run by the database's clock on PostgreSQL, where replicas on several machines share them, and by the caller's on
SQLite, where there is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from firstlight.server.ports.database import Database, Param, Sql, Statement
from firstlight.server.ports.rows import DueRow
from firstlight.server.ports.writes import Cancel, MakeDue
from firstlight.server.store import operations
from firstlight.server.store.documents import MICROSECOND, micros, moment, optional_micros, optional_moment
from firstlight.server.store.inserting import insert

PUT: Final = insert(
    "due",
    {"subject": "text", "kind": "text", "at": "bigint"},
    fixed={"generation": "1"},
    then=(
        "ON CONFLICT (subject, kind) DO UPDATE SET generation = due.generation + 1,"
        " at = CASE WHEN excluded.at < due.at THEN excluded.at ELSE due.at END"
    ),
)
CANCEL: Final = Sql("DELETE FROM due WHERE subject = :subject")
CLAIM_TEXT: Final = (
    "UPDATE due SET owner = :owner, lease_until = {clock} + :lease WHERE (subject, kind) IN"
    " (SELECT subject, kind FROM due WHERE at <= :now AND (lease_until IS NULL OR lease_until <= {clock})"
    " ORDER BY at LIMIT :limit{lock}) RETURNING subject, kind, at, generation, attempts, owner, lease_until"
)
CLAIM: Final = Sql(
    postgres=CLAIM_TEXT.format(clock="now_us()", lock=" FOR UPDATE SKIP LOCKED"),
    sqlite=CLAIM_TEXT.format(clock=":now", lock=""),
)
MINE: Final = " WHERE subject = :subject AND kind = :kind AND owner = :owner AND lease_until = :lease_until"
MOVE: Final = (
    "UPDATE due SET owner = NULL, lease_until = NULL, attempts = {attempts},"
    " at = CASE WHEN generation = :generation THEN CAST(:at AS BIGINT) ELSE at END"
)
SETTLE: Final = Sql(MOVE.format(attempts="0") + MINE)
RETRY: Final = Sql(MOVE.format(attempts="attempts + 1") + MINE)
FINISH: Final = Sql(
    "DELETE FROM due WHERE subject = :subject AND kind = :kind AND owner = :owner AND lease_until = :lease_until"
    " AND generation = :generation"
)
RELEASE: Final = Sql(
    "UPDATE due SET owner = NULL, lease_until = NULL, attempts = 0"
    " WHERE subject = :subject AND kind = :kind AND owner = :owner AND lease_until = :lease_until"
)
FREE_ALL: Final = Sql("UPDATE due SET owner = NULL, lease_until = NULL WHERE lease_until IS NOT NULL")
FREE: Final = Sql("UPDATE due SET owner = NULL, lease_until = NULL WHERE owner = ANY(:owners)")
OWNERS: Final = Sql(
    "SELECT owner FROM due WHERE lease_until IS NOT NULL AND owner IS NOT NULL"
    " UNION SELECT owner FROM operations WHERE state = 'running' AND owner IS NOT NULL ORDER BY owner"
)
NEXT: Final = Sql(
    "SELECT (SELECT at FROM due WHERE lease_until IS NULL ORDER BY at LIMIT 1) AS free,"
    " (SELECT lease_until FROM due WHERE lease_until IS NOT NULL ORDER BY lease_until LIMIT 1) AS claimed"
)
OLDEST_TEXT: Final = (
    "SELECT at FROM due WHERE at <= :now AND (lease_until IS NULL OR lease_until <= {clock}) ORDER BY at LIMIT 1"
)
OLDEST: Final = Sql(postgres=OLDEST_TEXT.format(clock="now_us()"), sqlite=OLDEST_TEXT.format(clock=":now"))


def put(write: MakeDue) -> Iterator[Statement]:
    yield Statement(PUT, {"subject": write.subject, "kind": write.kind, "at": micros(write.at)})


def cancel(write: Cancel) -> Iterator[Statement]:
    yield Statement(CANCEL, {"subject": write.subject})


async def claim(database: Database, *, owner: str, now: datetime, lease: timedelta, limit: int) -> Sequence[DueRow]:
    """Losing a claim in a power cut is harmless: the row is simply due again."""
    rows = await database.claim(
        CLAIM, relaxed=True, owner=owner, now=micros(now), lease=lease // MICROSECOND, limit=limit
    )
    claimed = [
        DueRow(
            subject=row["subject"],
            kind=row["kind"],
            at=moment(row["at"]),
            generation=row["generation"],
            attempts=row["attempts"],
            owner=row["owner"],
            lease_until=optional_moment(row["lease_until"]),
        )
        for row in rows
    ]
    return sorted(claimed, key=lambda row: (row.at, row.subject, row.kind))


def mine(row: DueRow) -> Mapping[str, Param]:
    return {
        "subject": row.subject,
        "kind": row.kind,
        "owner": row.owner,
        "lease_until": optional_micros(row.lease_until),
        "generation": row.generation,
    }


async def settle(database: Database, row: DueRow, *, next_at: datetime | None) -> None:
    params = mine(row)
    if next_at is not None:
        await database.commit(Statement(SETTLE, {**params, "at": micros(next_at)}), relaxed=True)
        return
    claimed = {name: params[name] for name in RELEASE.names}
    await database.commit(Statement(FINISH, params), Statement(RELEASE, claimed), relaxed=True)


async def retry(database: Database, row: DueRow, *, at: datetime) -> None:
    await database.commit(Statement(RETRY, {**mine(row), "at": micros(at)}), relaxed=True)


async def owners(database: Database) -> Sequence[str]:
    return [row["owner"] for row in await database.fetch(OWNERS)]


async def free(database: Database, owners: Sequence[str]) -> None:
    if owners:
        theirs = {"owners": list(owners)}
        await database.commit(Statement(FREE, theirs), Statement(operations.FREE, theirs), relaxed=True)


async def next_at(database: Database) -> datetime | None:
    row = await database.fetch_one(NEXT)
    if row is None:
        return None
    times: list[int] = [at for at in (row["free"], row["claimed"]) if at is not None]
    return moment(min(times)) if times else None


async def oldest_overdue(database: Database, now: datetime) -> timedelta | None:
    row = await database.fetch_one(OLDEST, now=micros(now))
    return None if row is None else now - moment(row["at"])
