"""Over HTTP: a failed host is tried again, late answers of its first try count no more, another machine takes over."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp

from firstlight.core.install.ignition import content_of, decode
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.server.http import v1, v2
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.writes import PutHost, PutPresence
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import Client, reason
from tests.api.files import a_prepared_cluster
from tests.api.machines import AGENT, Site
from tests.builders.hosts import some_domains
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.core.install.validator import verdict
from tests.http.client import Answer, ask
from tests.worlds import a_world

pytestmark = pytest.mark.anyio
S: Final = HostStatus
BOOTSTRAP, MASTER, OTHER, WORKER, SPARE = 1, 2, 3, 4, 9


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(*v1.MODULES, *v2.MODULES))


@pytest.fixture
async def site(app: ASGIApp, world: World) -> Site:
    """Everybody installs, and the second master has failed: with it the cluster and everybody else."""
    state = await a_prepared_cluster(world, status=ClusterStatus.INSTALLING)
    for number, member in enumerate(state.hosts, start=1):
        stage = Stage.WRITING_IMAGE if number == MASTER else Stage.WAITING_FOR_CONTROL_PLANE
        host = replace(
            member.host,
            status=S.ERROR if number == MASTER else S.INSTALLING_IN_PROGRESS,
            status_info="Failed - no space left" if number == MASTER else "",
            progress=Progress(stage=stage, started_at=NOW, updated_at=NOW),
            requested_hostname=f"host-{number}",
        )
        key = (INFRA_ENV_ID, host_id(number))
        await world.store.commit(
            PutHost(host=host), PutPresence(key=key, checked_in_at=NOW, clock_offset_seconds=0.0, agent_version=AGENT)
        )
    await settle_cluster(world, CLUSTER_ID)
    return Site(Client(app), world, {"id": str(INFRA_ENV_ID)})


async def own(app: ASGIApp, method: str, path: str, body: object = None) -> Answer:
    sent = b"" if body is None else msgspec.json.encode(body)
    return await ask(app, method, f"/api/firstlight/v1{path}", body=sent, headers={"content-type": "application/json"})


def at(number: int) -> str:
    return f"/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(number)}"


async def cluster_status(world: World) -> ClusterStatus:
    cluster = await world.store.cluster(CLUSTER_ID)
    assert cluster is not None
    return cluster.status


async def test_the_fix_of_the_finding_is_the_request_that_tries_again(app: ASGIApp, world: World, site: Site) -> None:
    assert await cluster_status(world) is ClusterStatus.ERROR
    found = (await own(app, "GET", f"{at(MASTER)}/findings")).json()[0]
    assert (found["id"], found["category"], found["status"]) == ("host-installed", "installation", "failure")
    assert "no space left" in found["message"]
    (problem,) = [
        one for one in (await own(app, "GET", f"/clusters/{CLUSTER_ID}/problems")).json() if one["check"] == found["id"]
    ]
    assert problem["blocking"]
    assert not problem["waivable"]
    (fix,) = problem["cases"][0]["fixes"]
    assert [fix] == found["fixes"]
    answer = await ask(app, fix["method"], fix["path"])
    assert answer.status == 202, answer.body
    told = answer.json()
    assert (told["status"], told["tries"], told["cluster_status"]) == ("installing", 1, "installing")
    assert (await site.state(BOOTSTRAP)).host.status is S.INSTALLING_IN_PROGRESS
    assert "validations_info" in await site.shown(MASTER)
    again = await ask(app, fix["method"], fix["path"])
    assert "only a host that failed" in reason(again, 409)
    assert not [one for one in (await own(app, "GET", f"{at(MASTER)}/findings")).json() if one["id"] == found["id"]]


async def test_nothing_of_it_is_in_the_original_s_documents(site: Site) -> None:
    shown = await site.shown(MASTER)
    assert "host-installed" not in shown["validations_info"]
    assert not {"tries", "kept_status"} & set(shown)


async def install_step(site: Site, number: int = MASTER) -> dict[str, Any]:
    steps = {one["step_type"]: one for one in (await site.poll(number)).json()["instructions"]}
    return steps["install"]


async def test_what_the_first_try_still_has_to_say_does_not_fail_the_second(app: ASGIApp, site: Site) -> None:
    await own(app, "POST", f"{at(MASTER)}/actions/retry")
    step = await install_step(site)
    late = await site.reply("install", number=MASTER, step_id="install-00000000", exit_code=1, error="no space left")
    assert late.status == 204
    assert (await site.settle(MASTER)).host.status is S.INSTALLING
    await site.reply("install", number=MASTER, step_id=step["step_id"], exit_code=1, error="no space left")
    assert (await site.settle(MASTER)).host.status is S.ERROR


async def test_a_second_retry_is_asked_for_at_once_although_nothing_else_is_new(app: ASGIApp, site: Site) -> None:
    await own(app, "POST", f"{at(MASTER)}/actions/retry")
    first = await install_step(site)
    assert not (await site.poll(MASTER)).json()["instructions"], "it was handed out a moment ago"
    await site.reply("install", number=MASTER, step_id=first["step_id"], exit_code=1, error="again")
    await site.settle(MASTER)
    await own(app, "POST", f"{at(MASTER)}/actions/retry")
    second = await install_step(site)
    assert second["args"] == first["args"]
    assert second["step_id"] != first["step_id"]


async def test_who_goes_on_beneath_may_say_so(app: ASGIApp, site: Site) -> None:
    report = {"current_stage": "Rebooting"}
    assert (await site.call("PUT", f"{site.host(WORKER)}/progress", report)).status == 200
    assert (await site.state(WORKER)).host.status is S.ERROR
    await own(app, "POST", f"{at(MASTER)}/actions/retry")
    worker = (await site.state(WORKER)).host
    assert (worker.status, worker.progress.stage) == (S.INSTALLING_IN_PROGRESS, Stage.REBOOTING)


async def test_another_machine_takes_the_place_with_a_config_of_its_own(app: ASGIApp, world: World, site: Site) -> None:
    """A machine that boots the cluster's image while a host of it has failed waits in the pool."""
    spare = await site.known(SPARE)
    assert (spare.host.status, spare.host.cluster_id) == (S.KNOWN_UNBOUND, None)
    assert (await site.boot(SPARE)).status == 201, "it may come again"
    await site.known(SPARE)
    answer = await own(app, "POST", f"{at(MASTER)}/actions/replace", {"host_id": str(host_id(SPARE))})
    assert answer.status == 202, answer.body
    told = answer.json()
    assert (told["name"], told["status"], told["cluster_status"]) == ("host-2", "binding", "installing")
    assert (await site.poll(SPARE)).json()["post_step_action"] == "exit"
    assert (await site.known(SPARE)).host.status is S.INSUFFICIENT, "nobody knows yet whether names resolve there"
    names = [{"domain_name": name, "ipv4_addresses": list(found.addresses)} for name, found in some_domains().items()]
    await site.poll(SPARE, query=f"timestamp={int(NOW.timestamp())}")
    await site.reply("domain-resolution", {"resolutions": names}, number=SPARE)
    spare = await site.settle(SPARE)
    assert spare.host.status is S.INSTALLING, [one.id for one in spare.findings if not one.holds]
    ignition = await site.call("GET", f"{site.host(SPARE)}/downloads/ignition".replace("infra-envs", "infra-env"))
    assert ignition.status == 200, ignition.body
    assert verdict(ignition.body) == ""
    assert content_of(decode(ignition.body), "/etc/hostname") == b"host-2"
    assert (await install_step(site, SPARE))["step_id"]
    left = (await site.state(MASTER)).host
    assert (left.status, left.cluster_id) == (S.UNBINDING_PENDING_USER_ACTION, None)


