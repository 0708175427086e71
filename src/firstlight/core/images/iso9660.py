"""Reading an ISO 9660 volume: descriptors and folders, with Rock Ridge names where there are any.

Files on such a volume are contiguous, so knowing a file means knowing where it begins and how long it is.
"""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.images.virtual import ReadAt

SECTOR: Final = 2048
DESCRIPTORS: Final = 16
"""Sector of the first volume descriptor; what lies before belongs to boot loaders."""
MOST_DESCRIPTORS: Final = 32
MOST_FOLDER_BYTES: Final = 4 * 1024 * 1024
MOST_NODES: Final = 20_000
MOST_CONTINUATIONS: Final = 16
PRIMARY, BOOT, END = 1, 0, 255
IS_FOLDER, IS_CONTINUED = 0x02, 0x80


class Extent(Struct, frozen=True):
    """Where a file stands in the image, in bytes."""

    offset: int
    length: int

    @property
    def sector(self) -> int:
        return self.offset // SECTOR

    @property
    def padded(self) -> int:
        """Its length in whole sectors, in bytes."""
        return -(-self.length // SECTOR) * SECTOR


class Node(Struct, frozen=True, kw_only=True):
    name: str
    """The Rock Ridge name, or the plain one in lower case without its version."""
    identifier: bytes
    """The plain name as it stands in the folder: upper case, short, with a version."""
    extent: Extent
    is_folder: bool


class Volume(Struct, frozen=True, kw_only=True):
    label: str
    size: int
    """Bytes the volume says it has."""
    primary: bytes
    """The primary volume descriptor as it is."""
    boot_catalogue: int | None
    """Sector of the El Torito boot catalogue."""
    root: Extent
    skip: int
    """Bytes before the Rock Ridge fields of each folder record."""


def read_volume(read: ReadAt) -> Volume:
    primary: bytes | None = None
    catalogue: int | None = None
    for number in range(DESCRIPTORS, DESCRIPTORS + MOST_DESCRIPTORS):
        sector = read(number * SECTOR, SECTOR)
        if len(sector) < SECTOR or sector[1:6] != b"CD001":
            raise Invalid("It is not an ISO 9660 image: the volume descriptors are missing or cut off.")
        if sector[0] == PRIMARY and primary is None:
            primary = sector
        elif sector[0] == BOOT and sector[7:30] == b"EL TORITO SPECIFICATION":
            catalogue = int(struct.unpack_from("<I", sector, 71)[0])
        elif sector[0] == END:
            break
    if primary is None:
        raise Invalid("It is not an ISO 9660 image: it has no primary volume descriptor.")
    sectors, block = struct.unpack_from("<I", primary, 80)[0], struct.unpack_from("<H", primary, 128)[0]
    if block != SECTOR:
        raise Invalid(f"Its blocks have {block} bytes. Only ISO images with blocks of {SECTOR} bytes can be used.")
    root = _extent(primary, 156)
    return Volume(
        label=primary[40:72].decode("ascii", "replace").rstrip(),
        size=sectors * SECTOR,
        primary=primary,
        boot_catalogue=catalogue,
        root=root,
        skip=_skip(read(root.offset, SECTOR)),
    )


def find(read: ReadAt, volume: Volume, path: str) -> Node | None:
    """The file or folder at a path like `images/pxeboot/rootfs.img`, however the image spells it."""
    node = Node(name="", identifier=b"\0", extent=volume.root, is_folder=True)
    for part in (part for part in path.split("/") if part):
        children = list(folder(read, volume, node.extent)) if node.is_folder else []
        found = next((child for child in children if child.name == part), None)
        found = found or next((child for child in children if child.identifier == short_name(part)), None)
        found = found or next((child for child in children if child.name.lower() == part.lower()), None)
        if found is None:
            return None
        node = found
    return node


def walk(read: ReadAt, volume: Volume) -> Iterator[tuple[str, Node]]:
    """Every file and folder with its path, folders before what lies in them."""
    waiting = [("", volume.root)]
    seen: set[int] = set()
    count = 0
    while waiting:
        prefix, extent = waiting.pop()
        if extent.offset in seen:
            raise Invalid("Its folders contain each other, so it is damaged.")
        seen.add(extent.offset)
        for node in folder(read, volume, extent):
            count += 1
            if count > MOST_NODES:
                raise Invalid(f"It has more than {MOST_NODES} files, which no live image has.")
            yield prefix + node.name, node
            if node.is_folder:
                waiting.append((f"{prefix}{node.name}/", node.extent))


def folder(read: ReadAt, volume: Volume, extent: Extent) -> Iterator[Node]:
    """What lies in a folder, without itself and its parent. Pieces of one file must lie side by side."""
    if extent.length > MOST_FOLDER_BYTES:
        raise Invalid("One of its folders is impossibly large, so it is damaged.")
    data = read(extent.offset, extent.length)
    if len(data) < extent.length:
        raise Invalid("It is cut off: a folder lies beyond its end.")
    begun: Extent | None = None
    for record in _records(data):
        length = record[32]
        identifier = record[33 : 33 + length]
        if identifier in (b"\0", b"\1"):
            continue
        piece = _extent(record, 0)
        if begun is not None:
            if begun.offset + begun.length != piece.offset:
                raise Invalid("A file on it is scattered, which cannot be read.")
            piece = Extent(begun.offset, begun.length + piece.length)
        begun = piece if record[25] & IS_CONTINUED else None
        if begun is None:
            name = _rock_ridge_name(read, record, 33 + length + (length + 1) % 2 + volume.skip)
            if "/" in name or "\0" in name or name in (".", ".."):
                raise Invalid("A file on it has a name that no file can have, so it is damaged.")
            plain = identifier.decode("ascii", "replace").partition(";")[0].rstrip(".").lower()
            is_folder = bool(record[25] & IS_FOLDER)
            yield Node(name=name or plain, identifier=bytes(identifier), extent=piece, is_folder=is_folder)


def short_name(name: str) -> bytes:
    """The plain name a file gets on an image of level 1: eight and three characters, upper case."""
    stem, _, ending = name.upper().rpartition(".") if "." in name else (name.upper(), "", "")
    allowed = str.maketrans({c: "_" for c in map(chr, range(128)) if not (c.isalnum() or c == "_")})
    return f"{stem.translate(allowed)[:8]}.{ending.translate(allowed)[:3]};1".encode("ascii", "replace")


def _records(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        length = data[at]
        if length == 0:
            at = (at // SECTOR + 1) * SECTOR
            continue
        record = data[at : at + length]
        if length < 34 or len(record) < length or 33 + record[32] > length:
            raise Invalid("A folder record on it is damaged.")
        yield record
        at += length


def _extent(record: bytes, at: int) -> Extent:
    sector, length = struct.unpack_from("<I", record, at + 2)[0], struct.unpack_from("<I", record, at + 10)[0]
    return Extent(sector * SECTOR, length)


def _skip(first: bytes) -> int:
    """How far into a record its Rock Ridge fields begin, from the mark in the root folder's own record."""
    mark = first[34:41]
    return mark[6] if mark[:2] == b"SP" and mark[4:6] == b"\xbe\xef" else 0


def _rock_ridge_name(read: ReadAt, record: bytes, at: int) -> str:
    fields, name = record[at:], b""
    for _ in range(MOST_CONTINUATIONS):
        onward: tuple[int, int, int] | None = None
        while len(fields) >= 4 and fields[2] >= 4:
            kind, body = fields[:2], fields[4 : fields[2]]
            if kind == b"NM" and body:
                name += body[1:]
            elif kind == b"CE" and len(body) >= 24:
                onward = struct.unpack_from("<I4xI4xI", body)
            elif kind == b"ST":
                break
            fields = fields[fields[2] :]
        if onward is None:
            break
        sector, offset, length = onward
        fields = read(sector * SECTOR + offset, min(length, SECTOR))
    return name.decode("utf-8", "replace")
