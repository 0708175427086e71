"""The Ignition of installed hosts: overrides, downloads, and hosts that join later."""

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState, IgnitionEndpoint
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.model.host import HttpHeader
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus
from firstlight.core.roles import key_of
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import PutHost, PutInfraEnv, PutSecret
from firstlight.server.usecases.host_ignition import write_day_two_ignition
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, event_names, reason
from tests.api.files import WITH_FILES, a_prepared_cluster
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.core.install.validator import verdict
from tests.usecases.preparing import a_preparing_cluster, run
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

HOST: Final = host_id(1)
PATH: Final = f"/infra-envs/{INFRA_ENV_ID}/hosts/{HOST}/ignition"
FILE: Final = f"/infra-env/{INFRA_ENV_ID}/hosts/{HOST}/downloads/ignition"
OVERRIDE: Final = json.dumps(
    {
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [{"path": "/etc/mine", "contents": {"source": "data:,x"}}]},
    }
)


class TestReading:
    async def test_as_a_file_and_as_text(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world)
        file = await call("GET", FILE)
        assert file.status == 200
        assert file.headers["content-disposition"] == f'attachment; filename="master-{HOST}.ign"'
        assert verdict(file.body) == ""
        assert (await call("GET", PATH)).json() == {"config": file.body.decode()}

    async def test_the_installer_asks_by_the_role_of_the_node(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world)
        answer = await call("GET", FILE.replace(str(HOST), str(host_id(4))))
        assert f'"worker-{host_id(4)}.ign"' in answer.headers["content-disposition"]
        assert b"/config/worker" in answer.body

    @pytest.mark.parametrize("status", list(ClusterStatus))
    async def test_which_state_allows_it(self, call: Client, world: World, status: ClusterStatus) -> None:
        await a_prepared_cluster(world, status=status)
        assert (await call("GET", FILE)).status == (200 if status in WITH_FILES else 409)
        assert (await call("GET", PATH)).status == (200 if status in WITH_FILES else 409)

    async def test_not_made_yet(self, call: Client, world: World) -> None:
        await put_cluster(world, status=ClusterStatus.INSTALLING)
        assert reason(await call("GET", FILE), 409)
        assert reason(await call("GET", PATH), 409)

    async def test_unknown_and_unbound(self, call: Client, world: World) -> None:
        infra_env = an_infra_env(cluster_id=None)
        await world.store.commit(PutInfraEnv(infra_env=infra_env, expect_revision=None), PutHost(host=a_pool_host(1)))
        for path in (PATH, FILE):
            assert "no cluster" in reason(await call("GET", path), 404)
            assert reason(await call("GET", path.replace(str(HOST), str(UNKNOWN))), 404)


class TestOverriding:
    async def test_it_reaches_the_host(self, call: Client, world: World) -> None:
        await put_cluster(world, status=ClusterStatus.READY)
        answer = await call("PATCH", PATH, {"config": OVERRIDE})
        assert (answer.status, answer.body) == (201, b"")
        assert "host_discovery_ignition_config_applied" in await event_names(world, CLUSTER_ID)
        known = await world.store.host((INFRA_ENV_ID, HOST))
        assert known is not None
        assert known.host.ignition_override == OVERRIDE

    async def test_it_is_part_of_what_is_made(self, call: Client, world: World) -> None:
        _, row = await a_preparing_cluster(world)
        assert (await call("PATCH", PATH, {"config": OVERRIDE})).status == 201
        await run(world, row)
        document = json.loads((await call("GET", PATH)).json()["config"])
        assert "/etc/mine" in [file["path"] for file in document["storage"]["files"]]

    @pytest.mark.parametrize("body", [{"config": ""}, {}, {"config": None}])
    async def test_an_empty_text_takes_it_back(self, call: Client, world: World, body: dict[str, Any]) -> None:
        await put_cluster(world)
        await call("PATCH", PATH, {"config": OVERRIDE})
        assert (await call("PATCH", PATH, body)).status == 201
        known = await world.store.host((INFRA_ENV_ID, HOST))
        assert known is not None
        assert known.host.ignition_override == ""

    async def test_pool_hosts_too(self, call: Client, world: World) -> None:
        await world.store.commit(
            PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None), PutHost(host=a_pool_host(1))
        )
        assert (await call("PATCH", PATH, {"config": OVERRIDE})).status == 201

    @pytest.mark.parametrize(
        "config",
        [
            "{",
            "[]",
            "{}",
            '{"ignition": {"version": "2.2.0"}}',
            '{"ignition": {"version": "3.3.0"}}',
            '{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "relative"}]}}',
            "[" * 50_000,
        ],
    )
    async def test_refused(self, call: Client, world: World, config: str) -> None:
        await put_cluster(world)
        assert reason(await call("PATCH", PATH, {"config": config}), 400)

    async def test_an_unknown_host(self, call: Client, world: World) -> None:
        await put_cluster(world)
        assert reason(await call("PATCH", PATH.replace(str(HOST), str(UNKNOWN)), {"config": ""}), 404)


def a_growing_cluster(**changes: Any) -> ClusterState:
    state = cluster_state(kind=ClusterKind.ADD_HOSTS, status=ClusterStatus.ADDING_HOSTS, **changes)
    joining: dict[str, Any] = {"kind": HostKind.DAY_TWO, "role": HostRole.WORKER, "status": HostStatus.KNOWN}
    first = state.hosts[0]
    return replace(state, hosts=(replace(first, host=replace(first.host, **joining)),))


class TestJoiningLater:
    async def source(self, call: Client) -> dict[str, Any]:
        document = json.loads((await call("GET", FILE)).body)
        return document["ignition"]["config"]["merge"][0]

    async def test_it_points_to_the_running_cluster(self, call: Client, world: World) -> None:
        state = await put_cluster(world, a_growing_cluster(api_vip_dns_name="api.east.example.com"))
        await write_day_two_ignition(world, state.hosts[0], state.cluster)
        assert (await self.source(call))["source"] == "http://api.east.example.com:22624/config/worker"
        assert verdict((await call("GET", FILE)).body) == ""

    async def test_its_own_endpoint_token_and_headers(self, call: Client, world: World) -> None:
        state = a_growing_cluster(ignition_endpoint=IgnitionEndpoint(url="https://ign.example.com:22623/config/"))
        host = replace(state.hosts[0].host, ignition_endpoint_headers=(HttpHeader("X-Tenant", "east"),))
        kept = await put_cluster(world, replace(state, hosts=(replace(state.hosts[0], host=host),)))
        subject = host_subject(key_of(kept.hosts[0]))
        await world.store.commit(PutSecret(subject=subject, name="ignition_endpoint_token", value="t0ken"))
        await write_day_two_ignition(world, kept.hosts[0], kept.cluster)
        found = await self.source(call)
        assert found["source"] == "https://ign.example.com:22623/config/worker"
        headers = {header["name"]: header["value"] for header in found["httpHeaders"]}
        assert headers == {"Authorization": "Bearer t0ken", "X-Tenant": "east"}

    async def test_installing_such_a_host_writes_it(self, call: Client, world: World) -> None:
        await put_cluster(world, a_growing_cluster(api_vip_dns_name="api.east.example.com"))
        answer = await call("POST", f"/infra-envs/{INFRA_ENV_ID}/hosts/{HOST}/actions/install", {})
        assert answer.status == 202, answer.body
        assert (await call("GET", FILE)).status == 200
