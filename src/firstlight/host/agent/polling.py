"""Asking the service what to do, for as long as it takes.

A service that offers it is asked to hold the poll until there is something to do; every other one is asked at the
interval it names. Errors are met with growing pauses and never with giving up.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum, auto
from typing import Final, TypeVar

from firstlight.host.agent.board import Board
from firstlight.host.agent.delivering import Delivery
from firstlight.host.agent.documents import Instructions
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.patience import Patience
from firstlight.host.agent.session import ServiceSession
from firstlight.host.agent.stepping import Stepper
from firstlight.host.agent.trouble import SLOW, SLOW_SECONDS, sentence_about
from firstlight.host.calling import Refused, Unreachable

T = TypeVar("T")

SHORTEST: Final = 1.0
"""Seconds between two polls of a service that names its interval."""
UNNAMED: Final = 5.0
"""When it names none: services answer an empty document when they are in trouble."""
LONGEST: Final = 600.0
BREATH: Final = 0.5
"""Seconds between two polls that wait."""
AT_ONCE: Final = 1.0
"""A poll that was to wait and came back with nothing sooner than this was not held."""
NOT_FOUND: Final = 404
TIMES_NOT_FOUND: Final = 3
"""So often in a row is meant seriously: the host was deleted."""
FAILED_WAITS: Final = 3
"""Something between us and the service cuts connections that are silent for a while."""


class Ending(Enum):
    """Why polling stopped."""

    REGISTER = auto()
    STEP = auto()
    """A step, such as an upgrade, wants the program to end."""
    REBOOTED = auto()
    """Only where reboots are made up."""


class Poller:
    def __init__(
        self,
        session: ServiceSession,
        *,
        delivery: Delivery,
        stepper: Stepper,
        board: Board,
        log: Log,
        wait_seconds: int,
        installer_runs: Callable[[], Awaitable[bool]],
        rebooted: Callable[[], bool],
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        chance: Callable[[float, float], float] = random.uniform,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._session = session
        self._delivery = delivery
        self._stepper = stepper
        self._board = board
        self._log = log
        self._wait = wait_seconds
        self._installer_runs = installer_runs
        self._rebooted = rebooted
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._patience = Patience(first=0.5, growth=1.5, most=60.0, spread=0.5, chance=chance)
        self._refused = Patience(first=2.0, growth=2.0, most=SLOW_SECONDS, spread=0.1, chance=chance)
        self._unheld = Patience(first=2.0, growth=2.0, most=60.0, spread=0.2, chance=chance)
        self._not_found = 0
        self._failed_waits = 0

    async def run(self) -> Ending:
        while not self._rebooted():
            asked_at, noted = self._clock(), self._stepper.answers
            try:
                plan = await self._unless_ended(self._ask())
            except (Refused, Unreachable) as trouble:
                self._delivery.memory.forget()
                if await self._is_deregistered(trouble):
                    return Ending.REGISTER
                plan, pause = None, self._pause_after(trouble, asked_at)
                self._show(trouble)
            else:
                if plan is None:
                    return Ending.STEP
                pause = await self._follow(plan, asked_at, noted=noted)
            if await self._unless_ended(self._pause(pause)) is None:
                return Ending.STEP
            if plan is not None and plan.leave and not await self._installer_runs():
                return Ending.REGISTER
        return Ending.REBOOTED

    async def _ask(self) -> Instructions:
        wait = self._wait if self._failed_waits < FAILED_WAITS and self._patience.fresh else 0
        standing = self._board.picture.standing
        return await self._session.instructions(
            self._delivery.host_id,
            timestamp=int(self._wall_clock()),
            wait=wait,
            seen=standing.digest if wait and standing is not None else "",
        )

    async def _follow(self, plan: Instructions, asked_at: float, *, noted: int) -> float:
        """Do what the service says; answers how long to pause before asking again."""
        self._not_found = 0
        self._patience.reset()
        self._refused.reset()
        before = self._board.picture.standing
        self._board.change(state="connected", trouble="", checks=(), standing=plan.firstlight or before)
        now = self._clock()
        for step in plan.steps:
            self._delivery.memory.asked((step.step_type, step.arguments), now=now)
            self._stepper.take(step, noted=noted)
        if self._delivery.waiting:
            await self._delivery.flush()
        named = min(LONGEST, plan.next_instruction_seconds) if plan.next_instruction_seconds > 0 else UNNAMED
        if plan.leave:
            return min(named, LONGEST) if plan.next_instruction_seconds > 0 else 0.0
        if not self._wait or self._failed_waits >= FAILED_WAITS:
            return max(SHORTEST, named)
        if plan.steps or now - asked_at >= AT_ONCE or self._board.picture.standing != before:
            self._unheld.reset()
            self._failed_waits = 0
            return BREATH
        return min(named, self._unheld.take())

    def _pause_after(self, trouble: Refused | Unreachable, asked_at: float) -> float:
        if isinstance(trouble, Unreachable) and self._patience.fresh and self._clock() - asked_at > AT_ONCE:
            self._failed_waits += 1
        if isinstance(trouble, Refused) and trouble.status in SLOW:
            return self._refused.take()
        return self._patience.take()

    async def _is_deregistered(self, trouble: Refused | Unreachable) -> bool:
        gone = isinstance(trouble, Refused) and trouble.status == NOT_FOUND
        self._not_found = self._not_found + 1 if gone else 0
        return self._not_found >= TIMES_NOT_FOUND and not await self._installer_runs()

    def _show(self, trouble: Refused | Unreachable) -> None:
        sentence = sentence_about(trouble, url=self._board.picture.service_url)
        state = "refused" if isinstance(trouble, Refused) else "unreachable"
        if sentence != self._board.picture.trouble:
            self._log.warning(sentence)
        self._board.change(state=state, trouble=sentence)

    async def _unless_ended(self, work: Coroutine[None, None, T]) -> T | None:
        """What the work brings; None if a step wants the program to end first."""
        task, ended = asyncio.ensure_future(work), asyncio.ensure_future(self._stepper.ended.wait())
        try:
            await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
            return None if ended.done() else task.result()
        finally:
            for waited in (task, ended):
                waited.cancel()
            await asyncio.gather(task, ended, return_exceptions=True)

    async def _pause(self, seconds: float) -> bool:
        await self._sleep(seconds)
        return True
