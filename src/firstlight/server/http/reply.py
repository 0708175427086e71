"""What a handler may answer besides a plain value."""

from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar

R = TypeVar("R")

NO_HEADERS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """A value with headers beside it."""

    value: R
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)


@dataclass(frozen=True, slots=True)
class Encoded:
    """JSON that was encoded before, for instance from a cache."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Empty:
    """No content; the status is the operation's own unless given."""

    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file. Give `length` with a stream when it is known."""

    file_name: str
    content: bytes | AsyncIterable[bytes]
    length: int | None = None
    content_type: str = "application/octet-stream"
    last_modified: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer that goes on, such as server-sent events."""

    chunks: AsyncIterable[bytes]
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)
