"""Whatever an agent sends, it is answered with 204 or a clear 4xx; the service and its users go on."""

import json
import re
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostStatus
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import Client, an_app, ready_cluster
from tests.api.hostile import envelopes, oversized
from tests.api.machines import Site, a_document, a_site
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID
from tests.http.client import Answer, ask

pytestmark = pytest.mark.anyio

COUNT: Final = 10_000
ROUND: Final = 500
"""After so many replies everything is judged and looked at."""
ALLOWED: Final = frozenset({204, 400, 413})


async def send(app: ASGIApp, path: str, body: bytes) -> Answer:
    headers = {"content-type": "application/json"}
    return await ask(app, "POST", f"/api/assisted-install/v2{path}/instructions", body=body, headers=headers)


def clear(answer: Answer) -> bool:
    """Nothing, or a document that says in words what is wrong."""
    if answer.status == 204:
        return answer.body == b""
    document = answer.json()
    text = document.get("reason") or document.get("message")
    return bool(re.search(r"\w+ \w+", text)) and len(text) < 2_000


async def machines(call: Client, world: World) -> list[Site]:
    """A pool host, and three hosts of a cluster in different phases."""
    pool = await a_site(call, world)
    await pool.known()
    hosts = (
        host_state(1, peers=(1, 2, 3)),
        host_state(2, peers=(1, 2, 3), status=HostStatus.PREPARING_FOR_INSTALLATION),
        host_state(3, peers=(1, 2, 3), status=HostStatus.INSTALLING),
    )
    state = cluster_state(hosts=hosts, status=ClusterStatus.READY, vip_dhcp_allocation=True)
    await ready_cluster(world, state)
    bound = Site(call, world, {"id": str(INFRA_ENV_ID)})
    return [pool, bound]


async def look_at_everything(call: Client, world: World, sites: list[Site]) -> None:
    """What follows from the facts is decided, and users can still see it."""
    await settle_cluster(world, CLUSTER_ID)
    await sites[0].settle()
    world.sessions.forget_all()
    for site in sites:
        answer = await call("GET", f"{site.path}/hosts")
        assert answer.status == 200
        for host in answer.json():
            for name in ("inventory", "validations_info", "ntp_sources", "images_status", "disks_info"):
                assert name not in host or json.loads(host[name]) is not None
    for number in (1, 2, 3):
        assert (await sites[1].poll(number)).status == 200


@pytest.mark.slow
async def test_ten_thousand_replies(call: Client, world: World) -> None:
    app = an_app(world)
    sites = await machines(call, world)
    paths = [sites[0].host(1), *(sites[1].host(number) for number in (1, 2, 3))]
    seen: dict[int, int] = {}
    for index, (machine, body) in enumerate(envelopes(seed=7, count=COUNT)):
        answer = await send(app, paths[machine], body)
        assert answer.status in ALLOWED, (index, body[:2_000], answer.body)
        assert clear(answer), (index, body[:2_000], answer.body)
        seen[answer.status] = seen.get(answer.status, 0) + 1
        if index % ROUND == ROUND - 1:
            await look_at_everything(call, world, sites)
    # Both kinds are there in numbers, or this would prove little.
    assert seen[204] > COUNT // 5
    assert seen[400] > COUNT // 5


@pytest.mark.parametrize(("what", "make"), [pytest.param(*case, id=case[0]) for case in oversized()])
async def test_too_much_of_everything(call: Client, world: World, what: str, make: Any) -> None:
    sites = await machines(call, world)
    document = make()
    answer = await sites[0].reply("inventory", document)
    assert answer.status in ALLOWED, what
    assert clear(answer)
    await look_at_everything(call, world, sites)


async def test_more_than_fits(call: Client, world: World) -> None:
    site = await a_site(call, world)
    await site.boot()
    answer = await site.reply("inventory", "x" * (8 * 1024 * 1024 + 1))
    assert answer.status == 413
    assert clear(answer)


MANY: Final = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""One machine says all of it, one thing after the other."""
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Inventories in which some parts were replaced by anything at all."""
    parts = sorted(a_document())
    return st.dictionaries(st.sampled_from(parts), json_values, min_size=1, max_size=3).map(
        lambda bad: a_document() | bad
    )


@pytest.fixture
async def pool(call: Client, world: World) -> Site:
    site = await a_site(call, world)
    await site.known()
    return site


@given(document=documents())
@MANY
async def test_any_inventory(pool: Site, document: dict[str, Any]) -> None:
    answer = await pool.reply("inventory", document)
    assert answer.status in {204, 400}
    await pool.settle()
    assert (await pool.call("GET", f"{pool.path}/hosts")).status == 200


@given(
    query=st.text(max_size=40), version=st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=40)
)
@MANY
async def test_any_poll(pool: Site, query: str, version: str) -> None:
    text = "timestamp=" + "".join(f"%{byte:02x}" for byte in query.encode("utf-8", "surrogatepass"))
    answer = await ask(
        an_app(pool.world),
        "GET",
        f"/api/assisted-install/v2{pool.host()}/instructions",
        query=text,
        headers={"discovery_agent_version": version.encode().decode("latin-1")},
    )
    assert answer.status in {200, 400}


@given(body=st.dictionaries(st.sampled_from(["host_id", "discovery_agent_version", "x"]), json_values) | json_values)
@MANY
async def test_any_registration(pool: Site, body: Any) -> None:
    answer = await pool.call("POST", f"{pool.path}/hosts", body)
    assert answer.status in {201, 400}


@given(body=st.dictionaries(st.sampled_from(["current_stage", "progress_info", "x"]), json_values) | json_values)
@MANY
async def test_any_progress(pool: Site, body: Any) -> None:
    answer = await pool.call("PUT", f"{pool.host()}/progress", body)
    assert answer.status == 400
