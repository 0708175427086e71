"""Which bytes a Range header asks for, and the body that answers it."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from firstlight.core.images.virtual import Memory, Segment, VirtualFile

MOST_RANGES: Final = 64
"""A caller who wants more pieces than this at once gets the whole file."""
_ONE: Final = re.compile(r"[ \t]*(\d{0,19})-(\d{0,19})[ \t]*", re.ASCII)


class ByteRange(Struct, frozen=True):
    start: int
    stop: int
    """The first byte no longer wanted."""

    @property
    def length(self) -> int:
        return self.stop - self.start

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.stop - 1}/{size}"


class Unsatisfiable(Exception):
    """No byte of the file is in any of the wanted ranges."""


def wanted_ranges(header: str, *, size: int) -> tuple[ByteRange, ...]:
    """In the caller's order. Nothing: the header is absent or makes no sense, so the whole file is meant."""
    unit, _, text = header.partition("=")
    if unit.strip().lower() != "bytes":
        return ()
    items = [item for item in text.split(",") if item.strip()]
    if not items or len(items) > MOST_RANGES:
        return ()
    found: list[ByteRange] = []
    for item in items:
        match = _ONE.fullmatch(item)
        if match is None or match.groups() == ("", ""):
            return ()
        first, last = match.groups()
        if first and last and int(last) < int(first):
            return ()
        start = int(first) if first else max(0, size - int(last))
        stop = min(size, int(last) + 1) if first and last else size
        if start < stop:
            found.append(ByteRange(start, stop))
    if not found:
        raise Unsatisfiable
    # Overlapping pieces that add up to more than the file are a mistake or an attack.
    return tuple(found) if sum(one.length for one in found) <= size else ()


def multipart(file: VirtualFile, ranges: Sequence[ByteRange], *, content_type: str, boundary: str) -> VirtualFile:
    """The body of an answer with several ranges."""
    segments: list[Segment] = []
    for number, one in enumerate(ranges):
        lines = (
            f"--{boundary}",
            f"Content-Type: {content_type}",
            f"Content-Range: {one.content_range(file.size)}",
            "",
            "",
        )
        segments.append(Memory((("\r\n" if number else "") + "\r\n".join(lines)).encode()))
        segments += file.between(one.start, one.stop)
    segments.append(Memory(f"\r\n--{boundary}--\r\n".encode()))
    return VirtualFile(tuple(segments))
