"""What is remembered between polls must never be older than what was committed."""

import asyncio
import dataclasses
import gc
from typing import Any

import pytest

from firstlight.core.roles import key_of
from firstlight.server.ports.store import PresenceRow
from firstlight.server.usecases import agents
from firstlight.server.usecases.turns import Turns
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio


class SlowStore:
    """Somebody commits a change while a host is being read."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    async def presence(self, key: Any) -> PresenceRow | None:
        found = await self._world.store.presence(key)
        self._world.sessions.forget(f"cluster:{CLUSTER_ID}")
        return found


async def test_what_was_read_before_a_change_is_not_kept(world: World) -> None:
    state = await put_cluster(world)
    key = key_of(state.hosts[0])
    late = dataclasses.replace(world, store=SlowStore(world))
    await agents.next_steps(late, key, agent_version="", timestamp=None)
    assert world.sessions.get(key) is None
    await agents.next_steps(world, key, agent_version="", timestamp=None)
    assert world.sessions.get(key) is not None


async def test_turns_are_taken_in_order_and_per_subject() -> None:
    turns, order = Turns(), list[str]()

    async def take(subject: str, name: str) -> None:
        async with turns.of(subject):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async with asyncio.TaskGroup() as group:
        for subject, name in (("a", "first"), ("a", "second"), ("b", "other")):
            group.create_task(take(subject, name))
    assert order.index("first ends") < order.index("second begins")
    assert order.index("other begins") < order.index("first ends")


async def test_turns_nobody_takes_are_forgotten() -> None:
    turns = Turns()
    async with turns.of("a"):
        assert turns.of("a") is turns.of("a")
    gc.collect()
    assert len(turns._locks) == 0
