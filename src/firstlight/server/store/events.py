"""The sequence of events: appended with consecutive numbers in commit order, read on by number.

On SQLite the one writer numbers them. On PostgreSQL the numbers come from one counter row that the same statement
raises: its lock makes writers of events wait for each other, so this statement comes last in a commit.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final
from uuid import UUID

from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import About, Recorded
from firstlight.server.ports.database import Database, Param, Row, Sql, Statement
from firstlight.server.store.documents import ENCODER, PROPERTIES, micros, moment, plain, text_or_none

FIELDS: Final = (
    "event_time, name, severity, category, message, cluster_id, host_id, infra_env_id, request_id, actor,"
    " props, before, after"
)
VALUES: Final = (
    ":event_time, :name, :severity, :category, :message, :cluster_id, :host_id, :infra_env_id, :request_id, :actor,"
    " :props, :before, :after"
)
ARRAYS: Final = (
    ":event_time::bigint[], :name::text[], :severity::text[], :category::text[], :message::text[],"
    " :cluster_id::text[], :host_id::text[], :infra_env_id::text[], :request_id::text[], :actor::text[],"
    " :props::bytea[], :before::bytea[], :after::bytea[]"
)
ADD_ON_SQLITE: Final = "INSERT INTO events ({fields}) VALUES ({values})"
ADD_ONE: Final = (
    "WITH last AS (UPDATE counters SET value = value + 1 WHERE name = 'events' RETURNING value)"
    " INSERT INTO events (seq, {fields}) SELECT last.value, {values} FROM last"
)
ADD_MANY: Final = (
    "WITH last AS (UPDATE counters SET value = value + cardinality(:message::text[]) WHERE name = 'events'"
    " RETURNING value) INSERT INTO events (seq, {fields})"
    " SELECT last.value - cardinality(:message::text[]) + place, {fields} FROM last,"
    " unnest({arrays}) WITH ORDINALITY AS batch ({fields}, place)"
)
ADD: Final = Sql(
    sqlite=ADD_ON_SQLITE.format(fields=FIELDS, values=VALUES),
    postgres=ADD_ONE.format(fields=FIELDS, values=VALUES),
    postgres_many=ADD_MANY.format(fields=FIELDS, arrays=ARRAYS),
)
READ_TEXT: Final = "SELECT seq, {fields} FROM events WHERE seq > :seq {those} ORDER BY seq LIMIT :limit"
ABOUT: Final = (
    "CASE WHEN host_id IS NOT NULL THEN 'host' WHEN infra_env_id IS NOT NULL THEN 'infra-env'"
    " WHEN cluster_id IS NOT NULL THEN 'cluster' ELSE 'service' END"
)
"""`Recorded.about` of a row."""
NARROWING: Final = {
    "cluster_id": "cluster_id = :cluster_id",
    "infra_env_id": "infra_env_id = :infra_env_id",
    "about": ABOUT + " = ANY(:about)",
}
AFTER: Final = {
    names: Sql(READ_TEXT.format(fields=FIELDS, those="".join(f"AND {NARROWING[name]} " for name in names)))
    for count in range(len(NARROWING) + 1)
    for names in combinations(NARROWING, count)
}
"""By the names of what narrows the read."""
LAST: Final = Sql(
    postgres="SELECT value FROM counters WHERE name = 'events'",
    sqlite="SELECT seq AS value FROM sqlite_sequence WHERE name = 'events'",
)
RECENT_TEXT: Final = (
    "SELECT 1 AS it FROM events WHERE {first} AND name = :name AND event_time >= :since"
    " AND cluster_id IS NOT DISTINCT FROM CAST(:cluster_id AS TEXT)"
    " AND host_id IS NOT DISTINCT FROM CAST(:host_id AS TEXT)"
    " AND infra_env_id IS NOT DISTINCT FROM CAST(:infra_env_id AS TEXT) LIMIT 1"
)
RECENT: Final = {
    column: Sql(RECENT_TEXT.format(first=f"{column} = :{column}"))
    for column in ("host_id", "cluster_id", "infra_env_id")
}
"""By the column whose index finds the rows; the narrowest first."""
RECENT_OF_NONE: Final = Sql(RECENT_TEXT.format(first="cluster_id IS NULL"))

SEVERITIES: Final = {severity.value: severity for severity in Severity}
CATEGORIES: Final = {category.value: category for category in Category}
SLICE: Final = 500
"""Rows decoded before the loop has its turn."""


def add(events: Sequence[Recorded], *, in_rows: bool = False) -> tuple[Statement, ...]:
    rows = [columns(event) for event in events]
    if not rows:
        return ()
    one = len(rows) == 1 and not in_rows
    return (Statement(ADD, rows[0], expect_rows=1) if one else Statement(ADD, rows=rows, expect_rows=len(rows)),)


def columns(event: Recorded) -> dict[str, Param]:
    return {
        "event_time": micros(event.event_time),
        "name": plain(event.name),
        "severity": event.severity.value,
        "category": event.category.value,
        "message": plain(event.message),
        "cluster_id": text_or_none(event.cluster_id),
        "host_id": text_or_none(event.host_id),
        "infra_env_id": text_or_none(event.infra_env_id),
        "request_id": text_or_none(event.request_id),
        "actor": plain(event.actor),
        "props": ENCODER.encode(event.props) if event.props else None,
        "before": None if event.before is None else ENCODER.encode(event.before),
        "after": None if event.after is None else ENCODER.encode(event.after),
    }


async def recorded(rows: Sequence[Row]) -> tuple[Recorded, ...]:
    ids: dict[str | None, UUID | None] = {None: None}
    events: list[Recorded] = []
    for place, row in enumerate(rows):
        if place and place % SLICE == 0:
            await asyncio.sleep(0)
        events.append(recorded_of(row, ids))
    return tuple(events)


def recorded_of(row: Row, ids: dict[str | None, UUID | None]) -> Recorded:
    """`ids` are those met before: the same few come again and again, and parsing one is dear."""
    return Recorded(
        seq=row["seq"],
        event_time=moment(row["event_time"]),
        name=row["name"] or "",
        severity=SEVERITIES[row["severity"]],
        category=CATEGORIES[row["category"]],
        message=row["message"],
        props=document(row["props"]) or {},
        cluster_id=known(row["cluster_id"], ids),
        host_id=known(row["host_id"], ids),
        infra_env_id=known(row["infra_env_id"], ids),
        request_id=known(row["request_id"], ids),
        actor=row["actor"] or "",
        before=document(row["before"]),
        after=document(row["after"]),
    )


def known(text: str | None, ids: dict[str | None, UUID | None]) -> UUID | None:
    found = ids.get(text)
    if found is None and text is not None:
        found = ids[text] = UUID(text)
    return found


def document(data: bytes | None) -> dict[str, object] | None:
    return None if data is None else PROPERTIES.decode(data)


async def after(
    database: Database,
    seq: int,
    *,
    limit: int,
    cluster_id: UUID | None,
    infra_env_id: UUID | None,
    about: Sequence[About],
) -> Sequence[Recorded]:
    narrowed: dict[str, Param] = {
        "cluster_id": text_or_none(cluster_id),
        "infra_env_id": text_or_none(infra_env_id),
        "about": [each.value for each in about] or None,
    }
    given = {name: value for name, value in narrowed.items() if value is not None}
    return await recorded(await database.fetch(AFTER[*given,], large=limit > SLICE, seq=seq, limit=limit, **given))


async def last_seq(database: Database) -> int:
    row = await database.fetch_one(LAST)
    return 0 if row is None else int(row["value"])


async def recent(database: Database, name: str, *, subject: Mapping[str, UUID | None], since: datetime) -> bool:
    ids = {column: text_or_none(subject.get(column)) for column in RECENT}
    sql = next((sql for column, sql in RECENT.items() if ids[column] is not None), RECENT_OF_NONE)
    return await database.fetch_one(sql, name=plain(name), since=micros(since), **ids) is not None
