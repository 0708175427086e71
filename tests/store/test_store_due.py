"""The due queue against a simple picture of it."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.ports.rows import DueRow
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import MakeDue
from firstlight.server.store.sql_store import SqlStore, open_store
from tests.builders.moments import NOW

pytestmark = pytest.mark.anyio

LEASE: Final = timedelta(days=1)
EXPIRE: Final = Sql("UPDATE due SET lease_until = 1 WHERE lease_until IS NOT NULL")
EMPTY: Final = Sql("DELETE FROM due")


def at(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def due(subject: str, seconds: int, *, kind: str = "evaluate") -> MakeDue:
    return MakeDue(subject=subject, kind=kind, at=at(seconds))


async def claim(store: Store, seconds: int, *, limit: int = 10, owner: str = "me") -> list[DueRow]:
    return list(await store.claim_due(owner=owner, now=at(seconds), lease=LEASE, limit=limit))


async def test_earliest_first_and_nothing_early(store: Store) -> None:
    await store.commit(due("c", 3), due("a", 1), due("b", 2), due("later", 11), due("a", 4, kind="expire"))
    assert await store.next_due_at() == at(1)
    assert await store.oldest_overdue(at(0)) is None
    assert await store.oldest_overdue(at(5)) == timedelta(seconds=4)
    assert [(row.subject, row.kind) for row in await claim(store, 10, limit=3)] == [
        ("a", "evaluate"),
        ("b", "evaluate"),
        ("c", "evaluate"),
    ]
    assert await store.oldest_overdue(at(5)) == timedelta(seconds=1)
    assert [(row.subject, row.kind) for row in await claim(store, 10)] == [("a", "expire")]
    assert await store.next_due_at() == at(11)
    assert [row.subject for row in await claim(store, 11)] == ["later"]


async def test_asking_again_keeps_the_earlier_time(store: Store) -> None:
    await store.commit(due("a", 5))
    await store.commit(due("a", 9))
    await store.commit(due("a", 3))
    rows = await claim(store, 10)
    assert [(row.at, row.generation, row.attempts) for row in rows] == [(at(3), 3, 0)]


async def test_a_settled_row_moves_or_goes(store: Store) -> None:
    await store.commit(due("a", 1), due("b", 2))
    first, second = await claim(store, 10)
    await store.settle_due(first, next_at=at(20))
    await store.settle_due(second, next_at=None)
    assert await store.next_due_at() == at(20)
    assert [row.subject for row in await claim(store, 20)] == ["a"]


@pytest.mark.parametrize("next_at", [None, at(20)])
async def test_asked_again_meanwhile_it_stays_due(store: Store, next_at: datetime | None) -> None:
    await store.commit(due("a", 1))
    (row,) = await claim(store, 10)
    await store.commit(due("a", 10))
    assert await claim(store, 10) == []
    await store.settle_due(row, next_at=next_at)
    (again,) = await claim(store, 10)
    assert again.generation == 2


async def test_failed_attempts_are_counted_until_one_succeeds(store: Store) -> None:
    await store.commit(due("a", 1))
    for attempt in range(3):
        (row,) = await claim(store, 10 * attempt + 1)
        assert row.attempts == attempt
        await store.retry_due(row, at=at(10 * attempt + 11))
        assert await claim(store, 10 * attempt + 10) == []
    (row,) = await claim(store, 31)
    await store.settle_due(row, next_at=at(40))
    (row,) = await claim(store, 40)
    assert row.attempts == 0


async def test_claims_of_those_who_are_gone_are_free_at_once(store: Store) -> None:
    await store.commit(due("a", 1))
    (lost,) = await claim(store, 10, owner="gone")
    await store.commit(due("b", 1))
    (kept,) = await claim(store, 10, owner="here")
    assert list(await store.claim_owners()) == ["gone", "here"]
    await store.free_claims([])
    assert await claim(store, 10, owner="next") == []
    await store.free_claims(["gone", "never seen"])
    (taken,) = await claim(store, 10, owner="next")
    assert (taken.subject, taken.generation) == (lost.subject, lost.generation)
    await store.settle_due(lost, next_at=None)
    assert list(await store.claim_owners()) == ["here", "next"], "who was thought gone can do no harm"
    await store.settle_due(kept, next_at=None)
    await store.settle_due(taken, next_at=None)
    assert list(await store.claim_owners()) == []


async def test_a_claim_that_ran_out_may_be_taken_over(store: SqlStore, database: Database) -> None:
    await store.commit(due("a", 1))
    (lost,) = await claim(store, 10, owner="first")
    await database.commit(Statement(EXPIRE))
    assert await store.oldest_overdue(at(10)) == timedelta(seconds=9)
    (taken,) = await claim(store, 11, owner="second")
    await store.settle_due(lost, next_at=None)
    await store.retry_due(lost, at=at(500))
    assert await store.next_due_at() == taken.lease_until
    await store.settle_due(taken, next_at=at(30))
    assert await store.next_due_at() == at(30)


async def test_each_row_to_one_of_many(database: Database) -> None:
    stores = [open_store(database) for _ in range(6)]
    await stores[0].commit(*(due(f"{number:03}", number % 7) for number in range(100)))
    claims = await asyncio.gather(
        *(claim(store, 10, limit=9, owner=str(number)) for number, store in enumerate(stores * 3))
    )
    assert sorted(row.subject for rows in claims for row in rows) == [f"{number:03}" for number in range(100)]
    assert all(len({row.owner for row in rows}) == 1 for rows in claims if rows)


# --- the model --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    at: int
    generation: int
    attempts: int = 0
    claim: int | None = None
    """Number of the claim that holds it; -1 when its lease ran out."""


class Model:
    def __init__(self) -> None:
        self.rows: dict[str, Entry] = {}

    def make_due(self, subject: str, moment: int) -> None:
        old = self.rows.get(subject)
        self.rows[subject] = (
            Entry(moment, 1) if old is None else replace(old, at=min(old.at, moment), generation=old.generation + 1)
        )

    def claimable(self, now: int) -> dict[str, Entry]:
        return {name: row for name, row in self.rows.items() if row.at <= now and row.claim in (None, -1)}

    def expire(self) -> None:
        self.rows = {name: row if row.claim is None else replace(row, claim=-1) for name, row in self.rows.items()}

    def let_go(self, claimed: DueRow, number: int, moment: int | None, *, failed: bool) -> None:
        row = self.rows.get(claimed.subject)
        if row is None or row.claim != number:
            return
        same = row.generation == claimed.generation
        if same and moment is None:
            del self.rows[claimed.subject]
            return
        self.rows[claimed.subject] = replace(
            row,
            claim=None,
            attempts=row.attempts + 1 if failed else 0,
            at=moment if same and moment is not None else row.at,
        )


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("make"), st.sampled_from("abc"), st.integers(0, 60)),
        st.tuples(st.just("claim"), st.integers(1, 3), st.integers(1, 20)),
        st.tuples(st.just("settle"), st.integers(0, 5), st.none() | st.integers(0, 60)),
        st.tuples(st.just("retry"), st.integers(0, 5), st.integers(0, 60)),
        st.tuples(st.just("expire"), st.none(), st.none()),
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(steps=STEPS)
async def test_any_order_of_calls(store: SqlStore, database: Database, steps: list[tuple[str, object, object]]) -> None:
    await database.commit(Statement(EMPTY))
    model, now = Model(), 0
    claims: list[DueRow] = []
    for step in steps:
        match step:
            case ("make", str(subject), int(moment)):
                await store.commit(due(subject, moment))
                model.make_due(subject, moment)
            case ("claim", int(limit), int(pause)):
                now += pause
                could = model.claimable(now)
                rows = await claim(store, now, limit=limit)
                assert [row.at for row in rows] == [at(row.at) for row in sorted(could.values(), key=when)][:limit]
                for row in rows:
                    entry = could[row.subject]
                    assert (row.at, row.generation, row.attempts) == (at(entry.at), entry.generation, entry.attempts)
                    model.rows[row.subject] = replace(entry, claim=len(claims))
                    claims.append(row)
            case ("settle" | "retry" as how, int(which), moment) if which < len(claims):
                chosen = claims[-1 - which]
                number = len(claims) - 1 - which
                if how == "retry":
                    assert isinstance(moment, int)
                    await store.retry_due(chosen, at=at(moment))
                    model.let_go(chosen, number, moment, failed=True)
                else:
                    later = moment if isinstance(moment, int) else None
                    await store.settle_due(chosen, next_at=None if later is None else at(later))
                    model.let_go(chosen, number, later, failed=False)
            case ("expire", _, _):
                await database.commit(Statement(EXPIRE))
                model.expire()
            case _:
                pass
        oldest = min((row.at for row in model.claimable(now).values()), default=None)
        assert await store.oldest_overdue(at(now)) == (None if oldest is None else timedelta(seconds=now - oldest))
        free = [at(row.at) for row in model.rows.values() if row.claim is None]
        if free and all(row.claim is None for row in model.rows.values()):
            assert await store.next_due_at() == min(free)


def when(row: Entry) -> int:
    return row.at
