"""Simulated time: a machine's minutes pass as the viewer's seconds."""

import asyncio
from dataclasses import dataclass
from typing import Final

SHORTEST: Final = 0.02
"""Even the fastest fleet leaves the loop to others between two looks."""


@dataclass(frozen=True, slots=True)
class Pace:
    """`speed` simulated seconds pass in one real second."""

    speed: float = 1.0

    def real(self, seconds: float) -> float:
        return max(SHORTEST, seconds / self.speed)

    async def rest(self, seconds: float) -> None:
        await asyncio.sleep(self.real(seconds))
