"""Connections to PostgreSQL, lent one caller at a time.

asyncpg's own pool starts a task and asks the server to reset the session at every return. Ours changes no session, so
giving a connection back is free, and one that is not certainly in order is thrown away.
"""

import asyncio
from collections.abc import Coroutine
from typing import Final

import asyncpg

from firstlight.core.errors import Unavailable

SIZE: Final = 10
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 40.0
"""Longer than the server's own limits below: silence beyond it means the network is gone."""
STATEMENT_CACHE: Final = 512
SESSION: Final = {
    "application_name": "firstlight",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "30s",
    "jit": "off",
    # Our statements find rows by key: planning each of them five times per connection would buy nothing.
    "plan_cache_mode": "force_generic_plan",
}


async def connect(url: str) -> asyncpg.Connection:
    return await asyncpg.connect(
        url,
        timeout=CONNECT_SECONDS,
        command_timeout=ANSWER_SECONDS,
        statement_cache_size=STATEMENT_CACHE,
        max_cached_statement_lifetime=0,
        server_settings=SESSION,
    )


class Pool:
    """Connects when somebody asks, so a server that is not there yet does not matter before."""

    def __init__(self, url: str, *, size: int = SIZE) -> None:
        self._url = url
        self._size = size
        self._idle: list[asyncpg.Connection] = []
        self._slots = asyncio.Semaphore(size)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self) -> asyncpg.Connection:
        """Raises what asyncpg or the network raises, and TimeoutError when everything is lent for too long."""
        if self._closed:
            raise Unavailable("The database is closed because the service is stopping.")
        if self._slots.locked():
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._slots.acquire()
        else:
            await self._slots.acquire()
        while self._idle:
            # The last one returned comes first: its statements are warm, the others may rest.
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await self._connect()

    async def _connect(self) -> asyncpg.Connection:
        """A caller that is cancelled does not stop it: asyncpg leaves a mess when it is interrupted here."""
        task = asyncio.create_task(connect(self._url))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._background(self._adopt(task))
            raise
        except BaseException:
            self._slots.release()
            raise

    async def _adopt(self, connecting: asyncio.Task[asyncpg.Connection]) -> None:
        try:
            self.give(await connecting, healthy=True)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
            self._slots.release()  # nobody waits for the answer any more

    def give(self, connection: asyncpg.Connection, *, healthy: bool) -> None:
        self._slots.release()
        if healthy and not connection.is_closed():
            self._idle.append(connection)
        else:
            self._part(connection)

    def drop_idle(self) -> None:
        """One connection was found broken: the others of its time are not worth a try."""
        while self._idle:
            self._part(self._idle.pop())

    def _part(self, connection: asyncpg.Connection) -> None:
        """Not at once: a query may be under way whose caller was cancelled, and asyncpg is still calling it off."""
        self._background(leave(connection))

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for what is under way, as long as an answer may take at most."""
        if self._closed:
            return
        self._closed = True
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                for _ in range(self._size):
                    await self._slots.acquire()
        except TimeoutError:
            pass  # what is still lent is closed by the server once we are gone
        self.drop_idle()
        await asyncio.gather(*self._tasks)


async def leave(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=CONNECT_SECONDS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
        connection.terminate()
