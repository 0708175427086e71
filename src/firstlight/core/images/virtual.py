"""Files that exist only as a description: pieces of real files and of memory, one after the other.

Whoever sends one walks its segments; a Range of it is again such a file.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol

from msgspec import Struct

from firstlight.core.errors import Invalid


class ReadAt(Protocol):
    """Reads a file that somebody else has opened; fewer bytes than asked for mean its end."""

    def __call__(self, offset: int, length: int, /) -> bytes: ...


class FileSlice(Struct, frozen=True):
    """Bytes of a real file; what `file` names is the caller's affair."""

    file: str
    offset: int
    length: int

    def cut(self, start: int, stop: int) -> "FileSlice":
        return FileSlice(self.file, self.offset + start, stop - start)


class Memory(Struct, frozen=True):
    """Bytes that stand in no file."""

    data: bytes

    @property
    def length(self) -> int:
        return len(self.data)

    def cut(self, start: int, stop: int) -> "Memory":
        return Memory(self.data[start:stop])


Segment = FileSlice | Memory


class Region(Struct, frozen=True):
    """New contents for a part of a file."""

    offset: int
    data: bytes

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


@dataclass(frozen=True, slots=True)
class VirtualFile:
    segments: tuple[Segment, ...]
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Where each segment begins, and where the last one ends."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(_merged(self.segments)))
        object.__setattr__(self, "starts", tuple(accumulate((one.length for one in self.segments), initial=0)))

    @property
    def size(self) -> int:
        return self.starts[-1]

    def between(self, start: int, stop: int) -> tuple[Segment, ...]:
        """The segments of the bytes from `start` up to, not including, `stop`."""
        stop = min(stop, self.size)
        if not 0 <= start < stop:
            return ()
        found: list[Segment] = []
        index = bisect_right(self.starts, start) - 1
        while start < stop:
            segment, begin = self.segments[index], self.starts[index]
            end = min(stop, begin + segment.length)
            whole = start == begin and end == begin + segment.length
            found.append(segment if whole else segment.cut(start - begin, end - begin))
            start, index = end, index + 1
        return tuple(found)

    def patched(self, regions: Iterable[Region]) -> "VirtualFile":
        """The same file with other contents in some places; its length stays. Regions must not overlap."""
        segments: list[Segment] = []
        at = 0
        for region in sorted(regions, key=lambda one: (one.offset, one.end)):
            if region.offset < at or region.end > self.size:
                raise Invalid(
                    f"The bytes {region.offset} to {region.end} cannot be replaced: they overlap or are outside."
                )
            segments += self.between(at, region.offset)
            segments.append(Memory(region.data))
            at = region.end
        return VirtualFile((*segments, *self.between(at, self.size)))


def whole_file(name: str, *, size: int) -> VirtualFile:
    return VirtualFile((FileSlice(name, 0, size),))


def materialised(segments: Iterable[Segment], files: Mapping[str, ReadAt]) -> bytes:
    """The bytes themselves, for small pieces; a file that has become shorter is refused."""
    parts: list[bytes] = []
    for segment in segments:
        data = segment.data if isinstance(segment, Memory) else files[segment.file](segment.offset, segment.length)
        if len(data) != segment.length:
            raise Invalid("A file is shorter than it was when it was opened.")
        parts.append(data)
    return b"".join(parts)


def _merged(segments: Sequence[Segment]) -> list[Segment]:
    """Neighbours that stand side by side in the same file become one: fewer system calls later."""
    merged: list[Segment] = []
    for segment in segments:
        last = merged[-1] if merged else None
        if not segment.length:
            continue
        if (
            isinstance(segment, FileSlice)
            and isinstance(last, FileSlice)
            and last.file == segment.file
            and last.offset + last.length == segment.offset
        ):
            merged[-1] = FileSlice(last.file, last.offset, last.length + segment.length)
        else:
            merged.append(segment)
    return merged
