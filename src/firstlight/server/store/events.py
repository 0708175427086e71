"""The sequence of events: appended with consecutive numbers in commit order, read on by number.

The numbers come from one counter row that the same transaction raises: on PostgreSQL its lock makes writers of events
wait for each other, so these statements come last in a commit.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import Recorded
from firstlight.server.ports.database import Database, Param, Row, Sql, Statement
from firstlight.server.store.documents import ENCODER, PROPERTIES, micros, moment, plain, text_or_none

COUNT: Final = Sql("UPDATE counters SET value = value + :number WHERE name = 'events'")
FIELDS: Final = (
    "event_time, name, severity, category, message, cluster_id, host_id, infra_env_id, request_id, actor,"
    " props, before, after"
)
ADD_ONE: Final = (
    "INSERT INTO events (seq, {fields}) VALUES ((SELECT value FROM counters WHERE name = 'events') - :following,"
    " :event_time, :name, :severity, :category, :message, :cluster_id, :host_id, :infra_env_id, :request_id, :actor,"
    " :props, :before, :after)"
)
ADD_MANY: Final = (
    "INSERT INTO events (seq, {fields})"
    " SELECT (SELECT value FROM counters WHERE counters.name = 'events') - following, {fields}"
    " FROM unnest(:following::bigint[], :event_time::bigint[], :name::text[], :severity::text[], :category::text[],"
    " :message::text[], :cluster_id::text[], :host_id::text[], :infra_env_id::text[], :request_id::text[],"
    " :actor::text[], :props::bytea[], :before::bytea[], :after::bytea[]) AS batch (following, {fields})"
)
ADD: Final = Sql(ADD_ONE.format(fields=FIELDS), postgres_many=ADD_MANY.format(fields=FIELDS))
READ_TEXT: Final = "SELECT seq, {fields} FROM events WHERE seq > :seq {those} ORDER BY seq LIMIT :limit"
AFTER: Final = Sql(READ_TEXT.format(fields=FIELDS, those=""))
AFTER_OF_CLUSTER: Final = Sql(READ_TEXT.format(fields=FIELDS, those="AND cluster_id = :cluster_id"))
AFTER_OF_INFRA_ENV: Final = Sql(READ_TEXT.format(fields=FIELDS, those="AND infra_env_id = :infra_env_id"))
AFTER_OF_BOTH: Final = Sql(
    READ_TEXT.format(fields=FIELDS, those="AND cluster_id = :cluster_id AND infra_env_id = :infra_env_id")
)
LAST: Final = Sql("SELECT value FROM counters WHERE name = 'events'")
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

SLICE: Final = 500
"""Rows decoded before the loop has its turn."""


def add(events: Sequence[Recorded]) -> tuple[Statement, ...]:
    if not events:
        return ()
    last = len(events) - 1
    rows = [{**columns(event), "following": last - place} for place, event in enumerate(events)]
    return (
        Statement(COUNT, {"number": len(events)}, expect_rows=1),
        Statement(ADD, rows[0], expect_rows=1) if last == 0 else Statement(ADD, rows=rows, expect_rows=len(rows)),
    )


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

    def known(column: str) -> UUID | None:
        text: str | None = row[column]
        found = ids.get(text)
        if found is None and text is not None:
            found = ids[text] = UUID(text)
        return found

    def document(column: str) -> dict[str, object] | None:
        data: bytes | None = row[column]
        return None if data is None else PROPERTIES.decode(data)

    return Recorded(
        seq=row["seq"],
        event_time=moment(row["event_time"]),
        name=row["name"] or "",
        severity=Severity(row["severity"]),
        category=Category(row["category"] or Category.USER),
        message=row["message"],
        props=document("props") or {},
        cluster_id=known("cluster_id"),
        host_id=known("host_id"),
        infra_env_id=known("infra_env_id"),
        request_id=known("request_id"),
        actor=row["actor"] or "",
        before=document("before"),
        after=document("after"),
    )


async def after(
    database: Database, seq: int, *, limit: int, cluster_id: UUID | None, infra_env_id: UUID | None
) -> Sequence[Recorded]:
    scope = {"cluster_id": text_or_none(cluster_id), "infra_env_id": text_or_none(infra_env_id)}
    sql = {
        (False, False): AFTER,
        (True, False): AFTER_OF_CLUSTER,
        (False, True): AFTER_OF_INFRA_ENV,
        (True, True): AFTER_OF_BOTH,
    }[cluster_id is not None, infra_env_id is not None]
    given = {name: value for name, value in scope.items() if value is not None}
    return await recorded(await database.fetch(sql, large=limit > SLICE, seq=seq, limit=limit, **given))


async def last_seq(database: Database) -> int:
    row = await database.fetch_one(LAST)
    return 0 if row is None else int(row["value"])


async def recent(database: Database, name: str, *, subject: Mapping[str, UUID | None], since: datetime) -> bool:
    ids = {column: text_or_none(subject.get(column)) for column in RECENT}
    sql = next((sql for column, sql in RECENT.items() if ids[column] is not None), RECENT_OF_NONE)
    return await database.fetch_one(sql, name=plain(name), since=micros(since), **ids) is not None
