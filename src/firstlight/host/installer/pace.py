"""Time as the installer spends it: rests between looks and limits of waits, both shortened in a laboratory."""

import asyncio
from collections.abc import Mapping
from typing import Final

from firstlight.core.wire.words import HostStage

LOOK_SECONDS: Final = 5.0


class Pace:
    def __init__(self, *, scale: float, stage_seconds: Mapping[HostStage, float], longest_wait: float) -> None:
        self._scale = scale
        self._stages = stage_seconds
        self.longest_wait = longest_wait * scale
        """After this nobody waits any more."""

    def seconds(self, seconds: float) -> float:
        return seconds * self._scale

    def limit(self, stage: HostStage) -> float:
        return self._stages[stage] * self._scale

    async def rest(self, seconds: float = LOOK_SECONDS) -> None:
        await asyncio.sleep(seconds * self._scale)


def words(seconds: float) -> str:
    """A limit as people say it."""
    return f"{seconds / 60:g} minutes" if seconds >= 60 else f"{seconds:g} seconds"
