"""Commits of many hosts at once go together, and each fares as if it had gone alone."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.errors import Unavailable
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.database import HeldUp, LostRace
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import (
    AddEvents,
    DeleteInfraEnv,
    MakeDue,
    PutCluster,
    PutFindings,
    PutHost,
    PutInfraEnv,
    PutPlan,
    TouchCluster,
    Write,
)
from firstlight.server.store.gathering import MOST, MOST_BYTES, Gathering, Parcel, arranged, may_go_along
from firstlight.server.store.writes import Made, made_of
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.store.stored import a_check_in, a_plan, a_report, an_event, an_id, key_of, stored_cluster

pytestmark = pytest.mark.anyio
BOUND = 60.0


def key(number: int) -> HostKey:
    return (INFRA_ENV_ID, host_id(number))


def a_registration(number: int, *, cluster: int, revision: int) -> tuple[Write, ...]:
    """Of a host in a cluster of its own."""
    host = a_host(number, infra_env_id=an_id(cluster), cluster_id=an_id(cluster))
    around = an_infra_env(id=an_id(cluster), cluster_id=an_id(cluster))
    return (
        TouchCluster(cluster_id=an_id(cluster), expect_revision=revision, beside=around),
        PutHost(host=host),
        a_check_in(key_of(host)),
        PutPlan(key=key_of(host), plan=a_plan(str(number))),
        AddEvents(events=(an_event(f"{number}", cluster_id=an_id(cluster)),)),
        MakeDue(subject=f"cluster:{an_id(cluster)}", kind="evaluate", at=NOW),
    )


def a_told_report(number: int, *, due: float = 0) -> tuple[Write, ...]:
    return (
        a_report(key(number), ReportKind.NTP, (), digest=f"d{number}"),
        a_check_in(key(number)),
        MakeDue(subject=f"cluster:{CLUSTER_ID}", kind="evaluate", at=NOW + timedelta(seconds=due)),
    )


class Sending:
    """A database that keeps what it is sent until it is told how each ends."""

    def __init__(self) -> None:
        self.sent: list[tuple[Sequence[Write], asyncio.Future[None]]] = []
        self.gathering = Gathering(self.send)

    async def send(self, writes: Sequence[Write], made: Made) -> None:
        del made
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sent.append((writes, outcome))
        await outcome

    def commit(self, *writes: Write) -> asyncio.Task[None]:
        return asyncio.create_task(self.gathering.commit(writes, made_of(writes)))

    async def until(self, count: int) -> None:
        async with asyncio.timeout(BOUND):
            while len(self.sent) < count:
                await asyncio.sleep(0.001)

    def end(self, place: int, error: Exception | None = None) -> None:
        outcome = self.sent[place][1]
        outcome.set_result(None) if error is None else outcome.set_exception(error)


# --- who goes with whom -----------------------------------------------------------------------------------------------


async def test_the_first_sets_off_at_once_and_the_others_go_together() -> None:
    sending = Sending()
    first, *others = [sending.commit(*a_told_report(number)) for number in range(4)]
    await sending.until(1)
    assert list(sending.sent[0][0]) == list(a_told_report(0))
    sending.end(0)
    await first
    await sending.until(2)
    assert list(sending.sent[1][0]) == [write for number in (1, 2, 3) for write in a_told_report(number)]
    assert not any(task.done() for task in others), "nothing is acknowledged before it is kept"
    sending.end(1)
    await asyncio.gather(*others)


async def test_a_host_goes_once_in_a_group() -> None:
    """Each of its commits is told by a notice of its own."""
    sending = Sending()
    tasks = [sending.commit(*a_told_report(number)) for number in (0, 1, 1, 2)]
    await sending.until(1)
    for place, hosts in enumerate(([0], [1, 2], [1])):
        await sending.until(place + 1)
        told = [write.key for write in sending.sent[place][0] if hasattr(write, "digest")]
        assert told == [key(number) for number in hosts]
        sending.end(place)
    await asyncio.gather(*tasks)


async def test_a_group_has_its_bound() -> None:
    sending = Sending()
    tasks = [sending.commit(*a_told_report(number)) for number in range(MOST + 2)]
    for place, count in enumerate((1, MOST // 2, MOST // 2, 1)):
        await sending.until(place + 1)
        assert len(sending.sent[place][0]) == 3 * count
        sending.end(place)
    await asyncio.gather(*tasks)


async def test_who_is_held_up_holds_up_nobody() -> None:
    sending = Sending()
    stuck = sending.commit(*a_told_report(0))
    await sending.until(1)
    other = sending.commit(*a_told_report(1))
    await sending.until(2)
    sending.end(1)
    await other
    assert not stuck.done()
    sending.end(0)
    await stuck


async def test_who_is_held_up_for_long_holds_up_nobody_who_comes_later() -> None:
    sending = Sending()
    stuck = sending.commit(*a_told_report(0))
    await sending.until(1)
    tasks = [sending.commit(*a_told_report(1))]
    await sending.until(2)
    # These come while another one is on its way, which ends before anybody runs out of patience with it.
    tasks += [sending.commit(*a_told_report(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    for place in (1, 2):
        await sending.until(place + 1)
        sending.end(place)
    tasks.append(sending.commit(*a_told_report(4)))
    await sending.until(4)
    sending.end(3)
    async with asyncio.timeout(BOUND):
        await asyncio.gather(*tasks)
    assert not stuck.done()
    sending.end(0)
    await stuck


async def test_who_left_before_it_began_is_not_sent() -> None:
    sending = Sending()
    first = sending.commit(*a_told_report(0))
    await sending.until(1)
    gone, stays = sending.commit(*a_told_report(1)), sending.commit(*a_told_report(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    sending.end(0)
    await sending.until(2)
    assert list(sending.sent[1][0]) == list(a_told_report(2))
    sending.end(1)
    await asyncio.gather(first, stays)


@pytest.mark.parametrize("trouble", [LostRace(None, "Lost."), HeldUp("Locked."), ValueError("Ours.")])
async def test_one_that_fails_does_not_harm_the_others(trouble: Exception) -> None:
    sending = Sending()
    tasks = [sending.commit(*a_told_report(number)) for number in range(3)]
    await sending.until(1)
    sending.end(0)
    await sending.until(2)
    sending.end(1, trouble)
    await sending.until(4)
    assert [list(writes) for writes, _ in sending.sent[2:]] == [list(a_told_report(number)) for number in (1, 2)]
    sending.end(2, trouble)
    sending.end(3)
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert ends == [None, trouble, None]


async def test_what_may_have_been_kept_is_not_sent_again() -> None:
    sending = Sending()
    tasks = [sending.commit(*a_told_report(number)) for number in range(3)]
    await sending.until(1)
    sending.end(0)
    await sending.until(2)
    trouble = Unavailable("The connection broke.")
    sending.end(1, trouble)
    assert await asyncio.gather(*tasks, return_exceptions=True) == [None, trouble, trouble]
    assert len(sending.sent) == 2


@pytest.mark.parametrize(
    ("writes", "along"),
    [
        (a_told_report(1), True),
        (a_registration(1, cluster=1, revision=1), True),
        ((TouchCluster(cluster_id=CLUSTER_ID, expect_revision=1),), False),
        ((PutHost(host=a_host(1), expect_revision=1),), False),
        ((*a_told_report(1), PutFindings(subject="x", findings=())), False),
        (tuple(a_check_in(key(number)) for number in range(8)), True),
        (tuple(a_check_in(key(number)) for number in range(9)), False),
        ((replace(a_report(key(1), ReportKind.NTP, (), digest="d"), raw=b"x" * (MOST_BYTES - 2)),), True),
        ((replace(a_report(key(1), ReportKind.NTP, (), digest="d"), raw=b"x" * (MOST_BYTES - 1)),), False),
    ],
)
def test_only_what_single_hosts_tell_goes_along(writes: Sequence[Write], along: bool) -> None:
    assert may_go_along(writes) is along


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(-5, 5)), unique_by=lambda each: each[0]), st.randoms())
def test_groups_lock_rows_in_one_order(told: list[tuple[int, int]], chance: Any) -> None:
    """Whoever comes first: kind by kind, by key, and a row of the queue once, for the earliest moment."""

    async def order(numbers: list[tuple[int, int]]) -> list[tuple[str, Any]]:
        future = asyncio.get_running_loop().create_future()
        commits = [a_told_report(number, due=due) for number, due in numbers]
        group = arranged([Parcel(writes, made_of(writes), future) for writes in commits])
        return [(type(write).__name__, statement.params) for write, (statement,) in group]

    shuffled = list(told)
    chance.shuffle(shuffled)
    found = asyncio.run(order(told))
    assert found == asyncio.run(order(shuffled))
    kinds = [name for name, _ in found]
    assert kinds == sorted(kinds, key=["PutReport", "PutPresence", "MakeDue"].index)
    assert kinds.count("MakeDue") == bool(told)
    if told:
        earliest = NOW + timedelta(seconds=min(due for _, due in told))
        assert found[-1][1]["at"] == int(earliest.timestamp() * 1_000_000)


# --- on real databases ------------------------------------------------------------------------------------------------


async def clusters_of(store: Store, count: int) -> dict[int, int]:
    """Clusters with an infra-env of the same id; answers their revisions."""
    revisions: dict[int, int] = {}
    for number in range(1, count + 1):
        around = an_infra_env(id=an_id(number), cluster_id=an_id(number))
        await stored(store, an_id(number), around)
        state = await store.cluster_state(an_id(number))
        assert state is not None
        revisions[number] = state.revision
    return revisions


async def stored(store: Store, cluster_id: UUID, around: InfraEnv) -> None:
    await store.commit(
        PutCluster(cluster=a_cluster(id=cluster_id, name=f"c{cluster_id.int}"), expect_revision=None),
        PutInfraEnv(infra_env=around, expect_revision=None),
    )


async def test_many_at_once_are_all_there(store: Store) -> None:
    revisions = await clusters_of(store, 12)
    await asyncio.gather(
        *(
            store.commit(*a_registration(number, cluster=number, revision=revision))
            for number, revision in revisions.items()
        ),
        *(store.commit(*a_told_report(number, due=number)) for number in range(1, 13)),
    )
    for number, revision in revisions.items():
        state = await store.cluster_state(an_id(number))
        assert state is not None
        assert state.revision == revision + 1
        assert [host.plan for host in state.hosts] == [a_plan(str(number))]
    raw = await store.raw_reports([key(number) for number in range(1, 13)])
    assert len(raw) == 12
    told = await store.events_after(0, limit=100)
    assert sorted(event.message for event in told) == sorted(map(str, revisions))
    assert [event.seq for event in told] == list(range(1, 13))
    claimed = await store.claim_due(owner="x", now=NOW + timedelta(days=1), lease=timedelta(1), limit=100)
    assert {row.subject: row.at for row in claimed}[f"cluster:{CLUSTER_ID}"] == NOW + timedelta(seconds=1)
    assert len(claimed) == 13


async def test_only_who_decided_on_something_older_loses(store: Store) -> None:
    revisions = await clusters_of(store, 10)
    ends = await asyncio.gather(
        *(
            store.commit(*a_registration(number, cluster=number, revision=revision + (number % 3 == 0)))
            for number, revision in revisions.items()
        ),
        return_exceptions=True,
    )
    assert [isinstance(end, LostRace) for end in ends] == [number % 3 == 0 for number in revisions]
    for number, revision in revisions.items():
        state = await store.cluster_state(an_id(number))
        assert state is not None
        kept = number % 3 != 0
        assert (state.revision, len(state.hosts)) == (revision + kept, int(kept))
    assert await store.last_event_seq() == 7


@pytest.mark.parametrize("change", ["none", "moved", "changed", "deleted"])
async def test_nobody_joins_beside_an_infra_env_that_is_gone(store: Store, change: str) -> None:
    state = await stored_cluster(store, ())
    around = state.infra_envs[INFRA_ENV_ID]
    kept = await store.infra_env(INFRA_ENV_ID)
    assert kept is not None
    if change == "deleted":
        await store.commit(DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=NOW))
    elif change != "none":
        other = {"cluster_id": an_id(9)} if change == "moved" else {"updated_at": NOW}
        await store.commit(PutInfraEnv(infra_env=replace(around, **other), expect_revision=kept.revision))
    touch = TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision, beside=around)
    if change == "none":
        await store.commit(touch)
    else:
        with pytest.raises(LostRace):
            await store.commit(touch)
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert found.revision == state.revision + (change == "none")
