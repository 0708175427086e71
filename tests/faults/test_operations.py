"""Lasting work whose surroundings fail: it is tried again by whoever has it, and let go when somebody else has."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import MakeDue, PutOperation
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, NOW
from tests.databases import fresh_sqlite
from tests.faults.lives import Life, a_life
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio

KIND: Final = "prepare-installation"
SUBJECT: Final = f"cluster:{CLUSTER_ID}"
PATIENCE_SECONDS: Final = 60
Report = Callable[[str], Awaitable[None]]


@pytest.fixture(autouse=True)
def quick_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.server.engine.engine.HEARTBEAT", 0.01)


class Work:
    """Fails as often as it is told to; waits for `go` before its end."""

    def __init__(self, *, failures: int = 0) -> None:
        self.failures = failures
        self.runs = 0
        self.begun, self.go, self.done, self.cut_off = (asyncio.Event() for _ in range(4))

    async def __call__(self, _: World, row: OperationRow, report: Report) -> None:
        self.runs += 1
        await report(f"run {self.runs}")
        self.begun.set()
        if self.runs <= self.failures:
            raise Unavailable("The folder is away.")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cut_off.set()
            raise
        await report("finished")
        self.done.set()


async def ask_for_work(life: Life) -> None:
    row = OperationRow(
        id=life.world.new_id(), kind=KIND, subject=SUBJECT, attempt=1, state="waiting", created_at=NOW, updated_at=NOW
    )
    await life.world.store.commit(PutOperation(operation=row, expect_epoch=None))


async def stored(life: Life) -> OperationRow:
    (row,) = await life.world.store.operations(SUBJECT)
    return row


async def test_it_is_tried_again_until_it_succeeds(tmp_path: Path) -> None:
    work = Work(failures=3)
    work.go.set()
    async with a_life(fresh_sqlite(tmp_path), tmp_path, clock=SetClock(), operations={KIND: work}) as life:
        await ask_for_work(life)
        engine = asyncio.create_task(life.engine.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work.done.wait()
        assert work.runs == 4
        assert (await stored(life)).epoch == 1, "nobody else had to take over"
        assert life.engine.failures == 3
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)


async def test_what_it_waits_for_is_told(tmp_path: Path) -> None:
    work = Work(failures=10**6)
    async with a_life(fresh_sqlite(tmp_path), tmp_path, clock=SetClock(), operations={KIND: work}) as life:
        await ask_for_work(life)
        engine = asyncio.create_task(life.engine.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await stored(life)).progress != "waiting: The folder is away.":
                await asyncio.sleep(0.001)
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)


async def test_who_was_overtaken_stops(tmp_path: Path) -> None:
    work = Work()
    clock = SetClock()
    async with a_life(fresh_sqlite(tmp_path), tmp_path, clock=clock, operations={KIND: work}) as life:
        await ask_for_work(life)
        engine = asyncio.create_task(life.engine.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work.begun.wait()
        later = clock.moment + timedelta(hours=1)
        (taken,) = await life.world.store.claim_operations(owner="other", now=later, stale_before=later, limit=1)
        assert taken.epoch == 2
        work.go.set()
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        assert not work.done.is_set()
        assert (await stored(life)).owner == "other"


async def test_a_stop_cuts_it_off_and_the_next_life_runs_it(tmp_path: Path) -> None:
    url, work, clock = fresh_sqlite(tmp_path), Work(), SetClock()
    async with a_life(url, tmp_path, clock=clock, operations={KIND: work}) as life:
        await ask_for_work(life)
        engine = asyncio.create_task(life.engine.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work.begun.wait()
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        assert work.cut_off.is_set()
    again = Work()
    again.go.set()
    async with a_life(url, tmp_path, clock=clock, operations={KIND: again}, replica="next") as life:
        engine = asyncio.create_task(life.engine.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await again.done.wait()
        assert ((await stored(life)).owner, (await stored(life)).epoch) == ("next", 2)
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)


async def test_claims_of_a_killed_service_are_free_at_once(tmp_path: Path) -> None:
    """The clock stands still: no lease has run out."""
    url, clock = fresh_sqlite(tmp_path), SetClock()
    async with a_life(url, tmp_path, clock=clock) as life:
        await life.world.store.commit(*(MakeDue(subject=name, kind="evaluate", at=NOW) for name in ("a", "b")))
        claim = {"owner": "killed", "now": clock.moment, "lease": timedelta(seconds=20), "limit": 10}
        assert len(await life.world.store.claim_due(**claim)) == 2
        assert await life.world.store.claim_due(**claim | {"owner": "next"}) == []
    async with a_life(url, tmp_path, clock=clock) as life:
        assert len(await life.world.store.claim_due(**claim | {"owner": "next"})) == 2
