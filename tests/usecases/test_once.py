"""A step that must run once is on record before it leaves: no other replica, and no later life, hands it out again."""

import json
from dataclasses import replace as with_fields
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.errors import Unavailable
from firstlight.core.model.plan import ONCE, Step, StepPlan, StepType
from firstlight.core.steps.replies import Reply
from firstlight.server.ports.subjects import CHANGES, host_subject
from firstlight.server.ports.writes import PutHost, PutIssued, PutPlan, TouchCluster, Write
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases import agents
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio
ORDINARY = (Step(StepType.INVENTORY), Step(StepType.NTP, ("ntp.example.com",)))


def another_replica(world: World) -> World:
    return with_fields(world, store=open_store(vars(world.store)["_database"]), sessions=Sessions())


async def planned(world: World, *steps: Step) -> HostKey:
    """A host that is to do this next."""
    state = await put_cluster(world)
    host = state.hosts[0].host
    key = (host.infra_env_id, host.id)
    await world.store.commit(PutPlan(key=key, plan=StepPlan(steps=steps)))
    return key


async def poll(world: World, key: HostKey) -> dict[str, str]:
    """Types and ids of the steps that are handed out."""
    answer = json.loads(await agents.next_steps(world, key, agent_version="", timestamp=None))
    return {step["step_type"]: step["step_id"] for step in answer["instructions"]}


class Watched:
    """A store that keeps in mind what was committed, and can be away."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.away = False
        self.kept: list[Write] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        if self.away:
            raise Unavailable("The database is away.")
        self.kept += writes
        await self._store.commit(*writes)


@pytest.fixture
async def watched(world: World) -> tuple[World, Watched]:
    store: Any = Watched(world.store)
    return with_fields(world, store=store), store


@pytest.mark.parametrize("step", sorted(ONCE))
async def test_nobody_else_hands_it_out_again(world: World, step: StepType) -> None:
    key = await planned(world, Step(step, ("x",)), *ORDINARY)
    assert step in await poll(world, key)
    for other in (another_replica(world), another_replica(world)):
        assert set(await poll(other, key)) == {StepType.INVENTORY, StepType.NTP}, "ordinary steps are asked for anew"


async def test_it_is_asked_for_again_when_nothing_came_of_it(world: World, clock: SetClock) -> None:
    """The answer may have been lost on its way: the agent knows the step by its id."""
    key = await planned(world, Step(StepType.INSTALL, ("x",)))
    first = await poll(world, key)
    seconds = agents.REPEAT_SHARE * world.policy.poll_seconds
    clock.forward(timedelta(seconds=seconds - 1))
    assert await poll(another_replica(world), key) == {}
    clock.forward(timedelta(seconds=1))
    other = another_replica(world)
    assert await poll(other, key) == first
    assert await poll(another_replica(world), key) == {}, "the second time is on record, too"


async def test_who_has_answered_is_not_asked_again_before_somebody_thought_about_it(
    world: World, clock: SetClock
) -> None:
    """A measurement longer than the interval of polls: the plan is the old one for a moment after it ended."""
    key = await planned(world, Step(StepType.DISK_SPEED, ("x",)))
    first = await poll(world, key)
    clock.forward(timedelta(seconds=2 * world.policy.poll_seconds))
    reply = Reply(step=StepType.DISK_SPEED, output='{"path": "/dev/sda", "io_sync_duration": 3}', exit_code=0)
    await agents.take_reply(world, key, reply, caller=Caller(name="agent"))
    assert await poll(world, key) == {}
    assert await poll(another_replica(world), key) == {}
    clock.forward(timedelta(seconds=world.policy.poll_seconds))
    assert await poll(world, key) == first, "the plan still wants it"


async def test_nor_when_it_starts_anew_meanwhile(world: World, clock: SetClock) -> None:
    key = await planned(world, Step(StepType.DISK_SPEED, ("x",)))
    first = await poll(world, key)
    reply = Reply(step=StepType.DISK_SPEED, output='{"path": "/dev/sda", "io_sync_duration": 3}', exit_code=0)
    await agents.take_reply(world, key, reply, caller=Caller(name="agent"))
    await registered_anew(world, clock)
    world.sessions.restart(key)
    assert await poll(world, key) == {}
    await world.store.commit(PutPlan(key=key, plan=StepPlan()))
    world.sessions.forget(host_subject(key))
    assert await poll(world, key) == {}
    await world.store.commit(PutPlan(key=key, plan=StepPlan(steps=(Step(StepType.DISK_SPEED, ("x",)),))))
    world.sessions.forget(host_subject(key))
    assert await poll(world, key) == first, "somebody thought about it, and wants it once more"


async def registered_anew(world: World, clock: SetClock) -> None:
    clock.forward(timedelta(seconds=1))
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    again = replace(state.hosts[0].host, registered_at=clock.now())
    await world.store.commit(TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision), PutHost(host=again))


async def test_another_step_of_its_kind_is_handed_out(world: World) -> None:
    key = await planned(world, Step(StepType.INSTALL, ("x",)))
    first = await poll(world, key)
    await world.store.commit(PutPlan(key=key, plan=StepPlan(steps=(Step(StepType.INSTALL, ("x",), tries=1),))))
    second = await poll(another_replica(world), key)
    assert set(second) == set(first)
    assert second != first


async def test_who_registered_anew_is_asked_anew(world: World, clock: SetClock) -> None:
    key = await planned(world, Step(StepType.INSTALL, ("x",)))
    first = await poll(world, key)
    await registered_anew(world, clock)
    assert await poll(another_replica(world), key) == first


async def test_ordinary_polls_write_nothing(watched: tuple[World, Watched], clock: SetClock) -> None:
    world, store = watched
    key = await planned(world, *ORDINARY)
    await poll(world, key)  # The first one tells what the clock says.
    store.kept.clear()
    clock.forward(timedelta(minutes=1))
    assert len(await poll(world, key)) == 2
    assert store.kept == []
    await world.store.commit(PutPlan(key=key, plan=StepPlan(steps=(Step(StepType.INSTALL), *ORDINARY))))
    world.sessions.forget(host_subject(key))
    store.kept.clear()
    for _ in range(3):
        await poll(world, key)
        clock.forward(timedelta(seconds=1))
    assert [type(write) for write in store.kept] == [PutIssued]


async def test_what_is_not_on_record_is_not_handed_out(watched: tuple[World, Watched]) -> None:
    world, store = watched
    key = await planned(world, Step(StepType.INSTALL, ("x",)))
    store.away = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await poll(world, key)
    store.away = False
    assert set(await poll(world, key)) == {StepType.INSTALL}
    assert await poll(world, key) == {}


async def test_replicas_that_remember_the_agent_hear_of_it(world: World) -> None:
    key = await planned(world, Step(StepType.INSTALL, ("x",)))
    async with world.store.listen(CHANGES) as notices:
        await anext(notices)
        await poll(world, key)
        assert await anext(notices) == host_subject(key)
