"""The agent's manners, told by a scripted service that writes down what it hears."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from firstlight.core import wire
from firstlight.simulate.agent import Agent, Ended
from firstlight.simulate.calls import API, Service, connect
from firstlight.simulate.machines import Machine, Plan, make_machines
from firstlight.simulate.pace import Pace
from firstlight.simulate.site import Site

pytestmark = pytest.mark.anyio

(MACHINE,) = make_machines(Plan(any_role=1), seed=1)
INFRA_ENV = uuid4()
IMAGE = "quay.io/agent:new"
INVENTORY = {"step_type": "inventory", "step_id": "inventory-1", "args": [str(MACHINE.id)]}


class Script:
    """Answers of a service, one after the other; a number is an HTTP status. When they run out, the host is unknown."""

    def __init__(self) -> None:
        self.registrations: list[int] = []
        self.plans: list[dict[str, object] | int] = []
        self.heard: list[tuple[str, dict[str, Any], dict[str, str]]] = []

    def replies(self) -> list[dict[str, Any]]:
        return [body for what, body, _ in self.heard if what == "reply"]

    def count(self, what: str) -> int:
        return sum(heard == what for heard, _, _ in self.heard)

    async def register(self, request: web.Request) -> web.Response:
        self.heard.append(("register", await request.json(), dict(request.headers)))
        status = self.registrations.pop(0) if self.registrations else 201
        runner = msgspec.json.encode({"agent_version": IMAGE, "host_id": "x", "infra_env_id": "y"}).decode()
        return web.json_response({"id": str(MACHINE.id), "next_step_runner_command": {"args": [runner]}}, status=status)

    async def poll(self, request: web.Request) -> web.Response:
        self.heard.append(("poll", dict(request.query), dict(request.headers)))
        plan = self.plans.pop(0) if self.plans else 404
        if isinstance(plan, int):
            return web.json_response({"reason": "scripted"}, status=plan)
        return web.json_response(plan)

    async def reply(self, request: web.Request) -> web.Response:
        self.heard.append(("reply", await request.json(), dict(request.headers)))
        return web.Response(status=204)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def service(script: Script) -> AsyncIterator[Service]:
    app = web.Application()
    hosts = f"{API}/v2/infra-envs/{INFRA_ENV}/hosts"
    app.router.add_post(hosts, script.register)
    app.router.add_get(f"{hosts}/{MACHINE.id}/instructions", script.poll)
    app.router.add_post(f"{hosts}/{MACHINE.id}/instructions", script.reply)
    async with TestServer(app) as server, connect(str(server.make_url("")), secret_key="") as calls:
        yield calls


async def no_installation(_: Agent, __: wire.InstallCmdRequest) -> None:
    return


def agent_of(service: Service, machine: Machine = MACHINE) -> Agent:
    return Agent(
        machine,
        infra_env_id=INFRA_ENV,
        service=service,
        site=Site([machine]),
        pace=Pace(10_000),
        install=no_installation,
    )


def plan(*instructions: dict[str, object], **more: object) -> dict[str, object]:
    return {"instructions": [*instructions], "next_instruction_seconds": 60, "post_step_action": "continue", **more}


async def test_registration_and_headers_are_those_of_an_agent(script: Script, service: Service) -> None:
    script.plans = [plan()]
    assert await agent_of(service).live(image_version="quay.io/agent:old") is Ended.PARKED
    what, body, headers = script.heard[0]
    assert what == "register"
    assert body == {"host_id": str(MACHINE.id), "discovery_agent_version": "quay.io/agent:old"}
    assert headers["X-Secret-Key"] == ""
    assert UUID(headers["X-Request-ID"])
    # Once registered, the agent is the image that the service named.
    what, query, headers = script.heard[1]
    assert what == "poll"
    assert query["timestamp"].isdecimal()
    assert headers["discovery_agent_version"] == IMAGE


@pytest.mark.parametrize("status", [401, 403, 404, 409])
async def test_a_final_refusal_parks_the_machine(script: Script, service: Service, status: int) -> None:
    script.registrations = [status]
    assert await agent_of(service).live(image_version=IMAGE) is Ended.PARKED
    assert script.count("register") == 1


@pytest.mark.parametrize("status", [400, 500, 503])
async def test_other_refusals_are_met_with_patience(script: Script, service: Service, status: int) -> None:
    script.registrations = [status, status]
    await agent_of(service).live(image_version=IMAGE)
    assert script.count("register") == 3


async def test_an_unchanged_answer_is_sent_once(script: Script, service: Service) -> None:
    script.plans = [plan(INVENTORY), plan(INVENTORY), plan(INVENTORY)]
    await agent_of(service).live(image_version=IMAGE)
    assert [reply["step_id"] for reply in script.replies()] == ["inventory-1"]


async def test_a_failure_is_told_every_time(script: Script, service: Service) -> None:
    broken = {"step_type": "knit", "step_id": "knit-1", "args": None}
    script.plans = [plan(broken), plan(broken)]
    await agent_of(service).live(image_version=IMAGE)
    assert [reply["exit_code"] for reply in script.replies()] == [-1, -1]


async def test_a_failed_poll_forgets_what_was_said(script: Script, service: Service) -> None:
    script.plans = [plan(INVENTORY), 500, plan(INVENTORY)]
    await agent_of(service).live(image_version=IMAGE)
    assert len(script.replies()) == 2


@pytest.mark.parametrize(
    "last",
    [
        pytest.param(plan(post_step_action="exit"), id="told-to-leave"),
        pytest.param(
            plan({"step_type": "upgrade-agent", "args": ['{"agent_image":"quay.io/agent:newer"}']}), id="upgraded"
        ),
    ],
)
async def test_an_agent_that_leaves_registers_anew(script: Script, service: Service, last: dict[str, object]) -> None:
    script.plans = [last, 404]
    assert await agent_of(service).live(image_version=IMAGE) is Ended.PARKED
    assert script.count("register") == 2


async def test_a_host_that_was_deleted_stops_asking(script: Script, service: Service) -> None:
    agent = agent_of(service)
    assert await agent.live(image_version=IMAGE) is Ended.PARKED
    assert (agent.phase, script.count("poll")) == ("deregistered", 1)


async def test_null_lists_and_absent_numbers_are_understood(script: Script, service: Service) -> None:
    script.plans = [{"instructions": None}, {}]
    await agent_of(service).live(image_version=IMAGE)
    assert script.count("poll") == 3


async def test_a_second_installer_is_refused_as_podman_would(script: Script, service: Service) -> None:
    request = wire.InstallCmdRequest(
        cluster_id=uuid4(),
        infra_env_id=INFRA_ENV,
        host_id=MACHINE.id,
        role="master",
        boot_device="/dev/sda",
        controller_image="c",
        installer_image="i",
        disks_to_format=(),
        service_ips=None,
    )
    step = {"step_type": "install", "step_id": "install-1", "args": [msgspec.json.encode(request).decode()]}
    script.plans = [plan(step), plan(step)]
    begun = 0

    async def endless(_: Agent, __: wire.InstallCmdRequest) -> None:
        nonlocal begun
        begun += 1
        await asyncio.Event().wait()

    agent = agent_of(service)
    agent.install = endless
    await agent.live(image_version=IMAGE)
    assert begun == 1
    (reply,) = script.replies()
    assert reply["exit_code"] == 125
    assert 'the container name "assisted-installer" is already in use' in reply["error"]
