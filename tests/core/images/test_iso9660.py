"""Volumes of unusual shape, made by changing single bytes of usual ones."""

import struct

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import SECTOR, Extent, find, folder, read_volume, short_name, walk
from firstlight.core.images.iso_writer import NewFile, plan, write
from tests.builders.live_isos import a_live_iso, reader

DATA = a_live_iso({"a.txt": b"first", "b.txt": b"second", "sub/c.txt": b"third", "empty": b""})


def record_of(data: bytes, name: bytes) -> int:
    """Where the folder record of a file begins."""
    return data.index(name + b";1") - 33


def patched(offset: int, new: bytes, data: bytes = DATA) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def names(data: bytes) -> list[str]:
    return sorted(path for path, _ in walk(reader(data), read_volume(reader(data))))


def test_the_usual_shape() -> None:
    assert names(DATA) == ["a.txt", "b.txt", "empty", "sub", "sub/c.txt"]


def test_blocks_of_another_size() -> None:
    with pytest.raises(Invalid, match="blocks have 512 bytes"):
        read_volume(reader(patched(16 * SECTOR + 128, struct.pack("<H", 512))))


def test_without_a_primary_descriptor() -> None:
    with pytest.raises(Invalid, match="no primary volume descriptor"):
        read_volume(reader(patched(16 * SECTOR, b"\x02")))


def test_descriptors_without_end() -> None:
    endless = patched(17 * SECTOR, b"\x02") + bytes(1_000)
    with pytest.raises(Invalid, match="missing or cut off"):
        read_volume(reader(endless))


def test_a_file_in_pieces_that_lie_side_by_side() -> None:
    """Files over 4 GiB have several records; `a.txt` here goes on where `b.txt` is."""
    first = record_of(DATA, b"A.TXT")
    flagged = patched(first + 25, b"\x80")
    flagged = patched(first + 10, struct.pack("<I", SECTOR), flagged)
    node = find(reader(flagged), read_volume(reader(flagged)), "b.txt")
    assert node is not None
    assert node.extent.length == SECTOR + len(b"second")
    assert flagged[node.extent.offset :].startswith(b"first")


def test_a_scattered_file() -> None:
    flagged = patched(record_of(DATA, b"A.TXT") + 25, b"\x80")
    with pytest.raises(Invalid, match="scattered"):
        names(flagged)


def test_folders_that_contain_each_other() -> None:
    root = read_volume(reader(DATA)).root.sector
    at = DATA.index(b"\x03SUB") - 32
    with pytest.raises(Invalid, match="contain each other"):
        names(patched(at + 2, struct.pack("<I", root)))


def test_impossibly_large_folders() -> None:
    volume = read_volume(reader(DATA))
    with pytest.raises(Invalid, match="impossibly large"):
        list(folder(reader(DATA), volume, Extent(volume.root.offset, 1 << 30)))
    with pytest.raises(Invalid, match="beyond its end"):
        list(folder(reader(DATA), volume, Extent(len(DATA), SECTOR)))


def test_a_record_that_is_too_short() -> None:
    with pytest.raises(Invalid, match="damaged"):
        names(patched(record_of(DATA, b"A.TXT"), b"\x10"))


@pytest.mark.parametrize("name", [b"a/txt", b"a\0txt"])
def test_names_no_file_can_have(name: bytes) -> None:
    with pytest.raises(Invalid, match="name that no file can have"):
        names(DATA.replace(b"a.txt", name))


def test_a_name_that_goes_on_elsewhere() -> None:
    """Long names continue in another sector."""
    at = DATA.index(b"NM\x0a\x01\x00b.txt")
    elsewhere = len(DATA) // SECTOR
    pointer = b"CE\x1c\x01" + b"".join(struct.pack("<I", n) + struct.pack(">I", n) for n in (elsewhere, 8, 14))
    start = record_of(DATA, b"B.TXT")
    record = DATA[start:at] + pointer
    record = bytes((len(record),)) + record[1:]
    # The record grows over its neighbours, which come after it in the folder.
    data = patched(start, record.ljust(SECTOR - start % SECTOR, b"\0"))
    data += bytes(8) + b"NM\x09\x01\x00far." + b"NM\x06\x01\x00x" + bytes(100)
    assert "far." in "".join(names(data))


def test_a_continuation_that_leads_back_to_itself_ends() -> None:
    elsewhere = len(DATA) // SECTOR
    loop = b"CE\x1c\x01" + b"".join(struct.pack("<I", n) + struct.pack(">I", n) for n in (elsewhere, 0, 28))
    at, start = DATA.index(b"NM\x0a\x01\x00b.txt"), record_of(DATA, b"B.TXT")
    record = DATA[start:at] + loop
    record = bytes((len(record),)) + record[1:]
    data = patched(start, record.ljust(SECTOR - start % SECTOR, b"\0")) + loop + bytes(100)
    assert "b.txt" in names(data)  # the plain name remains


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("igninfo.json", b"IGNINFO.JSO;1"),
        ("vmlinuz", b"VMLINUZ.;1"),
        ("assisted_installer_custom.img", b"ASSISTED.IMG;1"),
        ("a b-c.tar.gz", b"A_B_C_TA.GZ;1"),
    ],
)
def test_short_names(name: str, expected: bytes) -> None:
    assert short_name(name) == expected


@pytest.mark.parametrize("path", ["a//b", "x" * 121, ""])
def test_names_that_cannot_be_written(path: str) -> None:
    with pytest.raises(Invalid, match="cannot be written"):
        plan([NewFile(path=path, length=0, content=())], first_sector=18)


def test_two_files_of_one_short_name() -> None:
    files = [NewFile(path=f"longname-{end}.txt", length=0, content=()) for end in ("one", "two")]
    with pytest.raises(Invalid, match="same short name"):
        plan(files, first_sector=18)


def test_files_beyond_four_gibibytes() -> None:
    files = [NewFile(path="big.img", length=1 << 32, content=())]
    layout = plan(files, first_sector=18)
    with pytest.raises(Invalid, match="too large"):
        write(files, layout, descriptors=bytes(SECTOR), system_area=b"", date=bytes(7))
