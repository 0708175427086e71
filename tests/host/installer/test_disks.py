"""What belongs to a disk, by the kernel's own links, and what cleaning it runs: never a neighbour of a similar name."""

from pathlib import Path

import pytest

from firstlight.host.installer.boot_order import duplicates, first_entry
from firstlight.host.installer.cleaning import physical_volumes
from firstlight.host.installer.devices import find, read_graph, resolved
from firstlight.host.root import Root
from tests.host.agent.scripted import scripted
from tests.host.installer.rig import Hub, Rig, plant_device, plant_disk

THIN = {"vg-pool_tmeta": 1, "vg-pool_tdata": 2}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def mapped(root: Path, name: str, minor: int, mapper: str, on: tuple[str, ...], uuid: str = "LVM-abc") -> None:
    plant_device(root, name, f"253:{minor}", on=on, dm__name=mapper, dm__uuid=uuid)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    plant_disk(tmp_path, "sda", "8:0", partitions={1: "8:1", 2: "8:2"})
    plant_disk(tmp_path, "sdaa", "65:160", partitions={1: "65:161"})
    plant_disk(tmp_path, "nvme0n1", "259:0", partitions={1: "259:1"})
    plant_disk(tmp_path, "nvme0n10", "259:2", partitions={1: "259:3"})
    mapped(tmp_path, "dm-1", 1, "vg-root", ("sda2",))
    mapped(tmp_path, "dm-10", 10, "other-root", ("sdaa1",))
    mapped(tmp_path, "dm-2", 2, "luks-root", ("dm-1",), "CRYPT-LUKS2-1")
    return tmp_path


def above(root: Path, path: str) -> list[str]:
    tree = Root(root)
    graph = read_graph(tree)
    disk = find(tree, graph, path)
    assert disk is not None
    return [one.name for one in graph.above(disk)]


def test_names_that_look_alike_are_strangers(root: Path) -> None:
    assert above(root, "/dev/sda") == ["sda1", "dm-2", "dm-1", "sda2"]
    assert above(root, "/dev/sdaa") == ["dm-10", "sdaa1"]
    assert above(root, "/dev/nvme0n1") == ["nvme0n1p1"]
    assert above(root, "/dev/nvme0n10") == ["nvme0n10p1"]
    assert above(root, "/dev/dm-1") == ["dm-2"]
    assert above(root, "/dev/dm-10") == []


def test_an_array_over_two_disks_stands_on_both(root: Path) -> None:
    plant_device(root, "md127", "9:127", on=("sda1", "nvme0n1p1"), md__level="raid1")
    mapped(root, "dm-3", 3, "vgmd-lv", ("md127",))
    assert above(root, "/dev/sda")[:2] == ["dm-3", "md127"]
    assert above(root, "/dev/nvme0n1") == ["dm-3", "md127", "nvme0n1p1"]
    assert above(root, "/dev/sdaa") == ["dm-10", "sdaa1"]


def test_a_thin_pool_goes_from_its_volumes_down(root: Path) -> None:
    for name, minor in THIN.items():
        mapped(root, f"dm-{20 + minor}", 20 + minor, name, ("sda1",))
    mapped(root, "dm-30", 30, "vg-pool-tpool", ("dm-21", "dm-22"))
    mapped(root, "dm-31", 31, "vg-thin", ("dm-30",))
    order = above(root, "/dev/sda")
    assert order.index("dm-31") < order.index("dm-30") < order.index("dm-21")
    assert order.index("dm-30") < order.index("dm-22")


