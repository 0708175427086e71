"""Which disks an operating system may be written to, which one is taken, and which are wiped."""

from collections.abc import Iterable, Sequence
from typing import Final

from firstlight.core.hosts.facts import DiskVerdict
from firstlight.core.hosts.requirements import release_number
from firstlight.core.model.inventory import Disk, Inventory
from firstlight.core.network.addresses import address_of

GB: Final = 10**9
HDD, SSD, MULTIPATH, RAID, LVM = "HDD", "SSD", "Multipath", "RAID", "LVM"
ISCSI, FC = "iSCSI", "FC"
DASD: Final = ("ECKD (ESE)", "ECKD", "FBA")
NETWORKED: Final = frozenset({FC, ISCSI})
NEVER_FORMATTED: Final = frozenset({FC, ISCSI, LVM, MULTIPATH})
"""Drive types that may be shared with other machines, or are not disks of their own."""
_FAMILY: Final = {4: 2, 6: 10}
_X86: Final = frozenset({"x86_64", "amd64"})


def judge_disks(inventory: Inventory, *, minimum_gb: int, version: str) -> tuple[DiskVerdict, ...]:
    """A verdict per disk, in inventory order. The agent's own refusals count, but are not repeated."""
    types = installable_types(inventory.cpu.architecture, version=version)
    verdicts: list[DiskVerdict] = []
    for disk in inventory.disks:
        problems = tuple(_problems(disk, inventory, minimum_gb=minimum_gb, types=types))
        verdicts.append(DiskVerdict(id=disk.id, eligible=not (problems or disk.refusals), problems=problems))
    return tuple(verdicts)


def installable_types(architecture: str, *, version: str) -> tuple[str, ...]:
    """Drive types OpenShift boots from. An unknown version is taken for a new one: the pool has no release yet."""
    number = release_number(version)
    types = [HDD, SSD, MULTIPATH]
    if number is None or number >= (4, 14, 0):
        types.append(RAID)
    if number is None or number >= (4, 15, 0):
        types.append(ISCSI)
    if architecture in _X86:
        types.append(FC)
    if architecture == "s390x":
        types.extend((FC, *DASD))
    return tuple(types)


def disk_named(disks: Iterable[Disk], *names: str) -> Disk | None:
    """The first disk with one of these names, be it an id, a by-path link or a device path."""
    wanted = {name for name in names if name}
    for disk in disks:
        if wanted & {disk.id, disk.by_path, disk.path, f"/dev/{disk.name}"}:
            return disk
    return None


def eligible_disks(disks: Iterable[Disk], verdicts: Iterable[DiskVerdict]) -> list[Disk]:
    """Disks one may install to, the best first. The order does not depend on the order they came in."""
    judged = tuple(verdicts)
    # Two disks that claim one id stand or fall together.
    allowed = {verdict.id for verdict in judged if verdict.eligible} - {
        verdict.id for verdict in judged if not verdict.eligible
    }
    return sorted((disk for disk in disks if disk.id in allowed), key=_preference)


def choose_installation_disk(
    disks: Sequence[Disk], verdicts: Iterable[DiskVerdict], *, current_id: str = "", current_path: str = ""
) -> Disk | None:
    """The disk to install to: the one chosen before while it will do, else the best; None when no disk will."""
    candidates = eligible_disks(disks, verdicts)
    kept = disk_named(candidates, current_id) or disk_named(candidates, current_path)
    return kept or next(iter(candidates), None)


def disks_to_be_formatted(disks: Iterable[Disk]) -> tuple[str, ...]:
    """Disks another system could boot from: wiped unless the user forbids it, lest the machine comes up with them."""
    return tuple(
        disk.id
        for disk in disks
        if disk.bootable
        and not disk.removable
        and not disk.name.startswith("mmcblk")
        and not disk.is_installation_media
        and disk.drive_type not in NEVER_FORMATTED
    )


