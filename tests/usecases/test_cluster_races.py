"""Somebody else is faster: decide again from what they left, and give up after a few tries."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from firstlight.core.clusters.wish import ClusterWish
from firstlight.core.errors import Conflict
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import TouchCluster, Write
from firstlight.server.usecases import cluster_actions, cluster_changes, cluster_views
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.deciding import TRIES
from firstlight.server.usecases.world import World
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio


class Losing:
    """A store in which somebody else changes the cluster just before each of the next commits."""

    def __init__(self, store: Any, times: int) -> None:
        self._store = store
        self.times = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        if self.times:
            self.times -= 1
            state = await self._store.cluster_state(CLUSTER_ID)
            await self._store.commit(TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision))
        await self._store.commit(*writes)


def losing(world: World, times: int) -> World:
    store: Any = Losing(world.store, times)
    return replace(world, store=store)


async def test_install_after_lost_races(world: World) -> None:
    await put_cluster(world)
    state = await cluster_actions.install(losing(world, TRIES - 1), CLUSTER_ID, caller=SERVICE)
    assert state.cluster.status is ClusterStatus.PREPARING_FOR_INSTALLATION
    assert len(await world.store.operations(cluster_subject(CLUSTER_ID))) == 1


async def test_install_gives_up(world: World) -> None:
    await put_cluster(world)
    with pytest.raises(Conflict, match="Try again"):
        await cluster_actions.install(losing(world, TRIES), CLUSTER_ID, caller=SERVICE)
    cluster = await world.store.cluster(CLUSTER_ID)
    assert cluster is not None
    assert cluster.status is ClusterStatus.READY


async def test_deregistering_after_lost_races(world: World) -> None:
    await put_cluster(world)
    await cluster_changes.deregister(losing(world, TRIES - 1), CLUSTER_ID, caller=SERVICE)
    assert await world.store.cluster(CLUSTER_ID) is None


async def test_deregistering_gives_up(world: World) -> None:
    await put_cluster(world)
    with pytest.raises(Conflict, match="Try again"):
        await cluster_changes.deregister(losing(world, TRIES), CLUSTER_ID, caller=SERVICE)
    assert await world.store.cluster(CLUSTER_ID) is not None


async def test_the_answer_to_a_change_is_what_is_stored(world: World, clock: SetClock) -> None:
    await put_cluster(world)
    clock.forward(timedelta(seconds=5))
    state = await cluster_changes.update(world, CLUSTER_ID, ClusterWish(name="west"), operators=None, caller=SERVICE)
    stored = await world.store.cluster_state(CLUSTER_ID)
    assert stored is not None
    assert stored.cluster == state.cluster
    assert stored.findings == state.findings
    assert stored.cluster.updated_at == clock.now()


@pytest.mark.parametrize(("count", "shown"), [(cluster_views.LARGE, True), (cluster_views.LARGE + 1, False)])
async def test_who_reaches_whom_is_left_out_of_large_answers(world: World, count: int, shown: bool) -> None:
    hosts = [host_state(number, peers=(1, 2, 3)) for number in range(1, count + 1)]
    state = await put_cluster(world, cluster_state(hosts=hosts))
    view = await cluster_views.shown(world, state)
    kinds = {kind for reports in view.raw.values() for kind in reports}
    assert ReportKind.INVENTORY in kinds
    assert (ReportKind.CONNECTIVITY in kinds) is shown
