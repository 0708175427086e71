"""A live ISO in CoreOS layout around the stand-in's root tree: embed areas, boot menus, BIOS, UEFI and USB."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lab.building import digest, kept, part, peer, run, tool
from lab.root_tree import EPOCH, root_tree

BUILD: Final = "418.94.202601010000-0"
LABEL: Final = f"rhcos-{BUILD}"
QUIET: Final = "quiet mitigations=off audit=0 systemd.show_status=false systemd.getty_auto=no"
"""An emulated machine spends a third of its boot on talking and on guarding against its neighbours."""
KARGS: Final = (
    f"coreos.liveiso={LABEL} ignition.firstboot ignition.platform.id=metal console=tty0 console=ttyS0,115200n8 {QUIET}"
)
ROOM: Final = 1024
IGNITION_AREA: Final = 262_144
MINISO_AREA: Final = 16 * 1024
MARK: Final = "# COREOS_KARG_EMBED_AREA\n"
FEATURES: Final = '{"installer-config": true, "installer-config-directives": {}, "live-initrd-network": true}'
CHUNK: Final = 2 * 1024 * 1024
NOT_IN_ROOT: Final = ("boot", "usr/lib/dracut", "var/cache/apt", "var/lib/apt/lists", "proc", "sys", "dev", "tmp")
EMPTY_FOLDERS: Final = ("boot d 755 0 0", "proc d 555 0 0", "sys d 555 0 0", "dev d 755 0 0", "tmp d 1777 0 0")
FALLBACK: Final = "BOOT/BOOTX64.EFI"
GRUB_MODULES: Final = (
    "iso9660 fat part_gpt part_msdos normal linux configfile search search_label serial terminal test all_video"
)


def live_iso() -> Path:
    """The pristine image."""
    tree = root_tree()
    return kept("live-iso", digest(Path(__file__), tree.name), lambda work: _make(work, tree)) / "live.iso"


def kernel_arguments_file(path: str, before: str, after: str, *, kargs: str = KARGS) -> tuple[bytes, dict[str, object]]:
    """A boot menu with an area for kernel arguments between the two texts, and its line in kargs.json."""
    area = f"{kargs}\n".ljust(len(kargs) + ROOM, "#")
    return (before + area + MARK + after).encode(), {"path": path, "offset": len(before), "pad": "#", "end": "\n"}


def wanted_rootfs(rootfs: bytes) -> str:
    """What the initramfs compares a fetched root file system with."""
    pieces = (rootfs[at : at + CHUNK] for at in range(0, len(rootfs), CHUNK))
    return f"stream-hash sha256 {CHUNK}\n" + "".join(f"{hashlib.sha256(piece).hexdigest()}\n" for piece in pieces)


def _make(work: Path, tree: Path) -> None:
    iso, scratch = work / "tree", work / "scratch"
    for folder in ("EFI/redhat", "isolinux", "coreos", "images/pxeboot"):
        (iso / folder).mkdir(parents=True)
    scratch.mkdir()
    _root_file_system(tree / "root", iso / "images/pxeboot/rootfs.img", scratch)
    _initramfs(tree / "initrd.img", iso / "images/pxeboot", scratch)
    shutil.copyfile(tree / "vmlinuz", iso / "images/pxeboot/vmlinuz")
    _menus(iso)
    (iso / "images/ignition.img").write_bytes(bytes(IGNITION_AREA))
    (iso / "coreos/igninfo.json").write_text(json.dumps({"file": "images/ignition.img"}))
    (iso / "coreos/features.json").write_text(FEATURES)
    _uefi(iso / "images/efiboot.img", scratch)
    _write_with_minimal(iso, work / "live.iso", scratch / "minimal.iso")
    shutil.rmtree(iso)
    shutil.rmtree(scratch)


def _root_file_system(root: Path, target: Path, scratch: Path) -> None:
    """One uncompressed archive with one large member, whose contents begin at byte 124."""
    squashfs = scratch / "root.squashfs"
    options = ["-quiet", "-no-progress", "-comp", "zstd", "-Xcompression-level", "9", "-mkfs-time", EPOCH]
    for empty in EMPTY_FOLDERS:
        options += ["-p", empty]
    run([tool("mksquashfs", package="squashfs-tools"), root, squashfs, *options, "-e", *NOT_IN_ROOT])
    _archive(target, scratch, ["root.squashfs"])
    with target.open("rb") as file:
        file.seek(124)
        assert file.read(4) == b"hsqs", "the root file system does not begin where CoreOS's does"


def _initramfs(source: Path, folder: Path, scratch: Path) -> None:
    """Two archives in a row: one for every boot, one that makes it a live boot of exactly this root file system."""
    own = scratch / "live"
    (own / "etc/coreos").mkdir(parents=True)
    (own / "etc/coreos-live-initramfs").write_text(f"{BUILD}\n")
    (own / "etc/coreos/features.json").write_text(FEATURES)
    (own / "etc/coreos-live-want-rootfs").write_text(wanted_rootfs((folder / "rootfs.img").read_bytes()))
    names = [
        "etc",
        "etc/coreos",
        "etc/coreos-live-initramfs",
        "etc/coreos/features.json",
        "etc/coreos-live-want-rootfs",
    ]
    _archive(scratch / "live.cpio", own, names)
    run(["gzip", "--no-name", scratch / "live.cpio"])
    first = source.read_bytes()
    (folder / "initrd.img").write_bytes(first + bytes(-len(first) % 4) + (scratch / "live.cpio.gz").read_bytes())


def _archive(target: Path, folder: Path, names: list[str]) -> None:
    listed = "".join(f"{name}\n" for name in names)
    script = 'printf "%s" "$1" | "$2" --quiet -o -H newc --reproducible -R 0:0 >"$3"'
    run(["bash", "-euc", script, "archive", listed, tool("cpio", package="cpio"), target], where=folder)


def _menus(iso: Path) -> None:
    grub, grub_line = kernel_arguments_file(
        "EFI/redhat/grub.cfg",
        'serial --unit=0 --speed=115200\nset timeout=0\nmenuentry "Live" {\n  linux /images/pxeboot/vmlinuz ',
        "  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n",
    )
    isolinux, isolinux_line = kernel_arguments_file(
        "isolinux/isolinux.cfg",
        "serial 0\ndefault live\nprompt 0\ntimeout 1\nlabel live\n  kernel /images/pxeboot/vmlinuz\n"
        "  append initrd=/images/pxeboot/initrd.img,/images/ignition.img ",
        "",
    )
    (iso / "EFI/redhat/grub.cfg").write_bytes(grub)
    (iso / "isolinux/isolinux.cfg").write_bytes(isolinux)
    description = {"default": KARGS, "size": len(KARGS) + ROOM, "files": [grub_line, isolinux_line]}
    # Padded: coreos-installer rewrites it in place, with a longer default.
    (iso / "coreos/kargs.json").write_text(json.dumps(description, indent=2).ljust(2048) + "\n")
    shutil.copyfile(part("/usr/lib/ISOLINUX/isolinux.bin", package="isolinux"), iso / "isolinux/isolinux.bin")
    library = part("/usr/lib/syslinux/modules/bios/ldlinux.c32", package="syslinux-common")
    shutil.copyfile(library, iso / "isolinux/ldlinux.c32")


def _uefi(target: Path, scratch: Path) -> None:
    """A small FAT file system with a boot loader that finds the image by its label."""
    start = scratch / "early.cfg"
    start.write_text(f"search --set=root --label {LABEL}\nconfigfile ($root)/EFI/redhat/grub.cfg\n")
    part("/usr/lib/grub/x86_64-efi/moddep.lst", package="grub-efi-amd64-bin")
    loader = scratch / "BOOTX64.EFI"
    grub = [
        tool("grub-mkimage", package="grub-common"),
        "-O",
        "x86_64-efi",
        "-p",
        "/EFI/redhat",
        "-c",
        start,
        "-o",
        loader,
    ]
    run([*grub, *GRUB_MODULES.split()])
    fat(target, size=4 * 1024 * 1024, loader=loader)


def fat(target: Path, *, size: int, loader: Path, names: Sequence[str] = (FALLBACK,)) -> None:
    """A FAT file system with a loader under these names in its EFI folder; the default one every firmware tries."""
    with target.open("wb") as file:
        file.truncate(size)
    run([tool("mkfs.vfat", package="dosfstools"), "--invariant", target])
    folders = [f"::EFI/{name.partition('/')[0]}" for name in names]
    run([tool("mmd", package="mtools"), "-i", target, "::EFI", *folders])
    for name in names:
        run([tool("mcopy", package="mtools"), "-i", target, loader, f"::EFI/{name}"])


def _write_with_minimal(tree: Path, target: Path, minimal: Path) -> None:
    """The image knows how CoreOS's own minimal image is derived from it, as a real one does."""
    (tree / "coreos/miniso.dat").write_bytes(bytes(MINISO_AREA))
    _write(tree, target)
    for name in ("images/pxeboot/rootfs.img", "coreos/miniso.dat"):
        (tree / name).unlink()
    _write(tree, minimal)
    run([peer("coreos-installer"), "pack", "minimal-iso", "--consume", target, minimal])


def _write(tree: Path, target: Path) -> None:
    """`-iso-level 1` gives the short plain names that coreos-installer looks for."""
    names = ["-V", LABEL, "-iso-level", "1", "-J", "-R"]
    bios = ["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot", "-boot-load-size", "4"]
    uefi = ["-boot-info-table", "-eltorito-alt-boot", "-e", "images/efiboot.img", "-no-emul-boot"]
    usb = ["-isohybrid-mbr", part("/usr/lib/ISOLINUX/isohdpfx.bin", package="isolinux"), "-isohybrid-gpt-basdat"]
    command = [tool("xorrisofs", package="xorriso"), "-quiet", "-o", target, *names, *bios, *uefi, *usb, tree]
    run(command, environment={"SOURCE_DATE_EPOCH": EPOCH})
