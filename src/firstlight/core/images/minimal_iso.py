"""The minimal image: the full one without its root file system, which the booting machine fetches over HTTP instead.

It is laid out once per base image and copies nothing: kernel, initrd and boot loaders stay in the full image.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.images import boot_sectors, iso_writer
from firstlight.core.images.iso9660 import SECTOR, Node, walk
from firstlight.core.images.iso_writer import Layout, NewFile
from firstlight.core.images.kernel_arguments import (
    DESCRIPTION,
    LONGEST_AREA,
    Area,
    AreaFile,
    Description,
    KernelArguments,
)
from firstlight.core.images.live_iso import ROOTFS, IgnitionArea, LiveIso
from firstlight.core.images.virtual import FileSlice, Memory, ReadAt, VirtualFile

RAMDISK: Final = "images/network.img"
"""A short name: every boot loader finds it, whether or not it knows Rock Ridge."""
RAMDISK_ROOM: Final = 1024 * 1024
NMSTATE: Final = "images/nmstate.img"
MINISO: Final = "coreos/miniso.dat"
"""How to derive CoreOS's own minimal image from a pristine full one: pointless on this one."""
POWER_MENU: Final = "boot/grub/grub.cfg"
FIRST_SECTOR: Final = 19
"""After the boot loaders' sectors and three descriptors; where there is nothing to catalogue, one sector is empty."""
LARGEST_BOOT_FILE: Final = 1024 * 1024
_UNSAFE_IN_URL: Final = re.compile(r"[^!#%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]")
_LIVE_ISO: Final = re.compile(r"(?:^| )coreos\.liveiso=\S*")
_GRUB_INITRD: Final = re.compile(rb"^[ \t]*initrd[ \t].*?(?=[ \t]*$)", re.MULTILINE)
_ISOLINUX_INITRD: Final = re.compile(rb"\binitrd=\S+")


class MinimalIso(Struct, frozen=True, kw_only=True):
    file: VirtualFile
    ignition: IgnitionArea
    ramdisk: IgnitionArea
    kernel_arguments: KernelArguments


def minimal_iso(
    read: ReadAt, iso: LiveIso, *, name: str, rootfs_url: str, nmstate: NewFile | None = None
) -> MinimalIso:
    """`name` is what the full image is called in file slices. Invalid when the image has no minimal form."""
    arguments = iso.kernel_arguments
    if iso.rootfs is None or arguments is None or arguments.description is None:
        raise Invalid(f"There is no minimal image of {iso.label}. Use the full image.")
    without_catalogue = iso.volume.boot_catalogue is None and not _is_power(arguments.description)
    if iso.address_and_size is not None or without_catalogue:
        raise Invalid(f"There is no minimal image of {iso.label} for its architecture. Use the full image.")
    nodes = {path: node for path, node in walk(read, iso.volume) if not node.is_folder}
    ramdisks = [RAMDISK, *((nmstate.path,) if nmstate else ())]
    changed, description = _boot_configs(read, nodes, arguments, rootfs_url=rootfs_url, ramdisks=ramdisks)
    files = _files(nodes, changed, name=name)
    files += [NewFile(path=RAMDISK, length=RAMDISK_ROOM, content=()), *((nmstate,) if nmstate else ())]
    shown = _shown_catalogue(nodes, files, iso.volume.boot_catalogue)
    if shown is not None and all(file.path != shown for file in files):
        files.append(NewFile(path=shown, length=SECTOR, content=()))
    layout = iso_writer.plan(files, first_sector=FIRST_SECTOR)
    moves = {
        node.extent.sector: layout.file_sectors[path]
        for path, node in nodes.items()
        if path in layout.file_sectors and node.extent.length and path not in changed
    }
    if shown is not None:
        files = _with_boot_files_moved(read, iso, nodes, files, moves, catalogue=shown)
    return MinimalIso(
        file=_assembled(read, iso, files, layout, moves, catalogue=layout.file_sectors[shown] if shown else None),
        ignition=_moved_area(iso.ignition, nodes, layout),
        ramdisk=IgnitionArea(layout.file_sectors[RAMDISK] * SECTOR, RAMDISK_ROOM),
        kernel_arguments=_moved_arguments(arguments, description, nodes, layout, rootfs_url=rootfs_url),
    )


