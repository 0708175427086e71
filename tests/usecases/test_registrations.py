"""A registration reads its cluster once, and the poll that follows reads nothing; neither trusts what is outdated."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace as with_fields
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.errors import NotFound
from firstlight.server.ports.store import CHANGES, DeleteInfraEnv, PutInfraEnv, PutPlan, Store, Write, host_subject
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases import agents, host_registration
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.one_host import PlacedHost
from firstlight.server.usecases.world import World
from tests.builders.clusters import cluster_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.stored import a_plan
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

MACHINE = UUID("d0000000-0000-4000-8000-00000000000a")
KEY = (INFRA_ENV_ID, MACHINE)
OTHER_CLUSTER = UUID("c0000000-0000-4000-8000-000000000009")


class Counting:
    """A store that counts what it is asked, and lets somebody do something before a commit comes back."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.asked: list[str] = []
        self.meanwhile: tuple[Write, ...] = ()
        self.heard: list[str] = []
        """Notices that have come."""

    async def until_heard(self, count: int) -> None:
        async with asyncio.timeout(10):
            while self.heard.count(host_subject(KEY)) < count:
                await asyncio.sleep(0.001)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("recalled"):
            self.asked.append(name)
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        self.asked.append("commit")
        await self._store.commit(*writes)
        others, self.meanwhile = self.meanwhile, ()
        if others:
            await self._store.commit(*others)
            await self.until_heard(2)


def another_replica(world: World) -> Store:
    """It remembers nothing and is remembered by nobody."""
    return open_store(vars(world.store)["_database"])


async def register(world: World, machine: UUID = MACHINE) -> PlacedHost:
    return await host_registration.register(
        world, infra_env_id=INFRA_ENV_ID, host_id=machine, agent_version=world.policy.agent_image, caller=SERVICE
    )


async def poll(world: World) -> bytes:
    return await agents.next_steps(world, KEY, agent_version=world.policy.agent_image, timestamp=None)


@asynccontextmanager
async def counted(world: World) -> AsyncIterator[tuple[World, Counting]]:
    """With the notices of commits being heard, as in the service."""
    store: Any = Counting(world.store)
    await put_cluster(world, replace(cluster_state(), hosts=()))

    async def hear() -> None:
        async with world.store.listen(CHANGES) as notices:
            async for notice in notices:
                for subject in notice.split():
                    world.sessions.forget(subject)
                if not notice:
                    world.sessions.forget_all()
                store.heard.extend(notice.split() or [""])

    hearing = asyncio.create_task(hear())
    async with asyncio.timeout(10):
        while not store.heard:
            await asyncio.sleep(0.001)
    try:
        yield with_fields(world, store=store), store
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


async def test_one_read_one_commit_and_a_poll_for_nothing(world: World) -> None:
    async with counted(world) as (counting, store):
        placed = await register(counting)
        assert store.asked == ["cluster_state", "commit"]
        await store.until_heard(1)
        steps = await poll(counting)
        assert store.asked == ["cluster_state", "commit"], "its own notice has come and changed nothing"
    assert b'"step_type":"inventory"' in steps
    stored = await open_store(world.store._database).host(KEY)  # type: ignore[attr-defined]
    assert stored == placed.state


async def test_what_somebody_else_changed_right_after_is_seen(world: World) -> None:
    async with counted(world) as (counting, store):
        store.meanwhile = (PutPlan(key=KEY, plan=a_plan("other")),)
        await register(counting)
        await poll(counting)
        assert store.asked.count("presence") == 1


async def test_a_machine_that_comes_again_is_read(world: World) -> None:
    async with counted(world) as (counting, store):
        await register(counting)
        await register(counting)
        await poll(counting)
        assert store.asked.count("presence") == 1


async def test_an_infra_env_that_went_elsewhere_takes_its_machines_along(world: World) -> None:
    await put_cluster(world)
    other = cluster_state()
    other = replace(other, cluster=replace(other.cluster, id=OTHER_CLUSTER), hosts=(), infra_envs={})
    await put_cluster(world, other)
    stored = await world.store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    somewhere = another_replica(world)
    moved = replace(stored.infra_env, cluster_id=OTHER_CLUSTER)
    await somewhere.commit(PutInfraEnv(infra_env=moved, expect_revision=stored.revision))
    recalled = world.store.recalled_infra_env(INFRA_ENV_ID)
    assert recalled is not None
    assert recalled.cluster_id == CLUSTER_ID, "what this replica has in mind is outdated"
    placed = await register(world)
    assert placed.state.host.cluster_id == OTHER_CLUSTER
    assert placed.cluster is not None
    assert placed.cluster.id == OTHER_CLUSTER


async def test_an_infra_env_that_left_its_cluster_gives_to_the_pool(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    stored = await world.store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    somewhere = another_replica(world)
    free = replace(stored.infra_env, cluster_id=None)
    await somewhere.commit(PutInfraEnv(infra_env=free, expect_revision=stored.revision))
    assert (await register(world)).state.host.cluster_id is None


async def test_an_infra_env_that_is_gone_is_not_found(world: World) -> None:
    state = await put_cluster(world, replace(cluster_state(), hosts=()))
    somewhere = another_replica(world)
    await somewhere.commit(DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=NOW))
    with pytest.raises(NotFound, match=str(INFRA_ENV_ID)):
        await register(world)
    assert await world.store.host(KEY) is None
    found = await world.store.cluster_state(state.cluster.id)
    assert found is not None
    assert found.revision == state.revision


async def test_a_change_of_the_infra_env_counts_for_the_next_machine(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    await register(world)
    stored = await world.store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    somewhere = another_replica(world)
    changed = replace(stored.infra_env, name="other")
    await somewhere.commit(PutInfraEnv(infra_env=changed, expect_revision=stored.revision))
    await register(world, UUID(int=MACHINE.int + 1))
    recalled = world.store.recalled_infra_env(INFRA_ENV_ID)
    assert recalled is not None
    assert recalled.name == "other"
