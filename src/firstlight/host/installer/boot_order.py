"""Making the firmware start from the new disk next time: efibootmgr where there is EFI, bootlist on POWER."""

import re
from typing import Final

from firstlight.host.installer.devices import Device
from firstlight.host.installer.run import Run, complaint_of
from firstlight.host.installer.written import written

LABEL: Final = "Red Hat Enterprise Linux"
EFI_PARTITION: Final = 2
MOUNT: Final = "/run/firstlight-installer/efi"
SECONDS: Final = 120.0
"""Some firmware takes its time to write what it shall remember."""
TRIES: Final = 3
FOLDERS: Final = ("redhat", "centos", "fedora")
LOADERS: Final = ("shimx64.efi", "shimaa64.efi")
_ORDER: Final = re.compile(r"^BootOrder: ([0-9A-Fa-f]{4})", re.MULTILINE)
_SAME_LABEL: Final = re.compile(r"Boot([0-9A-Fa-f]{4}) has same label")


async def set_boot_order(run: Run) -> None:
    """Trouble is only worth a warning: the disk may well be the first one already."""
    if run.settings.dry_run or run.settings.coreos_image:
        return
    if run.root.exists("/usr/sbin/bootlist"):
        await run.attempt("bootlist", "-m", "normal", "-o", run.device, limit=SECONDS)
        return
    if not run.root.is_folder("/sys/firmware/efi"):
        run.log.info("This machine has no EFI; its boot order stays as it is.")
        return
    system = await written(run, EFI_PARTITION)
    if system is None:
        run.log.warning("The boot order stays as it is: the disk has no second partition.", disk=run.device)
        return
    partition = system.partitions[EFI_PARTITION]
    loader = await _loader(run, partition)
    if not loader:
        run.log.warning("The boot order stays as it is: no boot loader was found.", partition=_path(partition))
        return
    made = await run.attempt(
        *("efibootmgr", "-v", "-d", run.device, "-p", str(EFI_PARTITION), "-c", "-L", LABEL, "-l", loader),
        limit=SECONDS,
        tries=TRIES,
    )
    if not made.succeeded:
        run.log.warning("failed to set boot order", reason=complaint_of(made))
        return
    for number in duplicates((made.output + b"\n" + made.errors).decode("utf-8", "replace")):
        await run.attempt("efibootmgr", "-v", "-b", number, "-B", limit=SECONDS)
    first = first_entry((await run.attempt("efibootmgr", "-v", limit=SECONDS)).text)
    if first == LABEL:
        run.log.info("The firmware starts from the new disk next time.")
    else:
        run.log.warning("The firmware does not start from the new disk next time.", first=first)


def first_entry(text: str) -> str:
    """The label that the firmware tries first, out of what efibootmgr lists; empty if that cannot be told."""
    order = _ORDER.search(text)
    entry = re.search(rf"^Boot{order[1]}\*? (.*)$", text, re.MULTILINE) if order else None
    return entry[1].partition("\t")[0].strip() if entry else ""


def duplicates(text: str) -> tuple[str, ...]:
    """Numbers of older entries that efibootmgr warns about because they have the label of the new one."""
    return tuple(dict.fromkeys(match[1].upper() for match in _SAME_LABEL.finditer(text)))


async def _loader(run: Run, partition: Device) -> str:
    """The firmware's path of the first boot loader on the partition, empty if there is none."""
    await run.attempt("mkdir", "-p", MOUNT, limit=SECONDS)
    mounted = await run.attempt("mount", "-o", "ro", _path(partition), MOUNT, limit=SECONDS, tries=TRIES)
    if not mounted.succeeded:
        return ""
    try:
        for folder in FOLDERS:
            for loader in LOADERS:
                seen = await run.host.run("test", "-e", f"{MOUNT}/EFI/{folder}/{loader}", limit=SECONDS)
                if seen.succeeded:
                    return f"\\EFI\\{folder}\\{loader}"
    finally:
        await run.attempt("umount", MOUNT, limit=SECONDS)
    return ""


def _path(partition: Device) -> str:
    return f"/dev/mapper/{partition.mapped_name}" if partition.mapped_name else partition.path
