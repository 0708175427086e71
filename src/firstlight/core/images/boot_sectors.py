"""What firmware reads before it knows any file system: boot catalogue, boot record and partition tables.

They name sectors. When the files behind them move, the numbers are moved along; everything else is kept as it was.
"""

import struct
import zlib
from collections.abc import Mapping
from typing import Final

from firstlight.core.images.iso9660 import SECTOR

BLOCK: Final = 512
PER_SECTOR: Final = SECTOR // BLOCK
SYSTEM_AREA: Final = 16 * SECTOR
ROUNDING: Final = 1024 * 1024
"""Disks of whole mebibytes: old BIOSes guess their geometry from the last partition's end."""
GPT_MARK: Final = b"EFI PART"
_PARTITIONS: Final = 446
_BOOT_FILE: Final = 432
_COREOS_HEADERS: Final = 32_672
"""Old places of embed areas; they would name bytes that have moved."""
_HEADER: Final = struct.Struct("<8sIII4xQQQQ16sQIII")

Moves = Mapping[int, int]
"""Old sector of a file → its new one."""


def moved_catalogue(catalogue: bytes, moves: Moves) -> bytes:
    """An El Torito boot catalogue with its boot files at their new places."""
    data = bytearray(catalogue)
    for at in range(32, len(data) - 31, 32):
        if data[at] in (0x88, 0x00):
            (sector,) = struct.unpack_from("<I", data, at + 8)
            if sector in moves:
                struct.pack_into("<I", data, at + 8, moves[sector])
    return bytes(data)


def boot_file_sectors(catalogue: bytes) -> tuple[int, ...]:
    """Where the catalogue's bootable entries point to."""
    entries = range(32, len(catalogue) - 31, 32)
    return tuple(struct.unpack_from("<I", catalogue, at + 8)[0] for at in entries if catalogue[at] == 0x88)


def moved_boot_file(content: bytes, *, old: int, new: int) -> bytes:
    """isolinux learns where it lies from a table in its own beginning; other boot files are as they are."""
    if len(content) < 64 or struct.unpack_from("<II", content, 8) != (16, old):
        return content
    return content[:12] + struct.pack("<I", new) + content[16:]


def is_disk(system_area: bytes) -> bool:
    """Can the image also be written to a USB stick?"""
    return system_area[510:512] == b"\x55\xaa"


def disk_size(end: int) -> int:
    """Bytes of the whole image when its files end at this byte: room for the second partition table at its end."""
    return -(-(end + 34 * BLOCK) // ROUNDING) * ROUNDING


def moved_system_area(area: bytes, moves: Moves, *, size: int) -> tuple[bytes, bytes]:
    """The bytes before the volume for an image of this size, and those that belong at its very end."""
    data = bytearray(area[:SYSTEM_AREA].ljust(SYSTEM_AREA, b"\0"))
    data[_COREOS_HEADERS:] = bytes(SYSTEM_AREA - _COREOS_HEADERS)
    if not is_disk(area):
        return bytes(data), b""
    (boot_block,) = struct.unpack_from("<I", data, _BOOT_FILE)
    if boot_block % PER_SECTOR == 0 and boot_block // PER_SECTOR in moves:
        struct.pack_into("<I", data, _BOOT_FILE, moves[boot_block // PER_SECTOR] * PER_SECTOR)
    for at in range(_PARTITIONS, _PARTITIONS + 64, 16):
        _move_partition(data, at, moves, blocks=size // BLOCK)
    return _moved_gpt(data, moves, blocks=size // BLOCK)


def _move_partition(data: bytearray, at: int, moves: Moves, *, blocks: int) -> None:
    first, count = struct.unpack_from("<II", data, at + 8)
    if not count or (first == 1 and data[at + 4] == 0xEE):
        if count:
            struct.pack_into("<I", data, at + 12, blocks - 1)
        return
    place = _moved(first, first + count - 1, moves, end=blocks - 1)
    if place is None:
        data[at : at + 16] = bytes(16)
        return
    struct.pack_into("<II", data, at + 8, place[0], place[1] - place[0] + 1)
    data[at + 1 : at + 4] = _cylinder_head_sector(place[0])
    data[at + 5 : at + 8] = _cylinder_head_sector(place[1])


def _cylinder_head_sector(block: int) -> bytes:
    """A block the way old BIOSes count, with 64 heads of 32 sectors; far ones have the value for "out of reach"."""
    cylinder, rest = divmod(block, 64 * 32)
    head, sector = divmod(rest, 32)
    if cylinder > 1023:
        return b"\xfe\xff\xff"
    return bytes((head, (cylinder >> 2) & 0xC0 | (sector + 1), cylinder & 0xFF))


def _moved(first: int, last: int, moves: Moves, *, end: int) -> tuple[int, int] | None:
    """A partition over the whole image stays one; one over a file follows it; any other is dropped."""
    if first < PER_SECTOR * 16:
        return first, end
    if first % PER_SECTOR or first // PER_SECTOR not in moves:
        return None
    begin = moves[first // PER_SECTOR] * PER_SECTOR
    return begin, begin + last - first


def _moved_gpt(data: bytearray, moves: Moves, *, blocks: int) -> tuple[bytes, bytes]:
    if not data.startswith(GPT_MARK, BLOCK):
        return bytes(data), b""
    fields = _HEADER.unpack_from(data, BLOCK)
    mark, revision, length, _, _, _, usable, _, disk, table, count, width, _ = fields
    start = table * BLOCK
    if not 128 <= width <= 4096 or not 0 < count * width <= SYSTEM_AREA - start or start < 2 * BLOCK or length < 92:
        data[BLOCK : 2 * BLOCK] = bytes(BLOCK)
        return bytes(data), b""
    table_blocks = -(-count * width // BLOCK)
    last_usable = blocks - table_blocks - 2
    for at in range(start, start + count * width, width):
        if any(data[at : at + 16]):
            first, last = struct.unpack_from("<QQ", data, at + 32)
            place = _moved(first, last, moves, end=last_usable)
            if place is None:
                data[at : at + width] = bytes(width)
            else:
                struct.pack_into("<QQ", data, at + 32, *place)
    entries = bytes(data[start : start + count * width])
    checksum = zlib.crc32(entries)

    def header(own: int, other: int, table_at: int) -> bytes:
        raw = bytearray(
            _HEADER.pack(mark, revision, 92, 0, own, other, usable, last_usable, disk, table_at, count, width, checksum)
        )
        struct.pack_into("<I", raw, 16, zlib.crc32(raw))
        return bytes(raw).ljust(BLOCK, b"\0")

    data[BLOCK : 2 * BLOCK] = header(1, blocks - 1, table)
    tail = entries.ljust(table_blocks * BLOCK, b"\0") + header(blocks - 1, 1, blocks - 1 - table_blocks)
    return bytes(data), tail
