"""Live ISOs of the architectures that no machine here boots: the layout is CoreOS's, the programs are stand-ins."""

import gzip
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lab.building import run, tool
from lab.live_iso import IGNITION_AREA, LABEL, kernel_arguments_file
from lab.root_tree import EPOCH

KARGS: Final = f"coreos.liveiso={LABEL} ignition.firstboot ignition.platform.id=metal"
OTHER_ARCHITECTURES: Final = ("arm64", "ppc64le", "s390x")
S390X_KARGS: Final = 66_688
S390X_KARGS_SIZE: Final = 896
S390X_INITRD_POINTER: Final = 66_568
S390X_IGNITION: Final = 132_096
GRUB_INITRD: Final = "  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n"


def layout(architecture: str, folder: Path) -> Path:
    """The image `<architecture>.iso` in the folder."""
    files, boot = {"arm64": _arm64, "ppc64le": _ppc64le, "s390x": _s390x}[architecture]()
    tree = folder / architecture
    for path, content in {**_common(architecture), **files}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
    target = folder / f"{architecture}.iso"
    names = ["-V", LABEL, "-iso-level", "1", "-J", "-R"]
    command = [tool("xorrisofs", package="xorriso"), "-quiet", "-o", target, *names, *boot, tree]
    run(command, environment={"SOURCE_DATE_EPOCH": EPOCH})
    return target


Layout = tuple[Mapping[str, bytes], Sequence[str]]


def _common(architecture: str) -> dict[str, bytes]:
    return {
        "coreos/features.json": b"{}",
        "images/pxeboot/initrd.img": _initramfs(architecture),
        "images/pxeboot/rootfs.img": filler(f"{architecture} rootfs", 300_001),
        "images/pxeboot/vmlinuz": filler(f"{architecture} kernel", 70_000),
    }


def _arm64() -> Layout:
    """UEFI only; the other boot menu stays, unused."""
    head = 'menuentry "Live" {\n  linux /images/pxeboot/vmlinuz '
    grub, first = kernel_arguments_file("EFI/redhat/grub.cfg", head, GRUB_INITRD, kargs=KARGS)
    head = "label live\n  append initrd=/images/pxeboot/initrd.img,/images/ignition.img "
    isolinux, second = kernel_arguments_file("isolinux/isolinux.cfg", head, "", kargs=KARGS)
    files = {
        "EFI/redhat/grub.cfg": grub,
        "isolinux/isolinux.cfg": isolinux,
        "images/efiboot.img": filler("arm64 loader", 65_536),
        **_areas(first, second),
    }
    return files, ["-c", "boot.catalog", "-e", "images/efiboot.img", "-no-emul-boot"]


def _ppc64le() -> Layout:
    """Its firmware reads the loader from the volume: there is no boot catalogue."""
    head = 'menuentry "Live" {\n  linux /images/pxeboot/vmlinuz '
    grub, line = kernel_arguments_file("boot/grub/grub.cfg", head, GRUB_INITRD, kargs=KARGS)
    files = {
        "boot/grub/grub.cfg": grub,
        "boot/grub/powerpc-ieee1275/core.elf": filler("ppc64le loader", 90_000),
        "ppc/bootinfo.txt": b"<chrp-boot><boot-script>boot cd:,\\boot\\grub\\core.elf</boot-script></chrp-boot>\n",
        **_areas(line),
    }
    return files, ["-chrp-boot-part"]


def _s390x() -> Layout:
    """Kernel, arguments, initramfs and room for a config in one image that is loaded into memory as a whole."""
    initrd_at = S390X_IGNITION - len(_initramfs("s390x")) - (-len(_initramfs("s390x")) % 4)
    boot = bytearray(filler("s390x boot image", S390X_IGNITION + IGNITION_AREA))
    struct.pack_into(">Q", boot, S390X_INITRD_POINTER, initrd_at)
    boot[S390X_KARGS : S390X_KARGS + S390X_KARGS_SIZE] = KARGS.encode().ljust(S390X_KARGS_SIZE, b"\0")
    boot[initrd_at:] = _initramfs("s390x").ljust(S390X_IGNITION - initrd_at, b"\0") + bytes(IGNITION_AREA)
    area = {"path": "images/cdboot.img", "offset": S390X_KARGS, "pad": "\0", "end": "\0"}
    place = {"file": "images/cdboot.img", "offset": S390X_IGNITION, "length": IGNITION_AREA}
    files = {
        "images/cdboot.img": bytes(boot),
        "images/cdboot.prm": f"{KARGS}\n".encode(),
        "images/generic.prm": f"{KARGS}\n".encode(),
        "images/initrd.addrsize": struct.pack(">QQ", 0x0200_0000, len(_initramfs("s390x"))),
        "generic.ins": b"images/pxeboot/vmlinuz 0x00000000\nimages/pxeboot/initrd.img 0x02000000\n",
        "coreos/igninfo.json": json.dumps(place).encode(),
        "coreos/kargs.json": json.dumps({"default": KARGS, "size": S390X_KARGS_SIZE, "files": [area]}).encode(),
    }
    return files, ["-c", "boot.cat", "-b", "images/cdboot.img", "-no-emul-boot"]


def _areas(*lines: dict[str, object]) -> dict[str, bytes]:
    size = len(KARGS) + 1024
    return {
        "images/ignition.img": bytes(IGNITION_AREA),
        "coreos/igninfo.json": json.dumps({"file": "images/ignition.img"}).encode(),
        "coreos/kargs.json": json.dumps({"default": KARGS, "size": size, "files": lines}, indent=2).encode(),
    }


def _initramfs(architecture: str) -> bytes:
    """A real archive, so that tools can walk through it to what follows."""
    name, content = b"etc-os-release\0", f"ARCHITECTURE={architecture}\n".encode()
    return gzip.compress(_member(name, content) + _member(b"TRAILER!!!\0", b""), mtime=0)


def _member(name: bytes, content: bytes) -> bytes:
    fields = (1, 0o100644 if content else 0, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)


def filler(name: str, size: int) -> bytes:
    """Bytes that look like nothing else, the same every time."""
    return hashlib.shake_128(name.encode()).digest(size)
