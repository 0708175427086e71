"""Keep the document within the size the service asked for, and say what was left out."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core import wire

PARTIAL, FULL = "partial", "full"
OUTPUT_MAX_SIZE, DISK_MIN_SIZE = "--output-max-size", "--disk-min-size"
_LARGEST: Final = 2**62


class Limits(Struct, frozen=True, kw_only=True):
    """Zero means no limit."""

    output_max_size: int = 0
    disk_min_size: int = 0


def read_limits(arguments: Sequence[str]) -> Limits:
    """From the arguments of the step. The host id in front and whatever newer services add are passed over."""
    given = {name: value for name, equals, value in (text.partition("=") for text in arguments) if equals}
    return Limits(output_max_size=_size(given.get(OUTPUT_MAX_SIZE)), disk_min_size=_size(given.get(DISK_MIN_SIZE)))


def _size(text: str | None) -> int:
    return min(int(text), _LARGEST) if text and text.isascii() and text.isdigit() and len(text) < 20 else 0


def encode(inventory: wire.Inventory) -> bytes:
    return msgspec.json.encode(inventory)


class Found(Struct, frozen=True, kw_only=True):
    """How many there are of what is listed."""

    disks: int = 0
    interfaces: int = 0
    routes: int = 0


def noted(inventory: wire.Inventory, *, found: Found) -> wire.Inventory:
    """Say how many there are where not all are listed."""
    counts = (
        ("disks", len(inventory.disks or ()), found.disks),
        ("interfaces", len(inventory.interfaces or ()), found.interfaces),
        ("routes", len(inventory.routes or ()), found.routes),
    )
    reasons = tuple(f"Only {listed} of {there} {name} are listed." for name, listed, there in counts if there > listed)
    return replace(inventory, truncation=wire.Truncation(type=PARTIAL, reasons=reasons)) if reasons else inventory


def fit(inventory: wire.Inventory, *, found: Found, limits: Limits) -> wire.Inventory:
    """The whole document, or as many disks as fit, or almost nothing. Disks one could install on are kept longest."""
    whole = noted(inventory, found=found)
    if not limits.output_max_size or len(encode(whole)) <= limits.output_max_size:
        return whole
    disks = sorted(inventory.disks or (), key=_worth)
    bare = noted(replace(inventory, disks=()), found=found)
    room = limits.output_max_size - len(encode(bare)) - _slack(found.disks)
    kept: list[wire.Disk] = []
    for disk in disks:
        room -= len(msgspec.json.encode(disk)) + 1
        if room < 0:
            break
        kept.append(disk)
    names = {disk.name for disk in kept}
    shown = tuple(disk for disk in inventory.disks or () if disk.name in names)
    cut = noted(replace(inventory, disks=shown), found=found)
    return cut if len(encode(cut)) <= limits.output_max_size else _minimal(inventory, limits)


def _minimal(inventory: wire.Inventory, limits: Limits) -> wire.Inventory:
    reason = f"The inventory does not fit into {limits.output_max_size} bytes even without disks."
    cpu = replace(inventory.cpu, flags=None) if inventory.cpu is not None else wire.Cpu()
    return wire.Inventory(
        hostname=inventory.hostname[:255],
        cpu=cpu,
        memory=inventory.memory,
        truncation=wire.Truncation(type=FULL, reasons=(reason,)),
    )


def _worth(disk: wire.Disk) -> tuple[bool, bool, int, str]:
    verdict = disk.installation_eligibility
    eligible = verdict is None or verdict.eligible
    return (not eligible, not disk.is_installation_media, len(disk.name), disk.name)


def _slack(found: int) -> int:
    """The list's own key and brackets, and the count of disks in the note growing longer."""
    return len('"disks":[],') + 2 * len(str(found))
