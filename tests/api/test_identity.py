"""Two machines that bring one id: both are kept, and stay who they are."""

from typing import Any
from uuid import UUID

import anyio
import pytest

from firstlight.core.model.fingerprint import HEADER, make_fingerprint, write_fingerprint
from firstlight.server.usecases.reading_findings import host_findings
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import Client
from tests.api.machines import Site, a_site
from tests.builders.clusters import cluster_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

BOARD = "0123456789abcdef"
CLAIMED = host_id(1)


def header(*macs: str) -> dict[str, str]:
    return {HEADER: write_fingerprint(make_fingerprint(board=BOARD, macs=macs))}


ONE, TWO = header("52:54:00:00:00:01"), header("52:54:00:00:00:02")


class Machines:
    """Agents that all bring the same id."""

    def __init__(self, call: Client, infra_env_id: str) -> None:
        self._call = call
        self._path = f"/infra-envs/{infra_env_id}/hosts"

    async def register(self, headers: dict[str, str]) -> dict[str, Any]:
        answer = await self._call("POST", self._path, {"host_id": str(CLAIMED)}, **headers)
        assert answer.status == 201
        return answer.json()

    async def ids(self) -> set[str]:
        return {host["id"] for host in (await self._call("GET", self._path)).json()}


@pytest.fixture(params=["pool", "cluster"])
async def machines(request: pytest.FixtureRequest, call: Client, world: World) -> Machines:
    if request.param == "pool":
        site: Site = await a_site(call, world)
        return Machines(call, site.infra_env["id"])
    await put_cluster(world, cluster_state(hosts=[]))
    return Machines(call, str(INFRA_ENV_ID))


async def test_two_machines_stay_two(machines: Machines) -> None:
    first, second = await machines.register(ONE), await machines.register(TWO)
    assert first["id"] == str(CLAIMED)
    assert second["id"] != first["id"]
    assert f'"host_id":"{second["id"]}"' in second["next_step_runner_command"]["args"][0]
    assert await machines.ids() == {first["id"], second["id"]}


async def test_each_comes_back_as_itself(machines: Machines) -> None:
    first, second = await machines.register(ONE), await machines.register(TWO)
    more_cards = header("52:54:00:00:00:02", "52:54:00:00:00:99")
    assert (await machines.register(more_cards))["id"] == second["id"]
    assert (await machines.register(ONE))["id"] == first["id"]
    assert len(await machines.ids()) == 2


async def test_both_at_once(machines: Machines) -> None:
    got: list[str] = []

    async def register(headers: dict[str, str]) -> None:
        got.append((await machines.register(headers))["id"])

    async with anyio.create_task_group() as group:
        for headers in (ONE, TWO):
            group.start_soon(register, headers)
    assert len(set(got)) == 2
    assert str(CLAIMED) in got


@pytest.mark.parametrize("headers", [{}, {HEADER: "something else"}])
async def test_agents_without_a_fingerprint_are_whoever_they_say(machines: Machines, headers: dict[str, str]) -> None:
    await machines.register(ONE)
    assert (await machines.register(headers))["id"] == str(CLAIMED)
    assert (await machines.register(TWO))["id"] != str(CLAIMED)


async def test_both_are_told(call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=[]))
    machines = Machines(call, str(INFRA_ENV_ID))
    ids = [UUID((await machines.register(headers))["id"]) for headers in (ONE, TWO)]
    await settle_cluster(world, CLUSTER_ID)
    causes = {}
    for number in ids:
        found = await host_findings(world, (INFRA_ENV_ID, number), statuses=("failure",))
        causes[number] = [finding.cause for finding in found if finding.id == "identity-unique"]
    assert causes == {ids[0]: ["identity-shared"], ids[1]: ["identity-taken"]}
    for host in (await call("GET", f"/infra-envs/{INFRA_ENV_ID}/hosts")).json():
        assert "identity" not in host.get("validations_info", "")
