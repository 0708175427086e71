"""Rows of hosts, and the one read that tells of many hosts at once which version each of their parts has."""

from collections.abc import Iterator
from typing import Final

from firstlight.core.model.host import Host
from firstlight.server.ports.database import Param, Sql, Statement
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import DeleteHost, PurgeHost, PutHost
from firstlight.server.store.documents import ENCODER, fresh_revision, key_params, micros, text_or_none
from firstlight.server.store.inserting import insert

COLUMNS: Final = {
    "infra_env_id": "text",
    "id": "text",
    "revision": "bigint",
    "cluster_id": "text",
    "status": "text",
    "created_at": "bigint",
    "updated_at": "bigint",
    "doc": "bytea",
}
REPLACE: Final = (
    "ON CONFLICT (infra_env_id, id) DO UPDATE SET revision = excluded.revision, cluster_id = excluded.cluster_id,"
    " status = excluded.status, created_at = excluded.created_at, updated_at = excluded.updated_at,"
    " deleted_at = NULL, doc = excluded.doc"
)
PUT: Final = insert("hosts", COLUMNS, then=REPLACE)
ADD: Final = insert("hosts", COLUMNS, then=REPLACE + " WHERE hosts.deleted_at IS NOT NULL")
CHANGE: Final = Sql(
    "UPDATE hosts SET revision = :revision, cluster_id = :cluster_id, status = :status, created_at = :created_at,"
    " updated_at = :updated_at, doc = :doc"
    " WHERE infra_env_id = :infra_env_id AND id = :id AND revision = :expected AND deleted_at IS NULL"
)
DELETE: Final = Sql(
    "UPDATE hosts SET revision = revision + 1, deleted_at = :at"
    " WHERE infra_env_id = :infra_env_id AND id = :host_id AND deleted_at IS NULL"
)
FORGET: Final = (
    Sql("DELETE FROM presence WHERE infra_env_id = :infra_env_id AND host_id = :host_id"),
    Sql("DELETE FROM reports WHERE infra_env_id = :infra_env_id AND host_id = :host_id"),
    Sql("DELETE FROM plans WHERE infra_env_id = :infra_env_id AND host_id = :host_id"),
    Sql("DELETE FROM findings WHERE subject = :subject"),
    Sql("DELETE FROM secrets WHERE subject = :subject"),
)

STAMP: Final = "r.kind || ' ' || r.measured_at || ' ' || r.digest"
REPORTS_OF_IT: Final = "FROM reports r WHERE r.infra_env_id = h.infra_env_id AND r.host_id = h.id"
STAMPS_POSTGRES: Final = "(SELECT string_agg(" + STAMP + ", chr(10) ORDER BY r.kind) " + REPORTS_OF_IT + ")"
STAMPS_SQLITE: Final = "(SELECT group_concat(" + STAMP + ", char(10)) " + REPORTS_OF_IT + ")"
"""The reports of a host as lines `kind measured_at digest`."""
PARTS: Final = (
    "h.infra_env_id, h.id, h.cluster_id, h.revision, p.checked_in_at, p.clock_offset_ms, p.agent_version,"
    " f.digest AS findings, s.digest AS plan, {stamps} AS reports"
)
DETAILS: Final = (
    " LEFT JOIN presence p ON p.infra_env_id = h.infra_env_id AND p.host_id = h.id"
    " LEFT JOIN findings f ON f.subject = 'host:' || h.infra_env_id || '/' || h.id"
    " LEFT JOIN plans s ON s.infra_env_id = h.infra_env_id AND s.host_id = h.id"
)
WHOLE: Final = "SELECT {parts} FROM hosts h{details} WHERE h.deleted_at IS NULL AND {those}"
BRIEF: Final = (
    "SELECT h.infra_env_id, h.id, h.cluster_id, h.revision, p.checked_in_at, p.clock_offset_ms, p.agent_version,"
    " NULL AS findings, NULL AS plan, NULL AS reports FROM hosts h"
    " LEFT JOIN presence p ON p.infra_env_id = h.infra_env_id AND p.host_id = h.id"
    " WHERE h.deleted_at IS NULL AND {those}"
)
LISTED: Final = (
    "SELECT h.infra_env_id, h.id, h.revision, p.checked_in_at, f.digest AS findings, r.digest AS inventory FROM hosts h"
    " LEFT JOIN presence p ON p.infra_env_id = h.infra_env_id AND p.host_id = h.id"
    " LEFT JOIN findings f ON f.subject = 'host:' || h.infra_env_id || '/' || h.id"
    " LEFT JOIN reports r ON r.infra_env_id = h.infra_env_id AND r.host_id = h.id AND r.kind = 'inventory'"
    " WHERE h.deleted_at IS NULL AND {those}"
)
"""What a row of a table is made of: half the columns of a whole host, and a fraction of its cost."""


