"""Nothing acknowledged is lost, whenever the service is killed; installations come to their end all the same."""

import asyncio
import random
from pathlib import Path
from typing import Final

import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import Refused, connect
from firstlight.simulate.ends import all_known, cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.end_to_end.conftest import Place
from tests.end_to_end.journal import Journal, JournalingService, journaling
from tests.end_to_end.mortal import Mortal
from tests.end_to_end.people import Busybody, Follower, heard_again, names_of
from tests.end_to_end.reading_back import Reader

LIMIT: Final = 1_500.0
"""Seconds; two minutes on a machine that is ours, but a busy one takes ten seconds for each start."""
pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(LIMIT + 300)]

SPEED: Final = 60.0
LIVES: Final = (0.03, 1.2)
"""Seconds between the first answer of a life and its end."""
UNBORN: Final = 0.1
"""Share of the lives that end before their first answer."""
WRITTEN: Final = {
    "cluster",
    "infra-env",
    "host",
    "cluster-field",
    "inventory",
    "stage",
    "installation",
    "manifest",
    "event",
}
ALSO_WRITTEN: Final = {"infra-env-field", "logs", "logs-state", "operator", "finalizing", "ingress", "completion"}


async def install_one_after_another(service: JournalingService, *, seed: int, done: list[Fleet]) -> None:
    """3+2 clusters, each by a fleet of its own, until cancelled."""
    while True:
        number = len(done)
        new = user.NewCluster(name=f"cluster-{number}")
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(Plan(masters=3, workers=2), seed=seed + number, salt=str(number))
        fleet = Fleet(service.url, infra_env_id, machines, speed=SPEED, seed=seed, service=service)
        async with fleet.powered():
            await fleet.wait(user.inventories_are_in)
            await user.set_vips(service, cluster_id, fleet.site.network)
            await fleet.wait(lambda snapshot: all_known(snapshot) and cluster_is("ready")(snapshot))
            await start(service, cluster_id)
            result = await fleet.wait(cluster_is("installed"))
            assert result.reached, (result.snapshot.cluster_status, result.snapshot.status_counts())
            await fleet.last_words()
        done.append(fleet)


async def start(service: JournalingService, cluster_id: object) -> None:
    """Asked again because the answer got lost, the service says that it has begun already."""
    try:
        await user.install(service, cluster_id)
    except Refused as refusal:
        if refusal.status != 409:
            raise


async def kill_and_read_back(
    mortal: Mortal, service: JournalingService, *, kills: int, seed: int, installing: "asyncio.Task[None]"
) -> None:
    """One life after the other; nobody but the reader speaks while what was acknowledged is read back."""
    chance = random.Random(seed)
    async with connect(service.url) as reading:
        while mortal.kills < kills:
            await asyncio.wait({installing}, timeout=chance.uniform(*LIVES))
            if installing.done():
                installing.result()
            await mortal.kill()
            service.gate.clear()
            await service.is_quiet()
            if chance.random() < UNBORN and mortal.kills < kills:
                await mortal.die_at_start(chance.uniform(0.2, 1.5))
            await mortal.start()
            lost = await Reader(reading, service.journal).everything()
            assert lost == [], f"after {mortal.kills} kills:\n" + "\n".join(lost)
            service.gate.set()


async def survive(mortal: Mortal, *, kills: int, seed: int) -> Journal:
    journal, done = Journal(), list[Fleet]()
    follower = Follower(mortal.url)
    await mortal.start()
    try:
        async with journaling(journal, mortal.url) as service:
            installing = asyncio.create_task(install_one_after_another(service, seed=seed, done=done))
            others = [
                asyncio.create_task(Busybody(service, seed=seed).live()),
                asyncio.create_task(follower.live()),
            ]
            try:
                async with asyncio.timeout(LIMIT):
                    await kill_and_read_back(mortal, service, kills=kills, seed=seed, installing=installing)
                    count = len(done)
                    while len(done) == count and not installing.done():
                        await asyncio.wait({installing}, timeout=0.5)
                    if installing.done():
                        installing.result()
                    told = await heard_again(mortal.url)
                    await follower.until(told[-1][0])
            finally:
                for task in (installing, *others):
                    task.cancel()
                await asyncio.gather(installing, *others, return_exceptions=True)
        assert follower.heard[: len(told)] == told, "the stream told the same sequence across all lives"
        assert list(follower.numbers) == sorted(set(follower.numbers))
    finally:
        await mortal.stop()
    return journal


async def test_fifty_kills_lose_nothing(tmp_path: Path, embedded: Place) -> None:
    mortal = Mortal(tmp_path / "service", **embedded)
    journal = await survive(mortal, kills=50, seed=1)
    assert mortal.kills == 50
    assert {kind for kind, count in names_of(journal).items() if count} >= WRITTEN | ALSO_WRITTEN


async def test_kills_lose_nothing_with_shared_storage(tmp_path: Path, shared: Place) -> None:
    mortal = Mortal(tmp_path / "service", **shared)
    journal = await survive(mortal, kills=12, seed=2)
    assert {kind for kind, count in names_of(journal).items() if count} >= WRITTEN
