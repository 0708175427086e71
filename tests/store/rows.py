"""A few statements over the real tables for the drivers' tests."""

from typing import Final

from firstlight.server.ports.database import Sql, Statement

SECRET: Final = Sql("SELECT value FROM secrets WHERE subject = :subject AND name = :name")
SECRETS: Final = Sql("SELECT subject, name, value FROM secrets ORDER BY subject, name")
SECRETS_OF: Final = Sql("SELECT subject, name FROM secrets WHERE subject = ANY(:subjects) ORDER BY subject, name")
SECRETS_NOT_OF: Final = Sql("SELECT subject, name FROM secrets WHERE subject <> ALL(:subjects) ORDER BY subject, name")
ADD_SECRET: Final = Sql("INSERT INTO secrets (subject, name, value) VALUES (:subject, :name, :value)")
SET_SECRET: Final = Sql("UPDATE secrets SET value = :value WHERE subject = :subject")
DROP_SECRETS: Final = Sql("DELETE FROM secrets WHERE subject = :subject")

CHECK_IN: Final = Sql(
    "INSERT INTO presence (infra_env_id, host_id, checked_in_at, clock_offset_ms, agent_version, connected)"
    " VALUES (:infra_env_id, :host_id, :checked_in_at, :clock_offset_ms, :agent_version, 1)"
    " ON CONFLICT (infra_env_id, host_id) DO UPDATE SET checked_in_at = excluded.checked_in_at,"
    " clock_offset_ms = excluded.clock_offset_ms, agent_version = excluded.agent_version",
    postgres_many=(
        "INSERT INTO presence (infra_env_id, host_id, checked_in_at, clock_offset_ms, agent_version, connected)"
        " SELECT i, h, c, o, v, 1 FROM unnest(:infra_env_id::text[], :host_id::text[], :checked_in_at::bigint[],"
        " :clock_offset_ms::bigint[], :agent_version::text[]) AS row (i, h, c, o, v)"
        " ON CONFLICT (infra_env_id, host_id) DO UPDATE SET checked_in_at = excluded.checked_in_at,"
        " clock_offset_ms = excluded.clock_offset_ms, agent_version = excluded.agent_version"
    ),
)
PRESENCE: Final = Sql("SELECT host_id, checked_in_at, clock_offset_ms, agent_version FROM presence ORDER BY host_id")

TAKE_NUMBERS: Final = "WITH last AS (UPDATE counters SET value = value + {count} WHERE name = 'events' RETURNING value)"
ADD_EVENT: Final = Sql(
    sqlite="INSERT INTO events (event_time, severity, message) VALUES (now_us(), 'info', :message)",
    postgres=TAKE_NUMBERS.format(count="1")
    + " INSERT INTO events (seq, event_time, severity, message) SELECT value, now_us(), 'info', :message FROM last",
    postgres_many=TAKE_NUMBERS.format(count="cardinality(:message::text[])")
    + " INSERT INTO events (seq, event_time, severity, message)"
    " SELECT last.value - cardinality(:message::text[]) + row.number, now_us(), 'info', row.message"
    " FROM last, unnest(:message::text[]) WITH ORDINALITY AS row (message, number)",
)
EVENTS: Final = Sql("SELECT seq, message FROM events ORDER BY seq")

DUE: Final = Sql(
    "INSERT INTO due (subject, kind, at, generation) VALUES (:subject, 'evaluate', :at, 1)"
    " ON CONFLICT (subject, kind) DO UPDATE SET generation = due.generation + 1,"
    " at = CASE WHEN excluded.at < due.at THEN excluded.at ELSE due.at END"
)
CLAIM_BY: Final = (
    "UPDATE due SET owner = :owner, lease_until = now_us() + 10000000 WHERE (subject, kind) IN"
    " (SELECT subject, kind FROM due WHERE at <= now_us() AND (lease_until IS NULL OR lease_until < now_us())"
    " ORDER BY at LIMIT :number{lock}) RETURNING subject, generation"
)
CLAIM: Final = Sql(
    postgres=CLAIM_BY.format(lock=" FOR UPDATE SKIP LOCKED"),
    sqlite=CLAIM_BY.format(lock=""),
)


def add_secret(subject: str, *, name: str = "n", value: bytes = b"v") -> Statement:
    return Statement(ADD_SECRET, {"subject": subject, "name": name, "value": value})


def events(*messages: str) -> tuple[Statement, ...]:
    """Write them last in a commit: the counter's row is locked from here to its end."""
    if len(messages) == 1:
        return (Statement(ADD_EVENT, {"message": messages[0]}, expect_rows=1),)
    return (Statement(ADD_EVENT, rows=[{"message": message} for message in messages], expect_rows=len(messages)),)
