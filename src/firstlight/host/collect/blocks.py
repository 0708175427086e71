"""Block devices as the kernel lists them, with their partitions and what is built upon them."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from firstlight.host.collect.mounts import Claims
from firstlight.host.root import Root

BLOCKS: Final = "/sys/block"
ANY_BLOCK: Final = "/sys/class/block"
SECTOR: Final = 512
"""The kernel counts in these, whatever the disk's own sectors are."""
MOST_USERS: Final = 64
"""Devices looked at above one disk; nobody stacks more, and a loop in a hostile tree must end."""


class Block(Struct, frozen=True, kw_only=True):
    """The cheap facts, read of every device to choose those worth a closer look."""

    name: str
    place: str
    """Where its folder really is, as the kernel's link says: bus, controller and session are in there."""
    size_bytes: int
    mapper: str = ""
    """The device mapper's own name of it: `mpath-…`, `LVM-…`; empty for others."""
    mapped_name: str = ""

    @property
    def folder(self) -> str:
        return f"{BLOCKS}/{self.name}"

    @property
    def is_multipath(self) -> bool:
        return self.mapper.startswith("mpath-")

    @property
    def is_volume(self) -> bool:
        return self.mapper.startswith("LVM-")


def read_blocks(root: Root) -> Iterator[Block]:
    """Devices that may be disks, in order of their names; loop, memory and plain mapped devices are none."""
    for name in root.names(BLOCKS):
        if name.startswith(("loop", "zram")) or root.line(f"{BLOCKS}/{name}/hidden") == "1":
            continue
        mapper = root.line(f"{BLOCKS}/{name}/dm/uuid") if name.startswith("dm-") else None
        block = Block(
            name=name,
            place=root.link(f"{BLOCKS}/{name}") or "",
            size_bytes=max(root.number(f"{BLOCKS}/{name}/size") or 0, 0) * SECTOR,
            mapper=mapper or "",
            mapped_name=(root.line(f"{BLOCKS}/{name}/dm/name") or "") if mapper is not None else "",
        )
        if mapper is None or block.is_multipath or block.is_volume or block.mapped_name.startswith("agent"):
            yield block


class Part(Struct, frozen=True, kw_only=True):
    """The device itself or one of its partitions."""

    name: str
    device: str
    """Major and minor number with a colon."""
    holders: tuple[str, ...] = ()


def read_parts(root: Root, block: Block) -> tuple[Part, ...]:
    """The whole device first, then its partitions in order of their names."""
    folders = [block.folder]
    # Partitions are folders inside their disk's and carry the disk's name.
    inside = (name for name in root.names(block.folder) if name.startswith(block.name))
    folders += [f"{block.folder}/{name}" for name in inside if root.exists(f"{block.folder}/{name}/partition")]
    return tuple(_part(root, folder) for folder in folders)


def _part(root: Root, folder: str) -> Part:
    return Part(
        name=folder.rsplit("/", 1)[-1],
        device=root.line(f"{folder}/dev") or "",
        holders=root.names(f"{folder}/holders"),
    )


class Use(Struct, frozen=True, kw_only=True):
    """A part of a disk that somebody uses, and how."""

    part: str
    how: str
    point: str = ""
    """Where it is mounted; empty for other uses."""
    file_system: str = ""


def read_uses(root: Root, parts: tuple[Part, ...], *, claims: Claims) -> tuple[Use, ...]:
    """Mounts, swap and the like of a disk, its partitions, and whatever stands on these."""
    uses: list[Use] = []
    seen: set[str] = set()
    waiting = [(part, part.name) for part in reversed(parts)]
    while waiting and len(seen) < MOST_USERS:
        part, below = waiting.pop()
        if part.name in seen:
            continue
        seen.add(part.name)
        through = "" if part.name == below else f" through {part.name}"
        for mount in claims.by_device.get(part.device, ()):
            how = f"mounted at {mount.point}{through}"
            uses.append(Use(part=below, how=how, point=mount.point, file_system=mount.file_system))
        uses += [Use(part=below, how=f"{how}{through}") for how in claims.by_name.get(part.name, ())]
        waiting += [(_part(root, f"{ANY_BLOCK}/{name}"), below) for name in reversed(part.holders)]
    return tuple(dict.fromkeys(uses))
