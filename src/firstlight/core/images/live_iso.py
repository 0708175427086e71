"""What a CoreOS live ISO offers us: a place for an Ignition config, places for kernel arguments, and what PXE needs."""

import struct
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import Extent, Volume, find, read_volume
from firstlight.core.images.kernel_arguments import KernelArguments, read_kernel_arguments
from firstlight.core.images.virtual import ReadAt, Region

LABELS: Final = ("rhcos-", "fedora-coreos-", "scos-")
IGNITION_DESCRIPTION: Final = "coreos/igninfo.json"
IGNITION_FILE: Final = "images/ignition.img"
ROOTFS: Final = "images/pxeboot/rootfs.img"
INITRD: Final = "images/pxeboot/initrd.img"
KERNELS: Final = ("images/pxeboot/vmlinuz", "images/pxeboot/kernel.img", "images/kernel.img")
"""s390x had another name for it once."""
OLD_HEADER_OFFSET: Final = 32_744
OLD_HEADER: Final = struct.Struct("<8sQQ")
OLD_HEADER_MARK: Final = b"coreiso+"
LARGEST_AREA: Final = 64 * 1024 * 1024


class IgnitionArea(Struct, frozen=True):
    """Where the config goes, in the image."""

    offset: int
    length: int
    used: int = 0
    """Bytes from its beginning that hold something already and must be overwritten."""

    def filled(self, archive: bytes) -> Region:
        """Nothing of what was there before survives. Invalid when the archive does not fit."""
        if len(archive) > self.length:
            raise Invalid(
                f"The Ignition config needs {len(archive)} bytes when packed, but this image has room for"
                f" {self.length}: {len(archive) - self.length} too many. Shorten the override, the trust bundle or the"
                " static network."
            )
        return Region(self.offset, archive.ljust(self.used, b"\0"))


class LiveIso(Struct, frozen=True, kw_only=True):
    """Offsets and lengths in one image; the image itself stays where it is."""

    label: str
    size: int
    volume: Volume
    ignition: IgnitionArea
    kernel_arguments: KernelArguments | None
    kernel: Extent
    initrd: Extent
    rootfs: Extent | None
    address_and_size: Extent | None
    """s390x: where in memory the initrd is loaded, and its length."""
    ins_file: Extent | None

    def kernel_argument_regions(self, values: Sequence[str]) -> tuple[Region, ...]:
        if not values:
            return ()
        if self.kernel_arguments is None:
            raise Invalid(
                f"The base image {self.label} is too old to take kernel arguments. Remove them or use a newer version."
            )
        return self.kernel_arguments.with_appended(values)


class _IgnitionDescription(Struct, frozen=True, kw_only=True):
    file: str
    offset: int = 0
    length: int | None = None


def read_live_iso(read: ReadAt, *, size: int) -> LiveIso:
    """`size` is that of the file. Invalid, with the reason, when this is no usable CoreOS live image."""
    volume = read_volume(read)
    if not volume.label.startswith(LABELS):
        raise Invalid(f"It is not a CoreOS live image: its label is {volume.label[:32]!r}.")
    if size < volume.size:
        raise Invalid(f"It is cut off: it has {size} of {volume.size} bytes.")
    kernel = next((found for path in KERNELS if (found := _file(read, volume, path))), None)
    initrd = _file(read, volume, INITRD) or _file(read, volume, "images/initrd.img")
    if kernel is None or initrd is None:
        raise Invalid("It is not a CoreOS live image: it has no kernel and initrd for booting over the network.")
    rootfs = _file(read, volume, ROOTFS)
    ends = [extent.offset + extent.length for extent in (kernel, initrd, rootfs) if extent is not None]
    if max(ends) > size:
        raise Invalid("It is cut off: a file on it lies beyond its end.")
    return LiveIso(
        label=volume.label,
        size=size,
        volume=volume,
        ignition=_ignition_area(read, volume, size=size),
        kernel_arguments=read_kernel_arguments(read, volume),
        kernel=kernel,
        initrd=initrd,
        rootfs=rootfs,
        address_and_size=_file(read, volume, "images/initrd.addrsize"),
        ins_file=_file(read, volume, "generic.ins"),
    )


def _file(read: ReadAt, volume: Volume, path: str) -> Extent | None:
    node = find(read, volume, path)
    return None if node is None or node.is_folder else node.extent


def _ignition_area(read: ReadAt, volume: Volume, *, size: int) -> IgnitionArea:
    offset, length = _described_area(read, volume)
    if not 0 < length <= LARGEST_AREA or offset < 0 or offset + length > size:
        raise Invalid("The place it names for an Ignition config does not exist.")
    content = read(offset, length)
    return IgnitionArea(offset, length, len(content.rstrip(b"\0")))


def _described_area(read: ReadAt, volume: Volume) -> tuple[int, int]:
    described = _file(read, volume, IGNITION_DESCRIPTION)
    if described is None:
        plain = _file(read, volume, IGNITION_FILE)
        if plain is not None:
            return plain.offset, plain.length
        return _old_header(read)
    try:
        text = read(described.offset, min(described.length, 65_536))
        description = msgspec.json.decode(text, type=_IgnitionDescription)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Invalid(f"Its {IGNITION_DESCRIPTION} cannot be read.") from None
    file = _file(read, volume, description.file)
    if file is None:
        raise Invalid(f"Its {IGNITION_DESCRIPTION} names {description.file[:80]!r}, which it does not have.")
    length = file.length - description.offset if description.length is None else description.length
    if description.offset < 0 or description.offset + length > file.length:
        raise Invalid(f"Its {IGNITION_DESCRIPTION} names a place outside of {description.file[:80]!r}.")
    return file.offset + description.offset, length


def _old_header(read: ReadAt) -> tuple[int, int]:
    data = read(OLD_HEADER_OFFSET, OLD_HEADER.size)
    if len(data) < OLD_HEADER.size or not data.startswith(OLD_HEADER_MARK):
        raise Invalid("It is not a CoreOS live image: it has no place for an Ignition config.")
    _, offset, length = OLD_HEADER.unpack(data)
    return offset, length
