"""The stream of events: every change, in order and once, as server-sent events."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Final
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from firstlight.core.errors import Error, Invalid
from firstlight.core.events.recorded import About, Recorded
from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Stream
from firstlight.server.usecases.reading_findings import require_cluster
from firstlight.server.usecases.stream import Scope, follow, starting_point
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

HEARTBEAT: Final = b": still here\nid: %d\n\n"
UNNAMED: Final = "change"
"""How the stream calls events that have no name of their own."""
RETRY_MILLISECONDS: Final = 2_000
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_encode: Final = msgspec.json.Encoder().encode


class StreamQuery(Struct, frozen=True, kw_only=True):
    cluster_id: UUID | None = None
    infra_env_id: UUID | None = None
    last_event_id: int | None = None
    about: tuple[About, ...] = ()
    """Only events about things of these kinds: an event about a host is none about its infra-env or cluster."""


@operation(
    "GET",
    "/v1/events",
    id="streamEvents",
    access=Access.READ | Access.WATCHER,
    query=StreamQuery,
    answer=Stream,
    errors=(400, 404),
    headers=("last-event-id",),
)
async def stream_events(world: World, call: Call[None, StreamQuery]) -> Stream:
    """Follow events from a number on (Last-Event-ID), or from now on; 0 is the beginning.

    `about` narrows the stream to events about things of these kinds: an event about a host is none about its infra-env
    or cluster. A comment line after a silence brings the number to continue from, past events that were not wanted.
    """
    asked = call.query
    if asked.cluster_id is not None:
        await require_cluster(world, asked.cluster_id)
    start = await starting_point(world.store, last_event_id(call.headers, asked.last_event_id))
    scope = Scope(cluster_id=asked.cluster_id, infra_env_id=asked.infra_env_id, about=frozenset(asked.about))
    return Stream(chunks=_chunks(world, start, scope), headers={"x-accel-buffering": "no"})


def last_event_id(headers: Mapping[str, str], given: int | None) -> int | None:
    """The header, which browsers send when they come back, beats what the query gave at first."""
    text = headers.get("last-event-id", "").strip()
    if not text:
        pass
    elif text.isascii() and text.isdecimal() and len(text) < 19:
        given = int(text)
    else:
        raise Invalid(f"Last-Event-ID is '{text[:40]}', which is no number of an event. Send the id of the last one.")
    if given is not None and given < 0:
        raise Invalid("last_event_id is negative. Send the id of the last event, or 0 for all of them.")
    return given


async def _chunks(world: World, start: int, scope: Scope) -> AsyncIterator[bytes]:
    # The first id lets a caller who is cut off before any event come back to the same place.
    yield b"retry: %d\nid: %d\n\n" % (RETRY_MILLISECONDS, start)
    try:
        async for told in follow(world.store, world.broadcast, after=start, scope=scope):
            # A number alone is no event; who comes back with it is spared looking through what was not wanted.
            yield b"".join(_encoded(event) for event in told.events) or HEARTBEAT % told.position
    except Error as failure:
        # The caller comes back by itself and goes on where it was.
        log.warning("a stream of events ended early", reason=str(failure))


def _encoded(event: Recorded) -> bytes:
    # A name may come from outside; only a plain one may stand on a line of its own.
    name = event.name if _PLAIN_NAME.fullmatch(event.name) else UNNAMED
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, name.encode(), _encode(event))
