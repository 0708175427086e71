"""A bell that wakes a loop: whoever sees a change rings, and several rings before the loop looks are one."""

import asyncio
from contextlib import suppress


class Bell:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self, *, seconds: float) -> None:
        """Until somebody rings or the time is over; the next wait starts anew."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        self._rung.clear()
