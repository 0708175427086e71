"""An agent that is told to end, or whose clock jumps, as a process: what it began goes on, what it owes is brought."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent_sites import text
from tests.host.actions.test_install import a_request
from tests.host.agent.machines import HOST_ID, a_machine, eventually, running_agent
from tests.host.agent.scripted import Asked, Said, Scripted, document, scripted

pytestmark = pytest.mark.anyio

INFRA_ENV_ID = "0f0f0f0f-1111-4222-8333-444444444444"
ACTING = (sys.executable, str(Path(__file__).with_name("acting.py")))
HOURS = 3600
PODMAN = """#!/bin/sh
# Plays podman with one container: what runs in it is in a session of its own, as under a real one's monitor, and the
# client passes signals on to it unless it is told not to. It ends with the number in the file `code`.
cd {folder} || exit 1
echo "$*" >>calls
ended() {{ until [ "$(cat state)" != running ]; do sleep 0.05; done; }}
code() {{ cat code 2>/dev/null || echo 0; }}
case "$1 $2" in
    "run "*)
        echo running >state
        setsid ./installer </dev/null >/dev/null 2>&1 &
        case "$*" in
            *--sig-proxy=false*) trap 'exit 143' TERM ;;
            *) trap 'kill -TERM "$(cat installer.pid)"; exit 143' TERM ;;
        esac
        ended
        exit "$(code)" ;;
    "wait "*) ended; code ;;
    "container exists") [ -e state ] ;;
    "container inspect") [ -e state ] || exit 125
        case $* in *ExitCode*) echo "$(cat state) $(code)" ;; *) cat state ;; esac ;;
esac
"""
INSTALLER = """#!/bin/sh
echo $$ >installer.pid
trap 'echo killed >state; exit 1' TERM
until [ -e finish ] || [ ! -e installer ]; do sleep 0.05; done
echo exited >state
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_machine(tmp_path / "root")
    (tmp_path / "root/dev").mkdir(exist_ok=True)
    (tmp_path / "root/dev/sda").touch()
    return tmp_path


@pytest.fixture
def place(folder: Path) -> Iterator[Path]:
    """Where the one container lives; it ends with the test."""
    place = folder / "containers"
    place.mkdir()
    for name, script in (("podman", PODMAN.format(folder=place)), ("installer", INSTALLER)):
        (place / name).write_text(script)
        (place / name).chmod(0o755)
    yield place
    (place / "installer").unlink()


class Service:
    """Says what a test wants it to, and remembers what it heard."""

    def __init__(self, steps: Callable[["Service"], list[dict[str, Any]]]) -> None:
        self.steps = steps
        self.away = False
        self.registered = 0
        self.replies: list[dict[str, Any]] = []
        self.timestamps: list[int] = []

    def __call__(self, asked: Asked) -> Said:
        if asked.path.endswith("/hosts"):
            self.registered += 1
            return document({"id": HOST_ID}, 201)
        if asked.method == "POST":
            if self.away:
                return Said(503, b"{}")
            self.replies.append(asked.json())
            return Said(204, b"")
        self.timestamps.append(int(asked.query.partition("timestamp=")[2].partition("&")[0]))
        return document({"instructions": self.steps(self), "next_instruction_seconds": 1})


async def seen(look: Callable[[], Any], wanted: Callable[[Any], bool] = bool) -> Any:
    return await asyncio.to_thread(eventually, look, wanted)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def an_installation(place: Path) -> Service:
    """Asks for the installer until it has begun, as services do."""
    step = {"step_type": "install", "step_id": "install-1", "args": [text(a_request(role="worker"))]}
    return Service(lambda known: [] if read(place / "installer.pid") else [step])


def at(server: Scripted, place: Path) -> dict[str, str]:
    return {"url": server.url, "infra_env_id": INFRA_ENV_ID, "PATH": f"{place}:{os.environ['PATH']}"}


def starts(place: Path) -> int:
    return [line[:4] for line in read(place / "calls").splitlines()].count("run ")


