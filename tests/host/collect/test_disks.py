"""Disks of every kind, and what keeps somebody from installing on them. These trees are made up, file by file."""

from pathlib import Path

import pytest

from firstlight.core import wire
from firstlight.host.collect.disks import collect_disks
from firstlight.host.collect.mounts import parse_mountinfo
from tests.host.collect.trees import a_disk, plant, udev

Files = dict[str, str | bytes]
SESSION = "devices/platform/host9/session1/target9:0:0/9:0:0:1/block/sda"
TARGET = "iqn.2026-01.example:boot"


def disks_of(folder: Path, files: Files, *mounts: str, smallest: int = 0, most: int = 1_000) -> dict[str, wire.Disk]:
    """Each mount is `device point [file system] [source]`."""
    lines = (line.split() for line in mounts)
    text = "\n".join(
        f"20 1 {device} / {point} rw - {rest[0] if rest else 'ext4'} {rest[1] if len(rest) > 1 else 'none'} rw"
        for device, point, *rest in lines
    )
    found = collect_disks(plant(folder, files), mounts=parse_mountinfo(text), smallest=smallest, most=most)
    return {disk.name: disk for disk in found.listed}


def reasons(disk: wire.Disk) -> tuple[str, ...]:
    verdict = disk.installation_eligibility
    assert verdict is not None
    assert verdict.eligible is not bool(verdict.not_eligible_reasons)
    return verdict.not_eligible_reasons or ()


@pytest.mark.parametrize(
    ("name", "files", "path", "expected"),
    [
        pytest.param("sda", {"queue__rotational": "1"}, "", "HDD", id="rotating"),
        pytest.param("sda", {"queue__rotational": "0"}, "", "SSD", id="not-rotating"),
        pytest.param("vda", {"queue__rotational": "1"}, "", "HDD", id="virtio"),
        pytest.param("xvda", {}, "", "SSD", id="xen-does-not-say"),
        pytest.param("nvme0n1", {"queue__rotational": "1"}, "", "SSD", id="nvme"),
        pytest.param("mmcblk0", {}, "", "SSD", id="card"),
        pytest.param("sr0", {}, "", "ODD", id="optical"),
        pytest.param("fd0", {}, "", "FDD", id="floppy"),
        pytest.param("md126", {}, "", "RAID", id="raid"),
        pytest.param("sda", {}, "pci-0000:03:00.0-fc-0x500a0981-lun-0", "FC", id="fibre-channel"),
        pytest.param("sda", {}, "fc-0x500a0981-lun-0", "FC", id="fibre-channel-on-a-channel"),
        pytest.param("sda", {}, f"ip-192.0.2.9:3260-iscsi-{TARGET}-lun-1", "iSCSI", id="iscsi"),
        pytest.param("dasda", {"device__discipline": "ECKD", "device__ese": "0"}, "", "ECKD", id="eckd"),
        pytest.param("dasda", {"device__discipline": "ECKD", "device__ese": "1"}, "", "ECKD (ESE)", id="thin-eckd"),
        pytest.param("dasda", {"device__discipline": "FBA"}, "", "FBA", id="fba"),
        pytest.param("dasda", {}, "", "Unknown", id="dasd-without-a-discipline"),
        pytest.param("rbd0", {}, "", "Unknown", id="something-else"),
    ],
)
def test_drive_types(tmp_path: Path, name: str, files: dict[str, str], path: str, expected: str) -> None:
    tree = a_disk(name, **files) | (udev("8:0", ID_PATH=path) if path else {})
    assert disks_of(tmp_path, tree)[name].drive_type == expected


