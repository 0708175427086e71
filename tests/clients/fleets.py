"""Simulated machines for clients that block: the fleet lives in a thread with a loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from firstlight.simulate import Fleet, Plan, make_machines
from firstlight.simulate.machines import Machine

FAST = 120.0
"""Simulated seconds in one real second; an installation takes a few."""


def some_machines(*, masters: int = 0, workers: int = 0, salt: str) -> list[Machine]:
    return [*make_machines(Plan(masters=masters, workers=workers), salt=salt)]


@contextmanager
def powered(url: str, infra_env_id: str, machines: list[Machine], *, speed: float = FAST) -> Iterator[Fleet]:
    """The machines are on inside the block and speak to the service at `url`."""
    fleet = Fleet(url, UUID(infra_env_id), machines, speed=speed)
    loop = asyncio.new_event_loop()
    over = asyncio.Event()
    failures: list[BaseException] = []

    async def live() -> None:
        async with fleet.powered():
            await over.wait()

    def run() -> None:
        try:
            loop.run_until_complete(live())
        except BaseException as failure:
            failures.append(failure)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="fleet")
    thread.start()
    try:
        yield fleet
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(over.set)
        thread.join()
    assert failures == []