def minimal_arguments(text: str, *, rootfs_url: str) -> str:
    """The command line of the minimal image: no image to look for, an address to fetch from."""
    return f'{_LIVE_ISO.sub("", text).strip()} coreos.live.rootfs_url="{rootfs_url}"'


def _boot_configs(
    read: ReadAt, nodes: Mapping[str, Node], arguments: KernelArguments, *, rootfs_url: str, ramdisks: Sequence[str]
) -> tuple[dict[str, bytes], Description]:
    """The changed files, and where their areas now are."""
    if _UNSAFE_IN_URL.search(rootfs_url):
        raise Invalid("IMAGE_SERVICE_BASE_URL has a character that a boot loader would not pass on as it is.")
    old = arguments.description
    assert old is not None
    default = minimal_arguments(old.default, rootfs_url=rootfs_url)
    size = old.size + len(default.encode()) - len(old.default.encode())
    if size > LONGEST_AREA:
        raise Invalid(
            f"The kernel arguments of a minimal image would need {size} bytes, boot loaders read {LONGEST_AREA}."
            " Give a shorter IMAGE_SERVICE_BASE_URL."
        )
    current = minimal_arguments(arguments.current, rootfs_url=rootfs_url).encode()
    changed: dict[str, bytes] = {}
    files: list[AreaFile] = []
    for file in old.files:
        path = _known(nodes, file.path)
        extent = nodes[path].extent
        content = read(extent.offset, extent.length)
        before, after = content[: file.offset], content[file.offset + old.size :]
        before, after = _with_ramdisks(path, before, after, ramdisks)
        area = (current + file.end.encode()).ljust(size, file.pad.encode())
        changed[path] = before + area + after
        files.append(msgspec.structs.replace(file, offset=len(before)))
    description = Description(default=default, size=size, files=tuple(files))
    changed[_known(nodes, DESCRIPTION)] = msgspec.json.format(msgspec.json.encode(description), indent=2)
    return changed, description


def _with_ramdisks(path: str, before: bytes, after: bytes, ramdisks: Sequence[str]) -> tuple[bytes, bytes]:
    """isolinux names its ramdisks before the arguments, grub on a line after them."""
    if path.lower().endswith("isolinux.cfg"):
        found = [*_ISOLINUX_INITRD.finditer(before)]
        if found:
            more = "".join(f",/{one}" for one in ramdisks).encode()
            return before[: found[-1].end()] + more + before[found[-1].end() :], after
    else:
        match = _GRUB_INITRD.search(after)
        if match:
            more = "".join(f" /{one}" for one in ramdisks).encode()
            return before, after[: match.end()] + more + after[match.end() :]
    raise Invalid(f"The boot menu {path[:80]!r} of the base image names no initrd, so no minimal image can be made.")


def _known(nodes: Mapping[str, Node], path: str) -> str:
    if path in nodes:
        return path
    found = next((one for one in nodes if one.lower() == path.lower()), None)
    if found is None:
        raise Invalid(f"The base image has no {path[:80]!r}, so no minimal image can be made.")
    return found


def _files(nodes: Mapping[str, Node], changed: Mapping[str, bytes], *, name: str) -> list[NewFile]:
    """In their old order, so that neighbours stay neighbours."""
    files: list[NewFile] = []
    for path, node in sorted(nodes.items(), key=lambda item: (item[1].extent.offset, item[0])):
        if path.lower() in (ROOTFS, MINISO):
            continue
        if path in changed:
            content: tuple[FileSlice | Memory, ...] = (Memory(changed[path]),)
            length = len(changed[path])
        else:
            content = (FileSlice(name, node.extent.offset, node.extent.padded),)
            length = node.extent.length
        files.append(NewFile(path=path, length=length, content=content, identifier=node.identifier))
    return files


def _is_power(description: Description) -> bool:
    """Its firmware reads the boot loader from the file system, by name."""
    return any(file.path.lower() == POWER_MENU for file in description.files)