def test_names_of_a_disk(tmp_path: Path) -> None:
    tree = a_disk("sda", device__vendor="ATA     ", device__model="ignored", removable="0") | udev(
        "8:0",
        ID_PATH="pci-0000:00:1f.2-ata-1",
        ID_MODEL="EXAMPLE_1000",
        ID_SERIAL="EXAMPLE_1000_S123",
        ID_SERIAL_SHORT="S123",
        ID_WWN="0x5000c500a1b2c3d4",
        ID_WWN_WITH_EXTENSION="0x5000c500a1b2c3d4",
    )
    tree["dev/disk/by-id/wwn-0x5000c500a1b2c3d4"] = "-> ../../sda"
    tree["dev/disk/by-id/wwn-0x5000c500a1b2c3d4-part1"] = "-> ../../sda1"
    tree["dev/disk/by-path/pci-0000:00:1f.2-ata-1"] = "-> ../../sda"
    disk = disks_of(tmp_path, tree)["sda"]
    assert (disk.id, disk.by_id) == ("/dev/disk/by-id/wwn-0x5000c500a1b2c3d4",) * 2
    assert disk.by_path == "/dev/disk/by-path/pci-0000:00:1f.2-ata-1"
    assert (disk.wwn, disk.serial, disk.model, disk.vendor) == ("0x5000c500a1b2c3d4", "S123", "EXAMPLE_1000", "ATA")
    assert (disk.path, disk.size_bytes, reasons(disk)) == ("/dev/sda", 2**37, ())


def test_an_identifier_that_leads_elsewhere_is_not_the_disks(tmp_path: Path) -> None:
    """All paths of a multipath device have its world-wide name; the link leads to the device."""
    tree = a_disk("sda") | {"dev/disk/by-id/wwn-0x1": "-> ../../dm-0", "dev/disk/by-id/nvme-eui.1": "-> ../../nvme0n1"}
    tree |= a_disk("nvme0n1", number="259:0", eui="00 11", uuid="0")
    found = disks_of(tmp_path, tree)
    assert found["sda"].id == "/dev/sda"
    assert (found["nvme0n1"].id, found["nvme0n1"].wwn) == ("/dev/disk/by-id/nvme-eui.1", "eui.1")
    assert (found["sda"].has_uuid, found["nvme0n1"].has_uuid) == (False, True)


def test_a_way_that_two_disks_share_names_neither(tmp_path: Path) -> None:
    tree = a_disk("sda") | a_disk("sdb", number="8:16") | udev("8:0", ID_PATH="p") | udev("8:16", ID_PATH="p")
    tree["dev/disk/by-path/p"] = "-> ../../sdb"
    assert {disk.id for disk in disks_of(tmp_path, tree).values()} == {"/dev/sda", "/dev/sdb"}


def test_what_is_no_disk(tmp_path: Path) -> None:
    tree = a_disk("loop0") | a_disk("zram0") | a_disk("nvme0c0n1", hidden="1")
    tree |= a_disk("dm-0", dm__uuid="CRYPT-LUKS2-x", dm__name="luks") | a_disk("dm-1", dm__uuid="part1-mpath-3")
    assert disks_of(tmp_path, tree) == {}


def partitioned(name: str = "sda", **more: str) -> Files:
    return a_disk(name, **{f"{name}2__partition": "2", f"{name}2__dev": "8:2", **more})


