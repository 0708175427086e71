"""The real agent against the real service, each a process of its own, and what happens when either is killed."""

import asyncio
import json
import os
import pty
import signal
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.hosts.short_code import short_code
from tests.api.machines import PULL_SECRET
from tests.host.agent.machines import HOST_ID, a_machine, eventually, running_agent
from tests.host.agent.scripted import Asked, Said, document, scripted
from tests.services import RunningService, loopback_listeners, run_service

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with DIRECT.open(request, timeout=20) as answer:
        return json.loads(answer.read() or b"null")


class Lab:
    """One infra-env of a running service, and the only machine in it."""

    def __init__(self, service: RunningService) -> None:
        self.service = service
        self.infra_env_id: str = ask(f"{service.api}/v2/infra-envs", {"name": "lab", "pull_secret": PULL_SECRET})["id"]

    def host(self) -> dict[str, Any]:
        found = ask(f"{self.service.api}/v2/infra-envs/{self.infra_env_id}/hosts")
        return found[0] if found else {"status": "unknown"}

    def own(self, path: str) -> Any:
        return ask(f"{self.service.url}/api/firstlight/v1{path}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_machine(tmp_path / "root")
    return tmp_path


def is_known(host: dict[str, Any]) -> bool:
    return host["status"] == "known-unbound"


@pytest.fixture
def terminal() -> Iterator[tuple[str, Callable[[], str]]]:
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    seen: list[str] = []

    def screen() -> str:
        with suppress(BlockingIOError):
            seen.append(os.read(master, 65_536).decode())
        return "".join(seen).rpartition("\x1b[H\x1b[2J")[2]

    yield os.ttyname(slave), screen
    os.close(master)
    os.close(slave)


def test_from_nothing_to_known(folder: Path, terminal: tuple[str, Callable[[], str]]) -> None:
    """The console shows who and how, the service shows the log, and the code leads to the host."""
    name, screen = terminal
    # Paths of terminals are those of the machine.
    place = folder / "root" / name.lstrip("/")
    place.parent.mkdir(parents=True)
    place.symlink_to(name)
    with run_service(folder) as service:
        lab = Lab(service)
        with running_agent(
            folder, url=service.url, infra_env_id=lab.infra_env_id, FIRSTLIGHT_AGENT_CONSOLE=name
        ) as agent:
            host = eventually(lab.host, is_known)
            assert host["id"] == HOST_ID
            assert json.loads(host["inventory"])["hostname"] == "box-1"
            page = eventually(screen, lambda text: "known-unbound" in text)
            code = short_code(UUID(HOST_ID))
            assert code in page
            assert HOST_ID in page
            assert [found["id"] for found in lab.own(f"/hosts?code={code}")["hosts"]] == [HOST_ID]
            path = f"/infra-envs/{lab.infra_env_id}/hosts/{HOST_ID}/log?offset=0"
            log = eventually(lambda: lab.own(path)["text"], lambda text: "step=inventory code=0" in text)
            assert "The service knows this machine." in log
            assert agent.process.poll() is None
        assert agent.process.returncode == 0
        assert not service.complaints()


def test_the_service_goes_and_comes_back(folder: Path) -> None:
    """The agent goes on by itself, without registering again, and what changed meanwhile is reported."""
    listeners = loopback_listeners()
    with run_service(folder, **listeners) as service:
        lab = Lab(service)
        with running_agent(folder, url=service.url, infra_env_id=lab.infra_env_id) as agent:
            before = eventually(lab.host, is_known)
            os.kill(service.pid, signal.SIGKILL)
            eventually(agent.said, lambda text: "cannot be used" in text)
            (folder / "root/proc/sys/kernel/hostname").write_text("box-renamed\n")
            with run_service(folder, **listeners) as again:
                lab.service = again
                after = eventually(lab.host, lambda host: "box-renamed" in host.get("inventory", ""), seconds=120)
                assert after["registered_at"] == before["registered_at"]
                assert after["status"] == "known-unbound"
                assert agent.process.poll() is None


def test_a_deleted_host_comes_back_by_itself(folder: Path) -> None:
    with run_service(folder) as service:
        lab = Lab(service)
        with running_agent(folder, url=service.url, infra_env_id=lab.infra_env_id):
            before = eventually(lab.host, is_known)
            url = f"{service.api}/v2/infra-envs/{lab.infra_env_id}/hosts/{HOST_ID}"
            with DIRECT.open(urllib.request.Request(url, method="DELETE"), timeout=20):
                pass
            after = eventually(lab.host, is_known)
            assert after["registered_at"] > before["registered_at"]


# --- killed in a step that must run once

ACTING = (sys.executable, str(Path(__file__).with_name("acting.py")))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["installation-disk-speed-check", "reboot-for-reclaim"])
async def test_an_agent_killed_in_a_step_that_must_run_once(folder: Path, kind: str) -> None:
    replies, ran = await _killed_in(folder, kind)
    assert ran == ["first"], "it is not run a second time"
    assert [reply["exit_code"] for reply in replies] == [-1]
    assert "second time" in replies[0]["error"]


@pytest.mark.anyio
async def test_an_agent_killed_in_any_other_step_runs_it_again(folder: Path) -> None:
    replies, ran = await _killed_in(folder, "inventory")
    assert ran == ["first", "first"]
    assert [reply["output"] for reply in replies] == ["done first"]


async def _killed_in(folder: Path, kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Replies and runs of a step during which the agent was killed and started again."""
    replies: list[dict[str, Any]] = []
    step = {"step_type": kind, "step_id": f"{kind}-1", "args": [str(folder), "first"]}

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/hosts"):
            return document({"id": HOST_ID}, 201)
        if asked.method == "POST":
            replies.append(asked.json())
            return Said(204, b"")
        return document({"instructions": [] if replies else [step], "next_instruction_seconds": 1})

    def ran() -> list[str]:
        path = folder / "ran"
        return path.read_text().split() if path.exists() else []

    async with scripted(script) as server:
        place = {"url": server.url, "infra_env_id": "0f0f0f0f-1111-4222-8333-444444444444", "command": ACTING}

        async def first() -> None:
            with running_agent(folder, **place, PYTHONPATH=str(Path.cwd())) as agent:  # type: ignore[arg-type]
                await asyncio.to_thread(eventually, ran, bool)
                agent.process.kill()
                agent.process.wait()

        async def second() -> None:
            (folder / "finish").touch()
            with running_agent(folder, **place, PYTHONPATH=str(Path.cwd())):  # type: ignore[arg-type]
                await asyncio.to_thread(eventually, lambda: replies, bool)

        await first()
        await second()
    return replies, ran()