def _shown_catalogue(nodes: Mapping[str, Node], files: Sequence[NewFile], sector: int | None) -> str | None:
    """The file that is the boot catalogue; some tools hide theirs, then it becomes one."""
    if sector is None:
        return None
    return next((file.path for file in files if _begins_at(nodes, file.path, sector)), "boot.cat")


def _begins_at(nodes: Mapping[str, Node], path: str, sector: int) -> bool:
    return path in nodes and nodes[path].extent.sector == sector and nodes[path].extent.length > 0


def _with_boot_files_moved(
    read: ReadAt,
    iso: LiveIso,
    nodes: Mapping[str, Node],
    files: Sequence[NewFile],
    moves: Mapping[int, int],
    *,
    catalogue: str,
) -> list[NewFile]:
    old = read((iso.volume.boot_catalogue or 0) * SECTOR, SECTOR)
    rewritten = _boot_files(read, nodes, boot_sectors.boot_file_sectors(old), moves)
    rewritten[catalogue] = boot_sectors.moved_catalogue(old, moves)
    return [_rewritten(file, rewritten) for file in files]


def _boot_files(
    read: ReadAt, nodes: Mapping[str, Node], boots: Sequence[int], moves: Mapping[int, int]
) -> dict[str, bytes]:
    rewritten: dict[str, bytes] = {}
    for path, node in nodes.items():
        old = node.extent.sector
        if old in boots and old in moves and 0 < node.extent.length <= LARGEST_BOOT_FILE:
            content = read(node.extent.offset, node.extent.length)
            moved = boot_sectors.moved_boot_file(content, old=old, new=moves[old])
            if moved != content:
                rewritten[path] = moved
    return rewritten


def _rewritten(file: NewFile, contents: Mapping[str, bytes]) -> NewFile:
    if file.path not in contents:
        return file
    return msgspec.structs.replace(file, content=(Memory(contents[file.path][: file.length]),))


def _assembled(
    read: ReadAt,
    iso: LiveIso,
    files: Sequence[NewFile],
    layout: Layout,
    moves: Mapping[int, int],
    *,
    catalogue: int | None,
) -> VirtualFile:
    descriptors = iso.volume.primary
    if catalogue is not None:
        boot_record = b"\0CD001\1EL TORITO SPECIFICATION".ljust(71, b"\0") + struct.pack("<I", catalogue)
        descriptors += boot_record.ljust(SECTOR, b"\0")
    descriptors += b"\xffCD001\1".ljust(SECTOR, b"\0")
    old_area = read(0, boot_sectors.SYSTEM_AREA)
    end = layout.end * SECTOR
    size = boot_sectors.disk_size(end) if boot_sectors.is_disk(old_area) else end
    area, tail = boot_sectors.moved_system_area(old_area, moves, size=size)
    # The date of the old root folder: equal base images give equal minimal ones.
    date = iso.volume.primary[174:181]
    volume = iso_writer.write(files, layout, descriptors=descriptors, system_area=area, date=date)
    return VirtualFile((*volume.segments, Memory(bytes(size - end - len(tail)) + tail)))


def _moved_area(area: IgnitionArea, nodes: Mapping[str, Node], layout: Layout) -> IgnitionArea:
    for path, node in nodes.items():
        inside = area.offset - node.extent.offset
        if 0 <= inside < node.extent.length and path in layout.file_sectors:
            return IgnitionArea(layout.file_sectors[path] * SECTOR + inside, area.length, area.used)
    raise Invalid("The place for an Ignition config belongs to no file, so no minimal image can be made.")


def _moved_arguments(
    arguments: KernelArguments, description: Description, nodes: Mapping[str, Node], layout: Layout, *, rootfs_url: str
) -> KernelArguments:
    areas = tuple(
        Area(
            offset=layout.file_sectors[_known(nodes, file.path)] * SECTOR + file.offset,
            pad=file.pad.encode(),
            end=file.end.encode(),
        )
        for file in description.files
    )
    current = minimal_arguments(arguments.current, rootfs_url=rootfs_url)
    return KernelArguments(current=current, size=description.size, areas=areas, description=description)
