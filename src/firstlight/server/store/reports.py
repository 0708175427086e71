"""What agents measured, one row per host and kind: facts for rules, raw values for whoever wants to look."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from firstlight.core.decision import HostKey
from firstlight.core.model.reports import NO_REPORTS, REPORT_FIELDS, ReportKind, Reports
from firstlight.server.ports.database import Database, Row, Sql, Statement
from firstlight.server.ports.writes import DropReports, PutReport
from firstlight.server.store.documents import FACTS, key_params, micros, moment
from firstlight.server.store.inserting import insert
from firstlight.server.store.kept import MANY_ROWS, Identity, Kept, Loaded

# The same digest means the same to every rule. The facts then stay too, so that replicas which have them decoded and
# those which read them now see the same.
PUT: Final = insert(
    "reports",
    {
        "infra_env_id": "text",
        "host_id": "text",
        "kind": "text",
        "digest": "text",
        "measured_at": "bigint",
        "facts": "bytea",
        "raw": "bytea",
    },
    then=(
        "ON CONFLICT (infra_env_id, host_id, kind) DO UPDATE SET digest = excluded.digest,"
        " facts = CASE WHEN reports.digest = excluded.digest THEN reports.facts ELSE excluded.facts END,"
        " measured_at = excluded.measured_at, raw = excluded.raw"
    ),
)
MEASURED: Final = Sql(
    "UPDATE reports SET measured_at = :measured_at, raw = :raw"
    " WHERE infra_env_id = :infra_env_id AND host_id = :host_id AND kind = :kind AND digest = :digest",
    postgres_many=(
        "UPDATE reports SET measured_at = batch.measured_at, raw = batch.raw FROM unnest(:infra_env_id::text[],"
        " :host_id::text[], :kind::text[], :digest::text[], :measured_at::bigint[], :raw::bytea[])"
        " AS batch (infra_env_id, host_id, kind, digest, measured_at, raw)"
        " WHERE reports.infra_env_id = batch.infra_env_id AND reports.host_id = batch.host_id"
        " AND reports.kind = batch.kind AND reports.digest = batch.digest"
    ),
)
DROP: Final = Sql(
    "DELETE FROM reports WHERE infra_env_id = :infra_env_id AND host_id = :host_id AND kind = ANY(:kinds)"
)
DOCUMENTS: Final = Sql(
    "SELECT infra_env_id, host_id, kind, digest AS version, facts AS doc FROM reports"
    " WHERE infra_env_id = ANY(:infra_env_ids) AND host_id = ANY(:host_ids) AND kind = ANY(:kinds)"
)
RAW: Final = Sql(
    "SELECT infra_env_id, host_id, kind, raw FROM reports"
    " WHERE infra_env_id = ANY(:infra_env_ids) AND host_id = ANY(:host_ids) AND kind = ANY(:kinds)"
)

Stamps = tuple[tuple[str, int, str], ...]
"""Kind, measured_at and digest of each report of one host."""


def put(write: PutReport) -> Iterator[Statement]:
    params = {
        **key_params(write.key),
        "kind": write.kind.value,
        "digest": write.digest,
        "measured_at": micros(write.measured_at),
        "facts": write.facts,
        "raw": write.raw,
    }
    yield Statement(PUT, params)


def measured(writes: Sequence[PutReport]) -> Statement:
    """In the order of their keys: two replicas lock the rows in the same order."""
    rows = [
        {
            **key_params(write.key),
            "kind": write.kind.value,
            "digest": write.digest,
            "measured_at": micros(write.measured_at),
            "raw": write.raw,
        }
        for write in sorted(writes, key=lambda write: (str(write.key[0]), str(write.key[1]), write.kind.value))
    ]
    return Statement(MEASURED, rows=rows)


def drop(write: DropReports) -> Iterator[Statement]:
    yield Statement(DROP, {**key_params(write.key), "kinds": sorted(kind.value for kind in write.kinds)})


def decode(row: Row) -> Any:
    return FACTS[row["kind"]].decode(row["doc"])


def kept_facts(*, limit: int) -> Kept[Any]:
    keys = {"infra_env_id": "infra_env_ids", "host_id": "host_ids", "kind": "kinds"}
    return Kept(DOCUMENTS, keys, decode, limit=limit)


def stamps_of(lines: str | None) -> Stamps:
    """From the lines that a read of hosts carries; kinds of a newer Firstlight are left out."""
    if not lines:
        return ()
    parts = (line.split(" ", 2) for line in lines.split("\n"))
    return tuple((kind, int(measured_at), digest) for kind, measured_at, digest in parts if kind in FACTS)


def reports_of(host: Identity, stamps: Stamps, facts: Loaded[Any]) -> Reports:
    if not stamps:
        return NO_REPORTS
    values: dict[str, Any] = {}
    measured: dict[ReportKind, Any] = {}
    for name, measured_at, _ in stamps:
        value = facts.get((*host, name))
        if value is not None:
            kind = ReportKind(name)
            values[REPORT_FIELDS[kind]] = value
            measured[kind] = moment(measured_at)
    return Reports(**values, measured_at=measured)


async def raw_reports(
    database: Database, keys: Sequence[HostKey], kinds: Sequence[ReportKind] | None
) -> dict[HostKey, dict[ReportKind, bytes]]:
    found: dict[HostKey, dict[ReportKind, bytes]] = {key: {} for key in keys}
    if not keys:
        return found
    rows = await database.fetch(
        RAW,
        large=len(keys) > MANY_ROWS // len(ReportKind),
        infra_env_ids=sorted({str(key[0]) for key in keys}),
        host_ids=sorted({str(key[1]) for key in keys}),
        kinds=sorted(kind.value for kind in (ReportKind if kinds is None else kinds)),
    )
    for row in rows:
        of = found.get((UUID(row["infra_env_id"]), UUID(row["host_id"])))
        if of is not None and row["raw"] is not None:
            of[ReportKind(row["kind"])] = row["raw"]
    return found
