"""Secrets of a subject, apart from its document so that no answer can carry them by accident."""

from collections.abc import Iterator
from typing import Final

from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.ports.writes import PutSecret
from firstlight.server.store.inserting import insert

PUT: Final = insert(
    "secrets",
    {"subject": "text", "name": "text", "value": "bytea"},
    then="ON CONFLICT (subject, name) DO UPDATE SET value = excluded.value",
)
PUT_IF_MISSING: Final = Sql(
    "INSERT INTO secrets (subject, name, value) VALUES (:subject, :name, :value) ON CONFLICT (subject, name) DO NOTHING"
)
DROP: Final = Sql("DELETE FROM secrets WHERE subject = :subject AND name = :name")
ONE: Final = Sql("SELECT value FROM secrets WHERE subject = :subject AND name = :name")


def put(write: PutSecret) -> Iterator[Statement]:
    key = {"subject": write.subject, "name": write.name}
    if write.value is None:
        yield Statement(DROP, key)
    else:
        yield Statement(PUT_IF_MISSING if write.only_if_missing else PUT, key | {"value": write.value.encode()})


async def secret(database: Database, subject: str, name: str) -> bytes | None:
    """As it is kept, which is sealed if the store has a seal."""
    row = await database.fetch_one(ONE, subject=subject, name=name)
    return None if row is None else row["value"]
