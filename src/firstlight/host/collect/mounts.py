"""What is mounted, swapped to or otherwise claimed by a file system, as the machine's first process sees it.

Never our own process's table: inside a container that one says nothing about the machine.
"""

import re
from typing import Final

from msgspec import Struct

from firstlight.host.root import Root

MOUNTS: Final = "/proc/1/mountinfo"
SWAPS: Final = "/proc/swaps"
BTRFS: Final = "/sys/fs/btrfs"
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


class Mount(Struct, frozen=True, kw_only=True):
    """A line of the mount table."""

    device: str
    """Major and minor number with a colon; file systems that span devices have one of their own."""
    point: str
    file_system: str = ""
    source: str = ""


def read_mounts(root: Root) -> tuple[Mount, ...] | None:
    """In the order of mounting: the last on a mount point is the visible one. None if nobody may tell."""
    text = root.text(MOUNTS)
    return None if text is None else parse_mountinfo(text)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Lines that make no sense are left out."""
    found: list[Mount] = []
    for line in text.split("\n"):
        left, dash, right = line.partition(" - ")
        fields, rest = left.split(" "), right.split(" ")
        if dash and len(fields) >= 6 and re.fullmatch(r"[0-9]+:[0-9]+", fields[2], re.ASCII):
            source = unescape(rest[1]) if len(rest) > 1 else ""
            found.append(Mount(device=fields[2], point=unescape(fields[4]), file_system=rest[0], source=source))
    return tuple(found)


def parse_swaps(text: str) -> tuple[str, ...]:
    """Paths of what is swapped to, in order."""
    lines = text.split("\n")[1:]
    return tuple(sorted(unescape(line.split()[0]) for line in lines if line.startswith("/")))


def unescape(text: str) -> str:
    """The kernel writes blanks and backslashes as three octal digits of a byte."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8) & 0xFF), text)


class Claims(Struct, frozen=True, kw_only=True):
    """Who uses which block device directly."""

    by_device: dict[str, tuple[Mount, ...]] = {}
    by_name: dict[str, tuple[str, ...]] = {}
    """Kernel name → what it is used for, where the device number does not tell."""


def read_claims(root: Root, mounts: tuple[Mount, ...]) -> Claims:
    by_device: dict[str, list[Mount]] = {}
    by_name: dict[str, list[str]] = {}
    for mount in mounts:
        by_device.setdefault(mount.device, []).append(mount)
        if mount.device.startswith("0:") and mount.source.startswith("/dev/"):
            by_name.setdefault(kernel_name(root, mount.source), []).append(f"mounted at {mount.point}")
    for path in parse_swaps(root.text(SWAPS) or ""):
        by_name.setdefault(kernel_name(root, path), []).append("used as swap space")
    for file_system in root.names(BTRFS):
        for name in root.names(f"{BTRFS}/{file_system}/devices"):
            by_name.setdefault(name, []).append(f"part of the mounted file system {file_system}")
    return Claims(
        by_device={device: tuple(found) for device, found in by_device.items()},
        by_name={name: tuple(dict.fromkeys(found)) for name, found in by_name.items()},
    )


def kernel_name(root: Root, path: str) -> str:
    """`/dev/mapper/data` is a link to `../dm-3`; the last part of where it leads is the kernel's name."""
    target = root.link(path) if path.startswith("/dev/") else None
    return (target or path).rsplit("/", 1)[-1]
