"""Small images in CoreOS layout: the files a real one has, with stand-ins for what is large.

`a_live_iso` writes the volume itself; `by_xorriso` has it made, bootable from CD and USB, by a tool that is not ours.
"""

import json
import random
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from firstlight.core.images import iso_writer
from firstlight.core.images.iso9660 import SECTOR
from firstlight.core.images.iso_writer import NewFile
from firstlight.core.images.virtual import FileSlice, Memory, ReadAt, VirtualFile, materialised

LABEL: Final = "rhcos-418.94.202511191518-0"
KARGS: Final = f"coreos.liveiso={LABEL} ignition.firstboot ignition.platform.id=metal console=tty0"
ROOM: Final = 1024
AREA: Final = 262_144
MARKER: Final = "# COREOS_KARG_EMBED_AREA\n"
S390X_IGNITION: Final = 132_096
S390X_KARGS: Final = 66_688


def noise(name: str, size: int) -> bytes:
    """Bytes that look like nothing else, the same on every run."""
    return random.Random(name).randbytes(size)


def reader(data: bytes) -> ReadAt:
    return lambda offset, length: data[offset : offset + length]


def tree(*, architecture: str = "x86_64", kargs: str = KARGS, folder: str = "redhat") -> dict[str, bytes]:
    """The files of an image, by path."""
    files = {
        "coreos/features.json": b"{}",
        "coreos/miniso.dat": b"MINISO\0\0" + bytes(100),
        "images/pxeboot/initrd.img": noise("initrd", 30_011),
        "images/pxeboot/rootfs.img": noise("rootfs", 400_123),
        "images/pxeboot/vmlinuz": noise("vmlinuz", 50_000),
    }
    if architecture == "s390x":
        return files | _s390x(kargs)
    size = len(kargs) + ROOM
    area = (kargs + "\n").ljust(size, "#") + MARKER
    grub = 'set timeout=1\nmenuentry "Live" {\n  linux /images/pxeboot/vmlinuz '
    initrd = "  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n"
    menu = "boot/grub/grub.cfg" if architecture == "ppc64le" else f"EFI/{folder}/grub.cfg"
    files[menu] = (grub + area + initrd).encode()
    described = [{"path": menu, "offset": len(grub), "pad": "#", "end": "\n"}]
    if architecture != "ppc64le":
        append = "label live\n  append initrd=/images/pxeboot/initrd.img,/images/ignition.img "
        files["isolinux/isolinux.cfg"] = (append + area).encode()
        files["images/efiboot.img"] = noise("efiboot", 65_536)
        described.append({"path": "isolinux/isolinux.cfg", "offset": len(append)})
    if architecture == "x86_64":
        files["isolinux/isolinux.bin"] = noise("isolinux", 24_000)
    files["images/ignition.img"] = bytes(AREA)
    files["coreos/igninfo.json"] = b'{"file": "images/ignition.img"}'
    files["coreos/kargs.json"] = json.dumps({"default": kargs, "size": size, "files": described}).encode()
    return files


def _s390x(kargs: str) -> dict[str, bytes]:
    image = bytearray(noise("cdboot", S390X_IGNITION + AREA + 5_000))
    image[S390X_IGNITION : S390X_IGNITION + AREA] = bytes(AREA)
    image[S390X_KARGS : S390X_KARGS + 896] = kargs.encode().ljust(896, b"\0")
    where = {"path": "images/cdboot.img", "offset": S390X_KARGS, "pad": "\0", "end": "\0"}
    return {
        "images/cdboot.img": bytes(image),
        "images/initrd.addrsize": struct.pack(">QQ", 0x0200_0000, 30_011),
        "generic.ins": b"images/kernel.img 0x00000000\n",
        "coreos/igninfo.json": json.dumps(
            {"file": "images/cdboot.img", "offset": S390X_IGNITION, "length": AREA}
        ).encode(),
        "coreos/kargs.json": json.dumps({"default": kargs, "size": 896, "files": [where]}).encode(),
    }


def write_large(path: Path, size: int) -> int:
    """An image of about that size, whose root file system is a hole in the file; its real size."""
    files = [NewFile(path=name, length=len(data), content=(Memory(data),)) for name, data in tree().items()]
    hole = FileSlice("hole", 0, size)
    files.append(NewFile(path="images/pxeboot/large.img", length=size, content=(hole,)))
    volume = _volume(files, label=LABEL, header=b"")
    with path.open("wb") as file:
        for segment in volume.segments:
            if isinstance(segment, Memory):
                file.write(segment.data)
            else:
                file.seek(segment.length, 1)
        file.truncate(volume.size)
    return volume.size


def a_live_iso(files: Mapping[str, bytes] | None = None, *, label: str = LABEL, header: bytes = b"") -> bytes:
    """`header` goes right before the volume, where old images keep their embed areas' places."""
    contents = tree() if files is None else files
    new = [NewFile(path=path, length=len(data), content=(Memory(data),)) for path, data in contents.items()]
    return materialised(_volume(new, label=label, header=header).segments, {})


def _volume(files: list[NewFile], *, label: str, header: bytes) -> VirtualFile:
    layout = iso_writer.plan(files, first_sector=18)
    primary = bytearray(b"\1CD001\1".ljust(SECTOR, b"\0"))
    primary[40:72] = label.encode().ljust(32)
    primary[128:132] = struct.pack("<H", SECTOR) + struct.pack(">H", SECTOR)
    descriptors = bytes(primary) + b"\xffCD001\1".ljust(SECTOR, b"\0")
    area = bytes(16 * SECTOR - len(header)) + header
    return iso_writer.write(files, layout, descriptors=descriptors, system_area=area, date=bytes(7))


def by_xorriso(folder: Path, files: Mapping[str, bytes], *, label: str = LABEL) -> Path:
    """A hybrid image the way CoreOS makes them: short plain names, Rock Ridge and Joliet, BIOS and UEFI."""
    root = folder / "tree"
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    code = folder / "mbr.bin"
    code.write_bytes(noise("mbr", 432))
    target = folder / "live.iso"
    bios = ["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot", "-boot-load-size", "4"]
    efi = ["-eltorito-alt-boot", "-e", "images/efiboot.img", "-no-emul-boot"]
    usb = ["-isohybrid-mbr", str(code), "-isohybrid-gpt-basdat"]
    names = ["-V", label, "-iso-level", "1", "-J", "-R"]
    command = ["xorrisofs", "-quiet", "-o", str(target), *names, *bios, "-boot-info-table", *efi, *usb, str(root)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return target
