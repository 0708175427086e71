"""A loop that looks at everything whenever something changed, and outlives whatever goes wrong on the way."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from firstlight.core.errors import Invalid
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.bells import Bell
from firstlight.host.controller.log import Log

T = TypeVar("T")

TROUBLE: Final = (Refused, Unreachable, Invalid)
"""What calls end with when the other side is away, restarting, or of another opinion: reason to try again."""


async def repeat(act: Callable[[], Awaitable[bool]], *, about: str, bell: Bell, seconds: float, log: Log) -> None:
    """Until `act` says that all is done: at once, at each ring, and every so many seconds."""
    while True:
        try:
            if await act():
                log.info(f"Done: {about}.")
                return
        except TROUBLE as trouble:
            log.once(about, f"{about} has to wait: {trouble}.")
        except Exception as surprise:
            log.failure(f"{about} failed in a way nobody foresaw and goes on.", surprise)
        await bell.wait(seconds=seconds)


async def for_each(
    items: Iterable[tuple[str, T]], act: Callable[[T], Awaitable[None]], *, about: str, log: Log
) -> bool:
    """Whether `act` did its part for all of them, each with its name. One that is refused keeps no other waiting."""
    all_done = True
    for name, item in items:
        try:
            await act(item)
        except Refused as refusal:
            log.once(f"{about} {name}", f"{about} has to wait for {name}: {refusal}.")
            all_done = False
    return all_done