def paths_of(multipath: Disk, disks: Iterable[Disk]) -> list[Disk]:
    """The disks behind a multipath device."""
    return [disk for disk in disks if multipath.name and multipath.name in disk.holders]


def _preference(disk: Disk) -> tuple[bool, bool, str, int, str, str]:
    return (
        not disk.bootable,
        disk.name.startswith("nvme"),
        disk.drive_type,
        disk.size_bytes,
        disk.hctl,
        disk.id,
    )


def _problems(disk: Disk, inventory: Inventory, *, minimum_gb: int, types: tuple[str, ...]) -> Iterable[str]:
    if disk.size_bytes < minimum_gb * GB:
        yield _too_small(disk.size_bytes, minimum_gb)
    if disk.drive_type not in types:
        yield f"The drive type {disk.drive_type or 'unknown'} is not one of {', '.join(types)}."
    if disk.drive_type in NETWORKED and disk.holders:
        for holder in inventory.disks:
            if holder.drive_type == MULTIPATH and holder.name and holder.name in disk.holders:
                yield f"The disk is one path of the multipath device {holder.name}. Use that device instead."
    if disk.drive_type == ISCSI:
        yield from _iscsi_problems(disk, inventory)
    if disk.drive_type == MULTIPATH:
        yield from _multipath_problems(disk, inventory)


def _multipath_problems(disk: Disk, inventory: Inventory) -> Iterable[str]:
    paths = [path for path in paths_of(disk, inventory.disks) if path.drive_type in NETWORKED]
    if not paths:
        yield "The paths of the multipath device are neither FC nor iSCSI disks."
        return
    if len({path.drive_type for path in paths}) > 1:
        yield "The multipath device mixes FC and iSCSI paths. Let all its paths be of one type."
    for path in paths:
        if path.drive_type == ISCSI:
            for problem in _iscsi_problems(path, inventory):
                yield f"Path {path.name}: {problem}"


def _iscsi_problems(disk: Disk, inventory: Inventory) -> Iterable[str]:
    if not disk.iscsi_host_ip:
        yield "The address from which the host reaches the iSCSI disk is not known."
        return
    address = address_of(disk.iscsi_host_ip)
    if address is None:
        yield f"The address from which the host reaches the iSCSI disk, '{disk.iscsi_host_ip}', cannot be read."
        return
    default = default_route_interface(inventory, family=_FAMILY[address.version])
    if default is None:
        return
    interface = next((found for found in inventory.interfaces if found.name == default), None)
    if interface is None:
        yield f"The interface {default} of the default route is not in the inventory."
    elif any(address_of(own) == address for own in interface.addresses):
        yield (
            f"The iSCSI disk is reached through {default}, the interface of the default route. Reach it through another"
            " interface: the network is set up anew during the installation."
        )


def default_route_interface(inventory: Inventory, *, family: int) -> str | None:
    """Where the default route with the lowest metric leads; `family` is 2 or 10."""
    routes = [route for route in inventory.routes if route.family == family and _is_default(route.destination)]
    return min(routes, key=lambda route: (route.metric, route.interface)).interface if routes else None


def _is_default(destination: str) -> bool:
    address = address_of(destination)
    return address is not None and address.is_unspecified


def _too_small(size_bytes: int, minimum_gb: int) -> str:
    has = _gigabytes(size_bytes)
    if has == _gigabytes(minimum_gb * GB):
        return f"The disk is too small: it is {minimum_gb * GB - size_bytes} bytes short of {minimum_gb} GB."
    return f"The disk is too small: it has {has} GB, {minimum_gb} GB are needed."


def _gigabytes(size_bytes: int) -> str:
    """At most two digits behind the point. Whole-number arithmetic: hostile sizes do not fit a float."""
    whole, rest = divmod((size_bytes * 100 + GB // 2) // GB, 100)
    return f"{whole}.{rest:02}".rstrip("0").rstrip(".") if rest else str(whole)
