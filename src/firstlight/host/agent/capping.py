"""A bound on how many programs run at once, whichever steps they belong to."""

import asyncio
from collections.abc import Mapping
from typing import Final

from firstlight.host.programs import OUTPUT_LIMIT, Outcome, Programs

MOST_PROGRAMS: Final = 24
PATIENT: Final = 300.0
"""A program that may take longer than this mostly waits for something else; it does not count."""


class CappedPrograms:
    """The time limit counts from when the program starts."""

    def __init__(self, inner: Programs, slots: asyncio.Semaphore) -> None:
        self._inner = inner
        self._slots = slots

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
    ) -> Outcome:
        if limit > PATIENT:
            return await self._inner.run(*command, limit=limit, given=given, environment=environment, keep=keep)
        async with self._slots:
            return await self._inner.run(*command, limit=limit, given=given, environment=environment, keep=keep)