def test_links_and_mapper_names_lead_to_the_device(root: Path) -> None:
    by_id = root / "dev/disk/by-id"
    by_id.mkdir(parents=True)
    (by_id / "wwn-1").symlink_to("../../sda")
    (by_id / "round").symlink_to("round")
    (root / "dev/vg").mkdir()
    (root / "dev/vg/root").symlink_to("../dm-1")
    tree = Root(root)
    graph = read_graph(tree)
    assert resolved(tree, "/dev/disk/by-id/wwn-1") == "/dev/sda"
    names = ["/dev/disk/by-id/wwn-1", "/dev/vg/root", "/dev/mapper/vg-root", "/dev/mapper/other-root"]
    assert [found.name for name in names if (found := find(tree, graph, name))] == ["sda", "dm-1", "dm-1", "dm-10"]
    for name in ("/dev/sdab", "/dev/disk/by-id/round", "sda", "", "/dev/mapper/vg"):
        assert find(tree, graph, name) is None


def test_partitions_are_found_by_number_not_by_place(tmp_path: Path) -> None:
    plant_disk(tmp_path, "sdb", "8:16", partitions={5: "8:21", 2: "8:18"})
    mapped(tmp_path, "dm-0", 0, "mpatha", (), "mpath-36000")
    mapped(tmp_path, "dm-7", 7, "mpatha2", ("dm-0",), "part2-mpath-36000")
    graph = read_graph(Root(tmp_path))
    sdb, multipath = graph.named("sdb"), graph.named("dm-0")
    assert sdb is not None
    assert multipath is not None
    assert [one.partition for one in graph.partitions(sdb)] == [2, 5]
    assert [(one.name, one.partition) for one in graph.partitions(multipath)] == [("dm-7", 2)]
    assert multipath.is_multipath


def test_what_pvs_prints() -> None:
    text = "  /dev/sda2|vg\n  /dev/mapper/x|\nWARNING: old|x\n\n"
    assert list(physical_volumes(text)) == [("/dev/sda2", "vg"), ("/dev/mapper/x", "")]


def test_entries_of_the_same_label() -> None:
    text = (
        "efibootmgr: ** Warning ** : Boot0003 has same label Red Hat Enterprise Linux\n"
        "efibootmgr: ** Warning ** : Boot000a has same label Red Hat Enterprise Linux\nBoot0001* other\n"
    )
    assert duplicates(text) == ("0003", "000A")


@pytest.mark.anyio
async def test_a_dirty_disk_and_its_neighbours(tmp_path: Path) -> None:
    """The commands of the real program: everything on sda goes, nothing else is touched."""
    rig = Rig(tmp_path)
    root = rig.root
    plant_disk(root, "sdaa", "65:160", partitions={1: "65:161"})
    plant_disk(root, "sdb", "8:16", partitions={1: "8:17"})
    mapped(root, "dm-1", 1, "luks-a", ("sda2",), "CRYPT-LUKS2-1")
    mapped(root, "dm-10", 10, "other-root", ("sdaa1",))
    plant_device(root, "md0", "9:0", on=("sda3", "sdb1"), md__level="raid1")
    rig.behave("pvs", "echo '  /dev/sda1|mine'; echo '  /dev/sdaa1|other'; echo '  /dev/mapper/luks-a|'\n")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--format-disk", "/dev/sdb", role="master") == 0, rig.log()
    touched = [" ".join(words) for words in rig.calls()]
    assert "vgremove --force --yes mine" in touched
    assert not [line for line in touched if "other" in line or "sdaa" in line or "dm-10" in line]
    assert [line for line in touched if line.startswith("pvremove")] == [
        "pvremove --yes -ff /dev/sda1",
        "pvremove --yes -ff /dev/mapper/luks-a",
    ]
    assert [line for line in touched if line.startswith("dmsetup")] == ["dmsetup remove --retry luks-a"]
    assert [line for line in touched if line.startswith("mdadm")] == [
        "mdadm --stop /dev/md0",
        "mdadm --zero-superblock /dev/sda3",
    ]
    ends = [words[4] for words in rig.calls("dd") if words[2] == "of=/dev/sda"]
    assert ends == ["seek=0", f"seek={250_000_000 - 2048}"]
    assert [words[2] for words in rig.calls("dd")].count("of=/dev/sdb") == 2


