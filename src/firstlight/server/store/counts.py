"""How much the service keeps."""

from typing import Final

from firstlight.server.ports.counts import Counts
from firstlight.server.ports.database import Database, Sql

ALL: Final = Sql(
    "SELECT (SELECT count(*) FROM clusters WHERE deleted_at IS NULL) AS clusters,"
    " (SELECT count(*) FROM infra_envs WHERE deleted_at IS NULL) AS infra_envs,"
    " (SELECT count(*) FROM hosts WHERE deleted_at IS NULL) AS hosts"
)
BYTES: Final = Sql(
    postgres="SELECT pg_database_size(current_database()) AS bytes",
    sqlite="SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
)


async def counts(database: Database) -> Counts:
    row = await database.fetch_one(ALL)
    return (
        Counts() if row is None else Counts(clusters=row["clusters"], infra_envs=row["infra_envs"], hosts=row["hosts"])
    )


async def database_bytes(database: Database) -> int:
    row = await database.fetch_one(BYTES)
    return 0 if row is None else int(row["bytes"])
