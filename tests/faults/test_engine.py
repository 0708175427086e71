"""The engine: a long evaluation delays nobody else, and who was killed leaves nothing blocked."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.decision import Decision
from firstlight.core.model.cluster import ClusterState
from firstlight.server.engine import engine as module
from firstlight.server.engine.engine import Engine
from firstlight.server.engine.listening import LONGEST_GAP
from firstlight.server.engine.replicas import is_gone, new_name
from firstlight.server.ports.database import Sql, Statement
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import MakeDue, PutCluster
from firstlight.server.usecases.deciding import EVALUATE
from tests.builders.clusters import a_cluster
from tests.builders.moments import NOW
from tests.databases import fresh_sqlite
from tests.faults.lives import Life, a_life
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio

CLUSTERS = [UUID(f"c0000000-0000-4000-8000-0000000000a{number}") for number in range(6)]
NOBODY = 2**22 + 1
"""Above every number that Linux gives to a process."""


class Looks:
    """Stands in for evaluations: the first cluster takes as long as the test likes."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.seen: list[UUID] = []

    async def evaluate(self, state: ClusterState, now: object) -> Decision:
        if state.cluster.id == CLUSTERS[0]:
            await self.go_on.wait()
        self.seen.append(state.cluster.id)
        return Decision()

    async def until(self, count: int) -> list[UUID]:
        async with asyncio.timeout(60):
            while len(self.seen) < count:
                await asyncio.sleep(0.005)
        return sorted(self.seen)


@asynccontextmanager
async def engine_with(life: Life, looks: Looks) -> AsyncIterator[Engine]:
    """All clusters are due."""
    world = replace(life.world, evaluate_cluster=looks.evaluate)
    for cluster_id in CLUSTERS:
        await world.store.commit(
            PutCluster(cluster=a_cluster(id=cluster_id), expect_revision=None),
            MakeDue(subject=cluster_subject(cluster_id), kind=EVALUATE, at=NOW),
        )
    yield Engine(world, replica=new_name(), listening=life.listening, operations={}, chores={})


@asynccontextmanager
async def running(engine: Engine) -> AsyncIterator[None]:
    task = asyncio.create_task(engine.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def life(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Life]:
    async with a_life(fresh_sqlite(tmp_path), tmp_path, clock=SetClock()) as life:
        yield life


async def test_a_long_evaluation_holds_its_slot_and_nobody_else(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS", 2)
    looks = Looks()
    async with engine_with(life, looks) as engine, running(engine):
        assert await looks.until(5) == CLUSTERS[1:]
        looks.go_on.set()
        assert await looks.until(6) == CLUSTERS


async def test_what_is_asked_again_and_again_is_never_left_claimed(life: Life) -> None:
    """Asked while it is being settled, over and over: every row that is claimed is looked at and given back."""
    looks = Looks()
    looks.go_on.set()
    clock: Any = life.world.clock
    async with engine_with(life, looks) as engine, running(engine):
        for number in range(200):
            clock.forward(timedelta(seconds=1))
            subject = cluster_subject(CLUSTERS[number % 6])
            await life.world.store.commit(MakeDue(subject=subject, kind=EVALUATE, at=clock.moment))
            engine.wake()
        async with asyncio.timeout(60):
            while await life.world.store.claim_owners() or await life.world.store.oldest_overdue(clock.moment):
                clock.forward(timedelta(milliseconds=100))
                engine.wake()
                await asyncio.sleep(0.01)


async def test_a_second_look_waits_for_the_first(life: Life) -> None:
    """The lease runs out while a cluster is looked at; the row is claimed again by the same engine."""
    looks = Looks()
    clock: Any = life.world.clock
    async with engine_with(life, looks) as engine:
        first = asyncio.create_task(engine.serve_once())
        await looks.until(5)
        clock.forward(timedelta(minutes=1))
        second = asyncio.create_task(engine.serve_once())
        looks.go_on.set()
        assert await first == 6
        assert await second >= 1
        assert looks.seen.count(CLUSTERS[0]) <= 2
        assert list(await life.world.store.claim_owners()) == []


async def test_who_ends_ends_its_evaluations(life: Life) -> None:
    looks = Looks()
    async with engine_with(life, looks) as engine:
        async with running(engine):
            await looks.until(5)
        looks.go_on.set()
        await asyncio.sleep(0)
        assert CLUSTERS[0] not in looks.seen
        assert list(await life.world.store.claim_owners()) == [], "another replica would wait for them to expire"


@pytest.mark.parametrize(
    ("owner", "freed"),
    [
        pytest.param(lambda: f"{socket.gethostname()}-{NOBODY}-abcdef", True, id="killed-here"),
        pytest.param(lambda: f"{socket.gethostname()}-{os.getpid()}-abcdef", True, id="had-our-number"),
        pytest.param(lambda: f"{socket.gethostname()}-{os.getppid()}-abcdef", False, id="runs-here"),
        pytest.param(lambda: f"elsewhere-{NOBODY}-abcdef", False, id="elsewhere"),
    ],
)
async def test_claims_of_who_was_killed_on_this_machine_are_free(
    life: Life, owner: Callable[[], str], freed: bool
) -> None:
    looks = Looks()
    looks.go_on.set()
    async with engine_with(life, looks) as engine:
        store: Any = life.world.store
        name = owner()
        await store.claim_due(owner=name, now=NOW, lease=timedelta(seconds=20), limit=1)
        async with running(engine):
            await looks.until(6 if freed else 5)
        assert list(await store.claim_owners()) == ([] if freed else [name])


async def test_ready_is_who_can_do_its_work(life: Life) -> None:
    clock: Any = life.world.clock
    assert "starting" in await life.engine.readiness()
    await life.listening.renew()
    assert await life.engine.readiness() == ""
    clock.forward(LONGEST_GAP)
    assert await life.engine.readiness() == ""
    clock.forward(timedelta(microseconds=1))
    assert "no sign of life" in await life.engine.readiness()
    await life.listening.renew()
    await life.database.commit(Statement(Sql("UPDATE alembic_version SET version_num = '9999'")))
    assert "9999" in await life.engine.readiness()
    await life.database.close()
    assert "database" in await life.engine.readiness()


def test_nobody_is_gone_for_itself() -> None:
    name = new_name()
    assert not is_gone(name, like=name)
    assert is_gone(new_name(), like=name), "the same process under another name was before us"
    assert not is_gone("replica", like=name)
    assert not is_gone("", like=name)
