"""A service that can be killed at any moment and started again on the same data and the same ports."""

import asyncio
import os
import signal
from contextlib import ExitStack
from pathlib import Path

from tests.services import RunningService, loopback_listeners, run_service, spawn_service


class Mortal:
    def __init__(self, folder: Path, **settings: str) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._settings = {**loopback_listeners(), **settings}
        self._life = ExitStack()
        self._running: RunningService | None = None
        self.kills = 0

    @property
    def pid(self) -> int:
        assert self._running is not None
        return self._running.pid

    @property
    def url(self) -> str:
        return f"http://{self._settings['FIRSTLIGHT_LISTEN']}"

    @property
    def log(self) -> str:
        return (self._folder / "service.log").read_text()

    async def start(self) -> None:
        """Until it answers."""
        self._running = await asyncio.to_thread(self._life.enter_context, run_service(self._folder, **self._settings))

    async def kill(self) -> None:
        """Nothing of the process may run any more when this returns."""
        assert self._running is not None
        os.kill(self._running.pid, signal.SIGKILL)
        self.kills += 1
        await asyncio.to_thread(self._life.close)
        self._running = None

    async def stop(self) -> None:
        await asyncio.to_thread(self._life.close)
        self._running = None

    async def die_at_start(self, seconds: float) -> None:
        """A life that ends while it begins."""
        process, _ = spawn_service(self._folder, self._settings)
        await asyncio.sleep(seconds)
        process.kill()
        self.kills += 1
        await asyncio.to_thread(process.wait)
