"""The places in a live ISO that hold its kernel command line, and how a longer one is written into them.

New images describe them in `coreos/kargs.json`, older ones in a header before the volume; the oldest have none.
"""

import struct
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import Extent, Volume, find
from firstlight.core.images.virtual import ReadAt, Region

DESCRIPTION: Final = "coreos/kargs.json"
MOST_DESCRIPTION_BYTES: Final = 1024 * 1024
LONGEST_AREA: Final = 2048
"""What coreos-installer accepts; isolinux reads no longer lines either."""
HEADER_OFFSET: Final = 32_672
HEADER: Final = struct.Struct("<8sQQ6Q")
HEADER_MARK: Final = b"coreKarg"


class AreaFile(Struct, frozen=True, kw_only=True):
    """One entry of kargs.json: an area in a file of the image."""

    path: str
    offset: int
    pad: str = "#"
    end: str = "\n"


class Description(Struct, frozen=True, kw_only=True):
    """kargs.json."""

    default: str
    size: int
    files: tuple[AreaFile, ...]


class Area(Struct, frozen=True, kw_only=True):
    offset: int
    """In the image."""
    pad: bytes = b"#"
    end: bytes = b"\n"


class KernelArguments(Struct, frozen=True, kw_only=True):
    current: str
    """What the image boots with as it is."""
    size: int
    areas: tuple[Area, ...]
    description: Description | None = None

    def with_appended(self, values: Sequence[str]) -> tuple[Region, ...]:
        """The areas with more arguments at the end. Invalid when they do not fit."""
        if not values:
            return ()
        for value in values:
            if not value.isprintable() or not value.strip():
                raise Invalid(f"The kernel argument {value[:80]!r} has characters that no command line can hold.")
        text = " ".join((self.current, *values)).encode()
        room = self.size - len(self.current.encode()) - 2
        if len(text) >= self.size:
            asked = len(" ".join(values).encode())
            raise Invalid(
                f"The kernel arguments need {asked} bytes, but this image has room for {max(room, 0)}."
                " Give fewer or shorter ones."
            )
        return tuple(Region(area.offset, (text + area.end).ljust(self.size, area.pad)) for area in self.areas)


def read_kernel_arguments(read: ReadAt, volume: Volume) -> KernelArguments | None:
    """Nothing when the image is too old to have such places."""
    node = find(read, volume, DESCRIPTION)
    if node is None:
        return _from_header(read)
    description = read_description(read, node.extent)
    areas: list[Area] = []
    for file in description.files:
        found = find(read, volume, file.path)
        if found is None or not 0 <= file.offset <= found.extent.length - description.size:
            raise Invalid(f"Its list of kernel argument areas names {file.path[:80]!r}, which it does not have.")
        pad, end = file.pad.encode(), file.end.encode()
        if len(pad) != 1 or len(end) != 1:
            raise Invalid("Its list of kernel argument areas is malformed: fill and end must be one byte each.")
        areas.append(Area(offset=found.extent.offset + file.offset, pad=pad, end=end))
    current = _current(read, areas, description.size)
    return KernelArguments(current=current, size=description.size, areas=tuple(areas), description=description)


def read_description(read: ReadAt, extent: Extent) -> Description:
    try:
        found = msgspec.json.decode(read(extent.offset, min(extent.length, MOST_DESCRIPTION_BYTES)), type=Description)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Invalid(f"Its {DESCRIPTION} cannot be read.") from None
    if not 0 < found.size <= LONGEST_AREA or not found.files or len(found.default.encode()) >= found.size:
        raise Invalid(f"Its {DESCRIPTION} contradicts itself.")
    return found


def _from_header(read: ReadAt) -> KernelArguments | None:
    data = read(HEADER_OFFSET, HEADER.size)
    if len(data) < HEADER.size or not data.startswith(HEADER_MARK):
        return None
    _, size, _, *offsets = HEADER.unpack(data)
    areas = [Area(offset=offset) for offset in offsets if offset]
    if not 0 < size <= LONGEST_AREA or not areas:
        raise Invalid("Its header of kernel argument areas contradicts itself.")
    return KernelArguments(current=_current(read, areas, size), size=size, areas=tuple(areas))


def _current(read: ReadAt, areas: Sequence[Area], size: int) -> str:
    texts: set[bytes] = set()
    for area in areas:
        data = read(area.offset, size)
        text, found, rest = data.partition(area.end)
        if len(data) < size or not found or rest.strip(area.pad):
            raise Invalid("One of its kernel argument areas is damaged.")
        texts.add(text)
    if len(texts) != 1:
        raise Invalid("Its kernel argument areas differ from each other, so it would boot differently each way.")
    try:
        return texts.pop().decode()
    except UnicodeError:
        raise Invalid("Its kernel arguments are not text.") from None
