"""Which answer an image gets: whole, a part, several parts, unchanged or refused (RFC 9110, sections 13 and 14)."""

import secrets
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from firstlight.core.images.ranges import Unsatisfiable, multipart, wanted_ranges
from firstlight.server.imaging.answers import Answer, Image, Request

CONTENT_TYPE: Final = "application/octet-stream"
_TYPE: Final = f"Content-Type: {CONTENT_TYPE}\r\nAccept-Ranges: bytes\r\n".encode()
_CONDITIONS: Final = (b"if-match", b"if-none-match", b"if-modified-since", b"if-unmodified-since")


def answer_with(image: Image, request: Request, *, handler: str) -> Answer:
    headers = request.headers
    if any(name in headers for name in _CONDITIONS):
        status = _precondition(image, request)
        if status is not None:
            return Answer(status, image.common, handler=handler)
    wanted = headers.get(b"range", "")
    if not wanted or not _same_file(image, headers.get(b"if-range", "")):
        return _whole(image, handler)
    try:
        ranges = wanted_ranges(wanted, size=image.size)
    except Unsatisfiable:
        return Answer(416, b"Content-Range: bytes */%d\r\n" % image.size + image.common, handler=handler)
    if not ranges:
        return _whole(image, handler)
    if len(ranges) == 1:
        one = ranges[0]
        head = b"Content-Range: bytes %d-%d/%d\r\n" % (one.start, one.stop - 1, image.size)
        segments = image.file.between(one.start, one.stop)
        return Answer(206, head + _TYPE + image.common, segments, one.length, image.files, handler)
    boundary = secrets.token_hex(16)
    body = multipart(image.file, ranges, content_type=CONTENT_TYPE, boundary=boundary)
    head = f"Content-Type: multipart/byteranges; boundary={boundary}\r\n".encode()
    return Answer(206, head + image.common, body.segments, body.size, image.files, handler)


def _whole(image: Image, handler: str) -> Answer:
    return Answer(200, _TYPE + image.common, image.file.segments, image.size, image.files, handler)


def _precondition(image: Image, request: Request) -> int | None:
    if match := request.header(b"if-match"):
        if not _listed(match, image.etag, weak=False):
            return 412
    elif (moment := _moment(request.header(b"if-unmodified-since"))) and image.last_modified > moment:
        return 412
    if none_match := request.header(b"if-none-match"):
        return 304 if _listed(none_match, image.etag, weak=True) else None
    moment = _moment(request.header(b"if-modified-since"))
    return 304 if moment and image.last_modified <= moment else None


def _listed(header: str, etag: str, *, weak: bool) -> bool:
    if header.strip() == "*":
        return True
    tags = (tag.strip() for tag in header.split(","))
    return any(tag == etag or (weak and tag == f"W/{etag}") for tag in tags)


def _same_file(image: Image, condition: str) -> bool:
    """If-Range: by tag, or by the exact date we gave."""
    if not condition:
        return True
    if condition.startswith(('"', "W/")):
        return condition.strip() == image.etag
    return _moment(condition) == image.last_modified


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
