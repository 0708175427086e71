"""SQLite behind the database port: short reads on the loop, long ones on threads, writes through one `Writer`."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import Notify, Param, Row, Sql, Statement
from firstlight.server.store.filelock import FileLock
from firstlight.server.store.notices import Readers, Subscription
from firstlight.server.store.sqlite_errors import translated
from firstlight.server.store.sqlite_writer import ClaimJob, CommitJob, Writer

READER_THREADS: Final = 2
STATEMENT_CACHE: Final = 512
LOCK_WAIT_SECONDS: Final = 5.0
"""Only tools outside the service (a backup, a shell) can hold the lock of a file that is ours."""
CACHE_KIB: Final = 16_384
WAL_KEEP_BYTES: Final = 64 * 1024 * 1024


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=LOCK_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENT_CACHE,
    )
    connection.row_factory = sqlite3.Row
    connection.create_function("now_us", 0, lambda: time.time_ns() // 1_000)
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    if read_only:
        connection.execute("PRAGMA query_only = ON")
        return connection
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise Unavailable(
            f"The file system of {path} cannot hold a write-ahead log (journal mode stays {mode})."
            " Put the database on a local disk or use PostgreSQL."
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_KEEP_BYTES}")
    return connection


class SqliteDatabase:
    """Made by `await SqliteDatabase.open(path)`, inside the loop that will use it."""

    def __init__(self, path: Path, *, lock: FileLock, writing: sqlite3.Connection, reading: sqlite3.Connection) -> None:
        self.path = path
        self._lock = lock
        self._reading = reading
        self._readers = Readers()
        self._writer = Writer(path, writing, self._readers)
        self._threads = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="sqlite-read")
        self._thread = threading.local()
        self._connections = [reading]
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> "SqliteDatabase":
        lock = FileLock(path)
        try:
            writing = await asyncio.to_thread(connect, path, read_only=False)
            reading = await asyncio.to_thread(connect, path, read_only=True)
        except BaseException as error:
            lock.release()
            if isinstance(error, sqlite3.Error):
                raise translated(path, error) from error
            raise
        return cls(path, lock=lock, writing=writing, reading=reading)

    async def fetch(self, sql: Sql, /, *, large: bool = False, **params: Param) -> Sequence[Row]:
        self._check_open()
        if large:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._read_apart, sql, params)
        return self._read(self._reading, sql, params)

    async def fetch_one(self, sql: Sql, /, **params: Param) -> Row | None:
        self._check_open()
        rows = self._read(self._reading, sql, params)
        return rows[0] if rows else None

    def _read(self, connection: sqlite3.Connection, sql: Sql, params: dict[str, Param]) -> Sequence[Row]:
        try:
            # Always to the end: a cursor left half-read would keep the log from being folded into the file.
            return connection.execute(sql.sqlite, sql.for_sqlite(params)).fetchall()
        except sqlite3.Error as error:
            raise translated(self.path, error) from error

    def _read_apart(self, sql: Sql, params: dict[str, Param]) -> Sequence[Row]:
        connection: sqlite3.Connection | None = getattr(self._thread, "connection", None)
        if connection is None:
            try:
                connection = self._thread.connection = connect(self.path, read_only=True)
            except sqlite3.Error as error:
                raise translated(self.path, error) from error
            self._connections.append(connection)
        return self._read(connection, sql, params)

    async def commit(self, *work: Statement | Notify, relaxed: bool = False) -> tuple[int, ...]:
        self._check_open()
        if not work:
            return ()
        job = CommitJob(work, relaxed=relaxed)
        self._writer.add(job)
        return await job.answer

    async def claim(self, sql: Sql, /, *, relaxed: bool = False, **params: Param) -> Sequence[Row]:
        self._check_open()
        job = ClaimJob(sql, params, relaxed=relaxed)
        self._writer.add(job)
        return await job.answer

    async def notify(self, channel: str, payload: str = "") -> None:
        self._check_open()
        self._readers.tell(channel, Notify(channel, payload).payload)

    def subscribe(self, channel: str) -> Subscription:
        subscription = self._readers.add(channel)
        subscription.tell("")
        return subscription

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._writer.close)
        await asyncio.to_thread(self._threads.shutdown)
        await self._readers.close()
        for connection in self._connections:
            connection.close()
        self._lock.release()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable(f"The database file {self.path} is closed because the service is stopping.")
