"""The firmware's own description of the board (SMBIOS), from its raw table. Whatever bytes come, nothing raises."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

MIB: Final = 1024**2
KIB: Final = 1024
SYSTEM, BOARD, CHASSIS, PROCESSOR, MEMORY_DEVICE, END = 1, 2, 3, 4, 17, 127
_UNKNOWN_SIZE: Final = 0xFFFF
_EXTENDED_SIZE: Final = 0x7FFF
_IN_KIB: Final = 0x8000


class Structure(Struct, frozen=True, kw_only=True):
    """One entry of the table: a formatted area, and strings that its bytes refer to by number."""

    type: int
    area: bytes
    """Header included, so that offsets are those of the specification."""
    strings: tuple[str, ...] = ()

    def word(self, offset: int, size: int) -> int | None:
        """A little-endian number; None if this version of the structure has no such field."""
        if offset + size > len(self.area):
            return None
        return int.from_bytes(self.area[offset : offset + size], "little")

    def text(self, offset: int) -> str:
        """The string a byte refers to, trimmed; empty if it refers to none."""
        number = self.word(offset, 1) or 0
        return self.strings[number - 1].strip() if 1 <= number <= len(self.strings) else ""


def structures(table: bytes) -> Iterator[Structure]:
    """The entries up to the end mark, or up to the first that is cut off."""
    position = 0
    while position + 4 <= len(table):
        length = table[position + 1]
        area = table[position : position + length]
        if length < 4 or len(area) < length:
            return
        end = table.find(b"\0\0", position + length)
        if end < 0:
            return
        found = table[position + length : end]
        strings = tuple(part.decode("utf-8", "replace") for part in found.split(b"\0")) if found else ()
        yield Structure(type=area[0], area=area, strings=strings)
        if area[0] == END:
            return
        position = end + 2


def memory_bytes(table: Iterable[Structure]) -> int:
    """Installed memory: the sizes of all memory devices. Empty sockets and those of unknown size add nothing."""
    return sum(_device_bytes(entry) for entry in table if entry.type == MEMORY_DEVICE)


def _device_bytes(device: Structure) -> int:
    size = device.word(0x0C, 2)
    if size is None or size == _UNKNOWN_SIZE:
        return 0
    if size == _EXTENDED_SIZE:
        # The field is too narrow for devices of 32 GiB and more; these have a wider one.
        return ((device.word(0x1C, 4) or 0) & 0x7FFFFFFF) * MIB
    return (size & ~_IN_KIB) * KIB if size & _IN_KIB else size * MIB
