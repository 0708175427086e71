"""Laying out a new ISO 9660 volume over files that stay where they are.

Only descriptors and folders are written anew; the contents of files remain references, so a volume of any size is a few
kilobytes of memory. The plain names are those of the volume it comes from: tools that know no Rock Ridge find them.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import SECTOR, short_name
from firstlight.core.images.virtual import Memory, Segment, VirtualFile

FOLDER_MODE, FILE_MODE = 0o040555, 0o100444
ROCK_RIDGE: Final = (
    b"RRIP_1991A"
    b"THE ROCK RIDGE INTERCHANGE PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS"
    b"PLEASE CONTACT DISC PUBLISHER FOR SPECIFICATION SOURCE.  "
    b"SEE PUBLISHER IDENTIFIER IN PRIMARY VOLUME DESCRIPTOR FOR CONTACT INFORMATION."
)
_LONGEST_NAME: Final = 120


class NewFile(Struct, frozen=True, kw_only=True):
    """A file to be laid out: its segments and, when it comes from another volume, the plain name it had there."""

    path: str
    length: int
    content: tuple[Segment, ...]
    """May go on up to the end of the last sector; what is missing there is filled with zeros."""
    identifier: bytes = b""

    @property
    def padded(self) -> int:
        return -(-self.length // SECTOR) * SECTOR


class Layout(Struct, frozen=True, kw_only=True):
    """Where everything will be."""

    folders: tuple[str, ...]
    """Paths, parents first, the root is empty; in the order of the path table."""
    folder_sectors: Mapping[str, tuple[int, int]]
    """First sector and number of sectors."""
    file_sectors: Mapping[str, int]
    path_table: tuple[int, int, int]
    """Its length in bytes, and the sectors of its two forms."""
    rock_ridge: int
    """Sector that says which naming rules hold."""
    first_file: int
    end: int
    """The first sector after the last file."""


def plan(files: Sequence[NewFile], *, first_sector: int) -> Layout:
    """`first_sector` is the first one after the descriptors."""
    folders = _folders(files)
    table = sum(_path_entry(path, parent=1, sector=0, order="<")[1] for path in folders)
    table_sectors = -(-table // SECTOR)
    at = first_sector + 2 * table_sectors
    rock_ridge, at = at, at + 1
    folder_sectors: dict[str, tuple[int, int]] = {}
    for path in folders:
        lengths = [len(record) for record in _records(path, files, folders, {}, {}, 0, date=bytes(7))]
        count = _sectors_of(lengths)
        folder_sectors[path] = (at, count)
        at += count
    first_file = at
    file_sectors: dict[str, int] = {}
    for file in files:
        file_sectors[file.path] = at
        at += file.padded // SECTOR
    return Layout(
        folders=folders,
        folder_sectors=folder_sectors,
        file_sectors=file_sectors,
        path_table=(table, first_sector, first_sector + table_sectors),
        rock_ridge=rock_ridge,
        first_file=first_file,
        end=at,
    )


def write(
    files: Sequence[NewFile], layout: Layout, *, descriptors: bytes, system_area: bytes, date: bytes
) -> VirtualFile:
    """The volume up to its last file. `descriptors` begin with a primary one, whose numbers are made to fit."""
    head = bytearray(layout.first_file * SECTOR)
    head[: len(system_area)] = system_area
    head[16 * SECTOR : 16 * SECTOR + len(descriptors)] = descriptors
    _write_primary(head, layout, date=date)
    table, little, big = layout.path_table
    for sector, order in ((little, "<"), (big, ">")):
        data = b"".join(
            _path_entry(path, parent=_parent_number(path, layout), sector=layout.folder_sectors[path][0], order=order)[
                0
            ]
            for path in layout.folders
        )
        head[sector * SECTOR : sector * SECTOR + table] = data
    extension = b"ER" + bytes((8 + len(ROCK_RIDGE), 1, 10, 84, len(ROCK_RIDGE) - 94, 1)) + ROCK_RIDGE
    head[layout.rock_ridge * SECTOR : layout.rock_ridge * SECTOR + len(extension)] = extension
    lengths = {file.path: file.length for file in files}
    for path in layout.folders:
        records = _records(path, files, layout.folders, layout.folder_sectors, layout.file_sectors, layout.rock_ridge,
                           date=date, lengths=lengths)  # fmt: skip
        _place(head, records, layout.folder_sectors[path][0])
    segments: list[Segment] = [Memory(bytes(head))]
    for file in files:
        segments += file.content
        segments.append(Memory(bytes(file.padded - sum(segment.length for segment in file.content))))
    return VirtualFile(tuple(segments))


def _folders(files: Sequence[NewFile]) -> tuple[str, ...]:
    found = {""}
    for file in files:
        parts = file.path.split("/")
        if any(len(part) > _LONGEST_NAME or not part for part in parts):
            raise Invalid(f"The name {file.path[:80]!r} cannot be written to a minimal image.")
        found.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    # The path table wants folders by depth, then by their parents' place in it, then by name.
    ordered: list[str] = [""]
    for path in ordered:
        inside = [one for one in found if one and one.rpartition("/")[0] == path]
        ordered.extend(sorted(inside, key=_folder_identifier))
    return tuple(ordered)


def _folder_identifier(path: str) -> bytes:
    return short_name(path.rpartition("/")[2]).partition(b".")[0] or b"\0"


def _parent_number(path: str, layout: Layout) -> int:
    return layout.folders.index(path.rpartition("/")[0]) + 1 if path else 1


def _path_entry(path: str, *, parent: int, sector: int, order: str) -> tuple[bytes, int]:
    name = _folder_identifier(path) if path else b"\0"
    entry = struct.pack(f"{order}BBIH", len(name), 0, sector, parent) + name + bytes(len(name) % 2)
    return entry, len(entry)


def _records(
    path: str,
    files: Sequence[NewFile],
    folders: Sequence[str],
    folder_sectors: Mapping[str, tuple[int, int]],
    file_sectors: Mapping[str, int],
    rock_ridge: int,
    *,
    date: bytes,
    lengths: Mapping[str, int] | None = None,
) -> list[bytes]:
    """The records of a folder; without places yet, they already have their final lengths."""

    def place(one: str) -> tuple[int, int]:
        sector, count = folder_sectors.get(one, (0, 0))
        return sector, count * SECTOR

    parent = path.rpartition("/")[0]
    own_extra = b"SP\x07\x01\xbe\xef\x00" + _continuation(rock_ridge) if not path else b""
    records = [
        _record(b"\0", place(path), folder=True, extra=own_extra + _mode(FOLDER_MODE), date=date),
        _record(b"\1", place(parent), folder=True, extra=_mode(FOLDER_MODE), date=date),
    ]
    named: list[tuple[bytes, bytes]] = []
    for one in (one for one in folders if one and one.rpartition("/")[0] == path):
        identifier = _folder_identifier(one)
        extra = _mode(FOLDER_MODE) + _name(one.rpartition("/")[2])
        named.append((identifier, _record(identifier, place(one), folder=True, extra=extra, date=date)))
    for file in (file for file in files if file.path.rpartition("/")[0] == path):
        name = file.path.rpartition("/")[2]
        identifier = file.identifier or short_name(name)
        where = (file_sectors.get(file.path, 0), (lengths or {}).get(file.path, 0))
        extra = _mode(FILE_MODE) + _name(name)
        named.append((identifier, _record(identifier, where, folder=False, extra=extra, date=date)))
    if len({identifier for identifier, _ in named}) != len(named):
        raise Invalid(f"Two files in {path or 'the root folder'} of the minimal image would have the same short name.")
    return records + [record for _, record in sorted(named)]


def _record(identifier: bytes, where: tuple[int, int], *, folder: bool, extra: bytes, date: bytes) -> bytes:
    sector, length = where
    if length >= 1 << 32:
        raise Invalid("A file is too large for a minimal image.")
    fixed = (
        both(sector)
        + both(length)
        + date
        + bytes((2 if folder else 0, 0, 0))
        + struct.pack("<H", 1)
        + struct.pack(">H", 1)
    )
    body = fixed + bytes((len(identifier),)) + identifier + bytes((len(identifier) + 1) % 2) + extra
    body += bytes((len(body) + 2) % 2)
    return bytes((len(body) + 2, 0)) + body


def _mode(mode: int) -> bytes:
    return b"PX\x24\x01" + both(mode) + both(1) + both(0) + both(0)


def _name(name: str) -> bytes:
    encoded = name.encode()
    return b"NM" + bytes((5 + len(encoded), 1, 0)) + encoded


def _continuation(sector: int) -> bytes:
    return b"CE\x1c\x01" + both(sector) + both(0) + both(8 + len(ROCK_RIDGE))


def _sectors_of(lengths: Sequence[int]) -> int:
    sectors, free = 1, SECTOR
    for length in lengths:
        if length > free:
            sectors, free = sectors + 1, SECTOR
        free -= length
    return sectors


def _place(head: bytearray, records: Sequence[bytes], sector: int) -> None:
    """A record never crosses a sector's end."""
    at = sector * SECTOR
    for record in records:
        if at % SECTOR + len(record) > SECTOR:
            at = (at // SECTOR + 1) * SECTOR
        head[at : at + len(record)] = record
        at += len(record)


def _write_primary(head: bytearray, layout: Layout, *, date: bytes) -> None:
    start = 16 * SECTOR
    table, little, big = layout.path_table
    sector, count = layout.folder_sectors[""]
    head[start + 80 : start + 88] = both(layout.end)
    head[start + 132 : start + 140] = both(table)
    head[start + 140 : start + 156] = struct.pack("<II", little, 0) + struct.pack(">II", big, 0)
    root = _record(b"\0", (sector, count * SECTOR), folder=True, extra=b"", date=date)
    head[start + 156 : start + 190] = root


def both(number: int) -> bytes:
    """A number the way ISO 9660 writes it: little end first, then big end first."""
    return struct.pack("<I", number) + struct.pack(">I", number)
