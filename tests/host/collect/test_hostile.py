"""Whatever bytes firmware, kernel and tools produce: no parser raises, and what they return can be sent."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.collect import bmc, boot, cpu, dmi_table, gpus, memory, mounts, truncation, udev, vendor
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.sectors import is_bootable
from firstlight.host.root import Root
from tests.host.collect.trees import a_disk, planted_view

MOUNTS = "36 35 8:2 / /mnt/with\\040blank rw,noatime shared:1 master:2 - ext4 /dev/sda2 rw\n"
RECORD = b"S:disk/by-id/wwn-0x1\nI:19771864\nE:ID_SERIAL=a=b\nE:=x\nE:NOTHING\nG:systemd\nV:1\n"
LAN6 = """IPv6 Dynamic Address 0:
    Source/Type:    DHCPv6
    Address:        2001:db8::9/64
    Status:         active
"""


def like(text: str) -> st.SearchStrategy[str]:
    """The text with pieces cut, doubled and replaced."""
    lines = text.splitlines(keepends=True)
    mangled = st.lists(st.one_of(st.sampled_from(lines), st.text(max_size=20)), max_size=12)
    return st.one_of(st.text(), mangled.map("".join), st.integers(0, len(text)).map(lambda at: text[:at]))


@given(like(MOUNTS))
def test_mount_table(text: str) -> None:
    for mount in mounts.parse_mountinfo(text):
        assert ":" in mount.device


def test_mount_table_as_the_kernel_writes_it() -> None:
    (mount,) = mounts.parse_mountinfo(MOUNTS)
    assert (mount.device, mount.point, mount.file_system, mount.source) == (
        "8:2",
        "/mnt/with blank",
        "ext4",
        "/dev/sda2",
    )


@given(like("Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/swap\\040file file 1 0 -3\n"))
def test_swap(text: str) -> None:
    assert all(path.startswith("/") for path in mounts.parse_swaps(text))


@given(st.one_of(st.binary(), st.integers(0, len(RECORD)).map(lambda at: RECORD[:at])))
def test_device_database(data: bytes) -> None:
    assert all(udev.parse_record(data))


def test_device_database_as_it_is() -> None:
    assert udev.parse_record(RECORD) == {"ID_SERIAL": "a=b"}


def structure(kind: int, area: bytes, *strings: bytes) -> bytes:
    return bytes((kind, 4 + len(area), 0, 0)) + area + (b"\0".join(strings) + b"\0\0" if strings else b"\0\0")


def memory_device(size: int, extended: int = 0) -> bytes:
    area = bytes(8) + size.to_bytes(2, "little") + bytes(14) + extended.to_bytes(4, "little")
    return structure(17, area, b"DIMM 0")


@given(
    st.one_of(
        st.binary(max_size=600),
        st.lists(st.builds(structure, st.integers(0, 255), st.binary(max_size=40), st.binary(max_size=9))).map(
            b"".join
        ),
        st.integers(0, 60).map(lambda at: memory_device(1024)[:at]),
    )
)
def test_firmware_table(data: bytes) -> None:
    found = list(dmi_table.structures(data))
    assert dmi_table.memory_bytes(found) >= 0
    for entry in found:
        assert entry.type == entry.area[0]
        assert entry.text(4) is not None


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        pytest.param([memory_device(8192)], 8 * 2**30, id="mebibytes"),
        pytest.param([memory_device(0x8000 | 512)], 512 * 2**10, id="kibibytes"),
        pytest.param([memory_device(0x7FFF, 65536)], 64 * 2**30, id="extended"),
        pytest.param([memory_device(0), memory_device(0xFFFF)], 0, id="empty-and-unknown"),
        pytest.param(
            [memory_device(16384)] * 4 + [structure(127, b"")] + [memory_device(1)], 2**36, id="to-the-end-mark"
        ),
    ],
)
def test_sizes_of_memory_devices(devices: list[bytes], expected: int) -> None:
    assert dmi_table.memory_bytes(dmi_table.structures(b"".join(devices))) == expected


def test_strings_of_a_structure() -> None:
    (entry,) = dmi_table.structures(structure(1, bytes((1, 2, 9)), b"Maker", b" Product "))
    assert (entry.text(4), entry.text(5), entry.text(6)) == ("Maker", "Product", "")


@given(like("processor\t: 0\nmodel name\t: X\nflags\t\t: fpu vmx\ncpu MHz\t\t: 2400.1\n\nprocessor 1: v\n"))
def test_processors(text: str) -> None:
    first, count = cpu.parse_cpuinfo(text)
    assert count >= 0
    assert all(first)


@given(like("0-3,8,10-11\n"))
def test_lists_of_numbers(text: str) -> None:
    assert 0 <= cpu.count_range(text) <= cpu.MOST_CPUS


@pytest.mark.parametrize(
    ("text", "count"), [("0-3,8", 5), ("0", 1), ("", 0), ("3-0", 0), ("0-x", 0), ("0-99999999", 0)]
)
def test_how_many(text: str, count: int) -> None:
    assert cpu.count_range(text) == count


@given(like("IP Address Source : DHCP\nIP Address              : 192.0.2.9\n"))
def test_bmc_v4(text: str) -> None:
    assert isinstance(bmc.v4_address(text), str)


@given(text=like(LAN6), static=st.booleans())
def test_bmc_v6(text: str, static: bool) -> None:
    assert isinstance(bmc.v6_address(text, static=static), str)
    assert bmc.uses_v6(text) in (True, False)


@given(data=st.none() | st.binary(max_size=8), exists=st.booleans())
def test_secure_boot(data: bytes | None, exists: bool) -> None:
    assert boot.secure_boot_state(data, exists=exists) in ("Enabled", "Disabled", "NotSupported", "Unknown")


@pytest.mark.parametrize(
    ("data", "exists", "state"),
    [
        (b"\x06\0\0\0\x01", True, "Enabled"),
        (b"\x06\0\0\0\x00", True, "Disabled"),
        (b"\x06\0\0\0\x02", True, "Unknown"),
        (b"\x06\0\0\0", True, "Unknown"),
        (None, True, "Unknown"),
        (None, False, "NotSupported"),
    ],
)
def test_secure_boot_states(data: bytes | None, exists: bool, state: str) -> None:
    assert boot.secure_boot_state(data, exists=exists) == state


@given(like('BOOT_IMAGE=/x coreos.liveiso=a BOOTIF=01-aa coreos.liveiso="b"'))
def test_kernel_arguments(text: str) -> None:
    assert " " not in boot.kernel_argument(text, "coreos.liveiso")


@given(like("10de  NVIDIA Corporation\n\t20b0  GA100 [A100]\n\t\t10de 1450  x\n# c\n"))
def test_names_of_devices(text: str) -> None:
    found = gpus.pci_names(text, {("10de", "20b0")})
    assert set(found) <= {("10de", ""), ("10de", "20b0")}


@given(like("MemTotal:       16000000 kB\nMemFree: 1 kB\n"))
def test_usable_memory(text: str) -> None:
    assert memory.usable_bytes(text) >= 0


@given(st.lists(st.text(max_size=30)))
def test_arguments_of_the_step(arguments: list[str]) -> None:
    limits = truncation.read_limits(arguments)
    assert limits.output_max_size >= 0
    assert limits.disk_min_size >= 0


@given(st.binary(max_size=1024))
def test_first_sector(data: bytes) -> None:
    assert is_bootable(data) is (len(data) >= 512 and data[510:512] == b"\x55\xaa")


@given(data=st.data())
@pytest.mark.anyio
async def test_a_whole_machine_of_rubbish(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder: Path = tmp_path_factory.mktemp("rubbish")
    names = [
        *("proc/cpuinfo", "proc/meminfo", "proc/cmdline", "proc/swaps", "proc/1/mountinfo", "proc/sysinfo"),
        *("sys/firmware/dmi/tables/DMI", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_uuid"),
        *("run/udev/data/b8:0", "sys/class/tpm/tpm0/tpm_version_major", "proc/sys/kernel/hostname"),
        *("sys/bus/pci/devices/x/class", "sys/devices/system/cpu/present", "sys/block/sdb/size", "dev/sda"),
        *("sys/devices/system/memory/block_size_bytes", "sys/block/sdb/dev", "sys/block/dm-0/dm/uuid"),
    ]
    tree = a_disk("sda") | {name: data.draw(st.binary(max_size=80), label=name) for name in names}
    document = msgspec.json.decode(await inventory_document(planted_view(folder, tree)))
    assert "cpu" in document
    assert {disk["name"] for disk in document["disks"]} >= {"sda", "sdb"}


@pytest.mark.parametrize("sysinfo", ["", "VM00 Control Program: KVM/Linux\n", "VM00 Control Program: z/VM    7.2.0\n"])
@pytest.mark.anyio
async def test_mainframes(tmp_path: Path, sysinfo: str) -> None:
    tree = {"proc/cpuinfo": "vendor_id       : IBM/S390\nprocessor 0: machine = 8561\n", "proc/sysinfo": sysinfo}
    found = await vendor.collect_vendor(planted_view(tmp_path, tree))
    assert found.manufacturer == "IBM/S390"
    product = sysinfo.partition(": ")[2].strip() or "LPAR"
    assert (found.product_name, found.virtual) == (product, product == "KVM/Linux")


@pytest.mark.anyio
async def test_clouds_that_hide_their_name(tmp_path: Path) -> None:
    tree = {"sys/class/dmi/id/chassis_asset_tag": "OracleCloud.com\n", "sys/class/dmi/id/product_family": "RHV\n"}
    found = await vendor.collect_vendor(planted_view(tmp_path, tree))
    assert (found.manufacturer, found.product_name) == ("OracleCloud.com", "oVirt")


def test_records_of_devices_that_are_gone(tmp_path: Path) -> None:
    assert udev.block_properties(Root(tmp_path), "8:0") == {}
