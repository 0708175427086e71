"""Talking to a service that is wrong in every way a service, a router or a cable can be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from firstlight.host.agent.documents import StepReply
from firstlight.host.agent.session import ServiceSession
from firstlight.host.calling import LONGEST_REASON, Refused, Unreachable, reason_in
from firstlight.host.root import Root
from tests.host.agent.authorities import authority_and_server
from tests.host.agent.scripted import Asked, Said, Script, Scripted, document, scripted
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID, settings_for
from tests.services import free_port

pytestmark = pytest.mark.anyio
PATH = f"/api/assisted-install/v2/infra-envs/{INFRA_ENV_ID}/hosts"


@asynccontextmanager
async def talking(folder: Path, script: Script, **parts: Any) -> AsyncIterator[tuple[Scripted, ServiceSession]]:
    async with (
        scripted(script) as server,
        ServiceSession(settings_for(server.url, folder, **parts), root=Root(folder)) as session,
    ):
        yield server, session


async def test_a_registration_word_for_word(tmp_path: Path) -> None:
    answer = {"id": str(HOST_ID), "status": "discovering", "unknown": [1], "next_step_runner_command": {"args": ["{}"]}}
    async with talking(tmp_path, lambda asked: document(answer, 201), token="secret") as (server, session):
        found = await session.register(HOST_ID)
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", PATH)
    assert asked.json() == {"host_id": str(HOST_ID), "discovery_agent_version": "agent:1"}
    assert asked.headers["x-secret-key"] == "secret"
    assert asked.headers["discovery_agent_version"] == "agent:1"
    assert len(asked.headers["x-request-id"]) == 36
    assert found.id == HOST_ID
    assert found.firstlight is None


async def test_polls_and_replies_word_for_word(tmp_path: Path) -> None:
    plan = {"instructions": [{"step_type": "inventory", "step_id": "i-1", "args": None}], "unknown": 60}
    async with talking(tmp_path, lambda asked: document(plan) if asked.method == "GET" else Said(204, b"")) as (
        server,
        session,
    ):
        found = await session.instructions(HOST_ID, timestamp=1700000000)
        await session.instructions(HOST_ID, timestamp=1, wait=25)
        await session.reply(HOST_ID, StepReply(step_type="inventory", step_id="i-1", output="{}"))
        await session.reply(HOST_ID, StepReply(step_type="inventory", exit_code=-1, error="e"))
    assert [step.arguments for step in found.steps] == [()]
    assert [asked.query for asked in server.asked[:2]] == ["timestamp=1700000000", "timestamp=1&wait=25"]
    assert server.asked[0].headers["x-secret-key"] == "", "sent even when it is empty"
    assert server.asked[2].json() == {"step_type": "inventory", "step_id": "i-1", "output": "{}"}
    assert server.asked[3].json() == {"step_type": "inventory", "exit_code": -1, "error": "e"}


@pytest.mark.parametrize("null", [{}, {"instructions": None}, {"instructions": []}])
async def test_an_empty_plan_is_a_plan(tmp_path: Path, null: dict[str, Any]) -> None:
    async with talking(tmp_path, lambda asked: document(null)) as (_, session):
        assert (await session.instructions(HOST_ID, timestamp=1)).steps == ()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (document({"code": "409", "reason": "The cluster is installed."}, 409), "The cluster is installed."),
        (document({"code": 401, "message": "no token"}, 401), "no token"),
        (Said(503, b"<html><style>p{}</style><body><h1>Sorry</h1> &amp; bye</body></html>"), "Sorry & bye"),
        (Said(500, b""), ""),
        (Said(502, b"\x00\xff\x1b[2J"), "[2J"),
    ],
)
async def test_refusals_of_services_and_of_what_stands_before_them(tmp_path: Path, said: Said, reason: str) -> None:
    async with talking(tmp_path, lambda asked: said) as (_, session):
        with pytest.raises(Refused) as refused:
            await session.register(HOST_ID)
    assert refused.value.status == said.status
    assert reason in refused.value.reason
    assert refused.value.reason.isprintable()


def test_reasons_are_bounded() -> None:
    assert len(reason_in(b"x" * 10**6)) == LONGEST_REASON


@pytest.mark.parametrize(
    "said",
    [
        Said(200, b"<html>log in first</html>"),
        Said(200, b""),
        Said(200, b"[" * 5000),
        Said(200, b'{"id": 5}'),
        Said(200, b'{"id": "\xff"}'),
        Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"),
        Said(raw=b"SSH-2.0-OpenSSH_9.0\r\n"),
        Said(raw=b""),
        Said(302, b"", {"Location": "/elsewhere"}),
        Said(302, b"", {"Location": "http://[::1"}),
    ],
)
async def test_answers_that_make_no_sense_are_no_answers(tmp_path: Path, said: Said) -> None:
    async with talking(tmp_path, lambda asked: said) as (_, session):
        with pytest.raises(Unreachable):
            await session.register(HOST_ID)


async def test_an_answer_without_end_is_cut_off(tmp_path: Path) -> None:
    async with talking(tmp_path, lambda asked: Said(200, b" " * (17 * 2**20))) as (_, session):
        with pytest.raises(Unreachable, match="longer"):
            await session.register(HOST_ID)


async def test_a_service_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    async def silent(asked: Asked) -> Said:
        await asyncio.sleep(30)
        return Said()

    async with talking(tmp_path, silent) as (_, session):
        with pytest.raises(Unreachable, match="within 0.1 seconds"):
            await session.ask("GET", "/x", seconds=0.1)


async def test_nobody_there(tmp_path: Path) -> None:
    settings = settings_for(f"http://127.0.0.1:{free_port()}", tmp_path)
    async with ServiceSession(settings, root=Root(tmp_path)) as session:
        with pytest.raises(Unreachable):
            await session.register(HOST_ID)


async def test_one_connection_serves_many_calls(tmp_path: Path) -> None:
    async with talking(tmp_path, lambda asked: document({})) as (server, session):
        for _ in range(5):
            await session.instructions(HOST_ID, timestamp=1)
        assert (len(server.asked), server.connections) == (5, 1)
        await session.renew()
        await session.instructions(HOST_ID, timestamp=1)
        assert server.connections == 2


async def test_certificates_of_an_authority_of_ones_own(tmp_path: Path) -> None:
    authority, context = authority_and_server(tmp_path)
    async with scripted(lambda asked: document({}), tls=context) as server:
        for parts, works in (
            ({"ca_certificate": authority}, True),
            ({"insecure": True}, True),
            ({}, False),
            ({"ca_certificate": tmp_path / "missing"}, False),
        ):
            async with ServiceSession(settings_for(server.url, tmp_path, **parts), root=Root(tmp_path)) as session:
                if works:
                    await session.instructions(HOST_ID, timestamp=1)
                else:
                    with pytest.raises(Unreachable, match="(?i)certificate"):
                        await session.instructions(HOST_ID, timestamp=1)


@pytest.mark.parametrize(("exceptions", "through"), [("", True), ("127.0.0.0/8", False)])
async def test_proxies_and_networks_without(tmp_path: Path, exceptions: str, through: bool) -> None:
    async with scripted(lambda asked: document({})) as proxy:
        # Loopback is never asked for through a proxy, so the service has a name that only the proxy could know.
        url = "http://service.invalid:6000" if through else "http://127.0.0.1:1"
        proxies = {"http_proxy": proxy.url, "no_proxy": exceptions}
        async with ServiceSession(settings_for(url, tmp_path, proxies=proxies), root=Root(tmp_path)) as session:
            if through:
                await session.instructions(HOST_ID, timestamp=1)
            else:
                with pytest.raises(Unreachable):
                    await session.instructions(HOST_ID, timestamp=1)
        assert [asked.path.startswith("http://service.invalid:6000/") for asked in proxy.asked] == [True] * through
