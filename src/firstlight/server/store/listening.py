"""Signs of life of the replicas: silence of a host counts only while somebody listened."""

from datetime import datetime, timedelta
from typing import Final

from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.ports.rows import Listened
from firstlight.server.store.documents import micros, optional_micros, optional_moment

KEPT: Final = timedelta(days=1)
"""How long the last sign of a replica that ended is of interest."""
RENEW: Final = Sql(
    "INSERT INTO listening (replica, renewed_at, forgiven_until) VALUES (:replica, :now, :forgiven_until)"
    " ON CONFLICT (replica) DO UPDATE SET renewed_at = excluded.renewed_at, forgiven_until = excluded.forgiven_until"
    " WHERE excluded.renewed_at > listening.renewed_at"
)
DROP: Final = Sql("DELETE FROM listening WHERE renewed_at < :before")
NEWEST: Final = Sql("SELECT max(renewed_at) AS newest, max(forgiven_until) AS forgiven_until FROM listening")


async def renew(database: Database, replica: str, now: datetime, *, forgiven_until: datetime | None) -> None:
    sign = {"replica": replica, "now": micros(now), "forgiven_until": optional_micros(forgiven_until)}
    await database.commit(
        Statement(DROP, {"before": micros(now - KEPT)}),
        Statement(RENEW, sign),
        relaxed=True,
    )


async def listened(database: Database) -> Listened:
    row = await database.fetch_one(NEWEST)
    if row is None:
        return Listened()
    return Listened(until=optional_moment(row["newest"]), forgiven_until=optional_moment(row["forgiven_until"]))
