"""Everything secret in a database, sealed with the key that seals now: after a new key came, or the first one."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.server.ports.database import Database, Param, Row, Sql, Statement
from firstlight.server.sealing.seal import Seal, is_sealed
from firstlight.server.store.documents import CLUSTER, HOST, INFRA_ENV
from firstlight.server.store.filelock import FileLock
from firstlight.server.store.sealing import (
    CHECK,
    CLUSTER_PLACE,
    HOST_PLACE,
    INFRA_ENV_PLACE,
    PLAN_PLACE,
    Place,
    cluster_has_secrets,
    host_has_secrets,
    infra_env_has_secrets,
    plan_has_secrets,
    secret_place,
)

SECRETS: Final = Sql("SELECT subject, name, value FROM secrets")
PUT_SECRET: Final = Sql(
    "UPDATE secrets SET value = :value WHERE subject = :subject AND name = :name AND value = :before"
)


class Table(Struct, frozen=True):
    """Documents and where they lie. Somebody else's newer document stays: it was sealed by whoever wrote it."""

    place: Place
    read: Sql
    put: Sql
    keys: tuple[str, ...]
    has_secrets: Callable[[bytes], bool]
    """Asked of a document in plain text."""


def _table(place: Place, version: str, has_secrets: Callable[[bytes], bool]) -> Table:
    keys = (*place.keys, version)
    same = " AND ".join(f"{key} = :{key}" for key in keys)
    read = Sql(f"SELECT {', '.join(keys)}, doc FROM {place.table}")  # noqa: S608 - our own names only
    put = Sql(f"UPDATE {place.table} SET doc = :doc WHERE {same}")  # noqa: S608 - our own names only
    return Table(place, read, put, keys, has_secrets)


TABLES: Final = (
    _table(CLUSTER_PLACE, "revision", lambda plain: cluster_has_secrets(CLUSTER.decode(plain))),
    _table(INFRA_ENV_PLACE, "revision", lambda plain: infra_env_has_secrets(INFRA_ENV.decode(plain))),
    _table(HOST_PLACE, "revision", lambda plain: host_has_secrets(HOST.decode(plain))),
    _table(PLAN_PLACE, "digest", plan_has_secrets),
)


async def reseal(database: Database, seal: Seal) -> int:
    """Answers how many values were not sealed with the newest key."""
    changed = 0
    for table in TABLES:
        changed += await _done(database, _documents(await database.fetch(table.read, large=True), table, seal))
    # The check comes last: as long as anything is left under the old key, nobody starts without it.
    rows = sorted(await database.fetch(SECRETS, large=True), key=lambda row: row["name"] == CHECK)
    return changed + await _done(database, _secrets(rows, seal))


def _secrets(rows: Sequence[Row], seal: Seal) -> Iterator[Statement]:
    for row in rows:
        kept: bytes = row["value"]
        if not seal.is_current(kept):
            key: dict[str, Param] = {"subject": row["subject"], "name": row["name"]}
            place = secret_place(row["subject"], row["name"])
            sealed = seal.sealed(seal.opened(kept, place=place), place=place)
            yield Statement(PUT_SECRET, key | {"value": sealed, "before": kept})


def _documents(rows: Sequence[Row], table: Table, seal: Seal) -> Iterator[Statement]:
    for row in rows:
        kept: bytes = row["doc"]
        place = table.place.of(row)
        plain = seal.opened(kept, place=place, earlier=table.place.table)
        if not seal.is_current(kept) and (is_sealed(kept) or table.has_secrets(plain)):
            key: dict[str, Param] = {name: row[name] for name in table.keys}
            yield Statement(table.put, key | {"doc": seal.sealed(plain, place=place)})


async def _done(database: Database, statements: Iterator[Statement]) -> int:
    changed = 0
    for statement in statements:
        changed += (await database.commit(statement))[0]
    return changed


def compact(path: Path) -> None:
    """Rewrite a closed SQLite file: what was overwritten in it may have been plain text, and lies there until then."""
    with FileLock(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
