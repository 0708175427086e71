"""A registration reads its cluster once, and the poll that follows reads nothing; neither trusts what is outdated."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace as with_fields
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.decision import Decision, HostKey
from firstlight.core.errors import Conflict, NotFound, Unauthenticated
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.fingerprint import Fingerprint
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import CHANGES, host_subject
from firstlight.server.ports.writes import DeleteInfraEnv, PutCluster, PutHost, PutInfraEnv, PutPlan, Write
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases import agents, host_registration
from firstlight.server.usecases.caller import SERVICE, Caller
from firstlight.server.usecases.deciding import change_cluster
from firstlight.server.usecases.one_host import PlacedHost
from firstlight.server.usecases.recent import RecentClusters
from firstlight.server.usecases.settling import settle_cluster
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
        async with asyncio.timeout(60):
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


async def register(
    world: World, machine: UUID = MACHINE, *, caller: Caller = SERVICE, fingerprint: Fingerprint | None = None
) -> PlacedHost:
    return await host_registration.register(
        world,
        infra_env_id=INFRA_ENV_ID,
        host_id=machine,
        agent_version=world.policy.agent_image,
        caller=caller,
        fingerprint=fingerprint,
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
    async with asyncio.timeout(60):
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
    changed = replace(stored.infra_env, name="other", updated_at=NOW + timedelta(seconds=1))
    await somewhere.commit(PutInfraEnv(infra_env=changed, expect_revision=stored.revision))
    await register(world, UUID(int=MACHINE.int + 1))
    recalled = world.store.recalled_infra_env(INFRA_ENV_ID)
    assert recalled is not None
    assert recalled.name == "other"


# --- on what is remembered of the cluster -----------------------------------------------------------------------------


def machine(number: int) -> UUID:
    return UUID(int=MACHINE.int + number)


async def hosts_in(world: World) -> list[HostKey]:
    """As somebody else reads them."""
    state = await another_replica(world).cluster_state(CLUSTER_ID)
    assert state is not None
    return [(host.host.infra_env_id, host.host.id) for host in state.hosts]


def board(number: int) -> Fingerprint:
    return Fingerprint(board=f"board {number}", macs=(f"52:54:00:00:00:0{number}",))


async def test_the_next_machine_is_taken_in_without_reading(world: World) -> None:
    async with counted(world) as (counting, store):
        await register(counting)
        store.asked.clear()
        for number in (1, 2):
            placed = await register(counting, machine(number))
            assert placed.cluster is not None
        assert store.asked == ["commit", "commit"]
    assert sorted(await hosts_in(world)) == [(INFRA_ENV_ID, machine(number)) for number in range(3)]


async def test_machines_with_fingerprints_are_told_apart_without_reading(world: World) -> None:
    async with counted(world) as (counting, store):
        await register(counting, fingerprint=board(1))
        store.asked.clear()
        twin = await register(counting, fingerprint=board(2))
        assert twin.state.host.id != MACHINE
        assert twin.state.host.claimed_id == MACHINE
        assert store.asked == ["commit"]
        again = await register(counting, fingerprint=board(2))
        assert again.state.host.id == twin.state.host.id
    assert len(await hosts_in(world)) == 2


async def test_who_registered_with_another_replica_is_not_new_here(world: World) -> None:
    """What is remembered here does not know the machine; nothing of its record may be lost."""
    await put_cluster(world, replace(cluster_state(), hosts=()))
    await register(world)
    there = with_fields(world, store=another_replica(world), recent=RecentClusters())
    first = await register(there, machine(1))
    again = await register(world, machine(1))
    assert again.state.host.created_at == first.state.host.created_at
    assert sorted(await hosts_in(world)) == [(INFRA_ENV_ID, machine(number)) for number in range(2)]


async def put_status(world: World, status: ClusterStatus) -> None:
    somewhere = another_replica(world)
    state = await somewhere.cluster_state(CLUSTER_ID)
    assert state is not None
    changed = replace(state.cluster, status=status)
    await somewhere.commit(PutCluster(cluster=changed, expect_revision=state.revision))


async def test_a_cluster_that_closed_meanwhile_takes_nobody(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    await register(world)
    await put_status(world, ClusterStatus.INSTALLED)
    with pytest.raises(Conflict, match="is installed"):
        await register(world, machine(1))
    assert await hosts_in(world) == [KEY]


async def test_nobody_is_refused_on_what_is_merely_remembered(world: World) -> None:
    state = await put_cluster(world, replace(cluster_state(), hosts=()))
    await put_status(world, ClusterStatus.INSTALLED)
    closed = await world.store.cluster_state(CLUSTER_ID)
    assert closed is not None
    world.recent.keep(closed)
    await put_status(world, state.cluster.status)
    await register(world)
    assert await hosts_in(world) == [KEY]


async def test_a_token_that_is_over_admits_only_who_is_known(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    late = replace(SERVICE, came_late=True)
    await register(world)
    events = await world.store.last_event_seq()
    with pytest.raises(Unauthenticated):
        await register(world, machine(1), caller=late)
    assert await world.store.last_event_seq() == events
    await register(world, caller=late)
    assert await hosts_in(world) == [KEY]


async def test_an_infra_env_that_left_takes_the_next_machine_along(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    await register(world)
    stored = await world.store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    free = replace(stored.infra_env, cluster_id=None)
    await another_replica(world).commit(PutInfraEnv(infra_env=free, expect_revision=stored.revision))
    assert (await register(world, machine(1))).state.host.cluster_id is None
    assert await hosts_in(world) == [KEY]


async def test_what_the_engine_decides_is_followed(world: World) -> None:
    """Otherwise the first machine after each look would be decided twice."""
    async with counted(world) as (counting, store):
        await register(counting)
        await settle_cluster(counting, CLUSTER_ID)
        known = counting.recent.get(CLUSTER_ID)
        stored = await another_replica(world).cluster_state(CLUSTER_ID)
        assert known == stored
        store.asked.clear()
        await register(counting, machine(1))
        assert store.asked == ["commit"]


async def test_hosts_that_come_another_way_are_not_overlooked(world: World) -> None:
    await put_cluster(world, replace(cluster_state(), hosts=()))
    await register(world)
    other = replace((await register(world, machine(1))).state.host, requested_hostname="kept")

    def also(*_: object) -> Iterator[Write]:
        yield PutHost(host=other)

    await change_cluster(world, CLUSTER_ID, lambda *_: Decision(), caller=SERVICE, also=also)
    assert world.recent.get(CLUSTER_ID) is None


def test_only_so_many_are_remembered() -> None:
    recent = RecentClusters(most_hosts=7)
    states = [
        replace(state, cluster=replace(state.cluster, id=machine(n))) for n, state in enumerate([cluster_state()] * 3)
    ]
    assert len(states[0].hosts) == 3
    for state in states:
        recent.keep(state)
        recent.keep(state)
    assert recent.get(machine(0)) is None
    assert recent.get(machine(2)) == states[2]
    recent.follow(replace(states[2], revision=7), Decision())
    assert recent.get(machine(2)) == states[2], "an older one is not followed"
    recent.forget(machine(2))
    assert recent.get(machine(2)) is None
