"""The stream of changes: which things are different now, without saying how. Made for pages that show them."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from firstlight.core.errors import Error
from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Stream
from firstlight.server.http.v1.events import RETRY_MILLISECONDS, last_event_id
from firstlight.server.usecases.changes import follow_changes
from firstlight.server.usecases.stream import starting_point
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)
_encode: Final = msgspec.json.Encoder().encode


class ChangesQuery(Struct, frozen=True, kw_only=True):
    last_event_id: int | None = None


@operation(
    "GET",
    "/v1/changes",
    id="streamChanges",
    access=Access.READ | Access.WATCHER,
    query=ChangesQuery,
    answer=Stream,
    errors=(400,),
    headers=("last-event-id",),
)
async def stream_changes(world: World, call: Call[None, ChangesQuery]) -> Stream:
    """Follow which clusters, infra-envs and hosts change, from a number on (Last-Event-ID) or from now on."""
    start = await starting_point(world.store, last_event_id(call.headers, call.query.last_event_id))
    return Stream(chunks=_chunks(world, start), headers={"x-accel-buffering": "no"})


async def _chunks(world: World, start: int) -> AsyncIterator[bytes]:
    yield b"retry: %d\nid: %d\n\n" % (RETRY_MILLISECONDS, start)
    try:
        async for position, changed in follow_changes(world.store, world.broadcast, after=start):
            if changed is None:
                yield b": still here\nid: %d\n\n" % position
            else:
                yield b"id: %d\ndata: %s\n\n" % (position, _encode(changed))
    except Error as failure:
        # The caller comes back by itself and goes on where it was.
        log.warning("a stream of changes ended early", reason=str(failure))
