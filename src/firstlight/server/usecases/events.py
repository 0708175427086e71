"""The list of events, and the ones that parts of an installation ask the service to keep."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec
import structlog
from msgspec.structs import replace

from firstlight.core.errors import Forbidden, Invalid, NotFound
from firstlight.core.events.catalogue import rate_limits
from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import Recorded
from firstlight.server.auth.membership import are_together
from firstlight.server.ports.event_pages import EventPage, EventQuery
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import no_such_host
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

LISTED: Final = frozenset({Category.USER, Category.METRICS})
"""What the original's list knows; changes of our own are on the stream."""
NO_COUNTS: Final[Mapping[Severity, int]] = dict.fromkeys(Severity, 0)
LONGEST: Final = {"name": 256, "message": 4_096, "props": 65_536}
"""Characters of what is kept for others; everybody who lists events gets them all."""
NOTHING: Final = EventPage(events=(), total=0, by_severity=NO_COUNTS)


async def list_events(world: World, query: EventQuery, *, caller: Caller) -> EventPage:
    """One page; the counts by severity belong to a cluster and are zero without one."""
    asked = query.cluster_id or query.infra_env_id or query.host_ids
    categories = tuple(name for name in query.categories if name in LISTED)
    if not categories or (not asked and not caller.is_admin):
        return NOTHING
    page = await world.store.events(replace(query, categories=categories))
    return page if query.cluster_id is not None else replace(page, by_severity=NO_COUNTS)


async def keep_event(world: World, event: Recorded, *, props: str, caller: Caller) -> None:
    """Record what a controller or installer tells. `props` is JSON by agreement; what is none is left out."""
    for part, text in (("name", event.name), ("message", event.message), ("props", props)):
        if len(text) > LONGEST[part]:
            raise Invalid(f"The {part} of the event has {len(text)} characters. Shorten it to {LONGEST[part]} at most.")
    await _require_own(world, event, caller)
    await _require_subjects(world, event)
    kept = replace(
        event,
        event_time=world.clock.now(),
        props=_properties(props, name=event.name),
        request_id=event.request_id or caller.request_id,
        actor=caller.name,
    )
    if await worth_telling(world, kept):
        await world.store.commit(AddEvents(events=(kept,)))


async def worth_telling(world: World, event: Recorded) -> bool:
    """False for a repeat of a rate-limited event about the same things within its time."""
    configured = {name: timedelta(seconds=seconds) for name, seconds in world.service.event_rate_limits.items()}
    limit = rate_limits(configured).get(event.name)
    if limit is None:
        return True
    subject = {"cluster_id": event.cluster_id, "host_id": event.host_id, "infra_env_id": event.infra_env_id}
    return not await world.store.recent_event(event.name, subject=subject, since=event.event_time - limit)


def _properties(text: str, *, name: str) -> dict[str, object]:
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        log.warning("properties of an event are no JSON object", event_name=name[:80], reason=str(error))
        return {}


async def _require_own(world: World, event: Recorded, caller: Caller) -> None:
    """A machine that proved whose it is tells nothing of others."""
    foreign = caller.cluster_id is not None and event.cluster_id not in (None, caller.cluster_id)
    if caller.infra_env_id is not None:
        foreign = event.infra_env_id not in (None, caller.infra_env_id)
        if event.cluster_id is not None and not foreign:
            own = await are_together(world.store, infra_env_id=caller.infra_env_id, cluster_id=event.cluster_id)
            foreign = not own
    if foreign:
        raise Forbidden("This token is for the machines of another infra-env or cluster.")


async def _require_subjects(world: World, event: Recorded) -> None:
    """An event about nothing this service knows would stay for ever: nobody could list or remove it."""
    cluster_id, infra_env_id, host_id = event.cluster_id, event.infra_env_id, event.host_id
    if cluster_id is not None and await world.store.cluster(cluster_id) is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    if infra_env_id is not None and await world.store.infra_env(infra_env_id) is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    if host_id is not None and not await _knows_host(world, host_id, infra_env_id=infra_env_id):
        raise (
            NotFound(f"There is no host {host_id}.") if infra_env_id is None else no_such_host((infra_env_id, host_id))
        )


async def _knows_host(world: World, host_id: UUID, *, infra_env_id: UUID | None) -> bool:
    found = await world.store.hosts_by_id(host_id)
    return any(infra_env_id in (None, host.infra_env_id) for host in found)
