"""The database goes away in the middle of everything and comes back: callers are told, and all goes on by itself."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import UUID

import aiohttp
import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import connect
from firstlight.simulate.ends import all_known, cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.end_to_end.journal import Journal, journaling
from tests.end_to_end.mortal import Mortal
from tests.end_to_end.reading_back import Reader
from tests.restarting import Server, restarting_postgres

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.peer("postgres")]

AWAY_SECONDS: Final = 2.0
"""More than the ten seconds after which callers are told."""
LIMIT: Final = 300.0


@pytest.fixture
def own_server() -> Iterator[Server]:
    with restarting_postgres() as server:
        yield server


async def refusal(url: str, method: str, path: str, document: object = None) -> tuple[int, dict[str, object]]:
    async with aiohttp.ClientSession() as session, session.request(method, url + path, json=document) as answer:
        return answer.status, await answer.json(content_type=None)


async def check_what_callers_are_told(url: str, cluster_id: UUID) -> None:
    api = f"{url}/api/assisted-install"
    answers = await asyncio.gather(
        refusal(api, "GET", f"/v2/clusters/{cluster_id}"),
        refusal(api, "GET", "/v2/clusters"),
        refusal(api, "PATCH", f"/v2/clusters/{cluster_id}", {"tags": "meanwhile"}),
        refusal(api, "POST", f"/v2/clusters/{cluster_id}/actions/cancel"),
    )
    for status, document in answers:
        told = str(document.pop("reason"))
        assert (status, document) == (503, {"code": "503", "href": "", "id": 503, "kind": "Error"})
        assert "database" in told
        assert "firstlight:" not in told, "no password in what callers are told"
    async with aiohttp.ClientSession() as session, session.get(f"{url}/health") as answer:
        assert answer.status == 500
        assert "database" in await answer.text()


async def test_an_installation_outlives_the_absence_of_the_database(own_server: Server, tmp_path: Path) -> None:
    """It ends without a word, as in a crash."""
    mortal = Mortal(tmp_path / "service", FIRSTLIGHT_DATABASE_URL=own_server.peer.fresh_database())
    await mortal.start()
    journal = Journal()
    try:
        async with journaling(journal, mortal.url) as service:
            cluster_id, infra_env_id = await user.create_cluster(service, user.NewCluster(name="patient"))
            machines = make_machines(Plan(masters=3, workers=2), seed=5)
            fleet = Fleet(mortal.url, infra_env_id, machines, speed=120, service=service)
            async with fleet.powered():
                assert (await fleet.wait(user.inventories_are_in, limit=LIMIT)).reached
                await user.set_vips(service, cluster_id, fleet.site.network)
                ready = cluster_is("ready")
                assert (await fleet.wait(lambda seen: all_known(seen) and ready(seen), limit=LIMIT)).reached
                await user.install(service, cluster_id)
                await own_server.stop("immediate")
                await check_what_callers_are_told(mortal.url, cluster_id)
                await asyncio.sleep(AWAY_SECONDS)
                await own_server.start()
                result = await fleet.wait(cluster_is("installed"), limit=LIMIT)
                assert result.reached, (result.snapshot.cluster, result.snapshot.status_counts())
                await fleet.last_words()
            async with connect(mortal.url) as reading:
                assert await Reader(reading, journal).everything() == []
                assert await reading.credentials(cluster_id, "kubeconfig")
            async with aiohttp.ClientSession() as session, session.get(f"{mortal.url}/health") as answer:
                assert (answer.status, await answer.text()) == (200, "ok")
        assert "request failed unexpectedly" not in mortal.log
        assert "a background loop failed" not in mortal.log
    finally:
        await mortal.stop()
