"""The stream of changes: every event names its things, and findings that change without an event are told too."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import Recorded
from firstlight.core.rules import Finding, Status
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import AddEvents, PutFindings, TouchCluster
from firstlight.server.usecases.changes import Changed, follow_changes
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

CLUSTER = f"cluster:{CLUSTER_ID}"
HOST = f"host:{host_id(1)}"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        await put_cluster(made)
        running = asyncio.create_task(made.broadcast.run(made.store))
        yield made
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def heard(stream: AsyncGenerator[tuple[int, Changed | None]]) -> tuple[int, Changed | None]:
    async with asyncio.timeout(60):
        return await anext(stream)


async def test_events_and_findings_name_what_changed(world: World) -> None:
    start = await world.store.last_event_seq()
    stream = follow_changes(world.store, world.broadcast, after=start)
    first = asyncio.ensure_future(heard(stream))
    event = Recorded(
        event_time=NOW,
        severity=Severity.INFO,
        message="x",
        cluster_id=CLUSTER_ID,
        infra_env_id=INFRA_ENV_ID,
        host_id=host_id(1),
    )
    await world.store.commit(AddEvents(events=(event, event)))
    position, changed = await first
    assert changed == Changed((CLUSTER, f"infra-env:{INFRA_ENV_ID}", HOST))
    assert position == start + 2

    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    finding = Finding(id="ntp-synced", category="network", status=Status.FAILURE)
    await world.store.commit(
        TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision),
        PutFindings(subject=host_subject((INFRA_ENV_ID, host_id(1))), findings=(finding,)),
    )
    assert await heard(stream) == (position, Changed((CLUSTER, HOST)))
    await stream.aclose()


async def test_the_end_of_the_service_is_the_end_of_the_stream(world: World) -> None:
    told = asyncio.ensure_future(_all(follow_changes(world.store, world.broadcast, after=0)))
    await asyncio.sleep(0)
    world.broadcast.close()
    async with asyncio.timeout(60):
        assert [changed for _, changed in await told if changed and changed.everything] == []


async def _all(stream: AsyncGenerator[tuple[int, Changed | None]]) -> list[tuple[int, Changed | None]]:
    return [told async for told in stream]
