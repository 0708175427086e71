"""Tables of our own API: rows of clusters and hosts, filtered, sorted and cut; one change to many hosts."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.rules import Finding, Status
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import PutFindings
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.http.client import Answer, ask
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

V1: Final = "/api/firstlight/v1"
HOSTS: Final = f"{V1}/clusters/{CLUSTER_ID}/hosts"


def a_row(number: int, **changes: Any) -> HostState:
    state = host_state(number, peers=(1, 2, 10))
    return replace(state, host=replace(state.host, **({"requested_hostname": f"node-{number}"} | changes)))


THREE: Final = (
    a_row(1, role=HostRole.WORKER, suggested_role=HostRole.WORKER),
    a_row(10),
    a_row(2, status=HostStatus.DISCONNECTED),
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        await put_cluster(made, cluster_state(hosts=THREE))
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(*v1.MODULES))


async def names(app: ASGIApp, **query: str) -> list[str]:
    return [row["name"] for row in (await ask(app, "GET", HOSTS, query=urlencode(query))).json()["hosts"]]


async def test_clusters_are_rows(app: ASGIApp) -> None:
    (row,) = (await ask(app, "GET", f"{V1}/clusters")).json()
    assert (row["name"], row["status"], row["base_domain"], row["version"]) == (
        "east",
        "ready",
        "example.com",
        "4.18.3",
    )
    assert (row["hosts"], row["ready"], row["control_planes"]) == (3, 2, 3)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["node-1", "node-2", "node-10"]),
        ({"descending": "true"}, ["node-10", "node-2", "node-1"]),
        ({"sort": "role"}, ["node-2", "node-10", "node-1"]),
        ({"sort": "role", "descending": "true"}, ["node-1", "node-2", "node-10"]),
        ({"offset": "1", "limit": "1"}, ["node-2"]),
        ({"offset": "3"}, []),
        ({"limit": "0"}, []),
        ({"status": "disconnected,error"}, ["node-2"]),
        ({"role": "worker"}, ["node-1"]),
        ({"text": "NODE-1"}, ["node-1", "node-10"]),
        ({"text": str(host_id(2))}, ["node-2"]),
        ({"text": "nobody"}, []),
    ],
)
async def test_hosts_are_filtered_sorted_and_cut(app: ASGIApp, query: dict[str, str], found: list[str]) -> None:
    assert await names(app, **query) == found


async def test_a_page_tells_of_all_hosts(app: ASGIApp) -> None:
    page = (await ask(app, "GET", HOSTS, query="role=worker&limit=1")).json()
    assert (page["total"], page["matching"]) == (3, 1)
    assert page["statuses"] == {"known": 2, "disconnected": 1}
    assert page["roles"] == {"master": 2, "worker": 1}
    (row,) = page["hosts"]
    assert (row["role"], row["effective_role"], row["install_disk"]) == ("worker", "worker", "/dev/sda")
    assert row["stage_count"] > row["stage_number"] == 0
    assert row["addresses"]


async def test_hosts_on_which_a_check_fails(app: ASGIApp, world: World) -> None:
    finding = Finding(id="ntp-synced", category="network", status=Status.FAILURE, message="No.", cause="no-source")
    await found_on_the_tenth(world, finding)
    assert await names(app, check="ntp-synced") == ["node-10"]
    assert await names(app, check="connected") == []
    assert await names(app, sort="failing", descending="true", limit="1") == ["node-10"]


async def found_on_the_tenth(world: World, finding: Finding) -> None:
    await world.store.commit(PutFindings(subject=host_subject((INFRA_ENV_ID, host_id(10))), findings=(finding,)))


@pytest.mark.parametrize("path", [f"/clusters/{UNKNOWN}/hosts", f"/infra-envs/{UNKNOWN}/hosts"])
async def test_unknown_places_are_not_found(app: ASGIApp, path: str) -> None:
    assert (await ask(app, "GET", V1 + path)).status == 404


@pytest.mark.parametrize("query", ["limit=1001", "limit=-1", "offset=-1", "sort=colour"])
async def test_what_a_page_cannot_be(app: ASGIApp, query: str) -> None:
    assert (await ask(app, "GET", HOSTS, query=query)).status == 400


async def test_an_infra_env_has_the_same_table(app: ASGIApp) -> None:
    page = (await ask(app, "GET", f"{V1}/infra-envs/{INFRA_ENV_ID}/hosts", query="text=node-2")).json()
    assert [row["name"] for row in page["hosts"]] == ["node-2"]


# --- one change to many


async def change(app: ASGIApp, *numbers: int, **wish: object) -> Answer:
    hosts = [{"infra_env_id": str(INFRA_ENV_ID), "id": str(host_id(number))} for number in numbers]
    body = json.dumps({"hosts": hosts, **wish}).encode()
    return await ask(app, "POST", f"{V1}/host-changes", body=body, headers={"content-type": "application/json"})


async def test_names_count_in_the_order_of_the_hosts(app: ASGIApp) -> None:
    answer = (await change(app, 2, 1, 10, name_template="rack-{n:02}", first_number=7)).json()
    assert [result["name"] for result in answer["results"]] == ["rack-07", "rack-08", "rack-09"]
    assert answer["changed"] == 3
    assert await names(app) == ["rack-07", "rack-08", "rack-09"]


async def test_a_dry_run_changes_nothing(app: ASGIApp) -> None:
    answer = (await change(app, 1, name_template="other", dry_run=True)).json()
    assert (answer["changed"], answer["results"][0]["name"]) == (1, "other")
    assert await names(app) == ["node-1", "node-2", "node-10"]


async def test_one_refusal_leaves_the_others_alone(app: ASGIApp) -> None:
    answer = (await change(app, 1, 99, role="master", labels={"rack": "7"})).json()
    good, bad = answer["results"]
    assert answer["changed"] == 1
    assert good["error"] == ""
    assert "no host" in bad["error"]
    (row,) = (await ask(app, "GET", HOSTS, query="text=node-1&sort=name&limit=1")).json()["hosts"]
    assert (row["role"], row["labels"]) == ("master", {"rack": "7"})
    await change(app, 1, labels={"rack": None, "zone": "a"})
    (row,) = (await ask(app, "GET", HOSTS, query="text=zone=a")).json()["hosts"]
    assert row["labels"] == {"zone": "a"}


@pytest.mark.parametrize("template", ["Not A Name", "{colour}", "localhost"])
async def test_names_that_are_none(app: ASGIApp, template: str) -> None:
    answer = (await change(app, 1, name_template=template)).json()
    assert answer["changed"] == 0
    assert answer["results"][0]["error"]