@pytest.mark.anyio
async def test_a_disk_that_cannot_be_cleaned_is_reported_and_installed(tmp_path: Path) -> None:
    rig, hub = Rig(tmp_path), Hub()
    rig.behave("wipefs", "echo 'probing initialization failed: Device or resource busy' >&2; exit 1\n")
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    infos = [info for stage, info in hub.own() if stage == "Starting installation"]
    assert "/dev/sda could not be cleaned completely" in infos[-1]
    assert "failed to prepare install device /dev/sda" in rig.log()
    assert ["wipefs", "--all", "/dev/sda"] in rig.calls("wipefs"), "once more without force"


@pytest.mark.anyio
async def test_the_boot_order_names_the_partition_and_drops_older_entries(tmp_path: Path) -> None:
    rig, hub = Rig(tmp_path), Hub()
    (rig.root / "sys/firmware/efi").mkdir(parents=True)
    rig.behave("efibootmgr", 'case "$*" in *-c*) echo "** Warning ** : Boot0003 has same label" >&2;; esac\n')
    rig.behave("test", 'case "$2" in */EFI/centos/shimaa64.efi) exit 0;; esac; exit 1\n')
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    made, dropped, _ = rig.calls("efibootmgr")
    assert made[2:6] == ["-d", "/dev/sda", "-p", "2"]
    assert made[-1] == "\\EFI\\centos\\shimaa64.efi"
    assert dropped == ["efibootmgr", "-v", "-b", "0003", "-B"]
    assert [words[-1] for words in rig.calls("umount")] == [rig.calls("mount")[0][-1]]


@pytest.mark.anyio
async def test_the_boot_order_waits_for_the_kernel_to_read_the_new_table(tmp_path: Path) -> None:
    """Closing a disk that was written to makes its partitions vanish for a moment, a long one on a busy machine."""
    rig, hub = Rig(tmp_path), Hub()
    (rig.root / "sys/firmware/efi").mkdir(parents=True)
    away, place = tmp_path / "sda2", rig.root / "sys/devices/sda/sda2"
    rig.behave("coreos-installer", f"/bin/mv {place} {away}\n")
    rig.behave("udevadm", f"/bin/mv {away} {place}\n")
    rig.behave("test", 'case "$2" in */EFI/redhat/shimx64.efi) exit 0;; esac; exit 1\n')
    rig.behave("efibootmgr", "printf 'BootOrder: 0003,0001\\nBoot0003* Red Hat Enterprise Linux\\tHD(2)\\n'\n")
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert rig.calls("efibootmgr")[0][2:6] == ["-d", "/dev/sda", "-p", "2"]
    assert "The firmware starts from the new disk next time." in rig.log()


@pytest.mark.anyio
async def test_a_disk_whose_partitions_never_come_gets_a_warning(tmp_path: Path) -> None:
    rig, hub = Rig(tmp_path), Hub()
    (rig.root / "sys/firmware/efi").mkdir(parents=True)
    rig.behave("coreos-installer", f"/bin/rm -r {rig.root / 'sys/devices/sda/sda2'}\n")
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert "the disk has no second partition" in rig.log()
    assert not rig.calls("efibootmgr")


@pytest.mark.parametrize(
    ("listed", "first"),
    [
        ("BootCurrent: 0001\nBootOrder: 0003,0001\nBoot0001* DVD\tPci\nBoot0003* Red Hat\tHD(2,GPT)\n", "Red Hat"),
        ("BootOrder: 0001,0003\nBoot0001* DVD\nBoot0003* Red Hat\n", "DVD"),
        ("BootOrder: 000A\nBoot000A  Disk that is off\n", "Disk that is off"),
        ("BootOrder: 0007\nBoot0001* DVD\n", ""),
        ("No BootOrder is set; firmware will attempt recovery\n", ""),
    ],
)
def test_what_the_firmware_tries_first(listed: str, first: str) -> None:
    assert first_entry(listed) == first
