"""The minimal image, looked at with our eyes and with those of xorriso."""

import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import SECTOR, find, read_volume, walk
from firstlight.core.images.iso_writer import NewFile
from firstlight.core.images.live_iso import read_live_iso
from firstlight.core.images.minimal_iso import MINISO, NMSTATE, RAMDISK, RAMDISK_ROOM, MinimalIso, minimal_iso
from firstlight.core.images.virtual import Memory, materialised
from tests.builders.live_isos import LABEL, ROOM, a_live_iso, by_xorriso, noise, reader, tree

URL = "http://10.0.0.1:8888/base/boot-artifacts/rootfs?arch=x86_64&version=418.94.202511191518-0"
EXPECTED = f'ignition.firstboot ignition.platform.id=metal console=tty0 coreos.live.rootfs_url="{URL}"'


@pytest.fixture(scope="module")
def full(xorriso: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return by_xorriso(tmp_path_factory.mktemp("iso"), tree()).read_bytes()


def made(data: bytes, *, url: str = URL, nmstate: bytes = b"") -> tuple[MinimalIso, bytes]:
    iso = read_live_iso(reader(data), size=len(data))
    extra = NewFile(path=NMSTATE, length=len(nmstate), content=(Memory(nmstate),)) if nmstate else None
    minimal = minimal_iso(reader(data), iso, name="full", rootfs_url=url, nmstate=extra)
    return minimal, materialised(minimal.file.segments, {"full": reader(data)})


def contents(data: bytes) -> dict[str, bytes]:
    volume = read_volume(reader(data))
    found = {path: node.extent for path, node in walk(reader(data), volume) if not node.is_folder}
    return {path: data[extent.offset :][: extent.length] for path, extent in found.items()}


@pytest.mark.parametrize("nmstate", [b"", noise("nmstate", 5_001)])
def test_it_is_the_full_image_without_its_root_file_system(full: bytes, nmstate: bytes) -> None:
    minimal, data = made(full, nmstate=nmstate)
    before, after = contents(full), contents(data)
    gone = {"images/pxeboot/rootfs.img", MINISO}
    new = {RAMDISK, *((NMSTATE,) if nmstate else ())}
    assert after.keys() == (before.keys() - gone) | new
    changed = {path for path in before.keys() & after.keys() if before[path] != after[path]}
    menus = {"EFI/redhat/grub.cfg", "isolinux/isolinux.cfg"}
    assert changed == menus | {"coreos/kargs.json", "isolinux/boot.cat", "isolinux/isolinux.bin"}
    assert after[RAMDISK] == bytes(RAMDISK_ROOM)
    assert after.get(NMSTATE, b"") == nmstate
    more = f" /{RAMDISK}" + (f" /{NMSTATE}" if nmstate else "")
    assert f"initrd /images/pxeboot/initrd.img /images/ignition.img{more}\n".encode() in after["EFI/redhat/grub.cfg"]
    assert f",/images/ignition.img{more.replace(' ', ',')} ignition".encode() in after["isolinux/isolinux.cfg"]
    assert minimal.file.size == len(data)


def test_its_areas_are_where_it_says(full: bytes) -> None:
    minimal, data = made(full)
    again = read_live_iso(reader(data), size=len(data))
    assert (again.ignition, again.kernel_arguments) == (minimal.ignition, minimal.kernel_arguments)
    assert minimal.kernel_arguments.current == EXPECTED
    assert minimal.kernel_arguments.size == len(EXPECTED) + ROOM
    node = find(reader(data), again.volume, RAMDISK)
    assert node is not None
    assert (minimal.ramdisk.offset, minimal.ramdisk.length) == (node.extent.offset, node.extent.length)
    changed = minimal.file.patched(minimal.kernel_arguments.with_appended(["more=1"]))
    written = materialised(changed.segments, {"full": reader(full)})
    found = read_live_iso(reader(written), size=len(written)).kernel_arguments
    assert found is not None
    assert found.current == f"{EXPECTED} more=1"


def test_it_boots_from_cd_and_usb_as_the_full_one_does(full: bytes, xorriso: str, tmp_path: Path) -> None:
    path = tmp_path / "minimal.iso"
    path.write_bytes(made(full)[1])
    command = [xorriso, "-indev", str(path), "-report_el_torito", "plain", "-report_system_area", "plain"]
    report = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    said = [" ".join(line.split()) for line in report.splitlines()]
    for expected in (
        "El Torito img path : 1 /isolinux/isolinux.bin",
        "El Torito img opts : 1 boot-info-table",
        "El Torito img path : 2 /images/efiboot.img",
        "MBR partition path : 2 /images/efiboot.img",
        "GPT partition path : 2 /images/efiboot.img",
    ):
        assert expected in said
    whole = path.stat().st_size // 512
    assert f"MBR partition : 1 0x80 0x00 0 {whole}" in said
    extracted = tmp_path / "out"
    command = [xorriso, "-osirrox", "on", "-indev", str(path), "-extract", "/", str(extracted)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert (extracted / "images/pxeboot/initrd.img").read_bytes() == tree()["images/pxeboot/initrd.img"]
    assert (extracted / RAMDISK).stat().st_size == RAMDISK_ROOM


def test_both_partition_tables_are_sound(full: bytes) -> None:
    data = made(full)[1]
    for at in (512, len(data) - 512):
        header = bytearray(data[at : at + 92])
        assert header[:8] == b"EFI PART"
        checksum = int.from_bytes(header[16:20], "little")
        header[16:20] = bytes(4)
        assert zlib.crc32(header) == checksum
        assert int.from_bytes(header[24:32], "little") == at // 512
        table = int.from_bytes(header[72:80], "little") * 512
        length = int.from_bytes(header[80:84], "little") * int.from_bytes(header[84:88], "little")
        assert zlib.crc32(data[table : table + length]) == int.from_bytes(header[88:92], "little")


def test_equal_base_images_give_equal_minimal_ones(full: bytes) -> None:
    assert made(full)[1] == made(full)[1]


@pytest.mark.parametrize("character", ["$", "\\", '"', " ", "\n", "`", "é"])
def test_addresses_that_boot_loaders_would_change(full: bytes, character: str) -> None:
    with pytest.raises(Invalid, match="IMAGE_SERVICE_BASE_URL"):
        made(full, url=f"http://host/{character}/rootfs")


def test_the_address_may_fill_the_line(full: bytes) -> None:
    spare = 2_048 - ROOM - len(EXPECTED) + len(URL)
    longest = "http://host/" + "a" * (spare - len("http://host/"))
    assert made(full, url=longest)[0].kernel_arguments.size == 2_048
    with pytest.raises(Invalid, match="shorter IMAGE_SERVICE_BASE_URL"):
        made(full, url=longest + "a")


def test_images_without_a_minimal_form() -> None:
    for architecture in ("s390x", "x86_64"):  # the second one has no boot catalogue
        with pytest.raises(Invalid, match="There is no minimal image"):
            made(a_live_iso(tree(architecture=architecture)))


def test_power_needs_no_boot_catalogue() -> None:
    """Its firmware finds the boot loader in the file system, so its images have no catalogue."""
    full = a_live_iso(tree(architecture="ppc64le"))
    minimal, data = made(full)
    again = read_live_iso(reader(data), size=len(data))
    assert again.volume.boot_catalogue is None
    assert (again.ignition, again.kernel_arguments) == (minimal.ignition, minimal.kernel_arguments)
    assert again.rootfs is None
    assert f"/images/ignition.img /{RAMDISK}\n".encode() in contents(data)["boot/grub/grub.cfg"]


def test_a_boot_catalogue_that_is_no_file(full: bytes) -> None:
    """Some tools hide it; the minimal image shows it."""
    record = full.index(b"BOOT.CAT;1") - 33
    elsewhere = full[: record + 2] + struct.pack("<I", 1) + struct.pack(">I", 1) + full[record + 10 :]
    data = made(elsewhere)[1]
    volume = read_volume(reader(data))
    node = find(reader(data), volume, "boot.cat")
    assert node is not None
    assert volume.boot_catalogue == node.extent.sector


@pytest.mark.parametrize("architecture", ["arm64", "ppc64le"])
def test_other_architectures(xorriso: str, tmp_path: Path, architecture: str) -> None:
    files = tree(architecture=architecture)
    boot = {"arm64": "images/efiboot.img", "ppc64le": "boot/grub/grub.cfg"}[architecture]
    root, target = tmp_path / "tree", tmp_path / "live.iso"
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    names = ["-V", LABEL, "-iso-level", "1", "-J", "-R", "-e", boot, "-c", "boot.catalog", "-no-emul-boot"]
    subprocess.run(["xorrisofs", "-quiet", "-o", str(target), *names, str(root)], check=True, capture_output=True)
    minimal, data = made(target.read_bytes())
    again = read_live_iso(reader(data), size=len(data))
    assert again.kernel_arguments == minimal.kernel_arguments
    assert again.rootfs is None
    assert contents(data)["images/pxeboot/vmlinuz"] == files["images/pxeboot/vmlinuz"]
    menus = [path for path in contents(data) if path.endswith("grub.cfg")]
    assert all(f"/{RAMDISK}\n".encode() in contents(data)[path] for path in menus)


def test_a_menu_without_ramdisk(full: bytes) -> None:
    menu = b"initrd /images/pxeboot/initrd.img"
    with pytest.raises(Invalid, match="names no initrd"):
        made(full.replace(menu, b"nothing".ljust(len(menu))))


def test_sectors_stay_whole(full: bytes) -> None:
    assert made(full)[0].file.size % SECTOR == 0