@pytest.mark.parametrize(
    ("tree", "mounts", "expected"),
    [
        pytest.param(partitioned(), (), (), id="not-in-use"),
        pytest.param(partitioned(), ("8:2 /mnt",), ("The disk is in use: sda2 is mounted at /mnt.",), id="mounted"),
        pytest.param(partitioned(), ("8:0 /mnt",), ("The disk is in use: sda is mounted at /mnt.",), id="whole-disk"),
        pytest.param(partitioned(), ("8:3 /mnt",), (), id="another-disk"),
        pytest.param(
            partitioned() | {"proc/swaps": "Filename Type Size\n/dev/sda2 partition 1 0 -2\n"},
            (),
            ("The disk is in use: sda2 is used as swap space.",),
            id="swap",
        ),
        pytest.param(
            partitioned() | {"dev/mapper/data": "-> ../sda2"},
            ("0:44 /data btrfs /dev/mapper/data",),
            ("The disk is in use: sda2 is mounted at /data.",),
            id="file-system-with-a-number-of-its-own",
        ),
        pytest.param(
            partitioned() | {"sys/fs/btrfs/1234-abcd/devices/sda2": ""},
            (),
            ("The disk is in use: sda2 is part of the mounted file system 1234-abcd.",),
            id="one-of-several-devices-of-a-file-system",
        ),
        pytest.param(
            partitioned(sda2__holders__x="") | {"sys/class/block/x/dev": "253:7"},
            ("253:7 /var",),
            ("The disk is in use: sda2 is mounted at /var through x.",),
            id="encrypted-or-logical-volume-on-top",
        ),
        pytest.param(
            partitioned(holders__md0="") | {"sys/class/block/md0/dev": "9:0", "sys/class/block/md0/holders/sda": ""},
            (),
            (),
            id="holders-in-a-circle-without-a-mount",
        ),
        pytest.param(partitioned(ro="1"), (), ("The disk is read-only.",), id="read-only"),
        pytest.param(a_disk("sda", size=0), (), ("There is no medium in the drive.",), id="empty-card-reader"),
        pytest.param(
            a_disk("nbd0"),
            (),
            ("The disk is attached to a storage controller of an unknown kind.",),
            id="unknown-controller",
        ),
        pytest.param(
            partitioned() | udev("8:2", ID_PART_ENTRY_NAME="agentdata"), ("8:2 /mnt",), (), id="appliance-partition"
        ),
    ],
)
def test_why_not(tmp_path: Path, tree: Files, mounts: tuple[str, ...], expected: tuple[str, ...]) -> None:
    (disk,) = disks_of(tmp_path, tree, *mounts).values()
    assert reasons(disk) == expected
    assert not disk.is_installation_media


@pytest.mark.parametrize(
    ("tree", "mounts"),
    [
        pytest.param(partitioned(removable="0"), ("8:2 /run/media/iso",), id="stick-mounted-as-iso"),
        pytest.param(a_disk("sda"), ("8:0 /mnt iso9660",), id="disc-file-system-anywhere"),
        pytest.param(
            partitioned() | udev("8:2", ID_FS_LABEL="rhcos-418") | {"proc/cmdline": "a coreos.liveiso=rhcos-418 b\n"},
            (),
            id="copied-to-memory-and-no-longer-mounted",
        ),
        pytest.param(a_disk("sr0", number="11:0", ro="1"), (), id="virtual-media-drive"),
    ],
)
def test_what_the_machine_was_started_from_is_never_wiped(tmp_path: Path, tree: Files, mounts: tuple[str, ...]) -> None:
    (disk,) = disks_of(tmp_path, tree, *mounts).values()
    assert disk.is_installation_media
    assert len(reasons(disk)) == 1


def test_a_disk_in_doubt_is_refused(tmp_path: Path) -> None:
    (disk,) = collect_disks(plant(tmp_path, a_disk("sda")), mounts=None).listed
    assert "mount table cannot be read" in reasons(disk)[0]


def test_many_mounts_are_counted(tmp_path: Path) -> None:
    disk = disks_of(tmp_path, partitioned(), *(f"8:2 /m{number}" for number in range(5)))["sda"]
    assert reasons(disk)[3:] == ("The disk is in use in 2 further ways.",)


def iscsi(**changes: str) -> Files:
    tree: Files = a_disk("sda", place=SESSION, device__state="running")
    tree |= udev("8:0", ID_PATH=f"ip-192.0.2.9:3260-iscsi-{TARGET}-lun-1")
    tree["sys/class/iscsi_host/host9/ipaddress"] = "192.0.2.7\n"
    tree["sys/class/iscsi_session/session1/targetname"] = TARGET
    tree["sys/firmware/ibft/target0/target-name"] = "iqn.other"
    tree["sys/firmware/ibft/target1/target-name"] = f"{TARGET}\n"
    tree |= changes
    return {name: content for name, content in tree.items() if content != "gone"}


