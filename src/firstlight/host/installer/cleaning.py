"""Taking everything off a disk: volume groups, mapped devices, arrays, signatures. Trouble is named, never fatal.

What belongs to the disk is what the kernel says stands on it; names that merely look alike stay untouched.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from firstlight.host.installer.devices import Device, Graph, find, read_graph, resolved
from firstlight.host.installer.run import Run, complaint_of

CLEAN_SECONDS: Final = 300.0
"""Storage networks with dead paths are slow to list, and a volume group that is half removed is in the way."""
EDGE_SECTORS: Final = 2048
"""Wiped at both ends of a disk: one MiB holds the partition table and, at the end, its copy."""


async def format_disks(run: Run) -> None:
    """Disks that must not be booted from lose their tables."""
    if run.settings.coreos_image:
        return
    graph = read_graph(run.root)
    for path in run.settings.disks_to_format:
        disk = find(run.root, graph, path)
        if disk is None:
            run.log.warning("A disk that was to be formatted is not there.", disk=path)
            continue
        for trouble in [one async for one in _wiped(run, graph, disk)]:
            run.log.warning("A disk could not be formatted.", disk=path, reason=trouble)


async def clean_disk(run: Run) -> None:
    settings = run.settings
    run.memory.learn("device", resolved(run.root, settings.boot_device))
    if settings.dry_run or settings.skip_disk_cleanup or settings.coreos_image:
        return
    troubles = [trouble async for trouble in _cleaned(run)]
    if troubles:
        run.log.warning(f"failed to prepare install device {run.device}", reasons="; ".join(troubles))
        run.tell(
            "Starting installation",
            f"{run.device} could not be cleaned completely ({troubles[0]}). The installation goes on; if it fails,"
            " clean the disk by hand and try again.",
        )


async def _cleaned(run: Run) -> AsyncIterator[str]:
    graph = read_graph(run.root)
    disk = find(run.root, graph, run.device)
    if disk is None:
        yield f"the kernel knows no device {run.device}"
        return
    async for trouble in _without_volumes(run, graph, disk):
        yield trouble
    # Without its volume groups the disk carries less.
    graph = read_graph(run.root)
    for device in graph.above(disk):
        async for trouble in _removed(run, graph, disk, device):
            yield trouble
    graph = read_graph(run.root)
    async for trouble in _wiped(run, graph, graph.devices.get(disk.number, disk)):
        yield trouble


async def _without_volumes(run: Run, graph: Graph, disk: Device) -> AsyncIterator[str]:
    listed = await run.attempt("pvs", "--noheadings", "--separator", "|", "-o", "pv_name,vg_name", limit=CLEAN_SECONDS)
    if not listed.succeeded:
        yield f"physical volumes cannot be listed: {complaint_of(listed)}"
        return
    ours = {disk.number, *(one.number for one in graph.above(disk))}
    volumes: list[str] = []
    groups: dict[str, None] = {}
    for path, group in physical_volumes(listed.text):
        device = find(run.root, graph, path)
        if device is not None and device.number in ours:
            volumes.append(path)
            if group:
                groups[group] = None
    for command in (
        *(("vgremove", "--force", "--yes", group) for group in groups),
        *(("pvremove", "--yes", "-ff", path) for path in volumes),
    ):
        outcome = await run.attempt(*command, limit=CLEAN_SECONDS)
        if not outcome.succeeded:
            yield f"{command[0]} {command[-1]} failed: {complaint_of(outcome)}"


def physical_volumes(text: str) -> Iterator[tuple[str, str]]:
    """Paths and the groups they belong to, from what `pvs` prints."""
    for line in text.splitlines():
        path, separator, group = line.strip().partition("|")
        if separator and path.startswith("/dev/"):
            yield path, group.strip()


async def _removed(run: Run, graph: Graph, disk: Device, device: Device) -> AsyncIterator[str]:
    """One device above the disk is taken down, and this disk's members of an array forget it."""
    if device.is_mapped and not device.is_multipath and not device.partition:
        outcome = await run.attempt("dmsetup", "remove", "--retry", device.mapped_name, limit=CLEAN_SECONDS)
        if not outcome.succeeded:
            yield f"the mapped device {device.mapped_name} cannot be removed: {complaint_of(outcome)}"
    elif device.is_array and not device.partition:
        outcome = await run.attempt("mdadm", "--stop", device.path, limit=CLEAN_SECONDS)
        if not outcome.succeeded:
            yield f"the array {device.path} cannot be stopped: {complaint_of(outcome)}"
        ours = {disk.number, *(one.number for one in graph.above(disk))}
        for number in device.stands_on:
            if number in ours:
                outcome = await run.attempt(
                    "mdadm", "--zero-superblock", graph.devices[number].path, limit=CLEAN_SECONDS
                )
                if not outcome.succeeded:
                    yield f"{graph.devices[number].path} does not forget its array: {complaint_of(outcome)}"


async def _wiped(run: Run, graph: Graph, disk: Device) -> AsyncIterator[str]:
    """Signatures of its partitions and of itself, then both ends, where copies of tables are."""
    paths = [*(one.path for one in graph.partitions(disk)), disk.path]
    for path in paths:
        outcome = await run.attempt("wipefs", "--all", "--force", path, limit=CLEAN_SECONDS)
        if not outcome.succeeded:
            outcome = await run.attempt("wipefs", "--all", path, limit=CLEAN_SECONDS)
        if not outcome.succeeded:
            yield f"signatures on {path} cannot be wiped: {complaint_of(outcome)}"
    for first in dict.fromkeys((0, max(disk.sectors - EDGE_SECTORS, 0))):
        outcome = await run.attempt(
            *("dd", "if=/dev/zero", f"of={disk.path}", "bs=512", f"seek={first}"),
            *(f"count={min(EDGE_SECTORS, disk.sectors or 1)}", "conv=notrunc,fsync"),
            limit=CLEAN_SECONDS,
        )
        if not outcome.succeeded:
            yield f"{disk.path} cannot be written: {complaint_of(outcome)}"
