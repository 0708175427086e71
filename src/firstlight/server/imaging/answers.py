"""Requests as they come in and answers as they go out, apart from any connection."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

import msgspec

from firstlight.core.errors import Conflict, Error, Forbidden, Invalid, NotFound, TooLarge, Unauthenticated, Unavailable
from firstlight.core.images.virtual import Memory, Segment, VirtualFile
from firstlight.server.imaging.files import OpenFile

REASONS: Final[Mapping[int, bytes]] = {
    200: b"OK",
    204: b"No Content",
    206: b"Partial Content",
    304: b"Not Modified",
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    408: b"Request Timeout",
    409: b"Conflict",
    412: b"Precondition Failed",
    413: b"Content Too Large",
    416: b"Range Not Satisfiable",
    421: b"Misdirected Request",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}
STATUS_OF: Final[tuple[tuple[type[Error], int], ...]] = (
    (NotFound, 404),
    (Conflict, 409),
    (Invalid, 400),
    (TooLarge, 413),
    (Unauthenticated, 401),
    (Forbidden, 403),
    (Unavailable, 503),
)
OF_CALLERS: Final = frozenset({401, 403, 408, 421})
"""What is said of the caller rather than of the image has a form of its own."""
RETRY_SECONDS: Final = 15
NO_FILES: Final[Mapping[str, OpenFile]] = {}


class Request(msgspec.Struct, frozen=True):
    method: bytes
    target: bytes
    """Path and query as sent."""
    headers: Mapping[bytes, str]
    """By name in lower case."""
    client: str = ""

    def header(self, name: bytes) -> str:
        return self.headers.get(name, "")


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: bytes
    """Whole lines, each with its end, without the length."""
    segments: tuple[Segment, ...] = ()
    length: int = 0
    files: Mapping[str, OpenFile] = NO_FILES
    """Open files by the names in the segments; they stay open as long as anybody holds this answer."""
    handler: str = ""
    """What the metrics call this route."""


class Image(msgspec.Struct, frozen=True):
    """A file to be offered: its bytes, and how it is known to caches."""

    file: VirtualFile
    files: Mapping[str, OpenFile]
    etag: str
    last_modified: datetime
    common: bytes
    """The header lines every answer about it has."""

    @property
    def size(self) -> int:
        return self.file.size


def make_image(
    file: VirtualFile, files: Mapping[str, OpenFile], *, etag: str, last_modified: datetime, name: str
) -> Image:
    moment = last_modified.astimezone(UTC).replace(microsecond=0)
    lines = (
        f'Content-Disposition: attachment; filename="{name}"',
        f'ETag: "{etag}"',
        f"Last-Modified: {format_datetime(moment, usegmt=True)}",
        "",
    )
    return Image(file, files, f'"{etag}"', moment, "\r\n".join(lines).encode("ascii"))


def refusal(status: int, reason: str, *, handler: str = "", headers: bytes = b"") -> Answer:
    """An error in the form the API uses."""
    if status in OF_CALLERS:
        body = msgspec.json.encode({"code": status, "message": reason})
    else:
        body = msgspec.json.encode({"code": str(status), "href": "", "id": status, "kind": "Error", "reason": reason})
    if status == 503:
        headers += b"Retry-After: %d\r\n" % RETRY_SECONDS
    return _small(status, body, b"Content-Type: application/json\r\n" + headers, handler)


def text(content: bytes, *, content_type: str = "text/plain; charset=utf-8", handler: str = "") -> Answer:
    return _small(200, content, f"Content-Type: {content_type}\r\n".encode(), handler)


def refused(error: Error, *, handler: str = "") -> Answer:
    status = next((number for kind, number in STATUS_OF if isinstance(error, kind)), 500)
    return refusal(status, str(error), handler=handler)


def _small(status: int, body: bytes, headers: bytes, handler: str) -> Answer:
    return Answer(status, headers, (Memory(body),) if body else (), len(body), NO_FILES, handler)
