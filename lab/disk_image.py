"""The disk image that coreos-installer writes: CoreOS's partitions, boot entries and first boot; our root tree."""

import shutil
import struct
from pathlib import Path
from typing import Final

from lab.building import ROOT, digest, kept, part, run, tool
from lab.live_iso import FALLBACK, QUIET, fat
from lab.root_tree import EPOCH, root_tree

MENU: Final = ROOT / "lab" / "disk" / "grub.cfg"
MIB: Final = 1024 * 1024
BLOCK: Final = 512
KARGS: Final = f"root=LABEL=root rw ignition.platform.id=metal console=tty0 console=ttyS0,115200n8 {QUIET}"
PARTITIONS: Final = (("BIOS-BOOT", 1, "ef02"), ("EFI-SYSTEM", 16, "ef00"), ("boot", 128, "8300"), ("root", 640, "8300"))
"""Name, mebibytes and type; coreos-installer finds the third by the label of its file system."""
FIRST: Final = 1
"""Mebibytes before the first partition."""
BIOS_MODULES: Final = (
    "biosdisk part_gpt ext2 normal linux configfile search search_label serial terminal test echo true"
)
UEFI_MODULES: Final = "part_gpt fat ext2 normal linux configfile search search_label serial terminal test echo true"
SHIM: Final = "redhat/shimx64.efi"
"""Where an installer that sets the boot order looks for the loader; here it is the loader itself."""
EXT4: Final = ("-q", "-F", "-O", "^metadata_csum_seed,^orphan_file")
"""Without what Debian's GRUB is too old to read."""
NOT_ON_DISK: Final = (
    "boot",
    "proc",
    "sys",
    "dev",
    "tmp",
    "run",
    "usr/lib/dracut",
    "var/cache/apt",
    "var/lib/apt/lists",
)
NOT_INSTALLED: Final = ("usr/bin/coreos-installer", "usr/bin/nmstatectl", "usr/bin/podman")
"""Programs of the live system that make the image larger and that nobody here uses after the installation."""
FSTAB: Final = "LABEL=root / ext4 defaults 0 1\nLABEL=boot /boot ext4 defaults 0 2\n"
ENTRY: Final = f"""title Lab stand-in for CoreOS
version 1
options $ignition_firstboot {KARGS}
linux /vmlinuz ${{kargs}}
initrd /initrd.img
"""
"""Boot loader entry and GRUB script in one: Debian's GRUB reads no entries, coreos-installer edits nothing else."""


def disk_image() -> Path:
    """Raw, compressed with gzip: emulated machines unpack that three times faster than xz."""
    tree = root_tree()
    key = digest(Path(__file__), MENU, tree.name)
    return kept("disk-image", key, lambda work: _make(work, tree)) / "disk.raw.gz"


def _make(work: Path, tree: Path) -> None:
    scratch = work / "scratch"
    scratch.mkdir()
    contents = {
        "EFI-SYSTEM": _uefi(scratch),
        "boot": _boot_partition(tree, scratch),
        "root": _root_partition(tree, scratch),
    }
    disk = work / "disk.raw"
    total = FIRST + sum(size for _, size, _ in PARTITIONS) + 1
    with disk.open("wb") as file:
        file.truncate(total * MIB)
    at, words = FIRST, [tool("sgdisk", package="gdisk")]
    for number, (name, size, kind) in enumerate(PARTITIONS, start=1):
        words += [
            "-n",
            f"{number}:{at * 2048}:{(at + size) * 2048 - 1}",
            "-t",
            f"{number}:{kind}",
            "-c",
            f"{number}:{name}",
        ]
        at += size
    run([*words, disk])
    at = FIRST
    for name, size, _ in PARTITIONS:
        if name in contents:
            run(
                [
                    "dd",
                    f"if={contents[name]}",
                    f"of={disk}",
                    "bs=1M",
                    f"seek={at}",
                    "conv=notrunc,sparse",
                    "status=none",
                ]
            )
        at += size
    _bios(disk, scratch)
    run(["gzip", "-1", "--no-name", disk])
    shutil.rmtree(scratch)


def _boot_partition(tree: Path, scratch: Path) -> Path:
    boot = scratch / "boot"
    (boot / "loader/entries").mkdir(parents=True)
    (boot / "grub2").mkdir()
    shutil.copyfile(tree / "vmlinuz", boot / "vmlinuz")
    shutil.copyfile(tree / "initrd.img", boot / "initrd.img")
    (boot / "ignition.firstboot").touch()
    (boot / "loader/entries/lab-1.conf").write_text(ENTRY)
    shutil.copyfile(MENU, boot / "grub2/grub.cfg")
    return _ext4("boot", boot, scratch)


def _root_partition(tree: Path, scratch: Path) -> Path:
    root = scratch / "root"
    run(["cp", "-a", "--reflink=auto", tree / "root", root])
    for name in NOT_ON_DISK:
        shutil.rmtree(root / name)
    for name in ("boot", "proc", "sys", "dev", "run"):
        (root / name).mkdir()
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    for name in NOT_INSTALLED:
        (root / name).unlink()
    (root / "etc/fstab").write_text(FSTAB)
    return _ext4("root", root, scratch)


def _ext4(label: str, folder: Path, scratch: Path) -> Path:
    size = next(size for name, size, _ in PARTITIONS if name == label)
    target = scratch / f"{label}.ext4"
    command = [tool("mkfs.ext4", package="e2fsprogs"), *EXT4, "-L", label, "-d", folder, target, f"{size}M"]
    run(command, environment={"SOURCE_DATE_EPOCH": EPOCH})
    return target


def _start(scratch: Path) -> Path:
    start = scratch / "early.cfg"
    start.write_text("search --set=root --label boot\nconfigfile ($root)/grub2/grub.cfg\n")
    return start


def _grub(kind: str, modules: str, scratch: Path, target: Path) -> None:
    grub = [
        tool("grub-mkimage", package="grub-common"),
        "-O",
        kind,
        "-p",
        "/grub2",
        "-c",
        _start(scratch),
        "-o",
        target,
    ]
    run([*grub, *modules.split()])


def _uefi(scratch: Path) -> Path:
    part("/usr/lib/grub/x86_64-efi/moddep.lst", package="grub-efi-amd64-bin")
    loader, target = scratch / "BOOTX64.EFI", scratch / "esp.img"
    _grub("x86_64-efi", UEFI_MODULES, scratch, loader)
    fat(target, size=16 * MIB, loader=loader, names=(FALLBACK, SHIM))
    return target


def _bios(disk: Path, scratch: Path) -> None:
    """What grub-install does, without a block device: the first block and the core are told where the core lies."""
    image = scratch / "core.img"
    first = bytearray(part("/usr/lib/grub/i386-pc/boot.img", package="grub-pc-bin").read_bytes()[:BLOCK])
    _grub("i386-pc", BIOS_MODULES, scratch, image)
    block = FIRST * MIB // BLOCK
    struct.pack_into("<Q", first, 0x5C, block)
    first[0x66:0x68] = b"\x90\x90"
    core = bytearray(image.read_bytes())
    core += bytes(-len(core) % BLOCK)
    struct.pack_into("<QHH", core, 500, block + 1, len(core) // BLOCK - 1, 0x820)
    with disk.open("r+b") as file:
        file.write(first[:440])
        file.seek(block * BLOCK)
        file.write(core)
