"""Whether a disk may be written to: who uses it, and what its beginning says about its contents."""

import stat
from typing import Final

from firstlight.host.collect.blocks import Block, read_parts, read_uses
from firstlight.host.collect.lab import Lab
from firstlight.host.collect.mounts import kernel_name, read_claims, read_mounts
from firstlight.host.root import Root

LOOKED_AT: Final = 2**20
_SIGNATURES: Final = (
    (512, b"EFI PART", "a GPT partition table"),
    (4096, b"EFI PART", "a GPT partition table"),
    (0, b"XFSB", "an XFS file system"),
    (1080, b"\x53\xef", "an ext file system"),
    (0x10040, b"_BHRfS_M", "a Btrfs file system"),
    (0, b"LUKS\xba\xbe", "an encrypted volume"),
    (512, b"LABELONE", "an LVM physical volume"),
    (4096, b"\xfc\x4e\x2b\xa9", "a RAID member"),
    (0x8001, b"CD001", "an ISO image"),
    (510, b"\x55\xaa", "an MBR partition table or boot sector"),
)


def why_not_a_disk(path: str, *, root: Root, lab: Lab | None) -> str:
    """Why nothing may be written to this path at all, empty if it may."""
    if not path.startswith("/dev/") or "\0" in path or ".." in path.split("/"):
        return f"{path!r} is not the path of a device."
    name = kernel_name(root, path)
    try:
        mode = root.path(f"/dev/{name}").stat().st_mode
    except (OSError, ValueError):
        return f"There is no device {path}."
    if not stat.S_ISBLK(mode):
        return f"{path} is not a disk."
    if name.startswith("loop") and (lab is None or f"/dev/{name}" not in lab.devices):
        return f"{path} is a loop device and not a disk."
    if root.exists(f"/sys/class/block/{name}/partition"):
        return f"{path} is a partition. Name the disk it is on."
    if root.line(f"/sys/block/{name}/ro") == "1":
        return f"{path} is read-only."
    parts = read_parts(root, Block(name=name, place="", size_bytes=0))
    mounts = read_mounts(root)
    if mounts is None:
        return f"Whether {path} is in use cannot be told: the mount table is unreadable. It was not written to."
    uses = read_uses(root, parts, claims=read_claims(root, mounts))
    listed = "; ".join(f"{use.part} is {use.how}" for use in uses[:4])
    return f"{path} is in use and was not written to: {listed}." if uses else ""


def device_of(path: str, *, root: Root) -> str:
    """The kernel's own path of a disk, so that what was checked is what is written to."""
    return f"/dev/{kernel_name(root, path)}"


def contents(path: str, *, root: Root) -> str:
    """What a disk seems to carry, empty if its beginning is empty too."""
    name = kernel_name(root, path)
    parts = read_parts(root, Block(name=name, place="", size_bytes=0))
    if len(parts) > 1:
        return f"{len(parts) - 1} partitions"
    holders = root.names(f"/sys/block/{name}/holders")
    return f"the device {holders[0]}" if holders else told_by(root.bytes(f"/dev/{name}", most=LOOKED_AT) or b"")


def told_by(beginning: bytes) -> str:
    for place, mark, what in _SIGNATURES:
        if beginning[place : place + len(mark)] == mark:
            return what
    return "unknown data" if any(beginning) else ""
