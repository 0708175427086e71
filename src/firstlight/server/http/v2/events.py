"""Events: the list with its counts, and the one a controller adds."""

from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import Recorded
from firstlight.core.wire.views.events import view_event
from firstlight.core.wire.words import EventSeverity
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty, Reply
from firstlight.server.ports.event_pages import EventPage, EventQuery
from firstlight.server.usecases import events
from firstlight.server.usecases.world import World

PAGE: Final = 5000
"""Events in an answer unless the caller names a limit."""


class ListQuery(Struct, frozen=True, kw_only=True):
    cluster_id: UUID | None = None
    host_id: UUID | None = None
    host_ids: tuple[UUID, ...] = ()
    infra_env_id: UUID | None = None
    limit: int = PAGE
    offset: int = 0
    order: Literal["ascending", "descending"] = "ascending"
    severities: tuple[EventSeverity, ...] = ()
    message: str = ""
    deleted_hosts: bool = False
    cluster_level: bool = False
    categories: tuple[str, ...] = (Category.USER.value,)


@operation(
    "GET",
    "/v2/events",
    id="v2ListEvents",
    access=Access.READ | Access.URL | Access.WATCHER,
    query=ListQuery,
    answer=tuple[wire.Event, ...],
    errors=(400, 401, 403, 404, 405, 500),
    etag=True,
)
async def list_events(world: World, call: Call[None, ListQuery]) -> Reply[tuple[wire.Event, ...]]:
    """List events of a cluster, of hosts or of an infra-env, with counts in the headers."""
    page = await events.list_events(world, _query(call.query), caller=call.actor)
    return Reply(tuple(view_event(event) for event in page.events), headers=_counts(page))


def _query(asked: ListQuery) -> EventQuery:
    return EventQuery(
        cluster_id=asked.cluster_id,
        infra_env_id=asked.infra_env_id,
        host_ids=(*asked.host_ids, *((asked.host_id,) if asked.host_id else ())),
        deleted_hosts=asked.deleted_hosts,
        cluster_level=asked.cluster_level,
        message=asked.message,
        severities=asked.severities,
        categories=asked.categories,
        descending=asked.order == "descending",
        limit=None if asked.limit < 0 else asked.limit,
        offset=max(asked.offset, 0),
    )


def _counts(page: EventPage) -> dict[str, str]:
    counts = {f"Severity-Count-{severity.capitalize()}": str(page.by_severity[severity]) for severity in Severity}
    return {**counts, "Event-Count": str(page.total)}


@operation(
    "POST",
    "/v2/events",
    id="v2TriggerEvent",
    access=Access.AGENT,
    body=wire.EventTriggerParams,
    body_name="triggerEventParams",
    success=201,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
)
async def trigger_event(world: World, call: Call[wire.EventTriggerParams, NoQuery]) -> Empty:
    """Keep an event that a controller or installer tells; the time of its arrival counts."""
    sent = call.body
    event = Recorded(
        event_time=sent.event_time,
        name=sent.name or "",
        severity=Severity(sent.severity),
        category=Category(sent.category or Category.USER),
        message=sent.message,
        cluster_id=sent.cluster_id,
        host_id=sent.host_id,
        infra_env_id=sent.infra_env_id,
        request_id=sent.request_id,
    )
    await events.keep_event(world, event, props=sent.props or "", caller=call.actor)
    return Empty()
