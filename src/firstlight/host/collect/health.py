"""What disks say about their own health, where smartctl is installed.

Only the verdict is kept: temperatures and counters move all the time, and the document must not. Asked once an hour,
because every question is a program.
"""

import asyncio
from collections.abc import Iterable
from time import monotonic
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core import wire
from firstlight.host.collect.drive_types import HDD, SSD
from firstlight.host.programs import NOT_STARTED, TIMED_OUT, Programs

MOST_DISKS: Final = 64
AT_ONCE: Final = 4
SECONDS: Final = 30.0
SECONDS_IN_ALL: Final = 60.0
KEPT_SECONDS: Final = 3_600.0
ABSENT: Final = (NOT_STARTED, 127)
"""Codes of a program that is not installed: our own, and that of the program which enters the host."""
_ASLEEP: Final = "--nocheck=standby"
"""Disks that sleep are not woken for this."""


class _Status(Struct, frozen=True):
    passed: bool


class _Answer(Struct, frozen=True):
    smart_status: _Status | None = None


def verdict(output: bytes) -> str:
    """The answer reduced to `{"smart_status":{"passed":…}}`; empty if the disk does not say."""
    try:
        answer = msgspec.json.decode(output, type=_Answer)
    except ValueError:
        return ""
    return msgspec.json.encode(answer).decode() if answer.smart_status is not None else ""


class Health:
    """Verdicts by disk, remembered for a while."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], tuple[float, str]] = {}
        self._absent_until = 0.0

    async def of(self, programs: Programs, disks: Iterable[wire.Disk]) -> dict[str, str]:
        """By path, for disks that have one. Whatever takes too long is asked next time."""
        asked = [disk for disk in disks if disk.drive_type in (HDD, SSD) and disk.serial][:MOST_DISKS]
        now = monotonic()
        self._told = {key: kept for key, kept in self._told.items() if now - kept[0] < KEPT_SECONDS}
        new = [disk for disk in asked if (disk.path, disk.serial) not in self._told]
        if new and now >= self._absent_until:
            try:
                async with asyncio.timeout(SECONDS_IN_ALL), asyncio.TaskGroup() as group:
                    turn = asyncio.Semaphore(AT_ONCE)
                    for disk in new:
                        group.create_task(self._ask(programs, disk, turn))
            except TimeoutError:
                pass
        return {disk.path: self._told.get((disk.path, disk.serial), (0.0, ""))[1] for disk in asked}

    async def _ask(self, programs: Programs, disk: wire.Disk, turn: asyncio.Semaphore) -> None:
        async with turn:
            if monotonic() < self._absent_until:
                return
            outcome = await programs.run("smartctl", "--json", "--health", _ASLEEP, disk.path, limit=SECONDS)
            if outcome.exit_code in ABSENT:
                self._absent_until = monotonic() + KEPT_SECONDS
            elif outcome.exit_code != TIMED_OUT:
                # Its exit code is a set of warnings, not a failure.
                self._told[(disk.path, disk.serial)] = (monotonic(), verdict(outcome.output))
