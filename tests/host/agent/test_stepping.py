"""Supervision: whatever a step does, it is answered, bounded, and kept apart from the others."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.agent.once import Once
from firstlight.host.agent.replies import Key
from firstlight.host.agent.stepping import LARGEST_OUTPUT, MOST_AT_ONCE, Stepper
from firstlight.host.programs import Outcome
from tests.host.agent.setting import Scene, a_log, a_site, an_action

pytestmark = pytest.mark.anyio
SECONDS = 10.0
RUNNING = {
    "podman container exists": Outcome(exit_code=0),
    "podman container inspect": Outcome(exit_code=0, output=b"running 0\n"),
}
ENDED = {**RUNNING, "podman container inspect": Outcome(exit_code=0, output=b"exited 3\n")}
ABSENT = {"podman container exists": Outcome(exit_code=1)}


class Letters:
    """Takes replies instead of the service."""

    def __init__(self) -> None:
        self.replies: list[StepReply] = []
        self._news = asyncio.Condition()

    async def send(self, key: Key, reply: StepReply) -> None:
        self.replies.append(reply)
        async with self._news:
            self._news.notify_all()

    async def until(self, count: int) -> list[StepReply]:
        async with asyncio.timeout(SECONDS), self._news:
            await self._news.wait_for(lambda: len(self.replies) >= count)
        return self.replies


class Medium:
    def __init__(self) -> None:
        self.gone = False

    async def is_gone(self) -> bool:
        return self.gone


class Bench:
    """A stepper with everything around it."""

    def __init__(self, folder: Path, *actions: Action, host: Scene | None = None) -> None:
        self.letters = Letters()
        self.medium = Medium()
        self.once = Once(folder / "state", boot_id="boot")
        self.log = a_log()
        self.stepper = Stepper(
            {action.step_type: action for action in actions},
            a_site(folder, programs=host),
            delivery=self.letters,
            once=self.once,
            media=self.medium,
            log=self.log,
        )

    async def answer(self, step_type: str, *args: str) -> StepReply:
        count = len(self.letters.replies)
        self.stepper.take(Step(step_type=step_type, step_id="id-1", args=args))
        return (await self.letters.until(count + 1))[count]


def saying(done: Done) -> Callable[..., Awaitable[Done]]:
    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        return done

    return perform


async def test_a_step_is_answered_with_its_id(tmp_path: Path) -> None:
    bench = Bench(tmp_path, an_action("inventory", saying(Done(output="{}"))))
    assert await bench.answer("inventory", "x") == StepReply(step_type="inventory", step_id="id-1", output="{}")


async def test_a_step_nobody_knows(tmp_path: Path) -> None:
    reply = await Bench(tmp_path).answer("execute")
    assert reply.exit_code == -1
    assert "failed to find action for step type" in reply.error


@pytest.mark.parametrize("error", [RuntimeError("broken"), OSError(errno.ENOSPC, "No space left"), MemoryError()])
async def test_a_step_that_breaks_is_a_failed_step(tmp_path: Path, error: Exception) -> None:
    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        raise error

    reply = await Bench(tmp_path, an_action("inventory", perform)).answer("inventory")
    assert reply.exit_code == -1
    assert type(error).__name__ in reply.error


async def test_a_step_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Done()

    reply = await Bench(tmp_path, an_action("inventory", perform, limit_seconds=0.05)).answer("inventory")
    assert reply.exit_code == 124
    assert stopped.is_set()


@pytest.mark.parametrize(("size", "code"), [(LARGEST_OUTPUT, 0), (LARGEST_OUTPUT + 1, -1)])
async def test_output_is_bounded(tmp_path: Path, size: int, code: int) -> None:
    reply = await Bench(tmp_path, an_action("inventory", saying(Done(output="x" * size)))).answer("inventory")
    assert reply.exit_code == code
    assert len(reply.output) == (size if code == 0 else 0)


async def test_one_of_a_type_at_a_time_and_the_newest_of_those_that_wait(tmp_path: Path) -> None:
    began: list[str] = []
    go_on = asyncio.Event()

    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        began.append(arguments[0])
        await go_on.wait()
        return Done(output=arguments[0])

    bench = Bench(tmp_path, an_action("inventory", perform))
    for name in ("a", "a", "b", "c", "a"):
        bench.stepper.take(Step(step_type="inventory", args=(name,)))
    await asyncio.sleep(0.01)
    assert began == ["a"]
    go_on.set()
    assert [reply.output for reply in await bench.letters.until(2)] == ["a", "c"]


async def test_steps_side_by_side_are_bounded_but_for_those_that_wait(tmp_path: Path) -> None:
    running, most = 0, 0
    go_on = asyncio.Event()

    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go_on.wait()
        running -= 1
        return Done()

    kinds = [f"kind-{number}" for number in range(MOST_AT_ONCE + 4)]
    installing = an_action("install", saying(Done(output="i")))
    bench = Bench(tmp_path, installing, *(an_action(kind, perform) for kind in kinds))
    for kind in kinds:
        bench.stepper.take(Step(step_type=kind))
    assert (await bench.answer("install")).output == "i"
    assert most == MOST_AT_ONCE
    go_on.set()
    await bench.letters.until(len(kinds) + 1)
    assert most == MOST_AT_ONCE


async def test_a_medium_that_is_gone_beats_everything(tmp_path: Path) -> None:
    ran: list[str] = []

    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        ran.append("x")
        bench.medium.gone = arguments == ("pull",)
        return Done(exit_code=1, error="unreadable")

    bench = Bench(tmp_path, an_action("inventory", perform))
    assert (await bench.answer("inventory", "pull")).exit_code == 256, "it went away meanwhile"
    assert (await bench.answer("inventory")).exit_code == 256
    assert ran == ["x"]
    bench.medium.gone = False
    assert (await bench.answer("inventory")).exit_code == 1


async def test_a_step_may_end_the_program_once_its_reply_is_out(tmp_path: Path) -> None:
    bench = Bench(tmp_path, an_action("upgrade-agent", saying(Done(stop_polling=True))))
    assert not bench.stepper.ended.is_set()
    await bench.answer("upgrade-agent")
    async with asyncio.timeout(SECONDS):
        await bench.stepper.ended.wait()


async def test_stopping_ends_what_runs(tmp_path: Path) -> None:
    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        await asyncio.Event().wait()
        return Done()

    bench = Bench(tmp_path, an_action("inventory", perform))
    bench.stepper.take(Step(step_type="inventory"))
    await asyncio.sleep(0)
    await bench.stepper.stop()
    assert bench.stepper.running == ()
    assert bench.letters.replies == []


# --- once


def counting(counter: list[str], done: Done = Done(output="4 ms")) -> Any:  # noqa: B008
    async def perform(arguments: tuple[str, ...], site: Site) -> Done:
        counter.append("ran")
        return done

    return perform


DISK = ('{"path":"/dev/sda"}', "480.00")


async def test_what_was_cut_off_is_not_run_again_by_itself(tmp_path: Path) -> None:
    ran: list[str] = []
    Once(tmp_path / "state", boot_id="boot").begin(Step(step_type="installation-disk-speed-check", args=DISK))
    bench = Bench(tmp_path, an_action("installation-disk-speed-check", counting(ran), once=True))
    reply = await bench.answer("installation-disk-speed-check", *DISK)
    assert (reply.exit_code, reply.output) == (-1, '{"path":"/dev/sda"}')
    assert "second time" in reply.error
    assert ran == []


async def test_an_answer_that_was_not_delivered_is_given_from_the_journal(tmp_path: Path) -> None:
    ran: list[str] = []
    once = Once(tmp_path / "state", boot_id="boot")
    step = Step(step_type="disk", args=DISK)
    once.begin(step)
    once.end(step, StepReply(step_type="disk", step_id="old", output="7 ms"))
    bench = Bench(tmp_path, an_action("disk", counting(ran), once=True))
    assert await bench.answer("disk", *DISK) == StepReply(step_type="disk", step_id="id-1", output="7 ms")
    assert ran == []


async def test_asked_again_after_the_answer_it_runs_again(tmp_path: Path) -> None:
    ran: list[str] = []
    bench = Bench(tmp_path, an_action("disk", counting(ran), once=True))
    await bench.answer("disk", *DISK)
    assert bench.once.verdict("disk", DISK)[0] == "answer"
    bench.once.delivered("disk", DISK)
    await asyncio.sleep(0)
    await bench.answer("disk", *DISK)
    assert ran == ["ran", "ran"]


async def test_asked_for_before_the_answer_it_does_not_run_again(tmp_path: Path) -> None:
    """The service handed it out while the answer of an earlier life of the agent was on its way."""
    ran: list[str] = []
    bench = Bench(tmp_path, an_action("disk", counting(ran), once=True), an_action("inventory", counting(ran)))
    noted = bench.stepper.answers
    await bench.answer("disk", *DISK)
    bench.once.delivered("disk", DISK)
    while bench.stepper.running:
        await asyncio.sleep(0)
    step = Step(step_type="disk", step_id="id-1", args=DISK)
    bench.stepper.take(step, noted=noted)
    assert bench.stepper.running == ()
    bench.stepper.take(step, noted=bench.stepper.answers)
    assert bench.stepper.running == ("disk",)
    await bench.letters.until(2)
    assert ran == ["ran", "ran"]


async def test_what_cannot_be_recorded_does_not_begin(tmp_path: Path) -> None:
    ran: list[str] = []
    (tmp_path / "state").write_text("a file where the folder should be")
    bench = Bench(tmp_path, an_action("disk", counting(ran), once=True), an_action("install", counting(ran), once=True))
    reply = await bench.answer("disk", *DISK)
    assert reply.exit_code == -1
    assert "cannot be recorded" in reply.error
    assert ran == []
    assert (await bench.answer("install")).exit_code == 0, "its container's name keeps a second one away"
    assert ran == ["ran"]


@pytest.mark.parametrize(
    ("host", "code", "runs"),
    [
        pytest.param(RUNNING, 0, True, id="the-action-waits-for-the-one-that-runs"),
        pytest.param(ABSENT, 0, True, id="it-never-started"),
        pytest.param(ENDED, 3, False, id="it-ended-unwatched"),
        pytest.param({}, 125, False, id="nobody-can-tell"),
    ],
)
async def test_an_installer_whose_agent_was_killed(
    tmp_path: Path, host: dict[str, Outcome], code: int, runs: bool
) -> None:
    ran: list[str] = []
    Once(tmp_path / "state", boot_id="boot").begin(Step(step_type="install", args=("{}",)))
    bench = Bench(tmp_path, an_action("install", counting(ran), once=True), host=Scene(host))
    reply = await bench.answer("install", "{}")
    assert reply.exit_code == code
    assert bool(ran) is runs
    assert ('the container name "assisted-installer" is already in use' in reply.error) is (code == 125)


@pytest.mark.parametrize(
    ("host", "codes"),
    [
        pytest.param(RUNNING, [0], id="it-is-waited-for"),
        pytest.param(ENDED, [3], id="its-failure-is-told"),
        pytest.param(ABSENT, [], id="nothing-is-begun"),
        pytest.param({}, [], id="nobody-can-tell"),
    ],
)
async def test_an_installer_is_taken_up_unasked(tmp_path: Path, host: dict[str, Outcome], codes: list[int]) -> None:
    Once(tmp_path / "state", boot_id="boot").begin(Step(step_type="install", step_id="i-1", args=("{}",)))
    bench = Bench(tmp_path, an_action("install", counting([]), once=True), host=Scene(host))
    await bench.stepper.take_up()
    while bench.stepper.running:
        await asyncio.sleep(0)
    assert [(reply.step_id, reply.exit_code) for reply in bench.letters.replies] == [("i-1", code) for code in codes]


async def test_answers_that_wait_are_brought_unasked_and_nothing_that_was_cut_off(tmp_path: Path) -> None:
    ran: list[str] = []
    once = Once(tmp_path / "state", boot_id="boot")
    ended = Step(step_type="disk", step_id="d-1", args=DISK)
    once.begin(ended)
    once.end(ended, StepReply(step_type="disk", step_id="d-1", output="7 ms"))
    once.begin(Step(step_type="reboot", args=DISK))
    actions = (an_action("disk", counting(ran), once=True), an_action("reboot", counting(ran), once=True))
    bench = Bench(tmp_path, *actions)
    await bench.stepper.take_up()
    while bench.stepper.running:
        await asyncio.sleep(0)
    assert bench.letters.replies == [StepReply(step_type="disk", step_id="d-1", output="7 ms")]
    assert ran == []
