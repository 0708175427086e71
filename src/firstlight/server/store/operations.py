"""Lasting work. The epoch is raised by every claim, so that whoever was overtaken can no longer write a result."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from firstlight.server.ports.database import Database, Param, Row, Sql, Statement
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import PutOperation
from firstlight.server.store.documents import micros, moment, optional_micros, optional_moment, plain

COLUMNS: Final = "id, kind, subject, attempt, state, progress, owner, epoch, heartbeat_at, created_at, updated_at"
ADD: Final = Sql(
    "INSERT INTO operations (id, kind, subject, attempt, state, progress, owner, epoch, heartbeat_at, created_at,"
    " updated_at) VALUES (:id, :kind, :subject, :attempt, :state, :progress, :owner, :epoch, :heartbeat_at,"
    " :created_at, :updated_at) ON CONFLICT (subject, kind, attempt) DO NOTHING"
)
CHANGE: Final = Sql(
    "UPDATE operations SET state = :state, progress = :progress, owner = :owner, epoch = :epoch,"
    " heartbeat_at = :heartbeat_at, updated_at = :updated_at WHERE id = :id AND epoch = :expected"
)
CLAIM_TEXT: Final = (
    "UPDATE operations SET state = 'running', owner = :owner, epoch = epoch + 1, heartbeat_at = :now,"
    " updated_at = :now WHERE id IN (SELECT id FROM operations WHERE state IN ('waiting', 'running')"
    " AND (state = 'waiting' OR heartbeat_at IS NULL OR heartbeat_at < :stale_before)"
    " ORDER BY created_at LIMIT :limit{lock}) RETURNING {columns}"
)
CLAIM: Final = Sql(
    postgres=CLAIM_TEXT.format(lock=" FOR UPDATE SKIP LOCKED", columns=COLUMNS),
    sqlite=CLAIM_TEXT.format(lock="", columns=COLUMNS),
)
HEARTBEAT: Final = Sql(
    "UPDATE operations SET heartbeat_at = :now, updated_at = :now, progress = :progress"
    " WHERE id = :id AND epoch = :epoch AND state = 'running'"
)
FREE: Final = Sql("UPDATE operations SET heartbeat_at = NULL WHERE state = 'running' AND owner = ANY(:owners)")
FREE_ALL: Final = Sql("UPDATE operations SET heartbeat_at = NULL WHERE state = 'running'")
OF_SUBJECT: Final = Sql(
    "SELECT id, kind, subject, attempt, state, progress, owner, epoch, heartbeat_at, created_at, updated_at"
    " FROM operations WHERE subject = :subject ORDER BY created_at, attempt, kind, id"
)


def columns(operation: OperationRow) -> Mapping[str, Param]:
    return {
        "id": str(operation.id),
        "kind": operation.kind,
        "subject": operation.subject,
        "attempt": operation.attempt,
        "state": operation.state,
        "progress": plain(operation.progress),
        "owner": operation.owner,
        "epoch": operation.epoch,
        "heartbeat_at": optional_micros(operation.heartbeat_at),
        "created_at": micros(operation.created_at),
        "updated_at": micros(operation.updated_at),
    }


def put(write: PutOperation) -> Iterator[Statement]:
    params = columns(write.operation)
    if write.expect_epoch is None:
        yield Statement(ADD, params)
    else:
        kept = {name: params[name] for name in CHANGE.names if name != "expected"}
        yield Statement(CHANGE, {**kept, "expected": write.expect_epoch}, expect_rows=1)


def operation_of(row: Row) -> OperationRow:
    return OperationRow(
        id=UUID(row["id"]),
        kind=row["kind"],
        subject=row["subject"],
        attempt=row["attempt"],
        state=row["state"],
        progress=row["progress"] or "",
        owner=row["owner"] or "",
        epoch=row["epoch"],
        heartbeat_at=optional_moment(row["heartbeat_at"]),
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
    )


async def claim(
    database: Database, *, owner: str, now: datetime, stale_before: datetime, limit: int
) -> Sequence[OperationRow]:
    rows = await database.claim(CLAIM, owner=owner, now=micros(now), stale_before=micros(stale_before), limit=limit)
    return sorted(map(operation_of, rows), key=lambda operation: (operation.created_at, operation.id))


async def heartbeat(database: Database, operation_id: UUID, *, epoch: int, now: datetime, progress: str) -> bool:
    params = {"id": str(operation_id), "epoch": epoch, "now": micros(now), "progress": plain(progress)}
    return (await database.commit(Statement(HEARTBEAT, params), relaxed=True))[0] == 1


async def of_subject(database: Database, subject: str) -> Sequence[OperationRow]:
    return [operation_of(row) for row in await database.fetch(OF_SUBJECT, subject=subject)]
