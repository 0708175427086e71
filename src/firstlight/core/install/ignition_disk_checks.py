"""Checks of the storage section: paths, modes, links, partitions, RAID, file systems and encryption."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from firstlight.core.install.ignition_models import (
    ClevisCustom,
    Directory,
    Disk,
    File,
    Filesystem,
    Link,
    Luks,
    Model,
    Partition,
    Raid,
    Storage,
)

LARGEST_MODE: Final = 0o7777
LABEL_LIMIT: Final = {"ext4": 16, "btrfs": 256, "xfs": 12, "swap": 15, "vfat": 11}
PARTITION_LABEL_LIMIT: Final = 36
LUKS_LABEL_LIMIT: Final = 47
GUID: Final = re.compile(r"(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?")
LEVELS_WITHOUT_SPARES: Final = frozenset({"linear", "raid0", "0", "stripe"})
LEVELS: Final = LEVELS_WITHOUT_SPARES | frozenset(
    {"raid1", "1", "mirror", "raid4", "4", "raid5", "5", "raid6", "6", "raid10", "10"}
)
CLEVIS_PINS: Final = frozenset({"tpm2", "tang", "sss"})


def storage_problems(model: Model, place: str) -> Iterator[str]:
    match model:
        case File() | Directory():
            yield from path_problems(model.path, f"{place}.path")
            if model.mode is not None and not 0 <= model.mode <= LARGEST_MODE:
                yield f"{place}.mode {model.mode} is outside 0..{LARGEST_MODE}; modes are written in decimal"
            if isinstance(model, File) and model.overwrite and model.contents.source is None:
                yield f"{place} asks to overwrite but has no contents.source"
        case Link():
            yield from path_problems(model.path, f"{place}.path")
        case Storage():
            yield from link_problems(model, place)
        case Disk():
            yield from disk_problems(model, place)
        case Partition():
            yield from partition_problems(model, place)
        case Raid():
            yield from raid_problems(model, place)
        case Filesystem():
            yield from filesystem_problems(model, place)
        case Luks():
            yield from luks_problems(model, place)
        case ClevisCustom(pin=pin, config=config):
            if (pin or config) and pin not in CLEVIS_PINS:
                yield f"{place}.pin must be one of {', '.join(sorted(CLEVIS_PINS))}"
            if pin and not config:
                yield f"{place}.config is missing"
        case _:
            return


def path_problems(path: str, place: str) -> Iterator[str]:
    if not path:
        yield f"{place} is missing"
    elif not path.startswith("/"):
        yield f"{place} {path!r} is not absolute"
    elif clean(path) != path:
        yield f"{place} {path!r} is not in its simplest form, {clean(path)!r}"


def clean(path: str) -> str:
    """As posixpath.normpath, but without its special case of a leading double slash."""
    return re.sub(r"^//+", "/", posixpath.normpath(path))


def link_problems(storage: Storage, place: str) -> Iterator[str]:
    through = tuple(f"{link.path}/" for link in storage.links)
    for kind, nodes in (("directories", storage.directories), ("files", storage.files), ("links", storage.links)):
        for index, node in enumerate(nodes):
            if node.path.startswith(through):
                yield f"{place}.{kind}[{index}].path {node.path} leads through a link of this config"
    folders = {directory.path for directory in storage.directories}
    for index, link in enumerate(storage.links):
        if link.hard and clean(posixpath.join(link.path, link.target)) in folders:
            yield f"{place}.links[{index}] is a hard link to a directory"


def disk_problems(disk: Disk, place: str) -> Iterator[str]:
    yield from path_problems(disk.device, f"{place}.device")
    numbers = Counter(partition.number for partition in disk.partitions if partition.number)
    labels = Counter(partition.label for partition in disk.partitions if partition.label is not None)
    yield from (f"{place} uses partition number {number} twice" for number, count in numbers.items() if count > 1)
    yield from (f"{place} uses partition label {label!r} twice" for label, count in labels.items() if count > 1)
    # A start of 0 means "largest free block" and cannot overlap before the disk is known.
    spans = sorted(
        (partition.start_mib, partition.start_mib + max(partition.size_mib, 1) - 1)
        for partition in disk.partitions
        if partition.start_mib and partition.size_mib is not None
    )
    furthest: int | None = None
    for start, end in spans:
        if furthest is not None and start <= furthest:
            yield f"{place} has partitions that overlap at {start} MiB"
        furthest = end if furthest is None else max(furthest, end)


def partition_problems(partition: Partition, place: str) -> Iterator[str]:
    given = partition.label is not None or partition.start_mib is not None or partition.size_mib is not None
    if partition.should_exist is False and (given or partition.type_guid or partition.guid):
        yield f"{place} shall not exist but is described"
    if not partition.number and partition.label is None:
        yield f"{place} needs a number from 1 or a label"
    if partition.label is not None and len(partition.label.encode()) > PARTITION_LABEL_LIMIT:
        yield f"{place}.label is longer than {PARTITION_LABEL_LIMIT} characters"
    if partition.label is not None and ":" in partition.label:
        yield f"{place}.label contains a colon"
    for key, guid in (("guid", partition.guid), ("typeGuid", partition.type_guid)):
        if guid is not None and GUID.fullmatch(guid) is None:
            yield f"{place}.{key} is not a GUID"


def raid_problems(raid: Raid, place: str) -> Iterator[str]:
    if raid.level not in LEVELS:
        yield f"{place}.level {raid.level!r} is not a RAID level"
    elif raid.level in LEVELS_WITHOUT_SPARES and raid.spares:
        yield f"{place}.spares is not possible with level {raid.level}"
    if not raid.devices:
        yield f"{place}.devices is empty"
    for index, device in enumerate(raid.devices):
        yield from path_problems(device, f"{place}.devices[{index}]")


def filesystem_problems(filesystem: Filesystem, place: str) -> Iterator[str]:
    yield from path_problems(filesystem.device, f"{place}.device")
    if filesystem.path:
        yield from path_problems(filesystem.path, f"{place}.path")
    described = filesystem.path or filesystem.label or filesystem.uuid or filesystem.wipe_filesystem
    if not filesystem.format:
        if described or filesystem.options or filesystem.mount_options:
            yield f"{place}.format is missing"
    elif filesystem.format not in LABEL_LIMIT:
        yield f"{place}.format must be one of {', '.join(sorted(LABEL_LIMIT))}"
    elif len((filesystem.label or "").encode()) > LABEL_LIMIT[filesystem.format]:
        yield f"{place}.label is longer than {filesystem.format} allows ({LABEL_LIMIT[filesystem.format]})"


def luks_problems(luks: Luks, place: str) -> Iterator[str]:
    if "/" in luks.name:
        yield f"{place}.name contains a slash"
    if len((luks.label or "").encode()) > LUKS_LABEL_LIMIT:
        yield f"{place}.label is longer than {LUKS_LABEL_LIMIT} characters"
    yield from path_problems(luks.device or "", f"{place}.device")
    clevis = luks.clevis
    if clevis is not None and clevis.custom is not None and (clevis.tang or clevis.tpm2 or clevis.threshold):
        yield f"{place}.clevis has a custom pin beside tang, tpm2 or threshold"
