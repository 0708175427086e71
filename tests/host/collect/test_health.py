"""Disks are asked for their health seldom, and only the verdict is passed on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core import wire
from firstlight.host.collect.health import Health, verdict
from firstlight.host.programs import Outcome
from tests.host.collect.trees import NoPrograms, Scripted

pytestmark = pytest.mark.anyio

QUESTION = "smartctl --json --health --nocheck=standby"
GOOD = '{"smartctl":{"exit_status":0},"smart_status":{"passed":true},"temperature":{"current":31}}'
GOOD_VERDICT = '{"smart_status":{"passed":true}}'
SDA = wire.Disk(name="sda", path="/dev/sda", serial="S1", drive_type="HDD")
OTHERS = (
    wire.Disk(name="sdb", path="/dev/sdb", serial="", drive_type="HDD"),
    wire.Disk(name="dm-0", path="/dev/dm-0", serial="S1", drive_type="Multipath"),
)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (GOOD, '{"smart_status":{"passed":true}}'),
        ('{"smart_status":{"passed":false}}', '{"smart_status":{"passed":false}}'),
        ('{"smartctl":{"exit_status":2}}', ""),
        ("smartctl: command not found", ""),
        ('{"smart_status":{"passed":"maybe"}}', ""),
    ],
)
async def test_only_the_verdict_counts(output: str, expected: str) -> None:
    assert verdict(output.encode()) == expected


@given(st.binary())
def test_any_output(output: bytes) -> None:
    assert isinstance(verdict(output), str)


async def test_a_disk_is_asked_once() -> None:
    programs, health = Scripted({f"{QUESTION} /dev/sda": GOOD}), Health()
    for _ in range(3):
        assert await health.of(programs, (SDA, *OTHERS)) == {"/dev/sda": '{"smart_status":{"passed":true}}'}
    assert programs.asked == [f"{QUESTION} /dev/sda"]


async def test_another_disk_in_its_place_is_asked_again() -> None:
    programs, health = Scripted({f"{QUESTION} /dev/sda": GOOD}), Health()
    await health.of(programs, [SDA])
    await health.of(programs, [wire.Disk(name="sda", path="/dev/sda", serial="S2", drive_type="SSD")])
    assert len(programs.asked) == 2


async def test_a_program_that_is_missing_is_not_tried_for_every_disk() -> None:
    many = [wire.Disk(path=f"/dev/sd{number}", serial="x", drive_type="SSD") for number in range(20)]
    programs, health = Scripted({}), Health()
    for _ in range(2):
        assert set((await health.of(programs, many)).values()) == {""}
    assert len(programs.asked) <= 4
    assert await Health().of(NoPrograms(), []) == {}


async def test_a_disk_that_was_too_busy_to_answer_is_asked_again() -> None:
    asked: list[str] = []

    class Busy(Scripted):
        async def run(self, *command: str, **how: Any) -> Outcome:
            asked.append(command[-1])
            return Outcome(exit_code=124) if len(asked) == 1 else Outcome(exit_code=0, output=GOOD.encode())

    health = Health()
    assert [(await health.of(Busy({}), [SDA]))["/dev/sda"] for _ in range(3)] == ["", *[GOOD_VERDICT] * 2]
    assert len(asked) == 2
