"""The graph of block devices as the kernel shows it: who stands on whom, by number and never by likeness of names."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from firstlight.host.root import Root

ANY_BLOCK: Final = "/sys/class/block"
MOST_LINKS: Final = 8


class Device(Struct, frozen=True, kw_only=True):
    name: str
    """The kernel's, `!` where its path has a slash."""
    number: str
    """Major and minor, such as 8:0: the identity."""
    partition: int = 0
    """Its number in the table of the disk, 0 if it is no partition."""
    sectors: int = 0
    """Of 512 bytes."""
    mapped_name: str = ""
    mapped_uuid: str = ""
    is_array: bool = False
    stands_on: tuple[str, ...] = ()
    """Numbers of the devices right below."""

    @property
    def path(self) -> str:
        return "/dev/" + self.name.replace("!", "/")

    @property
    def is_mapped(self) -> bool:
        return bool(self.mapped_name)

    @property
    def is_multipath(self) -> bool:
        return self.mapped_uuid.startswith("mpath-")


class Graph(Struct, frozen=True):
    devices: Mapping[str, Device]
    """By number."""

    def named(self, name: str) -> Device | None:
        return next((one for one in self.devices.values() if one.name == name), None)

    def on(self, device: Device) -> Iterator[Device]:
        return (one for one in self.devices.values() if device.number in one.stands_on)

    def above(self, device: Device) -> tuple[Device, ...]:
        """Everything that stands on it, however high; what stands on something comes before it."""
        order: dict[str, Device] = {}

        def visit(one: Device, path: frozenset[str]) -> None:
            for upper in sorted(self.on(one), key=lambda found: found.name):
                if upper.number not in path and upper.number not in order:
                    visit(upper, path | {upper.number})
                    order[upper.number] = upper

        visit(device, frozenset({device.number}))
        return tuple(order.values())

    def partitions(self, disk: Device) -> tuple[Device, ...]:
        """In order of their numbers. Partitions of a mapped disk are mapped devices themselves."""
        found = [one for one in self.on(disk) if one.partition]
        return tuple(sorted(found, key=lambda one: one.partition))


def read_graph(root: Root) -> Graph:
    """The devices of this moment; one that vanishes while we look is left out."""
    numbers = {name: number for name in root.names(ANY_BLOCK) if (number := root.line(f"{ANY_BLOCK}/{name}/dev"))}
    below: dict[str, set[str]] = {number: set() for number in numbers.values()}
    for name, number in numbers.items():
        folder = f"{ANY_BLOCK}/{name}"
        for child in root.names(folder):
            if child in numbers and root.number(f"{folder}/{child}/partition"):
                below[numbers[child]].add(number)
        for holder in root.names(f"{folder}/holders"):
            if holder in numbers:
                below[numbers[holder]].add(number)
        below[number] |= {numbers[slave] for slave in root.names(f"{folder}/slaves") if slave in numbers}
    return Graph({number: _device(root, name, number, below[number]) for name, number in numbers.items()})


def _device(root: Root, name: str, number: str, below: set[str]) -> Device:
    folder = f"{ANY_BLOCK}/{name}"
    uuid = root.line(f"{folder}/dm/uuid") or ""
    return Device(
        name=name,
        number=number,
        partition=root.number(f"{folder}/partition") or _mapped_partition(uuid),
        sectors=max(root.number(f"{folder}/size") or 0, 0),
        mapped_name=root.line(f"{folder}/dm/name") or "",
        mapped_uuid=uuid,
        is_array=root.is_folder(f"{folder}/md"),
        stands_on=tuple(sorted(below)),
    )


def _mapped_partition(uuid: str) -> int:
    """Partitions of multipath disks say so in the mapper's id: part2-mpath-36000…"""
    word = uuid.partition("-")[0]
    number = word.removeprefix("part")
    return int(number) if word.startswith("part") and number.isascii() and number.isdecimal() else 0


def resolved(root: Root, path: str) -> str:
    """The path with the symbolic links at its end followed; one that cannot be followed stays as it is."""
    for _ in range(MOST_LINKS):
        target = root.link(path)
        if target is None:
            return path
        path = _joined(path, target)
    return path


def find(root: Root, graph: Graph, path: str) -> Device | None:
    """The device a path leads to: /dev/sda, /dev/disk/by-id/…, /dev/mapper/…, /dev/vg/lv."""
    end = resolved(root, path)
    mapped = end.removeprefix("/dev/mapper/")
    if mapped != end:
        return next((one for one in graph.devices.values() if one.mapped_name == mapped), None)
    return graph.named(end.removeprefix("/dev/").replace("/", "!")) if end.startswith("/dev/") else None


def _joined(path: str, target: str) -> str:
    parts = [] if target.startswith("/") else path.split("/")[1:-1]
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
