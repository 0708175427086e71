"""The database as the rest of the service sees it: read rows, commit a list of statements, hear of changes.

No transaction is ever open between two calls. A decision is a list of statements with the number of rows each must
touch; it happens wholly or not at all. Times are whole microseconds since 1970 (UTC), ids are text, documents bytes.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, Protocol, Self

import msgspec

from firstlight.core.errors import Conflict, Unavailable
from firstlight.server.ports.sql import Param, Sql

__all__ = ["Database", "HeldUp", "LostRace", "Notices", "Notify", "Param", "Row", "Sql", "Statement"]

MAX_NOTICE_BYTES: Final = 7_999


class Row(Protocol):
    """One row of an answer. Decode it into a domain value where it is read."""

    def __getitem__(self, column: str, /) -> Any: ...


class Statement(msgspec.Struct, frozen=True):
    """One statement of a commit, run once with `params` or once for each of `rows`."""

    sql: Sql
    params: Mapping[str, Param] = {}
    expect_rows: int | None = None
    """Rows it must touch, all `rows` taken together; any other number undoes the whole commit."""
    rows: Sequence[Mapping[str, Param]] | None = None


class Notify(msgspec.Struct, frozen=True):
    """Tell everyone subscribed to the channel, if and when the commit it is part of is done."""

    channel: str
    payload: str = ""

    def __post_init__(self) -> None:
        if len(self.payload.encode()) > MAX_NOTICE_BYTES:
            raise ValueError(f"a notice on {self.channel} has more than {MAX_NOTICE_BYTES} bytes; send a key instead")


class LostRace(Conflict):
    """Someone else wrote first: nothing of this commit happened. Load again and decide again."""

    default_code = "lost-race"

    def __init__(self, statement: Statement | None, message: str) -> None:
        super().__init__(message)
        self.statement = statement


class HeldUp(Unavailable):
    """Somebody kept a row of this commit locked for too long: nothing of it happened."""


class Notices(Protocol):
    """What was told on one channel since `subscribe` was called.

    The first notice is empty, and so is one that stands for notices that may have been missed (connection lost, reader
    too slow): an empty notice means "look for yourself".
    """

    def __aiter__(self) -> AsyncIterator[str]: ...

    async def __anext__(self) -> str: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def aclose(self) -> None:
        """Stop listening; a waiting reader ends."""
        ...


class Database(Protocol):
    """SQLite or PostgreSQL. Every call may raise `Unavailable`; the next one may succeed again."""

    async def fetch(self, sql: Sql, /, *, large: bool = False, **params: Param) -> Sequence[Row]:
        """Read rows. Say `large` for more than some 200 rows or big documents: it then never holds the loop."""
        ...

    async def fetch_one(self, sql: Sql, /, **params: Param) -> Row | None: ...

    async def commit(self, *work: Statement | Notify, relaxed: bool = False) -> tuple[int, ...]:
        """Do all of it in one transaction, or nothing; returns the rows touched, one number per argument.

        Raises `LostRace` when `expect_rows` was not met or a key exists already, and `Unavailable` otherwise; its
        sentence says when it is not known whether the change was kept. Once this returns, the change survives a power
        cut, except that a `relaxed` commit may be lost in one (never out of order, never by a killed process).
        """
        ...

    async def claim(self, sql: Sql, /, *, relaxed: bool = False, **params: Param) -> Sequence[Row]:
        """Run one `UPDATE … RETURNING` (or INSERT, DELETE) and commit at once."""
        ...

    async def notify(self, channel: str, payload: str = "") -> None:
        """A `Notify` that belongs to no change."""
        ...

    def subscribe(self, channel: str) -> Notices:
        """Hear of every `Notify` on the channel, from whichever replica it came. Reconnects by itself."""
        ...

    async def close(self) -> None:
        """Finish what was asked for, then let go of files and connections."""
        ...
