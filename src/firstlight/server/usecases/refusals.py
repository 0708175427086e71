"""Requests that a subject's state forbids are told as events before they are refused."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from firstlight.core.errors import Conflict
from firstlight.core.events.event import Event
from firstlight.core.events.recorded import record
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.world import World


@asynccontextmanager
async def telling(world: World, event: Callable[[str], Event], *, caller: Caller) -> AsyncGenerator[None]:
    """Record `event` with the reason when what is done inside ends in a Conflict."""
    try:
        yield
    except Conflict as refusal:
        told = record(event(str(refusal)), now=world.clock.now(), actor=caller.name, request_id=caller.request_id)
        await world.store.commit(AddEvents(events=(told,)))
        raise
