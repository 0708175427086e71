"""How much the service keeps."""

from typing import Final

from firstlight.server.ports.database import Database, Sql
from firstlight.server.ports.store import Counts

ALL: Final = Sql(
    "SELECT (SELECT count(*) FROM clusters WHERE deleted_at IS NULL) AS clusters,"
    " (SELECT count(*) FROM infra_envs WHERE deleted_at IS NULL) AS infra_envs,"
    " (SELECT count(*) FROM hosts WHERE deleted_at IS NULL) AS hosts"
)


async def counts(database: Database) -> Counts:
    row = await database.fetch_one(ALL)
    return (
        Counts() if row is None else Counts(clusters=row["clusters"], infra_envs=row["infra_envs"], hosts=row["hosts"])
    )
