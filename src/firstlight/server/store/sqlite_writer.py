"""The one thread that writes to a SQLite file.

It takes everything that waits and commits it together. Jobs run without savepoints first, which is what nearly always
happens; only when one fails after it has written something is the group undone and run again with a savepoint each.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, Generic, Protocol, TypeVar

from firstlight.server.ports.database import LostRace, Notify, Param, Row, Sql, Statement
from firstlight.server.store.notices import Readers
from firstlight.server.store.sqlite_errors import translated

GROUP_LIMIT: Final = 500
"""Jobs of one transaction; bounds how long the first of them waits for the last."""

T = TypeVar("T")


class Job(Protocol):
    relaxed: bool
    notices: tuple[Notify, ...]

    def attempt(self, connection: sqlite3.Connection) -> None:
        """Run inside an open transaction and keep the result; may be called again after a rollback."""
        ...

    def fail(self, error: Exception) -> None: ...

    def resolve(self) -> bool:
        """On the loop: tell the asker how it ended. True when it was done."""
        ...


class Answered(Generic[T]):
    """The half of a job that waits on the loop."""

    def __init__(self, *, relaxed: bool) -> None:
        self.relaxed = relaxed
        self.notices: tuple[Notify, ...] = ()
        self.answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._error: Exception | None = None
        self._result: T | None = None

    def fail(self, error: Exception) -> None:
        self._error = error

    def keep(self, result: T) -> None:
        self._error, self._result = None, result

    def resolve(self) -> bool:
        if self.answer.done():
            return self._error is None  # its asker has gone away meanwhile; the change stands all the same
        if self._error is not None:
            self.answer.set_exception(self._error)
        elif self._result is not None:
            self.answer.set_result(self._result)
        return self._error is None


class CommitJob(Answered[tuple[int, ...]]):
    def __init__(self, work: Sequence[Statement | Notify], *, relaxed: bool) -> None:
        super().__init__(relaxed=relaxed)
        self._work = work
        self.notices = tuple(item for item in work if isinstance(item, Notify))

    def attempt(self, connection: sqlite3.Connection) -> None:
        self.keep(tuple(0 if isinstance(item, Notify) else run(connection, item) for item in self._work))


class ClaimJob(Answered[Sequence[Row]]):
    def __init__(self, sql: Sql, params: Mapping[str, Param], *, relaxed: bool) -> None:
        super().__init__(relaxed=relaxed)
        self._sql = sql
        self._params = params

    def attempt(self, connection: sqlite3.Connection) -> None:
        self.keep(connection.execute(self._sql.sqlite, self._sql.for_sqlite(self._params)).fetchall())


def run(connection: sqlite3.Connection, statement: Statement) -> int:
    sql = statement.sql
    try:
        if statement.rows is None:
            count = connection.execute(sql.sqlite, sql.for_sqlite(statement.params)).rowcount
        elif sql.lists:
            count = connection.executemany(sql.sqlite, map(sql.for_sqlite, statement.rows)).rowcount
        else:
            count = connection.executemany(sql.sqlite, statement.rows).rowcount
    except sqlite3.IntegrityError as error:
        raise translated(Path(), error, statement=statement) from error
    count = max(count, 0)
    if statement.expect_rows is not None and count != statement.expect_rows:
        raise LostRace(statement, "Somebody else changed it meanwhile. Look again and try again.")
    return count


class Writer:
    def __init__(self, path: Path, connection: sqlite3.Connection, readers: Readers) -> None:
        self._path = path
        self._connection = connection
        self._readers = readers
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._synchronous = "FULL"
        self._thread = threading.Thread(target=self._serve, name="sqlite-write", daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        self._queue.put(job)

    def close(self) -> None:
        """Blocks until everything asked for before is committed."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        going = True
        while going:
            group: list[Job] = []
            job = self._queue.get()
            try:
                while job is not None and len(group) < GROUP_LIMIT:
                    group.append(job)
                    job = self._queue.get_nowait()
            except Empty:
                pass
            else:
                going = job is not None
            if group:
                self._do(group)
                self._tell(group)

    def _tell(self, group: Sequence[Job]) -> None:
        def settle() -> None:
            for job in group:
                if job.resolve():
                    for notice in job.notices:
                        self._readers.tell(notice.channel, notice.payload)

        try:
            self._loop.call_soon_threadsafe(settle)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    def _do(self, group: Sequence[Job]) -> None:
        try:
            self._set_synchronous("NORMAL" if all(job.relaxed for job in group) else "FULL")
            if not self._committed(group, savepoints=False):
                self._committed(group, savepoints=True)
        except Exception as error:  # the outermost loop of this thread: whoever asked gets it
            failure = translated(self._path, error) if isinstance(error, sqlite3.Error) else error
            for job in group:
                job.fail(failure)
        finally:
            self._rollback()

    def _set_synchronous(self, level: str) -> None:
        """NORMAL leaves the fsync to a later commit: the log is still written in order."""
        if level != self._synchronous:
            self._connection.execute(f"PRAGMA synchronous = {level}")
            self._synchronous = level

    def _rollback(self) -> None:
        """A rollback that fails is tried again after the next group, which cannot begin before."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _committed(self, group: Sequence[Job], *, savepoints: bool) -> bool:
        """False: a job failed half-way and there was no savepoint to go back to; nothing was written."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        for job in group:
            if savepoints:
                connection.execute("SAVEPOINT job")
            before = connection.total_changes
            try:
                job.attempt(connection)
            except Exception as error:  # every kind belongs to the asker, not to this thread
                job.fail(translated(self._path, error) if isinstance(error, sqlite3.Error) else error)
                if not connection.in_transaction:
                    raise  # SQLite gave up the whole transaction (disk full, I/O error), and the neighbours with it
                if savepoints:
                    connection.execute("ROLLBACK TO job")
                elif connection.total_changes != before:
                    connection.execute("ROLLBACK")
                    return False
            if savepoints:
                connection.execute("RELEASE job")
        connection.execute("COMMIT")
        return True
