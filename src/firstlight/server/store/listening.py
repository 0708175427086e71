"""Signs of life of the replicas: silence of a host counts only while somebody listened."""

from datetime import datetime
from typing import Final

from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.store.documents import micros, optional_moment

RENEW: Final = Sql(
    "INSERT INTO listening (replica, renewed_at) VALUES (:replica, :now)"
    " ON CONFLICT (replica) DO UPDATE SET renewed_at = excluded.renewed_at"
    " WHERE excluded.renewed_at > listening.renewed_at"
)
NEWEST: Final = Sql("SELECT max(renewed_at) AS newest FROM listening WHERE replica <> :except_replica")


async def renew(database: Database, replica: str, now: datetime) -> None:
    await database.commit(Statement(RENEW, {"replica": replica, "now": micros(now)}), relaxed=True)


async def listened_until(database: Database, *, except_replica: str | None) -> datetime | None:
    row = await database.fetch_one(NEWEST, except_replica=except_replica or "")
    return None if row is None else optional_moment(row["newest"])