async def test_a_machine_is_not_let_in_when_nobody_has_failed(app: ASGIApp, world: World, site: Site) -> None:
    await own(app, "POST", f"{at(MASTER)}/actions/retry")
    assert (await site.boot(SPARE)).status == 409


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (f"/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(77)}/actions/retry", None, 404),
        (f"{at(MASTER)}/actions/replace", {"host_id": str(host_id(77))}, 404),
        (f"{at(MASTER)}/actions/replace", {"host_id": str(host_id(OTHER))}, 409),
        (f"{at(MASTER)}/actions/replace", {}, 400),
        (f"{at(BOOTSTRAP)}/actions/retry", None, 409),
    ],
)
async def test_what_cannot_be_is_refused(app: ASGIApp, site: Site, path: str, body: object, status: int) -> None:
    assert (await own(app, "POST", path, body)).status == status


async def test_programs_that_install_do_not_see_a_failure_that_may_be_taken_back(app: ASGIApp, site: Site) -> None:
    """The original's controller would leave the new cluster for good."""
    cluster, machine = f"/clusters/{CLUSTER_ID}", {"x-secret-key": ""}
    assert (await site.call("GET", cluster)).json()["status"] == "error"
    assert (await site.call("GET", cluster, **machine)).json()["status"] == "installing"
    seen = (await site.call("GET", f"{cluster}/hosts", query="role=master", **machine)).json()
    by_name = {host["requested_hostname"]: host["status"] for host in seen}
    assert by_name == {"host-1": "installing-in-progress", "host-2": "error", "host-3": "installing-in-progress"}
    for number in (BOOTSTRAP, OTHER, WORKER):
        state = await site.state(number)
        await site.world.store.commit(PutHost(host=replace(state.host, kept_status=None)))
    assert (await site.call("GET", cluster, **machine)).json()["status"] == "error"
