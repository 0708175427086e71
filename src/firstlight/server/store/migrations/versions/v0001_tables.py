"""The first tables: documents with narrow columns beside them, hot rows apart, one queue of what is due."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from firstlight.server.store.migrations.types import BYTES, INTEGER, SERIAL, optional, required

revision = "0001"
down_revision = None


def upgrade() -> None:
    subjects()
    host_details()
    events_and_work()
    files()
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION now_us() RETURNS BIGINT LANGUAGE sql VOLATILE"
            " AS $$ SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) $$"
        )
        for table in ("presence", "due", "counters", "listening"):
            # Rows that change all the time: room in the page lets an update stay there and leave the indexes alone.
            op.execute(f"ALTER TABLE {table} SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)")


def stamps() -> list[sa.Column[Any]]:
    return [required("created_at", INTEGER), required("updated_at", INTEGER), optional("deleted_at", INTEGER)]


def subjects() -> None:
    op.create_table(
        "clusters",
        required("id", key=True),
        required("revision", INTEGER),
        *(required(name) for name in ("name", "kind", "status", "owner", "org_id")),
        optional("openshift_cluster_id"),
        optional("ams_subscription_id"),
        *stamps(),
        required("doc", BYTES),
    )
    op.create_table(
        "infra_envs",
        required("id", key=True),
        required("revision", INTEGER),
        optional("cluster_id"),
        *(required(name) for name in ("name", "owner", "org_id")),
        *stamps(),
        required("doc", BYTES),
    )
    op.create_index("infra_envs_of_cluster", "infra_envs", ["cluster_id"])
    op.create_table(
        "hosts",
        required("infra_env_id", key=True),
        required("id", key=True),
        required("revision", INTEGER),
        optional("cluster_id"),
        required("status"),
        *stamps(),
        required("doc", BYTES),
    )
    op.create_index("hosts_by_id", "hosts", ["id"])
    op.create_index("hosts_of_cluster", "hosts", ["cluster_id"])


def host_details() -> None:
    op.create_table(
        "presence",
        required("infra_env_id", key=True),
        required("host_id", key=True),
        required("checked_in_at", INTEGER),
        optional("clock_offset_ms", INTEGER),
        optional("agent_version"),
        required("connected", INTEGER),
        optional("doc", BYTES),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reports",
        required("infra_env_id", key=True),
        required("host_id", key=True),
        required("kind", key=True),
        required("digest"),
        required("measured_at", INTEGER),
        optional("facts", BYTES),
        optional("raw", BYTES),
    )
    op.create_table("findings", required("subject", key=True), required("digest"), required("doc", BYTES))
    op.create_table(
        "plans",
        required("infra_env_id", key=True),
        required("host_id", key=True),
        required("digest"),
        required("doc", BYTES),
    )


def events_and_work() -> None:
    on_sqlite = op.get_context().dialect.name == "sqlite"
    op.create_table(
        "events",
        # SQLite's one writer numbers the rows itself and never uses a number twice; PostgreSQL's come from `counters`.
        sa.Column("seq", SERIAL, primary_key=True, autoincrement=on_sqlite, nullable=False),
        required("event_time", INTEGER),
        optional("name"),
        required("severity"),
        optional("category"),
        required("message"),
        *(optional(name) for name in ("cluster_id", "host_id", "infra_env_id", "request_id", "actor")),
        *(optional(name, BYTES) for name in ("props", "before", "after")),
        sqlite_autoincrement=True,
    )
    for subject in ("cluster", "infra_env", "host"):
        op.create_index(f"events_of_{subject}", "events", [f"{subject}_id", "seq"])
    op.create_table(
        "due",
        required("subject", key=True),
        required("kind", key=True),
        required("at", INTEGER),
        required("generation", INTEGER),
        optional("owner"),
        optional("lease_until", INTEGER),
        sa.Column("attempts", INTEGER, nullable=False, server_default="0"),
        sqlite_with_rowid=False,
    )
    op.create_index("due_by_time", "due", ["at"])
    op.create_table(
        "operations",
        required("id", key=True),
        required("kind"),
        required("subject"),
        required("attempt", INTEGER),
        required("state"),
        optional("progress"),
        optional("owner"),
        required("epoch", INTEGER),
        optional("heartbeat_at", INTEGER),
        required("created_at", INTEGER),
        required("updated_at", INTEGER),
        optional("doc", BYTES),
    )
    op.create_index("operations_of_subject", "operations", ["subject", "kind"])
    counters = op.create_table(
        "counters", required("name", key=True), required("value", INTEGER), sqlite_with_rowid=False
    )
    op.bulk_insert(counters, [{"name": "events", "value": 0}])
    op.create_table(
        "listening", required("replica", key=True), required("renewed_at", INTEGER), sqlite_with_rowid=False
    )


def files() -> None:
    op.create_table(
        "secrets",
        required("subject", key=True),
        required("name", key=True),
        required("value", BYTES),
    )
    op.create_table(
        "manifests",
        required("cluster_id", key=True),
        required("folder", key=True),
        required("file_name", key=True),
        required("source"),
        required("size", INTEGER),
        required("created_at", INTEGER),
        required("updated_at", INTEGER),
    )
