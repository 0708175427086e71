"""Two replicas on PostgreSQL and S3: whoever is asked knows everything, and either one may die."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec
import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.ends import all_known, cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.api.machines import AGENT, a_document
from tests.builders.moments import host_id
from tests.end_to_end.conftest import Place
from tests.end_to_end.journal import Journal, JournalingService, journaling
from tests.end_to_end.mortal import Mortal
from tests.end_to_end.people import Busybody, Follower, heard_again
from tests.end_to_end.reading_back import Reader

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEED: Final = 120.0
LIMIT: Final = 300.0
PATIENCE_SECONDS: Final = 60
OPERATIONS: Final = "SELECT owner, state, epoch FROM operations WHERE kind = 'prepare-installation'"

Replicas = tuple[Mortal, Mortal]


@pytest.fixture
async def replicas(tmp_path: Path, shared: Place, anyio_backend: str) -> AsyncIterator[Replicas]:
    """Started at the same moment, on a database that neither has seen."""
    pair = (Mortal(tmp_path / "a", **shared), Mortal(tmp_path / "b", **shared))
    await asyncio.gather(*(one.start() for one in pair))
    yield pair
    await asyncio.gather(*(one.stop() for one in pair))
    for one in pair:
        assert "Traceback" not in one.log


@asynccontextmanager
async def following(*followers: Follower) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(follower.live()) for follower in followers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def a_ready_fleet(service: JournalingService, fleet: Fleet, cluster_id: UUID) -> None:
    assert (await fleet.wait(user.inventories_are_in, limit=LIMIT)).reached
    await user.set_vips(service, cluster_id, fleet.site.network)
    ready = cluster_is("ready")
    result = await fleet.wait(lambda seen: all_known(seen) and ready(seen), limit=LIMIT)
    assert result.reached, (result.snapshot.cluster, result.snapshot.status_counts())


async def read_back(journal: Journal, url: str) -> list[str]:
    async with connect(url) as reading:
        return await Reader(reading, journal).everything()


async def test_hosts_may_ask_either_replica(replicas: Replicas) -> None:
    a, b = replicas
    journal, followers = Journal(), (Follower(a.url), Follower(b.url))
    async with following(*followers), journaling(journal, a.url, b.url) as service:
        cluster_id, infra_env_id = await user.create_cluster(service, user.NewCluster(name="twofold"))
        machines = make_machines(Plan(masters=3, workers=2), seed=6)
        fleet = Fleet(a.url, infra_env_id, machines, speed=SPEED, service=service)
        busy = asyncio.create_task(Busybody(service, seed=6).live())
        async with fleet.powered():
            await a_ready_fleet(service, fleet, cluster_id)
            await user.install(service, cluster_id)
            result = await fleet.wait(cluster_is("installed"), limit=LIMIT)
            assert result.reached, (result.snapshot.cluster, result.snapshot.status_counts())
            await fleet.last_words()
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)
        for one in replicas:
            assert await read_back(journal, one.url) == []
        told = await heard_again(a.url)
        async with asyncio.timeout(PATIENCE_SECONDS):
            for follower in followers:
                await follower.until(told[-1][0])
    for follower in followers:
        assert [*follower.numbers] == sorted(set(follower.numbers)), "no number comes late, none comes twice"
        assert follower.heard[: len(told)] == told, "and all are told the same"


async def test_the_other_replica_takes_over(replicas: Replicas, shared: Place) -> None:
    """Whoever prepares the installation is killed in the midst of it."""
    a, b = replicas
    journal = Journal()
    database = await asyncpg.connect(shared["FIRSTLIGHT_DATABASE_URL"])
    follower = Follower(a.url, b.url)
    try:
        async with following(follower), journaling(journal, a.url, b.url) as service:
            cluster_id, infra_env_id = await user.create_cluster(service, user.NewCluster(name="heir"))
            machines = make_machines(Plan(masters=3), seed=7)
            fleet = Fleet(a.url, infra_env_id, machines, speed=SPEED, service=service)
            async with fleet.powered():
                await a_ready_fleet(service, fleet, cluster_id)
                await user.install(service, cluster_id)
                owner = await running_owner(database)
                (dead,) = (one for one in replicas if f"-{one.pid}-" in owner)
                os.kill(dead.pid, signal.SIGSTOP)
                assert (await database.fetchrow(OPERATIONS))["state"] == "running", "it was caught in the act"
                await dead.kill()
                result = await fleet.wait(cluster_is("installed"), limit=LIMIT)
                assert result.reached, (result.snapshot.cluster, result.snapshot.status_counts())
                await fleet.last_words()
            (alive,) = (one for one in replicas if one is not dead)
            assert await read_back(journal, alive.url) == []
            told = await heard_again(alive.url)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await follower.until(told[-1][0])
        row = await database.fetchrow(OPERATIONS)
        assert (row["state"], row["epoch"]) == ("done", 2)
        assert f"-{alive.pid}-" in row["owner"]
        assert follower.heard[: len(told)] == told
    finally:
        await database.close()


async def running_owner(database: asyncpg.Connection) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            row = await database.fetchrow(OPERATIONS)
            if row is not None and row["state"] == "running":
                return str(row["owner"])


async def eventually(ask: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await ask()
            if holds(found):
                return found
            await asyncio.sleep(0.05)


async def test_a_change_at_one_is_in_a_poll_at_the_other(replicas: Replicas) -> None:
    a, b = replicas
    async with connect(a.url) as at_a, connect(b.url) as at_b:
        cluster_id, infra_env_id = await user.create_cluster(at_a, user.NewCluster(name="told"))
        host = host_id(1)
        await at_a.register(infra_env_id, host, agent_version=AGENT)
        for service in (at_a, at_b):
            assert "inventory" in await steps(service, infra_env_id, host), "both have this host in mind now"
        await tell_inventory(at_a, infra_env_id, host)
        for clock in ("one.example.com", "two.example.com"):
            await at_a.send("PATCH", f"/v2/clusters/{cluster_id}", {"additional_ntp_source": clock})
            await eventually(lambda: steps(at_b, infra_env_id, host), lambda found, clock=clock: clock in found)


async def test_a_change_at_one_ends_the_wait_of_a_poll_at_the_other(replicas: Replicas) -> None:
    a, b = replicas
    async with connect(a.url) as at_a, connect(b.url) as at_b:
        cluster_id, infra_env_id = await user.create_cluster(at_a, user.NewCluster(name="told"))
        host = host_id(1)
        await at_a.register(infra_env_id, host, agent_version=AGENT)
        await tell_inventory(at_a, infra_env_id, host)
        polls: list[str] = []

        async def hold_the_line() -> None:
            while "new.example.com" not in "".join(polls):
                polls.append(await steps(at_b, infra_env_id, host, wait=25))

        holding = asyncio.ensure_future(hold_the_line())
        # Once everything was asked for, a poll is held: no more of them come in.
        await eventually(lambda: asyncio.sleep(1, len(polls)), lambda count: count > 0 and count == len(polls))
        before = len(polls)
        await at_a.send("PATCH", f"/v2/clusters/{cluster_id}", {"additional_ntp_source": "new.example.com"})
        async with asyncio.timeout(20):
            await holding
        assert len(polls) <= before + 3


async def test_what_a_host_tells_one_the_other_does_not_hold_against_it(replicas: Replicas) -> None:
    """Back to what it once told the first: that one must not take it for old news."""
    a, b = replicas
    async with connect(a.url) as at_a, connect(b.url) as at_b:
        cluster_id, infra_env_id = await user.create_cluster(at_a, user.NewCluster(name="told"))
        host = host_id(1)
        await at_a.register(infra_env_id, host, agent_version=AGENT)

        async def memory() -> str:
            shown = msgspec.json.decode(await at_b.ask("GET", f"/v2/clusters/{cluster_id}"))
            groups = msgspec.json.decode(shown["hosts"][0].get("validations_info") or "{}")
            checks = (check for group in groups.values() for check in group)
            return next((check["status"] for check in checks if check["id"] == "has-min-memory"), "")

        small = {"memory": {"physical_bytes": 2**30, "usable_bytes": 2**30}}
        for service, changes, verdict in ((at_a, {}, "success"), (at_b, small, "failure"), (at_a, {}, "success")):
            await tell_inventory(service, infra_env_id, host, **changes)
            await eventually(memory, lambda found, verdict=verdict: found == verdict)


async def steps(service: Service, infra_env_id: UUID, host: UUID, *, wait: int = 0) -> str:
    path = f"/v2/infra-envs/{infra_env_id}/hosts/{host}/instructions"
    query = {"wait": str(wait)} if wait else None
    return (await service.ask("GET", path, query=query, headers={"discovery_agent_version": AGENT})).decode()


async def tell_inventory(service: Service, infra_env_id: UUID, host: UUID, **changes: Any) -> None:
    reply = {
        "step_type": "inventory",
        "step_id": "inventory-1",
        "exit_code": 0,
        "output": msgspec.json.encode(a_document(1, **changes)).decode(),
    }
    await service.send("POST", f"/v2/infra-envs/{infra_env_id}/hosts/{host}/instructions", reply)
