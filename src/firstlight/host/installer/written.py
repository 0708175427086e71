"""The partitions of the system that was written, waited for.

Whoever closes a disk after writing to it makes the kernel read the disk's table anew, and in the middle of that a disk
has no partitions at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firstlight.host.installer.devices import Device, find, read_graph
from firstlight.host.installer.run import Run

SETTLE_SECONDS: Final = 60
LOOKS: Final = 30
LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    disk: Device
    partitions: Mapping[int, Device]
    """By their numbers in the disk's table."""


async def written(run: Run, *wanted: int) -> Written | None:
    """The installation disk with at least the wanted partitions; None if they do not appear."""
    await run.attempt("udevadm", "settle", f"--timeout={SETTLE_SECONDS}", limit=SETTLE_SECONDS)
    for look in range(LOOKS):
        if look:
            await run.pace.rest(LOOK_SECONDS)
        graph = read_graph(run.root)
        disk = find(run.root, graph, run.device)
        if disk is None:
            continue
        partitions = {one.partition: one for one in graph.partitions(disk)}
        if partitions.keys() >= set(wanted):
            return Written(disk=disk, partitions=partitions)
    return None
