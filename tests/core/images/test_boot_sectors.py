"""Numbers of sectors in boot records follow the files they point to; whatever points nowhere is dropped."""

import struct

import pytest

from firstlight.core.images.boot_sectors import (
    SYSTEM_AREA,
    disk_size,
    moved_boot_file,
    moved_catalogue,
    moved_system_area,
)

SIZE = 4 * 1024 * 1024
BLOCKS = SIZE // 512
MOVES = {100: 40, 200: 50}


def partition(kind: int, first: int, count: int, *, active: bool = False) -> bytes:
    return bytes((0x80 if active else 0, 0, 0, 0, kind, 0, 0, 0)) + struct.pack("<II", first, count)


def area(*partitions: bytes, boot_block: int = 400, gpt: bytes = b"") -> bytes:
    table = b"".join(partitions).ljust(64, b"\0")
    boot = b"code".ljust(432, b"\0") + struct.pack("<II", boot_block, 0) + bytes(6) + table + b"\x55\xaa"
    return (boot + gpt).ljust(SYSTEM_AREA, b"\0")


def partitions_of(data: bytes) -> list[tuple[int, int, int]]:
    entries = [data[at : at + 16] for at in range(446, 510, 16)]
    return [(entry[4], *struct.unpack_from("<II", entry, 8)) for entry in entries]


def test_an_image_that_is_no_disk_stays_as_it_is() -> None:
    data = b"boot".ljust(SYSTEM_AREA, b"\0")
    assert moved_system_area(data, MOVES, size=SIZE) == (data, b"")


def test_old_places_of_embed_areas_are_wiped() -> None:
    data = bytes(32_672) + b"coreKarg" + bytes(64) + b"coreiso+" + bytes(16)
    assert moved_system_area(data, MOVES, size=SIZE) == (bytes(SYSTEM_AREA), b"")


def test_partitions_follow_their_files() -> None:
    given = area(
        partition(0x17, 0, 9_999, active=True),
        partition(0xEF, 400, 64),
        partition(0x83, 12_345, 10),
        partition(0xEE, 1, 9_998),
    )
    data, tail = moved_system_area(given, MOVES, size=SIZE)
    assert partitions_of(data) == [(0x17, 0, BLOCKS), (0xEF, 160, 64), (0, 0, 0), (0xEE, 1, BLOCKS - 1)]
    assert struct.unpack_from("<I", data, 432) == (160,)
    assert data[446] == 0x80
    assert data[446 + 5 : 446 + 8] == bytes((63, 32, 3))  # the last block: head 63, sector 32, cylinder 3
    assert tail == b""


def test_a_boot_file_that_stays_is_left_alone() -> None:
    data, _ = moved_system_area(area(partition(0, 0, 1), boot_block=1_200), MOVES, size=SIZE)
    assert struct.unpack_from("<I", data, 432) == (1_200,)


def test_blocks_out_of_reach_of_old_counting() -> None:
    data, _ = moved_system_area(area(partition(0, 0, 1)), MOVES, size=2 * 1024**3)
    assert data[446 + 5 : 446 + 8] == b"\xfe\xff\xff"


@pytest.mark.parametrize("width", [0, 64, 8_192])
def test_a_partition_table_that_makes_no_sense_is_dropped(width: int) -> None:
    header = struct.pack("<8sIII4xQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 1, 9, 64, 90, b"id", 2, 128, width, 0)
    data, tail = moved_system_area(area(partition(0, 0, 1), gpt=header), MOVES, size=SIZE)
    assert (data[512:1024], tail) == (bytes(512), b"")


def test_entries_of_the_large_partition_table() -> None:
    entries = b"".join(
        (b"type" + bytes(28) + struct.pack("<QQ", first, last) + bytes(8)).ljust(128, b"\0")
        for first, last in ((0, 9_000), (800, 863), (7_777, 7_800))
    )
    header = struct.pack("<8sIII4xQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 1, 9, 64, 90, b"id", 2, 3, 128, 0)
    data, tail = moved_system_area(area(partition(0, 0, 1), gpt=header.ljust(512, b"\0") + entries), MOVES, size=SIZE)
    found = [struct.unpack_from("<QQ", data, 1024 + 128 * number + 32) for number in range(3)]
    assert found == [(0, BLOCKS - 3), (200, 263), (0, 0)]
    assert tail[:384] == data[1024:1408]
    assert len(tail) == 1024


def test_the_catalogue() -> None:
    def entry(mark: int, sector: int) -> bytes:
        return (bytes((mark,)) + bytes(7) + struct.pack("<I", sector)).ljust(32, b"\0")

    given = entry(1, 100) + entry(0x88, 100) + entry(0x91, 100) + entry(0x88, 200) + entry(0x88, 300)
    expected = entry(1, 100) + entry(0x88, 40) + entry(0x91, 100) + entry(0x88, 50) + entry(0x88, 300)
    assert moved_catalogue(given, MOVES) == expected


def test_isolinux_is_told_where_it_lies() -> None:
    content = bytes(8) + struct.pack("<II", 16, 100) + b"x" * 60
    assert moved_boot_file(content, old=100, new=40) == bytes(8) + struct.pack("<II", 16, 40) + b"x" * 60
    for other in (content[:63], bytes(100), content.replace(struct.pack("<I", 100), struct.pack("<I", 101))):
        assert moved_boot_file(other, old=100, new=40) == other


def test_there_is_room_for_the_second_table() -> None:
    mebibyte = 1024 * 1024
    assert disk_size(mebibyte - 34 * 512) == mebibyte
    assert disk_size(mebibyte - 34 * 512 + 1) == 2 * mebibyte
