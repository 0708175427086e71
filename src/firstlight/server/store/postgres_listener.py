"""The connection that listens: one for all channels of this process, made again whenever it breaks."""

import asyncio
from contextlib import suppress
from typing import Final

import asyncpg

from firstlight.server.store.notices import Readers, Subscription
from firstlight.server.store.postgres_errors import lost
from firstlight.server.store.postgres_notices import CHANNEL, notices_in
from firstlight.server.store.postgres_pool import connect

PULSE_SECONDS: Final = 15.0
"""How often a silent connection is asked for a sign of life."""
PAUSES: Final = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Seconds before the next try to connect; the last one repeats."""


class Listener:
    def __init__(self, url: str, readers: Readers) -> None:
        self._url = url
        self._readers = readers
        self._changed = asyncio.Event()
        self._heard: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, channel: str) -> Subscription:
        subscription = self._readers.add(channel)
        if channel in self._heard:
            subscription.tell("")
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="postgres-listen")
        return subscription

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        tries = 0
        while True:
            try:
                connection = await connect(self._url)
                tries = 0
                try:
                    await self._listen(connection)
                finally:
                    self._heard.clear()
                    connection.terminate()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
                # Refused for good (a wrong password) or gone for now: either way the readers fall back on looking.
                tries = tries if lost(error) else len(PAUSES)
            await asyncio.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    async def _listen(self, connection: asyncpg.Connection) -> None:
        connection.add_termination_listener(lambda _: self._changed.set())
        await connection.add_listener(CHANNEL, self._hear)
        while not connection.is_closed():
            self._changed.clear()
            wanted = self._readers.channels
            for channel in wanted - self._heard:
                self._readers.tell(channel, "")
            self._heard = set(wanted)
            try:
                async with asyncio.timeout(PULSE_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")

    def _hear(self, connection: asyncpg.Connection, pid: int, channel: str, payload: str) -> None:
        del connection, pid, channel
        for about, told in notices_in(payload):
            self._readers.tell(about, told)
