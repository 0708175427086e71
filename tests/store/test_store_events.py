"""The sequence of events: numbered in commit order without a gap, and the pages that are cut out of it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import combinations
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import About, Recorded
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import AddEvents, DeleteHost, PutHost, TouchCluster
from firstlight.server.store import events
from firstlight.server.store.places import SqlitePlace, place
from tests.builders.hosts import a_host
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, NOW, host_id
from tests.store.stored import an_event, an_id, key_of

pytestmark = pytest.mark.anyio


async def add(store: Store, *added: Recorded) -> None:
    await store.commit(AddEvents(events=added))


async def messages(store: Store, **query: Any) -> list[str]:
    return [event.message for event in (await store.events(EventQuery(**query))).events]


# --- numbers ----------------------------------------------------------------------------------------------------------


async def test_everything_of_an_event_comes_back(store: Store) -> None:
    full = an_event(
        "ünï\N{SNOWMAN}",
        severity=Severity.CRITICAL,
        category=Category.METRICS,
        props={"n": 1, "list": ["a"], "none": None},
        cluster_id=CLUSTER_ID,
        host_id=host_id(1),
        infra_env_id=INFRA_ENV_ID,
        request_id=an_id(7),
        actor="eve",
        before={"status": "a"},
        after={},
        event_time=NOW + timedelta(microseconds=1),
    )
    bare = an_event(name="")
    await add(store, full, bare)
    found = await store.events_after(0, limit=10)
    assert [event.seq for event in found] == [1, 2]
    assert [Recorded(**{name: getattr(event, name) for name in fields}, seq=0) for event in found] == [full, bare]


fields: Final = tuple(name for name in Recorded.__struct_fields__ if name != "seq")


async def test_numbers_follow_each_other_and_can_be_followed(store: Store) -> None:
    assert await store.last_event_seq() == 0
    for number in range(3):
        await store.commit(
            AddEvents(events=(an_event(f"{number}a", cluster_id=CLUSTER_ID),)),
            AddEvents(events=()),
            AddEvents(events=(an_event(f"{number}b", infra_env_id=INFRA_ENV_ID),)),
        )
    assert await store.last_event_seq() == 6
    found = await store.events_after(1, limit=3)
    assert [(event.seq, event.message) for event in found] == [(2, "0b"), (3, "1a"), (4, "1b")]
    of_cluster = await store.events_after(1, limit=9, cluster_id=CLUSTER_ID)
    assert [event.message for event in of_cluster] == ["1a", "2a"]
    of_infra_env = await store.events_after(0, limit=9, infra_env_id=INFRA_ENV_ID)
    assert [event.message for event in of_infra_env] == ["0b", "1b", "2b"]
    assert list(await store.events_after(0, limit=9, cluster_id=CLUSTER_ID, infra_env_id=INFRA_ENV_ID)) == []
    await store.commit(AddEvents(events=()))
    assert await store.last_event_seq() == 6


@pytest.mark.parametrize("about", [*combinations(About, 1), *combinations(About, 2), ()])
async def test_kinds_of_things_narrow_like_the_events_say(store: Store, about: tuple[About, ...]) -> None:
    env, host = {"infra_env_id": INFRA_ENV_ID}, {"host_id": host_id(1)}
    cluster = {"cluster_id": CLUSTER_ID}
    ids: list[dict[str, UUID]] = [{}, cluster, env, env | cluster, host, host | env, host | env | cluster]
    await add(store, *(an_event(**each) for each in ids))
    everything = await store.events_after(0, limit=99)
    wanted = [event for event in everything if not about or event.about in about]
    assert list(await store.events_after(0, limit=99, about=about)) == wanted
    of_cluster = await store.events_after(2, limit=1, about=about, cluster_id=CLUSTER_ID)
    assert list(of_cluster) == [event for event in wanted if event.seq > 2 and event.cluster_id == CLUSTER_ID][:1]


@asynccontextmanager
async def another_writer(url: str, *added: Recorded) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """A writer that has its events in an open transaction, and ends it when told "COMMIT" or "ROLLBACK"."""
    target = place(url)
    if isinstance(target, SqlitePlace):
        connection = sqlite3.connect(target.path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        for statement in events.add(added):
            connection.execute(statement.sql.sqlite, dict(statement.params))

        async def finish(how: str) -> None:
            connection.execute(how)

        yield finish
        connection.close()
    else:
        server = await asyncpg.connect(target.url)
        await server.execute("BEGIN")
        for statement in events.add(added):
            await server.execute(statement.sql.postgres, *statement.sql.for_postgres(statement.params))

        async def finish_there(how: str) -> None:
            # Only once the other commit really waits for this one.
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            while not (await server.fetchrow(waiting))[0]:
                await asyncio.sleep(0.01)
            await server.execute(how)

        yield finish_there
        await server.close()


@pytest.mark.parametrize(("how", "expected"), [("COMMIT", ["paused", "late"]), ("ROLLBACK", ["late"])])
async def test_a_reader_never_sees_a_number_before_the_one_below(
    store: Store, database_url: str, how: str, expected: list[str]
) -> None:
    async with another_writer(database_url, an_event("paused")) as finish:
        late = asyncio.create_task(add(store, an_event("late")))
        for _ in range(20):
            await asyncio.sleep(0)
            assert list(await store.events_after(0, limit=10)) == []
            assert await store.last_event_seq() == 0
        assert not late.done()
        await finish(how)
        await late
    found = await store.events_after(0, limit=10)
    assert [(event.seq, event.message) for event in found] == list(enumerate(expected, start=1))


async def test_many_writers_leave_no_gap_at_any_moment(store: Store) -> None:
    async def write(writer: int) -> None:
        for number in range(10):
            lost = (TouchCluster(cluster_id=an_id(1), expect_revision=1),) if number % 4 == 3 else ()
            try:
                await store.commit(AddEvents(events=(an_event(f"{writer}"), an_event(f"{writer}"))), *lost)
            except LostRace:
                assert lost

    writing = asyncio.gather(*(write(number) for number in range(5)))
    while not writing.done():
        seen = [event.seq for event in await store.events_after(0, limit=1000)]
        assert seen == list(range(1, len(seen) + 1))
        await asyncio.sleep(0)
    await writing
    found = await store.events_after(0, limit=1000)
    assert [event.seq for event in found] == list(range(1, 5 * 8 * 2 + 1))
    assert all(first.message == second.message for first, second in zip(found[::2], found[1::2], strict=True))


# --- pages ------------------------------------------------------------------------------------------------------------


def of_host(number: int, message: str, **changes: Any) -> Recorded:
    return an_event(message, cluster_id=CLUSTER_ID, host_id=host_id(number), infra_env_id=INFRA_ENV_ID, **changes)


async def some_events(store: Store) -> None:
    """Three hosts of a cluster, the third deleted; the cluster itself; and what has nothing to do with them."""
    await store.commit(*(PutHost(host=a_host(number)) for number in (1, 2, 3)))
    await store.commit(DeleteHost(key=key_of(a_host(3)), at=NOW))
    await add(
        store,
        of_host(1, "one", severity=Severity.WARNING),
        of_host(2, "two", severity=Severity.ERROR),
        of_host(3, "three"),
        an_event("cluster", cluster_id=CLUSTER_ID, severity=Severity.CRITICAL),
        an_event("env", infra_env_id=INFRA_ENV_ID),
        an_event("else", cluster_id=an_id(9), host_id=an_id(10)),
        of_host(1, "number", category=Category.METRICS),
    )


def hosts(*numbers: int) -> tuple[UUID, ...]:
    return tuple(host_id(number) for number in numbers)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({"cluster_id": CLUSTER_ID}, ["one", "two", "three", "cluster"], id="cluster"),
        pytest.param(
            {"cluster_id": CLUSTER_ID, "infra_env_id": an_id(77)},
            ["one", "two", "three", "cluster"],
            id="cluster-beats-infra-env",
        ),
        pytest.param({"cluster_id": CLUSTER_ID, "host_ids": hosts(1, 2)}, ["one", "two"], id="hosts-narrow"),
        pytest.param({"cluster_id": CLUSTER_ID, "cluster_level": True}, ["cluster"], id="cluster-level"),
        pytest.param({"cluster_id": CLUSTER_ID, "deleted_hosts": True}, ["three"], id="deleted-hosts"),
        pytest.param(
            {"cluster_id": CLUSTER_ID, "deleted_hosts": True, "host_ids": hosts(2)}, ["two", "three"], id="or-deleted"
        ),
        pytest.param(
            {"cluster_id": CLUSTER_ID, "cluster_level": True, "host_ids": hosts(2)}, ["two", "cluster"], id="or-cluster"
        ),
        pytest.param(
            {"cluster_id": CLUSTER_ID, "cluster_level": True, "host_ids": hosts(2), "deleted_hosts": True},
            ["two", "three", "cluster"],
            id="all-three",
        ),
        pytest.param({"cluster_id": CLUSTER_ID, "host_ids": hosts(3)}, ["three"], id="a-deleted-one-by-name"),
        pytest.param({"host_ids": hosts(1, 3)}, ["one"], id="hosts-only-without-deleted"),
        pytest.param({"host_ids": hosts(1), "infra_env_id": an_id(77)}, ["one"], id="hosts-beat-infra-env"),
        pytest.param({"host_ids": (an_id(10),)}, [], id="a-host-nobody-knows"),
        pytest.param({"infra_env_id": INFRA_ENV_ID}, ["one", "two", "three", "env"], id="infra-env"),
        pytest.param({"infra_env_id": INFRA_ENV_ID, "message": "one"}, ["one", "two", "three", "env"], id="no-text"),
        pytest.param({}, ["one", "two", "three", "cluster", "env", "else"], id="all"),
        pytest.param({"cluster_id": an_id(50)}, [], id="unknown-cluster"),
        pytest.param({"cluster_id": CLUSTER_ID, "categories": ("metrics",)}, ["number"], id="metrics"),
        pytest.param({"host_ids": hosts(1), "categories": ("user", "metrics")}, ["one", "number"], id="both"),
        pytest.param({"cluster_id": CLUSTER_ID, "severities": ("error", "critical")}, ["two", "cluster"], id="severe"),
        pytest.param({"infra_env_id": INFRA_ENV_ID, "severities": ("warning",)}, ["one"], id="severity-everywhere"),
        pytest.param({"cluster_id": CLUSTER_ID, "severities": ("odd",)}, [], id="no-such-severity"),
        pytest.param({"cluster_id": CLUSTER_ID, "message": "O"}, ["one", "two"], id="text"),
    ],
)
async def test_which_events(store: Store, query: dict[str, Any], expected: list[str]) -> None:
    await some_events(store)
    assert await messages(store, **query) == expected
    assert await messages(store, **query, descending=True) == expected[::-1]
    assert (await store.events(EventQuery(**query))).total == len(expected)


async def test_counts_ignore_severities_and_the_page(store: Store) -> None:
    await some_events(store)
    every = {Severity.INFO: 1, Severity.WARNING: 1, Severity.ERROR: 1, Severity.CRITICAL: 1}
    for limit, offset, shown in (
        (None, 0, ["two", "cluster"]),
        (1, 1, ["cluster"]),
        (0, 0, []),
        (5, 9, []),
        (1, -3, ["two"]),
    ):
        query = EventQuery(cluster_id=CLUSTER_ID, severities=("error", "critical"), limit=limit, offset=offset)
        page = await store.events(query)
        assert ([event.message for event in page.events], page.total) == (shown, 2)
        assert page.by_severity == every
    page = await store.events(EventQuery(cluster_id=CLUSTER_ID, host_ids=hosts(1), message="ON", limit=-1))
    assert page.by_severity == {**dict.fromkeys(Severity, 0), Severity.WARNING: 1}
    assert len(page.events) == page.total == 1


@pytest.mark.parametrize("text", ["%", "_", "\\", "100%", "a_b", "c:\\d", "'", "Ü", "\N{SNOWMAN}", "(", ".*", "A_B"])
async def test_every_character_of_a_text_means_itself(store: Store, text: str) -> None:
    lines = ["100% done", "a_b", "axb", "c:\\d", "it's", "GRÜN (x)", "\N{SNOWMAN}", "a.*b", "plain"]
    await add(store, *(an_event(line, cluster_id=CLUSTER_ID) for line in lines))
    assert await messages(store, cluster_id=CLUSTER_ID, message=text) == [
        line for line in lines if text.lower() in line.lower()
    ]


async def test_a_text_no_message_can_have(store: Store) -> None:
    await add(store, an_event("nul\0", cluster_id=CLUSTER_ID))
    assert await messages(store, cluster_id=CLUSTER_ID, message="\0") == []
    assert await messages(store, cluster_id=CLUSTER_ID) == ["nul\N{REPLACEMENT CHARACTER}"]


async def test_ordered_by_time_then_number(store: Store) -> None:
    late, early, tie = (an_event(name, cluster_id=CLUSTER_ID) for name in ("late", "early", "tie"))
    early = Recorded(**{name: getattr(early, name) for name in fields} | {"event_time": EARLIER})
    await add(store, late, early, tie)
    assert await messages(store, cluster_id=CLUSTER_ID) == ["early", "late", "tie"]
    assert await messages(store, cluster_id=CLUSTER_ID, descending=True, limit=2) == ["tie", "late"]


async def test_more_events_than_one_slice(store: Store) -> None:
    await add(store, *(an_event(str(number), cluster_id=CLUSTER_ID) for number in range(1201)))
    assert await messages(store, cluster_id=CLUSTER_ID) == [str(number) for number in range(1201)]
    assert await messages(store, cluster_id=CLUSTER_ID, limit=2, offset=1199) == ["1199", "1200"]


async def test_a_host_that_came_back_is_not_deleted(store: Store) -> None:
    await some_events(store)
    await store.commit(PutHost(host=a_host(3)))
    assert await messages(store, cluster_id=CLUSTER_ID, deleted_hosts=True) == []
    assert await messages(store, host_ids=hosts(3)) == ["three"]


async def test_deleted_in_one_infra_env_and_alive_in_another(store: Store) -> None:
    here, there = a_host(1), a_host(1, infra_env_id=an_id(5))
    await store.commit(PutHost(host=here), PutHost(host=there))
    await store.commit(DeleteHost(key=key_of(there), at=NOW))
    of_both = (("here", here.infra_env_id), ("there", there.infra_env_id), ("unsaid", None))
    await add(
        store,
        *(an_event(name, cluster_id=CLUSTER_ID, host_id=here.id, infra_env_id=where) for name, where in of_both),
    )
    assert await messages(store, cluster_id=CLUSTER_ID, deleted_hosts=True) == ["there", "unsaid"]


# --- rate limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "name", "since", "expected"),
    [
        ({"cluster_id": CLUSTER_ID, "host_id": host_id(1), "infra_env_id": INFRA_ENV_ID}, "it_happened", NOW, True),
        ({"cluster_id": CLUSTER_ID, "host_id": host_id(1), "infra_env_id": None}, "it_happened", NOW, False),
        ({"cluster_id": CLUSTER_ID, "host_id": host_id(2), "infra_env_id": INFRA_ENV_ID}, "it_happened", NOW, False),
        ({"cluster_id": CLUSTER_ID}, "it_happened", NOW, True),
        ({"cluster_id": CLUSTER_ID}, "other", NOW, False),
        ({"cluster_id": CLUSTER_ID}, "it_happened", NOW + timedelta(microseconds=1), False),
        ({"infra_env_id": INFRA_ENV_ID}, "it_happened", NOW, False),
        ({}, "it_happened", NOW, True),
        ({}, "nul\0", NOW, False),
    ],
)
async def test_recent_events_of_the_same_subject(
    store: Store, subject: dict[str, UUID | None], name: str, since: Any, expected: bool
) -> None:
    await add(store, of_host(1, "x"), an_event("y", cluster_id=CLUSTER_ID), an_event("z"))
    assert await store.recent_event(name, subject=subject, since=since) is expected
