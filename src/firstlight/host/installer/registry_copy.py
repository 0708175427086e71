"""Media that bring a registry of their own: its data goes to the disk before the live system ends. Failing is final."""

import asyncio
from typing import Final

from firstlight.core.wire.words import HostStage
from firstlight.host.installer.devices import Device
from firstlight.host.installer.percent import BARE, Percents
from firstlight.host.installer.run import InstallationFailed, Run, complaint_of
from firstlight.host.installer.written import written

MEDIA: Final = "/run/media/iso/registry"
DATA: Final = "/mnt/agentdata"
MOUNT: Final = "/mnt/root"
TARGET: Final = "ostree/deploy/rhcos/var/lib/iri-registry"
STAGE: Final[HostStage] = "Copying registry data to disk"
ROOT_PARTITION: Final = 4
SECTOR: Final = 512
SIZE_SECONDS: Final = 900.0
NO_CHANGE: Final = b"NOCHANGE"
"""How growpart begins when a partition is as large as it can be, which it calls a failure."""
ROOM: Final = 2.5
"""Times the data: images are unpacked beside it."""


async def copy_registry(run: Run) -> None:
    if not run.root.exists(MEDIA) or run.node_role != "master" or run.settings.dry_run:
        return
    run.tell(STAGE)
    size = data_size(await run.must("du", "-sb", DATA, limit=SIZE_SECONDS))
    system = await written(run, ROOT_PARTITION)
    if system is None:
        raise InstallationFailed(f"{run.device} has no partition {ROOT_PARTITION} for the registry's data.")
    partition = system.partitions[ROOT_PARTITION]
    await _grow(run, system.disk, partition, size=size)
    await run.must("mkdir", "-p", MOUNT)
    await run.must("mount", partition.path, MOUNT, tries=3)
    try:
        await run.must("xfs_growfs", MOUNT)
        await run.must("mkdir", "-p", f"{MOUNT}/{TARGET}")
        await _copy(run)
    finally:
        await run.attempt("umount", MOUNT)


async def _grow(run: Run, disk: Device, partition: Device, *, size: int) -> None:
    """Once: an installer that was cut off has made the room already, and finds the partition as large as it is."""
    grown = f"grown {run.device}"
    free = run.memory.fact(grown) or str(free_percent(disk, partition, size=size))
    run.memory.learn(grown, free)
    outcome = await run.attempt("growpart", f"--free-percent={free}", run.device, str(ROOT_PARTITION))
    if not outcome.succeeded and NO_CHANGE not in outcome.output:
        raise InstallationFailed(f"The room for the registry's data cannot be made: {complaint_of(outcome)}")


async def _copy(run: Run) -> None:
    percents = Percents(BARE)

    def heard(piece: bytes) -> None:
        percent = percents.hear(piece)
        if percent is not None:
            run.tell(STAGE, f"{percent}%")

    begun = asyncio.get_running_loop().time()
    outcome = await run.host.run(
        *("rsync", "-ah", "--info=progress2", f"{DATA}/", f"{MOUNT}/{TARGET}"),
        limit=run.pace.longest_wait,
        silence_limit=run.pace.limit(STAGE),
        heard=heard,
    )
    if not outcome.succeeded:
        raise InstallationFailed(f"The registry's data could not be copied to {run.device}: {complaint_of(outcome)}")
    run.log.info("The registry's data is on the disk.", seconds=round(asyncio.get_running_loop().time() - begun))


def data_size(text: str) -> int:
    """Bytes, as `du -sb` prints them before the path."""
    word = text.split()[0] if text.split() else ""
    if not (word.isascii() and word.isdecimal()):
        raise InstallationFailed(f"The size of {DATA} cannot be told.")
    return int(word)


def free_percent(disk: Device, partition: Device, *, size: int) -> int:
    """What stays free when the partition grows by the room that the data needs; at least one part in a hundred."""
    wanted = partition.sectors * SECTOR + int(size * ROOM)
    free = 100 - -(-100 * wanted // (disk.sectors * SECTOR)) if disk.sectors else 0
    if free < 1:
        raise InstallationFailed(
            f"{disk.path} is too small for the registry's data: {int(size * ROOM) // 2**20} MiB are needed beside the"
            " system. Choose a larger installation disk."
        )
    return free
