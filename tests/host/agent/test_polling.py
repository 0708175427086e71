"""The loops against a service that misbehaves: never given up, never frozen, never a second registration too many."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.wire.offers import Offer
from firstlight.host.actions.action import Done, Site
from firstlight.host.agent.board import Board, Picture
from firstlight.host.agent.delivering import Delivery
from firstlight.host.agent.documents import Registration, RunnerCommand
from firstlight.host.agent.once import Once
from firstlight.host.agent.polling import Ending, Poller
from firstlight.host.agent.registering import Registered, register, registered_from
from firstlight.host.agent.session import ServiceSession
from firstlight.host.agent.stepping import Stepper
from firstlight.host.root import Root
from tests.host.agent.scripted import Asked, Said, Script, Scripted, document, scripted
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID, a_log, a_site, an_action, settings_for

pytestmark = pytest.mark.anyio
SECONDS = 20.0


def at_once(low: float, high: float) -> float:
    """Pauses of no time, so that hours pass in a moment."""
    return 0.0


async def shortly(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.02))


def plan(*steps: str, seconds: int = 1, action: str = "continue") -> Said:
    instructions = [{"step_type": step, "step_id": f"{step}-1", "args": ["x"]} for step in steps]
    return document({"instructions": instructions, "next_instruction_seconds": seconds, "post_step_action": action})


LEAVE = document({"post_step_action": "exit"})


class Surroundings:
    def __init__(self, server: Scripted, session: ServiceSession, folder: Path) -> None:
        self.server = server
        self.session = session
        self.folder = folder
        self.log = a_log()
        self.board = Board(Picture(service_url=server.url, infra_env_id=INFRA_ENV_ID))
        self.states: list[str] = []
        self.board.listen(lambda _, new: self.states.append(new.state))
        self.installer = False
        once = Once(folder / "state", boot_id="b")
        self.now = 1000.0
        self.delivery = Delivery(session, host_id=HOST_ID, once=once, log=self.log, clock=lambda: self.now)
        self.ran: list[str] = []
        self.done = Done(output="same")

        async def perform(arguments: tuple[str, ...], site: Site) -> Done:
            self.ran.append(arguments[0])
            return self.done

        self.stepper = Stepper(
            {"inventory": an_action("inventory", perform), "upgrade-agent": an_action("upgrade-agent", perform)},
            a_site(folder),
            delivery=self.delivery,
            once=once,
            media=self,
            log=self.log,
        )

    async def is_gone(self) -> bool:
        return False

    async def poll(self, *, wait: int = 0) -> Ending:
        async def installer_runs() -> bool:
            return self.installer

        poller = Poller(
            self.session,
            delivery=self.delivery,
            stepper=self.stepper,
            board=self.board,
            log=self.log,
            wait_seconds=wait,
            installer_runs=installer_runs,
            rebooted=lambda: (self.folder / "rebooted").exists(),
            clock=lambda: self.now,
            wall_clock=lambda: 1_700_000_000.9,
            chance=at_once,
            sleep=shortly,
        )
        async with asyncio.timeout(SECONDS):
            return await poller.run()

    def polls(self) -> list[Asked]:
        return [asked for asked in self.server.asked if asked.method == "GET"]

    def replies(self) -> list[dict[str, Any]]:
        return [asked.json() for asked in self.server.asked if asked.method == "POST"]


@asynccontextmanager
async def facing(folder: Path, script: Script) -> AsyncIterator[Surroundings]:
    async with (
        scripted(script) as server,
        ServiceSession(settings_for(server.url, folder), root=Root(folder)) as session,
    ):
        yield Surroundings(server, session, folder)


def in_turn(*answers: Said, replies: Said | None = None) -> Callable[[Asked], Said]:
    """Polls are answered one after the other, at the end with leave; replies are taken."""
    waiting: Iterator[Said] = iter(answers)
    taken = replies or Said(204, b"")
    return lambda asked: next(waiting, LEAVE) if asked.method == "GET" else taken


async def test_a_quiet_life(tmp_path: Path) -> None:
    async with facing(tmp_path, in_turn(plan("inventory"))) as here:
        assert await here.poll() is Ending.REGISTER
        assert here.ran == ["x"]
        assert here.replies() == [{"step_type": "inventory", "step_id": "inventory-1", "output": "same"}]
        assert here.polls()[0].query == "timestamp=1700000000"


@pytest.mark.parametrize(
    "trouble",
    [
        Said(500, b"{}"),
        Said(503, b"<html>maintenance</html>"),
        Said(401, b"{}"),
        Said(403, b"{}"),
        Said(409, b"{}"),
        Said(raw=b""),
        Said(200, b"nonsense"),
    ],
)
async def test_trouble_is_outlasted(tmp_path: Path, trouble: Said) -> None:
    """Hundreds of failures in a row: the original would have left or frozen long before."""
    async with facing(tmp_path, in_turn(*[trouble] * 200, plan("inventory"))) as here:
        assert await here.poll() is Ending.REGISTER
        assert here.ran == ["x"]
        assert here.board.picture.trouble == ""
        assert {"connected"} < set(here.states) <= {"refused", "unreachable", "connected"}
        assert len(here.log.tail.last(1000)) < 20, "one sentence, not two hundred"


async def test_a_host_that_was_deleted_registers_again_but_not_at_the_first_404(tmp_path: Path) -> None:
    gone = Said(404, b"{}")
    async with facing(tmp_path, in_turn(gone, gone, plan(), gone, gone, gone, plan())) as here:
        assert await here.poll() is Ending.REGISTER
        assert len(here.polls()) == 6


@pytest.mark.parametrize("said", [Said(404, b"{}"), LEAVE])
async def test_while_an_installer_runs_nobody_registers(tmp_path: Path, said: Said) -> None:
    async with facing(tmp_path, in_turn(*[said] * 10)) as here:
        here.installer = True
        polling = asyncio.ensure_future(here.poll())
        await here.server.until(lambda asked: len(asked) >= 12)
        assert not polling.done()
        here.installer = False
        assert await polling is Ending.REGISTER


async def test_a_poll_that_waits_is_followed_by_the_next(tmp_path: Path) -> None:
    async with facing(tmp_path, in_turn(plan("inventory", seconds=60), plan(seconds=60))) as here:
        async with asyncio.timeout(SECONDS):
            await here.poll(wait=25)
        assert {asked.query for asked in here.polls()} == {"timestamp=1700000000&wait=25"}


async def test_after_trouble_the_first_poll_does_not_wait(tmp_path: Path) -> None:
    failed = Said(500, b"{}")
    async with facing(tmp_path, in_turn(plan("inventory"), failed, failed, plan("inventory"))) as here:
        await here.poll(wait=25)
        assert ["wait" in asked.query for asked in here.polls()] == [True, True, False, False, True]


async def test_connections_that_are_cut_while_they_wait(tmp_path: Path) -> None:
    """Something in between does not like silence: after a few times polls do not wait any more."""
    cuts = 0

    def script(asked: Asked) -> Said:
        nonlocal cuts
        if asked.method == "POST":
            return Said(204, b"")
        here.now += 10
        if "wait" in asked.query:
            cuts += 1
            return Said(raw=b"")
        return LEAVE if cuts >= 3 else plan("inventory")

    async with facing(tmp_path, script) as here:
        assert await here.poll(wait=25) is Ending.REGISTER
        assert cuts == 3


async def test_equal_answers_are_sent_once_and_again_after_trouble(tmp_path: Path) -> None:
    def script(asked: Asked) -> Said:
        here.now += 60
        return answers(asked)

    answers = in_turn(*[plan("inventory")] * 3, Said(500, b"{}"), plan("inventory"))
    async with facing(tmp_path, script) as here:
        await here.poll()
        assert len(here.ran) == 4
        assert len(here.replies()) == 2


async def test_a_reply_that_could_not_be_delivered_is_delivered_later(tmp_path: Path) -> None:
    refuse = True

    def script(asked: Asked) -> Said:
        nonlocal refuse
        if asked.method == "POST":
            return Said(503, b"{}") if refuse else Said(204, b"")
        polls = len(here.polls())
        refuse = polls < 3
        return plan("inventory") if polls == 1 else plan() if polls < 5 else LEAVE

    async with facing(tmp_path, script) as here:
        await here.poll()
        assert [reply["output"] for reply in here.replies()][-1] == "same"
        assert here.delivery.waiting == 0
        assert here.ran == ["x"]


async def test_a_reply_that_nobody_wants_is_not_repeated(tmp_path: Path) -> None:
    async with facing(tmp_path, in_turn(plan("inventory"), plan(), plan(), replies=Said(400, b"{}"))) as here:
        await here.poll()
        assert len(here.replies()) == 1


async def test_a_step_ends_the_program_even_while_a_poll_waits(tmp_path: Path) -> None:
    async def script(asked: Asked) -> Said:
        if asked.method == "POST":
            return Said(204, b"")
        if len(here.polls()) == 1:
            return plan("upgrade-agent")
        await asyncio.sleep(60)
        return plan()

    async with facing(tmp_path, script) as here:
        here.done = Done(stop_polling=True)
        assert await here.poll(wait=25) is Ending.STEP


async def test_a_reboot_that_is_made_up(tmp_path: Path) -> None:
    (tmp_path / "rebooted").touch()
    async with facing(tmp_path, in_turn()) as here:
        assert await here.poll() is Ending.REBOOTED


# --- registration


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500, 503])
async def test_a_refused_registration_is_tried_until_it_is_taken(tmp_path: Path, status: int) -> None:
    tries = 0

    def script(asked: Asked) -> Said:
        nonlocal tries
        tries += 1
        return document({"reason": "not now"}, status) if tries <= 12 else document({"id": str(HOST_ID)}, 201)

    async with facing(tmp_path, script) as here, asyncio.timeout(SECONDS):
        found = await register(
            here.session,
            host_id=HOST_ID,
            infra_env_id=INFRA_ENV_ID,
            interval=60,
            board=here.board,
            log=here.log,
            chance=at_once,
        )
    assert tries == 13
    assert found == Registered(host_id=HOST_ID, infra_env_id=INFRA_ENV_ID)
    lines = here.log.tail.last(100)
    assert len(lines) == 2, "one sentence about the trouble, one about its end"
    assert "not now" in lines[0]
    assert here.states[0] == "registering"


OTHER = UUID("a0d9e086-ae60-bd63-5910-fed4736ccffa")


@pytest.mark.parametrize(
    ("answer", "host_id", "image"),
    [
        (Registration(), HOST_ID, ""),
        (Registration(id=OTHER), OTHER, ""),
        (Registration(id=HOST_ID, next_step_runner_command=RunnerCommand(args=("{}",))), HOST_ID, ""),
        (Registration(next_step_runner_command=RunnerCommand(args=("nonsense",))), HOST_ID, ""),
        (Registration(next_step_runner_command=RunnerCommand()), HOST_ID, ""),
        (
            Registration(
                id=HOST_ID,
                next_step_runner_command=RunnerCommand(args=(f'{{"host_id":"{OTHER}","agent_version":"new:2"}}',)),
            ),
            OTHER,
            "new:2",
        ),
    ],
)
def test_as_whom_the_service_knows_us(answer: Registration, host_id: UUID, image: str) -> None:
    found = registered_from(answer, host_id=HOST_ID, infra_env_id=INFRA_ENV_ID)
    assert (found.host_id, found.image, found.offer) == (host_id, image, Offer())