def whole(those: str, *, more: str = "") -> Sql:
    return Sql(
        postgres=WHOLE.format(parts=PARTS.format(stamps=STAMPS_POSTGRES) + more, details=DETAILS, those=those),
        sqlite=WHOLE.format(parts=PARTS.format(stamps=STAMPS_SQLITE) + more, details=DETAILS, those=those),
    )


OF_CLUSTERS: Final = whole("h.cluster_id = ANY(:cluster_ids)")
BRIEF_OF_CLUSTERS: Final = Sql(BRIEF.format(those="h.cluster_id = ANY(:cluster_ids)"))
OF_INFRA_ENV: Final = whole("h.infra_env_id = :infra_env_id")
LISTED_OF_CLUSTER: Final = Sql(LISTED.format(those="h.cluster_id = :id"))
LISTED_OF_INFRA_ENV: Final = Sql(LISTED.format(those="h.infra_env_id = :id"))
ONE: Final = whole("h.infra_env_id = :infra_env_id AND h.id = :host_id")
SERVED: Final = whole("h.infra_env_id = :infra_env_id AND h.id = :host_id", more=", p.doc AS issued")
"""One host as its agent is served: with what it was handed out."""
BY_ID: Final = Sql(BRIEF.format(those="h.id = :host_id"))
DOCUMENTS: Final = Sql(
    "SELECT infra_env_id, id, revision AS version, doc FROM hosts"
    " WHERE infra_env_id = ANY(:infra_env_ids) AND id = ANY(:ids)"
)


DELETED_BEFORE: Final = Sql(
    "SELECT infra_env_id, id FROM hosts WHERE deleted_at < :moment AND cluster_id IS NULL"
    " ORDER BY deleted_at, infra_env_id, id LIMIT :limit"
)
PURGE: Final = Sql(
    "DELETE FROM hosts WHERE infra_env_id = :infra_env_id AND id = :host_id AND deleted_at IS NOT NULL"
    " AND cluster_id IS NULL"
)
PURGE_EVENTS: Final = Sql(
    "DELETE FROM events WHERE host_id = :host_id AND infra_env_id = :infra_env_id AND cluster_id IS NULL"
)


def columns(host: Host, *, revision: int) -> dict[str, Param]:
    return {
        "infra_env_id": str(host.infra_env_id),
        "id": str(host.id),
        "revision": revision,
        "cluster_id": text_or_none(host.cluster_id),
        "status": host.status.value,
        "created_at": micros(host.created_at),
        "updated_at": micros(host.updated_at),
        "doc": ENCODER.encode(host),
    }


def put(write: PutHost) -> Iterator[Statement]:
    expected = write.expect_revision
    params = columns(write.host, revision=expected + 1 if expected else fresh_revision())
    if expected is None:
        yield Statement(PUT, params)
    elif expected == 0:
        yield Statement(ADD, params, expect_rows=1)
    else:
        yield Statement(CHANGE, params | {"expected": expected}, expect_rows=1)


def delete(write: DeleteHost) -> Iterator[Statement]:
    yield Statement(DELETE, key_params(write.key) | {"at": micros(write.at)})
    params = key_params(write.key) | {"subject": host_subject(write.key)}
    for sql in FORGET:
        yield Statement(sql, {name: params[name] for name in sql.names})


def purge(write: PurgeHost) -> Iterator[Statement]:
    yield Statement(PURGE, key_params(write.key), expect_rows=1)
    yield Statement(PURGE_EVENTS, key_params(write.key))
