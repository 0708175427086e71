"""Pages of events as `GET /v2/events` asks for them: which rows, how many of each severity, one page in order.

A cluster comes first: hosts, deleted hosts and the cluster's own events then widen each other. Without a cluster, hosts
count (those that exist), and without hosts the infra-env.
"""

from typing import Final

from firstlight.core.events.event import Severity
from firstlight.server.ports.database import Database, Param, Sql
from firstlight.server.ports.event_pages import EventPage, EventQuery
from firstlight.server.store.events import FIELDS, recorded

DELETED_HOST: Final = (
    "EXISTS (SELECT 1 FROM hosts h WHERE h.id = events.host_id AND h.deleted_at IS NOT NULL"
    " AND (events.infra_env_id IS NULL OR h.infra_env_id = events.infra_env_id))"
)
CLUSTER_SCOPE: Final = (
    "cluster_id = :cluster_id AND (CAST(:everything AS BIGINT) = 1 OR host_id = ANY(:host_ids)"
    " OR (CAST(:cluster_level AS BIGINT) = 1 AND host_id IS NULL)"
    " OR (CAST(:deleted_hosts AS BIGINT) = 1 AND " + DELETED_HOST + "))"
)
HAS_TEXT: Final = " AND (CAST(:message AS TEXT) = '' OR {position}(lower(message), lower(:message)) > 0)"
"""A plain substring: no character of it means anything else."""
HOSTS_SCOPE: Final = "host_id = ANY(:host_ids)"
INFRA_ENV_SCOPE: Final = "infra_env_id = :infra_env_id"
OF_CATEGORY: Final = " AND category = ANY(:categories)"
COUNT: Final = "SELECT severity, count(*) AS number FROM events WHERE {scope} GROUP BY severity"
PAGE: Final = (
    "SELECT seq, {fields} FROM events WHERE {scope} AND severity = ANY(:severities)"
    " ORDER BY event_time {order}, seq {order} LIMIT :limit OFFSET :offset"
)
LIVE_HOSTS: Final = Sql("SELECT DISTINCT id FROM hosts WHERE id = ANY(:ids) AND deleted_at IS NULL")
NO_LIMIT: Final = 2**62


class Scope:
    """One way to choose rows: its count and its page in both directions."""

    def __init__(self, where: str, *, text: bool = False) -> None:
        postgres = where + (HAS_TEXT.format(position="strpos") if text else "") + OF_CATEGORY
        sqlite = where + (HAS_TEXT.format(position="instr") if text else "") + OF_CATEGORY
        self.count = Sql(postgres=COUNT.format(scope=postgres), sqlite=COUNT.format(scope=sqlite))
        self.rising, self.falling = (
            Sql(
                postgres=PAGE.format(fields=FIELDS, scope=postgres, order=order),
                sqlite=PAGE.format(fields=FIELDS, scope=sqlite, order=order),
            )
            for order in ("ASC", "DESC")
        )


OF_CLUSTER: Final = Scope(CLUSTER_SCOPE, text=True)
OF_HOSTS: Final = Scope(HOSTS_SCOPE)
OF_INFRA_ENV: Final = Scope(INFRA_ENV_SCOPE)
OF_ALL: Final = Scope("1 = 1")


async def chosen(database: Database, query: EventQuery) -> tuple[Scope, dict[str, Param]]:
    host_ids = [str(host_id) for host_id in query.host_ids]
    if query.cluster_id is not None:
        everything = not (host_ids or query.deleted_hosts or query.cluster_level)
        return OF_CLUSTER, {
            "cluster_id": str(query.cluster_id),
            "everything": int(everything),
            "host_ids": host_ids,
            "cluster_level": int(query.cluster_level),
            "deleted_hosts": int(query.deleted_hosts),
            "message": query.message,
        }
    if host_ids:
        live = await database.fetch(LIVE_HOSTS, ids=host_ids)
        return OF_HOSTS, {"host_ids": [row["id"] for row in live]}
    if query.infra_env_id is not None:
        return OF_INFRA_ENV, {"infra_env_id": str(query.infra_env_id)}
    return OF_ALL, {}


async def page(database: Database, query: EventQuery) -> EventPage:
    if "\0" in query.message:
        return EventPage(events=(), total=0, by_severity=dict.fromkeys(Severity, 0))  # no stored text has one
    scope, where = await chosen(database, query)
    where["categories"] = list(query.categories)
    counted = {row["severity"]: int(row["number"]) for row in await database.fetch(scope.count, large=True, **where)}
    by_severity = {severity: counted.get(severity.value, 0) for severity in Severity}
    wanted = [severity for severity in Severity if not query.severities or severity.value in query.severities]
    total = sum(by_severity[severity] for severity in wanted)
    limit = NO_LIMIT if query.limit is None or query.limit < 0 else query.limit
    offset = max(query.offset, 0)
    if limit == 0 or offset >= total:
        return EventPage(events=(), total=total, by_severity=by_severity)
    rows = await database.fetch(
        scope.falling if query.descending else scope.rising,
        large=True,
        severities=[severity.value for severity in wanted],
        limit=limit,
        offset=offset,
        **where,
    )
    return EventPage(events=await recorded(rows), total=total, by_severity=by_severity)
