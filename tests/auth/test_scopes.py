"""What a machine's token opens: its own infra-env and cluster, for as long as it lives."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from firstlight.server.auth.tokens import IMAGE_KEY
from firstlight.server.ports.subjects import infra_env_subject
from firstlight.server.ports.writes import PutHost, PutInfraEnv, PutSecret
from tests.auth.locked import LIFETIMES, OTHER, Locked, locked
from tests.builders.clusters import an_infra_env
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio
POOL = UUID("e0000000-0000-4000-8000-000000000009")
FOREIGN_CLUSTER = UUID("c0000000-0000-4000-8000-000000000009")
IMAGE_SECRET = b"i" * 32
POLL = f"/v2/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(1)}/instructions"
GRACE = LIFETIMES.agent


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Locked]:
    """A cluster with its infra-env, and a pool of which one host was bound to it."""
    async with locked(tmp_path) as service:
        await put_cluster(service.world)
        bound = a_host(8, infra_env_id=POOL)
        await service.world.store.commit(
            PutInfraEnv(infra_env=an_infra_env(id=POOL, cluster_id=None), expect_revision=None),
            PutInfraEnv(infra_env=an_infra_env(id=OTHER, cluster_id=None), expect_revision=None),
            PutHost(host=bound),
            PutHost(host=a_pool_host(9, infra_env_id=POOL)),
            PutSecret(subject=infra_env_subject(INFRA_ENV_ID), name=IMAGE_KEY, value=IMAGE_SECRET.hex()),
        )
        yield service


async def status(service: Locked, path: str, *, query: str = "", token: str = "", method: str = "GET") -> int:
    headers = {"X_Secret_Key": token} if token else {}
    return (await service.ask(method, path, query=query, **headers)).status


async def test_agents_touch_their_own_infra_env_and_cluster(service: Locked) -> None:
    own, pool, other = service.agent(), service.agent(POOL), service.agent(OTHER)
    cluster = f"/v2/clusters/{CLUSTER_ID}"
    assert await status(service, POLL, token=own) == 200
    assert await status(service, POLL, token=other) == 403
    assert await status(service, f"/v2/infra-envs/{INFRA_ENV_ID}", token=other) == 403
    assert await status(service, cluster, token=own) == 200
    assert await status(service, cluster, token=pool) == 200
    assert await status(service, cluster, token=other) == 403
    assert await status(service, f"/v2/clusters/{FOREIGN_CLUSTER}", token=own) == 403


async def test_a_controller_speaks_for_hosts_of_other_infra_envs_in_its_cluster(service: Locked) -> None:
    path = f"/v2/infra-envs/{POOL}/hosts/{{}}/progress"
    own = service.agent()
    assert await status(service, path.format(host_id(8)), token=own, method="PUT") == 400  # no body
    assert await status(service, path.format(host_id(9)), token=own, method="PUT") == 403
    assert await status(service, path.format(host_id(7)), token=own, method="PUT") == 403
    assert await status(service, path.format(host_id(8)), token=service.agent(OTHER), method="PUT") == 403


async def test_cluster_tokens(service: Locked) -> None:
    token = service.tokens.cluster(CLUSTER_ID, expires_at=None)
    assert await status(service, f"/v2/clusters/{CLUSTER_ID}", token=token) == 200
    assert await status(service, f"/v2/clusters/{FOREIGN_CLUSTER}", token=token) == 403
    assert await status(service, f"/v2/infra-envs/{INFRA_ENV_ID}", token=token) == 200
    assert await status(service, f"/v2/infra-envs/{OTHER}", token=token) == 403
    # In a URL, what a token does not open is not there.
    query = f"api_key={token}"
    logs = "/v2/clusters/{}/downloads/files"
    assert await status(service, logs.format(CLUSTER_ID), query=f"{query}&file_name=metadata.json") == 409
    missing = await service.ask("GET", logs.format(FOREIGN_CLUSTER), query=f"{query}&file_name=metadata.json")
    assert (missing.status, missing.json()["message"]) == (404, "Object Not Found")


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        pytest.param(f"infra_env_id={POOL}", 200, id="its-own"),
        pytest.param(f"host_ids={host_id(8)},{host_id(9)}", 200, id="its-hosts"),
        pytest.param(f"host_id={host_id(9)}", 200, id="its-host"),
        pytest.param("", 404, id="everything"),
        pytest.param(f"infra_env_id={OTHER}", 404, id="another"),
        pytest.param(f"infra_env_id={POOL}&infra_env_id={OTHER}", 404, id="two"),
        pytest.param(f"infra_env_id={POOL}&cluster_id={CLUSTER_ID}", 404, id="a-cluster-beside"),
        pytest.param(f"host_ids={host_id(8)},{host_id(1)}", 404, id="a-foreign-host-among-its-own"),
        pytest.param(f"infra_env_id={POOL}&host_ids={host_id(1)}", 404, id="a-foreign-host-beside"),
        pytest.param("host_ids=", 404, id="no-host"),
    ],
)
async def test_events_by_the_token_of_an_infra_env(service: Locked, query: str, seen: int) -> None:
    assert await status(service, "/v2/events", query=f"api_key={service.agent(POOL)}&{query}") == seen


async def test_events_by_the_token_of_a_cluster(service: Locked) -> None:
    token = f"api_key={service.tokens.cluster(CLUSTER_ID, expires_at=None)}"
    assert await status(service, "/v2/events", query=f"{token}&cluster_id={CLUSTER_ID}") == 200
    assert await status(service, "/v2/events", query=f"{token}&cluster_id={FOREIGN_CLUSTER}") == 404
    assert await status(service, "/v2/events", query=token) == 404


async def test_machines_tell_events_of_their_own(service: Locked) -> None:
    event = {"name": "x", "severity": "info", "message": "m", "event_time": "2026-01-01T00:00:00Z"}
    for token, cluster_id, expected in (
        (service.agent(), CLUSTER_ID, 201),
        (service.agent(POOL), CLUSTER_ID, 201),
        (service.agent(OTHER), CLUSTER_ID, 403),
        (service.tokens.cluster(CLUSTER_ID, expires_at=None), CLUSTER_ID, 201),
        (service.tokens.cluster(FOREIGN_CLUSTER, expires_at=None), CLUSTER_ID, 403),
    ):
        body = json.dumps(event | {"cluster_id": str(cluster_id)}).encode()
        answer = await service.ask("POST", "/v2/events", body=body, X_Secret_Key=token, content_type="application/json")
        assert answer.status == expected, answer.body


async def test_no_scope_where_it_is_switched_off(tmp_path: Path) -> None:
    async with locked(tmp_path, scoped=False) as service:
        await put_cluster(service.world)
        assert await status(service, POLL, token=service.agent(OTHER)) == 200


# --- time -------------------------------------------------------------------------------------------------------------


async def register(service: Locked, number: int) -> int:
    body = json.dumps({"host_id": str(host_id(number)), "discovery_agent_version": "x"}).encode()
    path = f"/v2/infra-envs/{INFRA_ENV_ID}/hosts"
    token = service.agent()
    return (await service.ask("POST", path, body=body, X_Secret_Key=token, content_type="application/json")).status


async def test_after_its_time_a_token_lets_nobody_new_in(service: Locked) -> None:
    token, environment = service.agent(), f"/v2/infra-envs/{INFRA_ENV_ID}"
    service.clock.forward(GRACE - timedelta(seconds=1))
    assert await status(service, environment, token=token) == 200
    assert await status(service, environment, query=f"api_key={token}") == 200
    service.clock.forward(timedelta(seconds=1))
    assert await status(service, environment, token=token) == 401
    assert await status(service, environment, query=f"api_key={token}") == 401
    assert await status(service, f"{environment}/downloads/files", query="file_name=discovery.ign", token=token) == 401
    assert await register(service, 5) == 401


async def test_machines_that_came_in_time_go_on(service: Locked) -> None:
    service.clock.forward(GRACE + timedelta(days=30))
    assert await status(service, POLL, token=service.agent()) == 200
    assert await status(service, f"/v2/clusters/{CLUSTER_ID}", token=service.agent()) == 200
    assert await status(service, f"/v2/clusters/{CLUSTER_ID}", token=service.agent(OTHER)) == 403
    assert await register(service, 1) == 201


async def test_people_s_tokens_end(service: Locked) -> None:
    token = service.person(hours=1)
    assert (await service.ask("GET", "/v2/clusters", Authorization=token)).status == 200
    service.clock.forward(timedelta(hours=1))
    assert (await service.ask("GET", "/v2/clusters", Authorization=token)).status == 401


async def test_image_tokens(service: Locked) -> None:
    token, _ = service.tokens.image(INFRA_ENV_ID, key=IMAGE_SECRET, now=NOW)
    forged, _ = service.tokens.image(INFRA_ENV_ID, key=b"x" * 32, now=NOW)
    unknown, _ = service.tokens.image(FOREIGN_CLUSTER, key=IMAGE_SECRET, now=NOW)
    own, other = f"/v2/infra-envs/{INFRA_ENV_ID}", f"/v2/infra-envs/{OTHER}"
    assert (await service.ask("GET", own, Image_Token=token)).status == 200
    assert (await service.ask("GET", own, query=f"image_token={token}")).status == 200
    assert (await service.ask("GET", own, query=f"image_token={token}&image_token={token}")).status == 401
    assert (await service.ask("GET", f"{own}/downloads/minimal-initrd", Image_Token=token)).status == 204
    # This one is published without the form in the URL.
    assert (await service.ask("GET", f"{own}/downloads/minimal-initrd", query=f"image_token={token}")).status == 401
    assert (await service.ask("GET", other, Image_Token=token)).status == 403
    for wrong in (forged, unknown, service.agent(), "x.y.z"):
        assert (await service.ask("GET", own, Image_Token=wrong)).status == 401
    service.clock.forward(LIFETIMES.image)
    assert (await service.ask("GET", own, Image_Token=token)).status == 401


# --- the agent-based installer's tokens -------------------------------------------------------------------------------


async def test_tokens_of_the_agent_based_installer(tmp_path: Path) -> None:
    """It signs three tokens beforehand; each says what it is for, and names nothing."""
    from firstlight.server.auth.compact import sign_es256
    from tests.auth.locked import KEYS

    def token(scheme: str) -> str:
        assert KEYS.private is not None
        return sign_es256({"auth_scheme": scheme}, KEYS.private)

    async with locked(tmp_path, schemed=True) as service:
        await put_cluster(service.world)
        assert (await service.ask("GET", "/v2/clusters", Authorization=token("userAuth"))).status == 200
        assert (await service.ask("GET", "/v2/clusters", Watcher_Authorization=token("watcherAuth"))).status == 200
        assert await status(service, POLL, token=token("agentAuth")) == 200
        assert await status(service, POLL, token=token("userAuth")) == 403
        assert (await service.ask("GET", "/v2/clusters", Authorization=token("agentAuth"))).status == 403
        assert (
            await status(
                service, f"/v2/clusters/{CLUSTER_ID}", token=service.tokens.cluster(CLUSTER_ID, expires_at=None)
            )
            == 403
        )
