"""What is found in live images of every kind, and why others are refused."""

import json
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.images.iso9660 import SECTOR, find, read_volume, short_name, walk
from firstlight.core.images.live_iso import LiveIso, read_live_iso
from firstlight.core.images.virtual import materialised, whole_file
from tests.builders.live_isos import AREA, KARGS, LABEL, ROOM, a_live_iso, by_xorriso, noise, reader, tree

ARCHITECTURES = ["x86_64", "arm64", "ppc64le", "s390x"]


def look(data: bytes) -> LiveIso:
    return read_live_iso(reader(data), size=len(data))


def patched(data: bytes, *regions: Any) -> bytes:
    return materialised(whole_file("iso", size=len(data)).patched(regions).segments, {"iso": reader(data)})


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture(architecture: str) -> None:
    files = tree(architecture=architecture)
    data = a_live_iso(files)
    iso = look(data)
    assert iso.label == LABEL
    assert (iso.ignition.length, iso.ignition.used) == (AREA, 0)
    assert data[iso.kernel.offset :][: iso.kernel.length] == files["images/pxeboot/vmlinuz"]
    assert data[iso.initrd.offset :][: iso.initrd.length] == files["images/pxeboot/initrd.img"]
    assert iso.rootfs is not None
    assert data[iso.rootfs.offset :][: iso.rootfs.length] == files["images/pxeboot/rootfs.img"]
    assert iso.kernel_arguments is not None
    assert iso.kernel_arguments.current == KARGS
    assert (iso.ins_file is not None, iso.address_and_size is not None) == ((architecture == "s390x",) * 2)


def test_an_image_made_by_others(xorriso: str, tmp_path: Path) -> None:
    files = tree()
    data = by_xorriso(tmp_path, files).read_bytes()
    volume = read_volume(reader(data))
    found = {path: node for path, node in walk(reader(data), volume) if not node.is_folder}
    assert found.keys() == {*files, "isolinux/boot.cat"}
    for path, content in files.items():
        extent = found[path].extent
        if path != "isolinux/isolinux.bin":  # its beginning was told where it lies
            assert data[extent.offset :][: extent.length] == content
    assert found["coreos/igninfo.json"].identifier == short_name("igninfo.json") == b"IGNINFO.JSO;1"
    iso = look(data)
    assert iso.kernel_arguments is not None
    assert iso.kernel_arguments.current == KARGS


def test_names_without_rock_ridge() -> None:
    """The fields that carry long names are destroyed: short names remain."""
    data = a_live_iso().replace(b"NM", b"XX").replace(b"SP\x07\x01\xbe\xef", b"XX\x07\x01\xbe\xef")
    assert look(data).ignition == look(a_live_iso()).ignition
    assert find(reader(data), read_volume(reader(data)), "coreos/igninfo.json") is not None


def test_many_files_and_long_folders() -> None:
    files = {f"folder/f{number:05}.txt": b"%d" % number for number in range(400)}
    data = a_live_iso(files)
    volume = read_volume(reader(data))
    for path in ("folder/f00000.txt", "folder/f00399.txt"):
        node = find(reader(data), volume, path)
        assert node is not None
        assert data[node.extent.offset :][: node.extent.length] == files[path]
    assert find(reader(data), volume, "folder/f00400.txt") is None
    assert find(reader(data), volume, "folder/f00000.txt/deeper") is None


# --- the place for Ignition -------------------------------------------------------------------------------------------


def test_without_a_description_the_file_itself_is_meant() -> None:
    files = tree()
    del files["coreos/igninfo.json"]
    assert look(a_live_iso(files)).ignition.length == AREA


def test_the_oldest_images_have_a_header() -> None:
    files = tree()
    del files["coreos/igninfo.json"]
    files["elsewhere.img"] = files.pop("images/ignition.img")
    data = a_live_iso(files)
    node = find(reader(data), read_volume(reader(data)), "elsewhere.img")
    assert node is not None
    header = struct.pack("<8sQQ", b"coreiso+", node.extent.offset, AREA)
    found = look(a_live_iso(files, header=header)).ignition
    assert (found.offset, found.length) == (node.extent.offset, AREA)
    with pytest.raises(Invalid, match="no place for an Ignition config"):
        look(data)


def test_the_area_takes_exactly_its_size() -> None:
    data = a_live_iso()
    area = look(data).ignition
    full = noise("archive", AREA)
    assert patched(data, area.filled(full))[area.offset :][:AREA] == full
    with pytest.raises(Invalid, match=rf"needs {AREA + 1} bytes when packed, but this image has room for {AREA}"):
        area.filled(full + b"!")


def test_nothing_of_an_earlier_config_survives() -> None:
    data = a_live_iso()
    once = patched(data, look(data).ignition.filled(noise("long", 50_000)))
    again = look(once).ignition
    assert again.used == 50_000
    assert patched(once, again.filled(b"short")) == patched(data, look(data).ignition.filled(b"short"))


