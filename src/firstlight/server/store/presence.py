"""The hot rows: when each agent was last heard of. The newer of two check-ins stays."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from firstlight.core.model.host import Presence
from firstlight.core.model.plan import ONCE, StepType
from firstlight.server.ports.database import Param, Row, Sql, Statement
from firstlight.server.ports.writes import PutIssued, PutPresence
from firstlight.server.store.documents import ENCODER, key_params, micros, optional_moment, plain
from firstlight.server.store.inserting import insert

PUT: Final = insert(
    "presence",
    {
        "infra_env_id": "text",
        "host_id": "text",
        "checked_in_at": "bigint",
        "clock_offset_ms": "bigint",
        "agent_version": "text",
    },
    fixed={"connected": "1"},
    then=(
        "ON CONFLICT (infra_env_id, host_id) DO UPDATE SET checked_in_at = excluded.checked_in_at,"
        " clock_offset_ms = excluded.clock_offset_ms, agent_version = excluded.agent_version"
        " WHERE excluded.checked_in_at >= presence.checked_in_at"
    ),
)
ISSUE: Final = Sql("UPDATE presence SET doc = :doc WHERE infra_env_id = :infra_env_id AND host_id = :host_id")
NEVER: Final = Presence()
_ISSUED: Final = msgspec.json.Decoder(dict[str, tuple[int, float]])


def columns(write: PutPresence) -> dict[str, Param]:
    offset = write.clock_offset_seconds
    return {
        **key_params(write.key),
        "checked_in_at": micros(write.checked_in_at),
        "clock_offset_ms": None if offset is None else round(offset * 1_000),
        "agent_version": plain(write.agent_version),
    }


def put(write: PutPresence) -> Iterator[Statement]:
    yield Statement(PUT, columns(write))


def batch(writes: Sequence[PutPresence]) -> Statement:
    """One row per host, in the order of their keys: two replicas lock the rows in the same order."""
    newest: dict[tuple[str, str], dict[str, Param]] = {}
    for write in sorted(writes, key=lambda write: write.checked_in_at):
        row = columns(write)
        newest[str(row["infra_env_id"]), str(row["host_id"])] = row
    return Statement(PUT, rows=[newest[key] for key in sorted(newest)])


def issue(write: PutIssued) -> Iterator[Statement]:
    yield Statement(ISSUE, {**key_params(write.key), "doc": ENCODER.encode(write.issued)})


def issued_of(document: bytes | None) -> dict[StepType, tuple[int, float]]:
    """Steps that a newer Firstlight records are left out."""
    known = {} if document is None else _ISSUED.decode(document)
    return {step: known[step.value] for step in ONCE if step.value in known}


def presence_of(row: Row) -> Presence:
    """From a row that carries the columns of this table, all NULL when there is none."""
    checked_in_at: int | None = row["checked_in_at"]
    if checked_in_at is None:
        return NEVER
    offset: int | None = row["clock_offset_ms"]
    return Presence(
        checked_in_at=optional_moment(checked_in_at),
        clock_offset_seconds=None if offset is None else offset / 1_000,
        agent_version=row["agent_version"] or "",
    )
