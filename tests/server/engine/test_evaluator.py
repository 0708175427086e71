"""Which evaluations leave the event loop, and that two of one cluster never share its memo."""

import asyncio
import threading
from typing import Any

import pytest

from firstlight.core.decision import Decision
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.policy import Policy
from firstlight.server.engine import evaluator
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.worlds import NOW

pytestmark = pytest.mark.anyio


class Watched:
    """The real evaluation, with an eye on where it runs and how many run at once."""

    def __init__(self) -> None:
        self.real = evaluator.evaluate_cluster
        self.threads: list[threading.Thread] = []
        self.running = self.most = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self, state: ClusterState, *around: Any, **memo: Any) -> Decision:
        self.threads.append(threading.current_thread())
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            self.may_go_on.wait(60)
            return self.real(state, *around, **memo)
        finally:
            self.running -= 1


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    watched = Watched()
    monkeypatch.setattr(evaluator, "evaluate_cluster", watched)
    return watched


@pytest.mark.parametrize(
    ("status", "count", "apart"),
    [
        (ClusterStatus.READY, 50, False),
        (ClusterStatus.READY, 51, True),
        (ClusterStatus.PREPARING_FOR_INSTALLATION, 3, True),
        (ClusterStatus.INSTALLING, 3, False),
    ],
)
async def test_what_takes_long_leaves_the_loop(
    watched: Watched, status: ClusterStatus, count: int, *, apart: bool
) -> None:
    hosts = tuple(host_state(number) for number in range(1, count + 1))
    await evaluator.Evaluator(Policy()).cluster(cluster_state(hosts=hosts, status=status), NOW)
    assert [thread is not threading.main_thread() for thread in watched.threads] == [apart]


async def test_a_quick_evaluation_waits_for_one_that_left_the_loop(watched: Watched) -> None:
    evaluating = evaluator.Evaluator(Policy())
    slow = cluster_state(hosts=(host_state(1),), status=ClusterStatus.PREPARING_FOR_INSTALLATION)
    quick = cluster_state(hosts=(host_state(1),), status=ClusterStatus.READY)
    watched.may_go_on.clear()
    first = asyncio.create_task(evaluating.cluster(slow, NOW))
    async with asyncio.timeout(60):
        while not watched.threads:
            await asyncio.sleep(0.01)
    # Were it to go on at once, it would stand still on the loop until nobody waits any more.
    threading.Timer(0.2, watched.may_go_on.set).start()
    await asyncio.gather(first, evaluating.cluster(quick, NOW))
    assert (len(watched.threads), watched.most) == (2, 1)
