"""Files the service keeps (logs, manifests, generated configs): a folder, or a bucket in an S3 store.

Keys are paths with `/` between non-empty segments. A blob appears whole or not at all. A key that has others beneath it
(`a/b` and `a/b/c`) is not to be written.
"""

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec

from firstlight.core.errors import Invalid

MAX_KEY_BYTES: Final = 900
MAX_SEGMENT_BYTES: Final = 255
RESERVED: Final = ".incoming"
"""First segment under which the folder keeps what is not finished yet."""


class BlobInfo(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    size: int
    """Bytes."""
    modified: datetime
    """Aware, UTC."""


class Blobs(Protocol):
    """Every call may raise `Invalid` for a key that can never exist and `Unavailable` when the store cannot answer."""

    async def put(self, key: str, data: bytes) -> None:
        """Write or replace. Once this returns, the blob survives a power cut."""
        ...

    async def put_stream(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int) -> int:
        """Write or replace from a stream; returns the size. Over `max_bytes`: `TooLarge`, and the old blob stays."""
        ...

    async def get(self, key: str) -> bytes:
        """Raises `NotFound`."""
        ...

    async def get_range(self, key: str, *, start: int, length: int) -> bytes:
        """The bytes that exist within the range: fewer, or none, towards the end of the blob. Raises `NotFound`."""
        ...

    def stream(self, key: str, *, start: int = 0) -> AsyncIterator[bytes]:
        """Everything from `start` on, in pieces. Raises `NotFound` before the first piece."""
        ...

    async def head(self, key: str) -> BlobInfo:
        """Raises `NotFound`."""
        ...

    async def delete(self, key: str) -> None:
        """Deleting what is not there is no error."""
        ...

    async def delete_under(self, prefix: str) -> int:
        """Delete everything beneath the path; returns how many blobs that were."""
        ...

    async def list_under(self, prefix: str) -> Sequence[BlobInfo]:
        """Everything beneath the path, sorted by key: `a/b` lists `a/b/c`, never `a/bc`. Empty prefix: everything."""
        ...

    def presign(self, key: str, *, expires: timedelta, file_name: str | None = None) -> str | None:
        """A URL anyone can GET until it expires, answered as a download called `file_name`; None: serve it yourself."""
        ...

    async def close(self) -> None: ...


def checked_key(key: str) -> str:
    """The key itself, or `Invalid` when no store may ever be asked for it."""
    segments = key.split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        raise Invalid(f"The file name {key!r} is not a plain relative path. Remove empty, '.' and '..' parts.")
    if not key.isprintable() or "\\" in key:
        raise Invalid(f"The file name {key!r} contains a control character or a backslash. Remove it.")
    if segments[0] == RESERVED:
        raise Invalid(f"The file name {key!r} begins with {RESERVED!r}, which is reserved. Choose another name.")
    try:
        too_long = len(key.encode()) > MAX_KEY_BYTES or any(len(part.encode()) > MAX_SEGMENT_BYTES for part in segments)
    except UnicodeEncodeError:
        raise Invalid(f"The file name {key!r} is not valid Unicode. Choose another name.") from None
    if too_long:
        raise Invalid(
            f"The file name {key[:80]!r}… is too long. Use at most {MAX_SEGMENT_BYTES} bytes for each part"
            f" and {MAX_KEY_BYTES} bytes in all."
        )
    return key


def checked_prefix(prefix: str) -> str:
    """The path without a trailing slash, checked like a key; empty stays empty."""
    prefix = prefix.removesuffix("/")
    return checked_key(prefix) if prefix else ""
