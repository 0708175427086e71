"""Loops that run beside everything else for as long as the service does."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Final

import structlog

log = structlog.get_logger(__name__)

RESTART_SECONDS: Final = 1.0

Loop = Callable[[], Coroutine[None, None, None]]


def kept_up(name: str, run: Loop) -> asyncio.Task[None]:
    """A loop that fails for a reason nobody foresaw must not leave the service half alive."""
    return asyncio.create_task(_kept_up(name, run), name=name)


async def _kept_up(name: str, run: Loop) -> None:
    while True:
        try:
            await run()
            return
        except Exception:
            log.exception("a background loop failed and is started again", loop=name)
            await asyncio.sleep(RESTART_SECONDS)


async def ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    running = tuple(tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