NO_TABLE = {"sys/firmware/ibft/target0/target-name": "gone", "sys/firmware/ibft/target1/target-name": "gone"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({}, "", id="boots-from-firmware"),
        pytest.param({f"sys/{SESSION}/device/state": "offline"}, "its state is 'offline'", id="offline"),
        pytest.param({f"sys/{SESSION}/device/state": "gone"}, "state of the iSCSI disk is not known", id="no-state"),
        pytest.param({"sys/class/iscsi_session/session1/targetname": "gone"}, "session1 is not known", id="no-target"),
        pytest.param(NO_TABLE, "no iSCSI boot table", id="no-table"),
        pytest.param(
            {"sys/firmware/ibft/target1/target-name": "iqn.x"}, f"does not name the target {TARGET}", id="else"
        ),
    ],
)
def test_iscsi(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    disk = disks_of(tmp_path, iscsi(**changes))["sda"]
    assert disk.iscsi == wire.Iscsi(host_ip_address="192.0.2.7")
    assert [text for text in reasons(disk) if words in text] == list(reasons(disk))
    assert bool(reasons(disk)) is bool(words)


def test_an_iscsi_adapter_on_the_bus(tmp_path: Path) -> None:
    """The session need not stand at a fixed place in the path."""
    place = "devices/pci0000:00/0000:00:03.0/host9/session1/target9:0:0/9:0:0:1/block/sda"
    tree = {name.replace(SESSION, place): content for name, content in iscsi().items()}
    tree |= {"sys/block/sda": f"-> ../{place}", "sys/class/block/sda": f"-> ../../{place}"}
    disk = disks_of(tmp_path, tree)["sda"]
    assert (reasons(disk), disk.iscsi) == ((), wire.Iscsi(host_ip_address="192.0.2.7"))


def test_volumes_and_paths_say_what_to_use(tmp_path: Path) -> None:
    tree = a_disk("dm-0", number="253:0", dm__uuid="mpath-35000", dm__name="mpatha")
    tree |= a_disk("dm-1", number="253:1", dm__uuid="LVM-abc", dm__name="vg-root")
    tree |= {**a_disk("sda", holders__x="")}
    tree["sys/devices/pci0000:00/0000:00:01.0/sda/holders/dm-0"] = tree.pop(
        "sys/devices/pci0000:00/0000:00:01.0/sda/holders/x"
    )
    found = disks_of(tmp_path, tree)
    assert {name: disk.drive_type for name, disk in found.items()} == {"dm-0": "Multipath", "dm-1": "LVM", "sda": "SSD"}
    assert found["sda"].holders == "dm-0"
    assert "one path of the multipath device dm-0" in reasons(found["sda"])[0]
    assert "logical volume" in reasons(found["dm-1"])[0]
    assert reasons(found["dm-0"]) == ()


def test_an_appliance_shows_one_disk(tmp_path: Path) -> None:
    tree = a_disk("sda") | a_disk("dm-3", dm__uuid="x", dm__name="agentroot")
    (disk,) = disks_of(tmp_path, tree).values()
    assert (disk.id, disk.size_bytes, disk.drive_type, reasons(disk)) == ("", 100 * 2**30, "SSD", ())


def test_of_thousands_the_local_ones_are_kept(tmp_path: Path) -> None:
    remote = "devices/pci0000:00/0000:00:03.0/host1/rport-1:0-0/target/block"
    tree: Files = {}
    for number in range(30):
        tree |= a_disk(f"sdz{number:02}", number=f"9:{number}", place=f"{remote}/sdz{number:02}")
    tree |= a_disk("sdzz99") | a_disk("dm-7", number="253:7", dm__uuid="mpath-3")
    assert list(disks_of(tmp_path, tree, most=2)) == ["dm-7", "sdzz99"]


def test_small_disks_do_not_count(tmp_path: Path) -> None:
    tree = a_disk("sda", size=2**10) | a_disk("sdb", number="8:16", size=2**10 - 1)
    found = disks_of(tmp_path, tree, smallest=2**19)
    assert list(found) == ["sda"]
