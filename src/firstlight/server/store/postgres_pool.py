"""Connections to PostgreSQL, lent one caller at a time.

asyncpg's own pool starts a task and asks the server to reset the session at every return. Ours changes no session, so
giving a connection back is free, and one that is not certainly in order is thrown away.
"""

import asyncio
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
        try:
            while self._idle:
                # The last one returned comes first: its statements are warm, the others may rest.
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await connect(self._url)
        except BaseException:
            self._slots.release()
            raise

    def give(self, connection: asyncpg.Connection, *, healthy: bool) -> None:
        self._slots.release()
        if healthy and not self._closed and not connection.is_closed():
            self._idle.append(connection)
        else:
            connection.terminate()

    def drop_idle(self) -> None:
        """One connection was found broken: the others of its time are not worth a try."""
        while self._idle:
            self._idle.pop().terminate()

    async def close(self) -> None:
        """Wait for what is under way, as long as an answer may take at most."""
        self._closed = True
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                for _ in range(self._size):
                    await self._slots.acquire()
        except TimeoutError:
            pass  # what is lent is thrown away when it comes back
        self.drop_idle()
