"""Following events: nothing missed, nothing twice, whoever is slow reads from the store, and idle costs nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.errors import Unavailable
from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import About, Recorded
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.stream import KEPT, PAGE, Broadcast, Place, Scope, Told, follow, starting_point
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW

pytestmark = pytest.mark.anyio

OTHER = UUID("c0000000-0000-4000-8000-000000000009")
LONG = 3600.0


def an_event(seq: int = 0, **changes: Any) -> Recorded:
    event = Recorded(seq=seq, event_time=NOW, severity=Severity.INFO, message="x", cluster_id=CLUSTER_ID)
    return replace(event, **changes)


class Log:
    """A store as far as followers see it, which counts how often it is read."""

    def __init__(self, *events: Recorded) -> None:
        self.events = list(events)
        self.reads = 0
        self.broken = False

    def add(self, count: int = 1, **changes: Any) -> None:
        last = len(self.events)
        self.events.extend(an_event(last + number, **changes) for number in range(1, count + 1))

    async def last_event_seq(self) -> int:
        return len(self.events)

    async def events_after(
        self,
        seq: int,
        *,
        limit: int,
        cluster_id: UUID | None = None,
        infra_env_id: UUID | None = None,
        about: Sequence[About] = (),
    ) -> Sequence[Recorded]:
        self.reads += 1
        if self.broken:
            raise Unavailable("The database is away.")
        scope = Scope(cluster_id=cluster_id, infra_env_id=infra_env_id, about=frozenset(about))
        return [event for event in self.events if event.seq > seq and scope.holds(event)][:limit]


@asynccontextmanager
async def followed(
    log: Any, broadcast: Broadcast, *, after: int = 0, scope: Scope | None = None, heartbeat: float = LONG
) -> AsyncIterator[list[int]]:
    """The numbers a follower has got so far, with 0 for a heartbeat."""
    got: list[int] = []

    async def read() -> None:
        async for found in follow(log, broadcast, after=after, scope=scope or Scope(), heartbeat=heartbeat):
            got.extend([event.seq for event in found.events] or [0])

    task = asyncio.create_task(read())
    await turns()
    try:
        yield got
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_was_missed_comes_first_then_what_is_new() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(3)
    async with followed(log, broadcast, after=1) as got:
        assert got == [2, 3]
        log.add(2)
        await broadcast.look(log)
        await turns()
        assert got == [2, 3, 4, 5]


async def test_a_long_absence_is_read_in_pages() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(2 * PAGE + 1)
    async with followed(log, broadcast) as got:
        assert got == list(range(1, 2 * PAGE + 2))
        assert log.reads == 3


async def test_many_followers_read_the_store_once() -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast) as one, followed(log, broadcast) as two, followed(log, broadcast) as three:
        log.add()
        await broadcast.look(log)
        await turns()
        before = log.reads
        log.add(5)
        await broadcast.look(log)
        await turns()
        assert one == two == three == [1, 2, 3, 4, 5, 6]
        assert log.reads == before + 1


async def test_nobody_follows_nothing_is_read() -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast):
        log.add()
        await broadcast.look(log)
    before = log.reads
    for _ in range(5):
        log.add()
        await broadcast.look(log)
    assert log.reads == before
    async with followed(log, broadcast, after=1) as got:
        assert got == [2, 3, 4, 5, 6]


async def test_who_is_slow_holds_nobody_and_reads_from_the_store() -> None:
    log, broadcast = Log(), Broadcast(kept=5)
    slow = follow(log, broadcast, after=0, heartbeat=LONG)
    log.add()
    assert [event.seq for event in (await anext(slow)).events] == [1]
    async with followed(log, broadcast, after=1) as quick:
        await broadcast.look(log)
        for _ in range(20):
            log.add()
            await broadcast.look(log)
            await turns()
        assert quick == list(range(2, 22))
        before = log.reads
        assert [event.seq for event in (await anext(slow)).events] == list(range(2, 22))
        assert log.reads == before + 1
    await slow.aclose()


@pytest.mark.parametrize("kept", [2, 3])
async def test_the_ring_knows_how_far_back_it_reaches(kept: int) -> None:
    log, broadcast = Log(), Broadcast(kept=kept)
    with broadcast.joined():
        await broadcast.look(log)
        log.add(3)
        await broadcast.look(log)
        found = broadcast.after(0)
        assert (None if found is None else [event.seq for event in found]) == (None if kept == 2 else [1, 2, 3])
        assert [event.seq for event in broadcast.after(1) or ()] == [2, 3]
        assert broadcast.after(3) == ()
        assert broadcast.after(9) == ()


async def test_scopes() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(cluster_id=OTHER)
    log.add(infra_env_id=INFRA_ENV_ID)
    log.add(infra_env_id=INFRA_ENV_ID, cluster_id=None)
    mine = Scope(cluster_id=CLUSTER_ID)
    env = Scope(infra_env_id=INFRA_ENV_ID)
    both = Scope(cluster_id=CLUSTER_ID, infra_env_id=INFRA_ENV_ID)
    async with (
        followed(log, broadcast, scope=mine) as of_cluster,
        followed(log, broadcast, scope=env) as of_env,
        followed(log, broadcast, scope=both) as of_both,
    ):
        for where in ({"cluster_id": OTHER}, {"infra_env_id": INFRA_ENV_ID}, {"cluster_id": None}):
            log.add(**where)
            await broadcast.look(log)
            await turns()
        assert of_cluster == [2, 5]
        assert of_env == [2, 3, 5]
        assert of_both == [2, 5]


# --- kinds of things

ENVS = Scope(about=frozenset({About.INFRA_ENV}))
A_HOST = {"infra_env_id": INFRA_ENV_ID, "host_id": OTHER}
AN_ENV = {"infra_env_id": INFRA_ENV_ID}


@pytest.mark.parametrize(
    ("ids", "about"),
    [
        ({"cluster_id": None}, About.SERVICE),
        ({}, About.CLUSTER),
        (AN_ENV, About.INFRA_ENV),
        (A_HOST, About.HOST),
        ({"host_id": OTHER}, About.HOST),
    ],
)
def test_an_event_is_about_the_narrowest_thing_it_names(ids: dict[str, Any], about: About) -> None:
    event = an_event(**ids)
    assert event.about is about
    assert [kind for kind in About if Scope(about=frozenset({kind})).holds(event)] == [about]
    assert Scope(about=frozenset(About)).holds(event)


async def test_nothing_is_read_for_who_does_not_want_it() -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast, scope=ENVS) as got:
        before = log.reads
        for _ in range(10):
            log.add(**A_HOST)
            await broadcast.look(log, "host infra-env:x")
            await turns()
        assert (got, log.reads) == ([], before)
        log.add(**AN_ENV)
        await broadcast.look(log, "infra-env infra-env:x")
        await turns()
        assert (got, log.reads) == ([11], before + 1)
        log.add(**AN_ENV)
        await broadcast.look(log, "")
        await turns()
        assert got == [11, 12], "a notice without a word may stand for anything"


async def test_who_wants_everything_shares_what_is_read_with_who_does_not() -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast) as everything, followed(log, broadcast, scope=ENVS) as choosy:
        for ids in (A_HOST, AN_ENV, {}, AN_ENV):
            log.add(**ids)
            await broadcast.look(log, "host")
            await turns()
        before = log.reads
        log.add(**AN_ENV)
        await broadcast.look(log, "infra-env")
        await turns()
        assert everything == [1, 2, 3, 4, 5]
        assert choosy == [2, 4, 5]
        assert log.reads == before + 1, "for both"


async def test_silence_tells_the_place_beyond_what_was_not_wanted() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(2, **AN_ENV)
    log.add(5, **A_HOST)
    source = follow(log, broadcast, after=0, scope=ENVS, heartbeat=0.01)
    first, second = await anext(source), await anext(source)
    assert ([event.seq for event in first.events], second.events) == ([1, 2], ())
    assert second.position == 7
    log.add(**A_HOST)
    log.add(**AN_ENV)
    await source.aclose()
    again = follow(log, broadcast, after=second.position, scope=ENVS, heartbeat=LONG)
    assert [event.seq for event in (await anext(again)).events] == [9]
    await again.aclose()


# --- what is not wanted


async def test_what_does_not_concern_a_follower_costs_it_no_read() -> None:
    log, broadcast = Log(), Broadcast(kept=4)
    async with followed(log, broadcast, scope=Scope(cluster_id=CLUSTER_ID)) as got:
        await broadcast.look(log)
        await turns()
        before = log.reads
        for _ in range(10):
            log.add(cluster_id=OTHER)
            await broadcast.look(log)
            await turns()
        assert (got, log.reads) == ([], before + 10), "one read for each look, none for the follower"


async def test_unwanted_events_of_the_past_are_passed_over() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(10, cluster_id=OTHER)
    async with followed(log, broadcast, scope=Scope(cluster_id=CLUSTER_ID)):
        for _ in range(2):
            await broadcast.look(log)
            await turns()
        before = log.reads
        log.add(cluster_id=OTHER)
        await broadcast.look(log)
        await turns()
        assert log.reads == before + 1, "the look itself"


async def test_who_comes_late_reads_page_by_page_though_the_ring_is_further() -> None:
    log, broadcast = Log(), Broadcast()
    log.add(2 * PAGE + 1)
    with broadcast.joined():
        await broadcast.look(log)
        async with followed(log, broadcast) as got:
            assert got == list(range(1, 2 * PAGE + 2))


async def test_a_look_takes_all_there_is() -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast) as got:
        await broadcast.look(log)
        log.add(2 * PAGE)
        await broadcast.look(log)
        await turns()
        assert got == list(range(1, 2 * PAGE + 1))


async def test_what_is_committed_while_a_follower_looks_wakes_it() -> None:
    broadcast = Broadcast()

    class Busy(Log):
        """The next event comes after the rows were read and before they are handed over."""

        async def events_after(self, seq: int, **parts: Any) -> Sequence[Recorded]:
            found = await super().events_after(seq, **parts)
            if self.reads == 1:
                self.add()
                await broadcast.look(self)
            return found

    async with followed(Busy(), broadcast) as got:
        assert got == [1]


async def test_silence_is_broken_by_heartbeats_even_while_others_talk() -> None:
    log, broadcast = Log(), Broadcast()
    clock = asyncio.get_running_loop().time
    async with followed(log, broadcast, scope=Scope(cluster_id=OTHER), heartbeat=0.05) as got:
        end = clock() + 0.2
        while clock() < end:
            log.add()
            await broadcast.look(log)
            await turns()
        assert set(got) == {0}


async def test_an_event_committed_while_joining_is_not_lost() -> None:
    """The store is read before the commit, the notice comes before the ring has a place of its own."""
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast) as got:
        log.add()
        await broadcast.look(log)
        await turns()
        assert got == [1]


async def test_closing_ends_followers() -> None:
    log, broadcast = Log(), Broadcast()
    ended = asyncio.create_task(_all(follow(log, broadcast, after=0, heartbeat=LONG)))
    await turns()
    broadcast.close()
    assert await asyncio.wait_for(ended, 60) == []
    assert await _all(follow(log, broadcast, after=0, heartbeat=LONG)) == []


async def _all(source: AsyncIterator[Told]) -> list[Told]:
    return [found async for found in source]


async def test_where_to_begin() -> None:
    log = Log()
    log.add(7)
    assert [await starting_point(log, given) for given in (None, 0, 6, 7, 8)] == [7, 0, 6, 7, 7]


# --- on the real store


async def test_notices_of_commits_wake_followers(world: World) -> None:
    running = asyncio.create_task(world.broadcast.run(world.store))
    async with followed(world.store, world.broadcast) as got, asyncio.timeout(60):
        for number in range(1, 6):
            await world.store.commit(AddEvents(events=(an_event(), an_event())))
            while len(got) < 2 * number:
                await asyncio.sleep(0.001)
    assert got == list(range(1, 11))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert world.broadcast.closed


async def test_writers_and_followers_who_come_and_go(world: World) -> None:
    """Four writers, and a follower that is cut off again and again and comes back with the last number it saw."""
    running = asyncio.create_task(world.broadcast.run(world.store))
    total, got = 200, list[int]()

    async def write() -> None:
        for _ in range(total // 4):
            await world.store.commit(AddEvents(events=(an_event(),)))

    writers = [asyncio.create_task(write()) for _ in range(4)]
    async with asyncio.timeout(60):
        while len(got) < total:
            source = follow(world.store, world.broadcast, after=got[-1] if got else 0, heartbeat=LONG)
            got.extend(event.seq for event in (await anext(source)).events)
            await source.aclose()
    assert got == list(range(1, total + 1))
    running.cancel()
    await asyncio.gather(running, *writers, return_exceptions=True)


async def test_a_store_that_was_away_is_read_on(world: World) -> None:
    log, broadcast = Log(), Broadcast()
    async with followed(log, broadcast, heartbeat=0.05) as got, asyncio.timeout(60):
        await broadcast.look(log)
        log.add()
        log.broken = True
        with pytest.raises(Unavailable):
            await broadcast.look(log)
        log.broken = False
        log.add()
        await broadcast.look(log)
        while 2 not in got:
            await asyncio.sleep(0.001)
        assert [number for number in got if number] == [1, 2]


# --- any order of things

STEPS = st.lists(st.sampled_from(["mine", "other", "look", "read", "leave", "crowd"]), max_size=60)


@given(steps=STEPS, kept=st.integers(1, 4), crowd=st.sampled_from([Scope(), ENVS]), choosy=st.booleans())
def test_nothing_is_missed_or_repeated(steps: list[str], kept: int, crowd: Scope, choosy: bool) -> None:
    """Whoever else follows, and whether the follower comes back with its last event or with its place."""
    scope = Scope(cluster_id=CLUSTER_ID, about=frozenset({About.CLUSTER} if choosy else ()))

    async def run() -> None:
        log, broadcast = Log(), Broadcast(kept=kept)
        place, got = Place(log, broadcast, seq=0, scope=scope), list[int]()
        with broadcast.joined(crowd):
            for step in (*steps, "read", "read"):
                if step in ("mine", "other"):
                    log.add(cluster_id=CLUSTER_ID if step == "mine" else OTHER)
                elif step == "look":
                    await broadcast.look(log)
                elif step == "read":
                    got.extend(event.seq for event in (await place.step())[0])
                elif step == "leave":
                    last = place.position if choosy else got[-1] if got else 0
                    place = Place(log, broadcast, seq=last, scope=scope)
                else:
                    log.add(kept + 1, cluster_id=OTHER)
            await broadcast.look(log)
            for _ in range(2):
                got.extend(event.seq for event in (await place.step())[0])
        assert got == [event.seq for event in log.events if event.cluster_id == CLUSTER_ID]

    asyncio.run(run())


def test_a_ring_holds_more_than_a_page() -> None:
    assert KEPT > PAGE
