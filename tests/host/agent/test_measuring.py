"""A measurement writes to the installation disk: never beside an installation, nor again because letters crossed."""

import asyncio
from pathlib import Path

import pytest

from firstlight.host.actions.action import Done, Site
from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.agent.replies import Key
from firstlight.host.agent.stepping import DISK_SPEED, INSTALL
from tests.host.agent.setting import an_action
from tests.host.agent.test_stepping import SECONDS, Bench, Letters

pytestmark = pytest.mark.anyio
MEASURE = Step(step_type=DISK_SPEED, step_id="m", args=('{"path":"/dev/sda"}',))
BEGIN = Step(step_type=INSTALL, step_id="i", args=("{}",))


class Disk:
    """Who writes to it, and what happened in order."""

    def __init__(self) -> None:
        self.story: list[str] = []
        self.measured = asyncio.Event()
        self.installed = asyncio.Event()

    async def measure(self, arguments: tuple[str, ...], site: Site) -> Done:
        self.story.append("measuring")
        try:
            await self.measured.wait()
        finally:
            self.story.append("measured")
        return Done(output="{}")

    async def install(self, arguments: tuple[str, ...], site: Site) -> Done:
        self.story.append("installing")
        await self.installed.wait()
        return Done()

    def bench(self, folder: Path) -> Bench:
        return Bench(
            folder, an_action(DISK_SPEED, self.measure, once=True), an_action(INSTALL, self.install, once=True)
        )


async def until(disk: Disk, *story: str) -> None:
    async with asyncio.timeout(SECONDS):
        while disk.story != list(story):
            await asyncio.sleep(0.01)


async def test_an_installation_ends_the_measurement_before_it_begins(tmp_path: Path) -> None:
    disk = Disk()
    bench = disk.bench(tmp_path)
    bench.stepper.take(MEASURE)
    await until(disk, "measuring")
    bench.stepper.take(BEGIN)
    await until(disk, "measuring", "measured", "installing")
    assert bench.stepper.running == (INSTALL,)
    disk.installed.set()
    assert [reply.step_type for reply in await bench.letters.until(1)] == [INSTALL]


async def test_a_disk_that_is_being_installed_is_not_measured(tmp_path: Path) -> None:
    disk = Disk()
    bench = disk.bench(tmp_path)
    bench.stepper.take(BEGIN)
    await until(disk, "installing")
    bench.stepper.take(MEASURE)
    assert bench.stepper.running == (INSTALL,)
    disk.installed.set()
    await bench.letters.until(1)
    assert disk.story == ["installing"]


async def test_a_question_that_crossed_its_answer_measures_nothing_anew(tmp_path: Path) -> None:
    disk, posted = Disk(), asyncio.Event()

    class Slow(Letters):
        async def send(self, key: Key, reply: StepReply) -> None:
            posted.set()
            await disk.installed.wait()
            await super().send(key, reply)

    bench = disk.bench(tmp_path)
    bench.letters = bench.stepper._delivery = Slow()
    bench.stepper.take(MEASURE)
    disk.measured.set()
    async with asyncio.timeout(SECONDS):
        await posted.wait()
    bench.stepper.take(MEASURE)
    disk.installed.set()
    await bench.letters.until(1)
    async with asyncio.timeout(SECONDS):
        while bench.stepper.running:
            await asyncio.sleep(0.01)
    assert disk.story == ["measuring", "measured"]