@pytest.mark.parametrize(
    "description",
    [
        b"",
        b"{}",
        b"[" * 10_000,
        b'{"file": 5}',
        b'{"file": "images/none.img"}',
        b'{"file": "images"}',
        b'{"file": "../../etc/passwd"}',
        b'{"file": "images/ignition.img", "offset": -1}',
        b'{"file": "images/ignition.img", "offset": 1, "length": 262144}',
        b'{"file": "images/ignition.img", "length": 0}',
        b'{"file": "images/ignition.img", "length": -5}',
        b"\xff\xfe",
    ],
)
def test_descriptions_that_lead_nowhere(description: bytes) -> None:
    with pytest.raises(Invalid):
        look(a_live_iso(tree() | {"coreos/igninfo.json": description}))


# --- kernel arguments -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_appended_arguments(architecture: str) -> None:
    data = a_live_iso(tree(architecture=architecture))
    changed = patched(data, *look(data).kernel_argument_regions(["p1", 'key="a b"']))
    found = look(changed).kernel_arguments
    assert found is not None
    assert found.current == f'{KARGS} p1 key="a b"'
    assert len(changed) == len(data)
    if architecture != "s390x":
        assert changed.count(f'{KARGS} p1 key="a b"\n####'.encode()) == (1 if architecture == "ppc64le" else 2)


def test_arguments_fill_the_room_to_the_last_byte() -> None:
    iso = look(a_live_iso())
    fitting = "x" * (ROOM - 2)  # a space before, a line end after
    assert {len(region.data) for region in iso.kernel_argument_regions([fitting])} == {len(KARGS) + ROOM}
    with pytest.raises(Invalid, match=f"need {ROOM - 1} bytes, but this image has room for {ROOM - 2}"):
        iso.kernel_argument_regions([fitting + "x"])


@pytest.mark.parametrize("value", ["a\nb", "a\0b", "", "  ", "\x1b[31m"])
def test_arguments_that_would_break_the_menu(value: str) -> None:
    with pytest.raises(Invalid, match="no command line can hold"):
        look(a_live_iso()).kernel_argument_regions(["good", value])


def test_older_images_have_a_header_of_areas() -> None:
    files = tree()
    del files["coreos/kargs.json"]
    data = a_live_iso(files)
    offsets = [data.index(KARGS.encode()), data.rindex(KARGS.encode())]
    header = struct.pack("<8sQQ6Q", b"coreKarg", len(KARGS) + ROOM, 0, *offsets, 0, 0, 0, 0) + bytes(24)
    iso = look(a_live_iso(files, header=header))
    assert [region.offset for region in iso.kernel_argument_regions(["more"])] == offsets
    oldest = look(data)
    assert oldest.kernel_argument_regions([]) == ()
    with pytest.raises(Invalid, match="too old"):
        oldest.kernel_argument_regions(["more"])


def test_an_image_that_would_boot_differently_each_way() -> None:
    files = tree()
    files["isolinux/isolinux.cfg"] = files["isolinux/isolinux.cfg"].replace(b"console=tty0", b"console=tty9")
    with pytest.raises(Invalid, match="differ from each other"):
        look(a_live_iso(files))


@pytest.mark.parametrize(
    "change",
    [
        {"size": 0},
        {"size": 2_049},
        {"size": 10},
        {"files": []},
        {"files": [{"path": "nowhere", "offset": 0}]},
        {"files": [{"path": "EFI/redhat/grub.cfg", "offset": -1}]},
        {"files": [{"path": "EFI/redhat/grub.cfg", "offset": 1_000_000}]},
        {"files": [{"path": "EFI/redhat/grub.cfg", "offset": 3}]},
        {"files": [{"path": "EFI/redhat/grub.cfg", "offset": 65, "end": ""}]},
        {"default": 5},
    ],
)
def test_areas_that_make_no_sense(change: dict[str, Any]) -> None:
    files = tree()
    description = json.loads(files["coreos/kargs.json"]) | change
    with pytest.raises(Invalid):
        look(a_live_iso(files | {"coreos/kargs.json": json.dumps(description).encode()}))


# --- what is no live image --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not an ISO 9660 image"),
        (bytes(100_000), "not an ISO 9660 image"),
        (b"<html>404</html>", "not an ISO 9660 image"),
        (a_live_iso(label="Debian 12"), "not a CoreOS live image: its label is 'Debian 12'"),
        (a_live_iso({"readme.txt": b"hello"}), "no kernel and initrd"),
        (a_live_iso()[:-SECTOR], "cut off"),
        (a_live_iso()[: 20 * SECTOR], "cut off"),
        (a_live_iso()[: 17 * SECTOR], "cut off"),
        (b"\x1f\x8b" + noise("gzip", 100_000), "not an ISO 9660 image"),
    ],
)
def test_other_files_are_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        look(data)


SAMPLE = a_live_iso()


@given(st.lists(st.tuples(st.integers(0, 40 * SECTOR), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6))
@example([(16 * SECTOR + 158, b"\xff\xff\xff\x7f")])
def test_damaged_images_are_read_or_refused(damage: list[tuple[int, bytes]]) -> None:
    data = bytearray(SAMPLE)
    for offset, garbage in damage:
        data[offset : offset + len(garbage)] = garbage
    with suppress(Invalid):
        list(walk(reader(bytes(data)), look(bytes(data)).volume))