async def test_an_installer_outlives_an_agent_that_is_told_to_end(folder: Path, place: Path) -> None:
    service = an_installation(place)
    async with scripted(service) as server:
        with running_agent(folder, **at(server, place)) as agent:
            await seen(lambda: read(place / "installer.pid"))
            agent.process.terminate()
            await asyncio.to_thread(agent.process.wait, 20)
        assert agent.process.returncode == 0
        assert read(place / "state") == "running\n"
        assert service.replies == []
        with running_agent(folder, **at(server, place)):
            await seen(lambda: read(place / "calls"), lambda calls: "wait assisted-installer" in calls)
            assert read(place / "state") == "running\n"
            (place / "finish").touch()
            await seen(lambda: service.replies)
    assert [(reply["step_id"], reply.get("exit_code", 0)) for reply in service.replies] == [("install-1", 0)]
    assert service.registered == 1
    assert starts(place) == 1


@pytest.mark.parametrize(
    ("code", "journal", "registered"),
    [
        pytest.param(0, True, 1, id="a machine about to reboot into its system is not introduced anew"),
        pytest.param(0, False, 1, id="though only its container tells of the success"),
        pytest.param(3, True, 2, id="a failed one may be"),
    ],
)
async def test_an_agent_that_starts_after_the_installer_has_ended(
    folder: Path, place: Path, code: int, journal: bool, registered: int
) -> None:
    """Services take a registration at that moment for a reboot from the wrong medium."""
    service = an_installation(place)
    (place / "code").write_text(str(code))
    (place / "finish").touch()
    state = folder / "root/run/firstlight-agent/once.json"
    async with scripted(service) as server:
        with running_agent(folder, **at(server, place)) as agent:
            await seen(lambda: service.replies)
            await seen(lambda: read(state), lambda text: '"delivered":true' in text)
            agent.process.kill()
            agent.process.wait()
        if not journal:
            state.unlink()
        polls = len(service.timestamps)
        with running_agent(folder, **at(server, place)):
            await seen(lambda: service.timestamps, lambda told: len(told) >= polls + 2)
    assert [reply.get("exit_code", 0) for reply in service.replies] == [code]
    assert service.registered == registered
    assert starts(place) == 1


async def test_what_could_not_be_delivered_is_brought_by_the_next_agent_unasked(folder: Path) -> None:
    (folder / "finish").touch()
    step = {"step_type": "inventory", "step_id": "inventory-1", "args": [str(folder), "first"]}
    service = Service(lambda known: [step] if known.away else [])
    service.away = True
    async with scripted(service) as server:
        given = {"url": server.url, "infra_env_id": INFRA_ENV_ID, "PYTHONPATH": str(Path.cwd())}
        with running_agent(folder, command=ACTING, **given) as agent:
            await seen(agent.said, lambda log: "A reply waits" in log)
            agent.process.kill()
            agent.process.wait()
        ran = read(folder / "ran")
        service.away = False
        with running_agent(folder, command=ACTING, **given):
            await seen(lambda: service.replies)
    assert [(reply["step_id"], reply["output"]) for reply in service.replies] == [("inventory-1", "done first")]
    assert read(folder / "ran") == ran, "nothing was measured anew"


async def test_a_clock_that_jumps_by_hours_stops_nobody(folder: Path) -> None:
    (folder / "finish").touch()
    wanted: list[str] = []

    def steps(_: Service) -> list[dict[str, Any]]:
        return [{"step_type": "inventory", "step_id": name, "args": [str(folder), name]} for name in wanted[-1:]]

    service = Service(steps)
    async with scripted(service) as server:
        given = {"url": server.url, "infra_env_id": INFRA_ENV_ID, "PYTHONPATH": str(Path.cwd())}
        with running_agent(folder, command=ACTING, **given) as agent:
            for hours in (0, -6, 12, -48, 0):
                (folder / "jump.new").write_text(str(hours * HOURS))
                (folder / "jump.new").rename(folder / "jump")
                service.timestamps.clear()
                here = time.time() + hours * HOURS
                await seen(lambda: service.timestamps, lambda told: sum(abs(at - here) < HOURS for at in told) >= 2)  # noqa: B023
                wanted.append(f"after-{hours}-{len(wanted)}")
                await seen(lambda: service.replies, lambda replies: replies and replies[-1]["step_id"] == wanted[-1])
            assert agent.process.poll() is None
    assert service.registered == 1
