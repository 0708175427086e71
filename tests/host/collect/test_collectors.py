"""The smaller collectors, each on a tree or a tool's answer made up for it."""

import os
from ipaddress import IPv4Address, IPv6Address, ip_interface
from pathlib import Path

import msgspec
import pytest

from firstlight.core import wire
from firstlight.host.collect.bmc import NO_V4, NO_V6, collect_bmc
from firstlight.host.collect.boot import collect_boot
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.cpu import collect_cpu
from firstlight.host.collect.gpus import collect_gpus
from firstlight.host.collect.hostname import choose_hostname
from firstlight.host.collect.interfaces import MOST_INTERFACES, MOST_ROUTES, collect_interfaces, collect_routes
from firstlight.host.collect.memory import collect_memory
from firstlight.host.collect.mounts import Mount
from firstlight.host.collect.remembered import Remembered
from firstlight.host.collect.sectors import bootable_disks
from firstlight.host.collect.tpm import tpm_version
from firstlight.host.collect.view import Network, View
from firstlight.host.links.rows import FROM_ROUTER_ADVERTISEMENT, UP, Address, Link, Route
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root
from tests.host.collect.trees import Scripted, plant, planted_view

pytestmark = pytest.mark.anyio

BOOT_SECTOR = bytes(510) + b"\x55\xaa"


class TestBmc:
    LAN = (
        "Set in Progress         : Set Complete\nIP Address Source       : DHCP Address\nIP Address              : {}\n"
    )
    ENABLES = "    IPv6/IPv4 Addressing Enables: both\n"
    DYNAMIC = "IPv6 Dynamic Address 0:\n    Address:        {}/64\n    Status:         {}\n"
    STATIC = "IPv6 Static Address 0:\n    Enabled:        {}\n    Address:        2001:db8::5/64\n    Status:  active\n"

    async def ask(self, folder: Path, answers: dict[str, str | int]) -> tuple[tuple[str, str], list[str]]:
        programs = Scripted(answers)
        view = View(root=plant(folder, {"dev/ipmi0": ""}), programs=programs)
        return await collect_bmc(view), programs.asked

    async def test_nobody_is_asked_where_there_is_nobody(self, tmp_path: Path) -> None:
        programs = Scripted({})
        assert await collect_bmc(View(root=Root(tmp_path), programs=programs)) == (NO_V4, NO_V6)
        assert programs.asked == []

    async def test_a_missing_program_is_tried_once(self, tmp_path: Path) -> None:
        found, asked = await self.ask(tmp_path, {})
        assert (found, asked) == ((NO_V4, NO_V6), ["ipmitool lan print 1"])

    async def test_the_answer_is_remembered(self) -> None:
        asked: list[int] = []

        async def ask() -> int:
            asked.append(1)
            return len(asked)

        kept, fleeting = Remembered[int](seconds=3_600), Remembered[int](seconds=0)
        assert [await kept.get(ask), await kept.get(ask)] == [1, 1]
        assert [await fleeting.get(ask), await fleeting.get(ask)] == [2, 3]

    async def test_the_first_channel_with_an_address(self, tmp_path: Path) -> None:
        answers: dict[str, str | int] = {
            **{f"ipmitool lan6 print {channel} enables": 1 for channel in range(1, 13)},
            "ipmitool lan print 1": self.LAN.format("0.0.0.0"),
            "ipmitool lan print 2": 1,
            "ipmitool lan print 3": self.LAN.format("192.0.2.9"),
            "ipmitool lan print 4": self.LAN.format("192.0.2.10"),
        }
        found, asked = await self.ask(tmp_path, answers)
        assert found == ("192.0.2.9", NO_V6)
        assert "ipmitool lan print 4" not in asked

    @pytest.mark.parametrize(
        ("dynamic", "status", "static", "expected"),
        [
            ("2001:db8::9", "active", "yes", "2001:db8::9"),
            ("2001:db8::9", "disabled", "yes", "2001:db8::5"),
            ("::", "active", "yes", "2001:db8::5"),
            ("2001:db8::9", "disabled", "no", NO_V6),
        ],
    )
    async def test_v6(self, tmp_path: Path, dynamic: str, status: str, static: str, expected: str) -> None:
        answers: dict[str, str | int] = {
            **{
                f"ipmitool lan{kind} print {channel}{what}": 1
                for kind, what in (("", ""), ("6", " enables"))
                for channel in range(1, 13)
            },
            "ipmitool lan6 print 1 enables": self.ENABLES,
            "ipmitool lan6 print 1 dynamic_addr": self.DYNAMIC.format(dynamic, status),
            "ipmitool lan6 print 1 static_addr": self.STATIC.format(static),
        }
        assert (await self.ask(tmp_path, answers))[0] == (NO_V4, expected)


class TestHostname:
    LAST = wire.Interface(name="eth1", type="physical", mac_address="52:54:00:AA:BB:02", ipv4_addresses=("10.0.0.2/8",))
    FIRST = wire.Interface(name="eth0", type="bond", mac_address="52:54:00:AA:BB:01", ipv6_addresses=("fd00::1/64",))

    @pytest.mark.parametrize("name", ["node-1", "localhost.example.com", "", "LOCALHOST"])
    async def test_a_name_is_kept(self, name: str) -> None:
        assert choose_hostname(f" {name}\n", [self.FIRST]) == name

    @pytest.mark.parametrize("name", ["localhost", "localhost.localdomain", "localhost6.localdomain6"])
    async def test_everybodys_name_is_not(self, name: str) -> None:
        assert choose_hostname(name, [self.LAST, self.FIRST]) == "52-54-00-aa-bb-01"
        assert choose_hostname(name, [wire.Interface(name="a", type="veth", mac_address="x"), self.LAST])[-2:] == "02"
        assert choose_hostname(name, []) == name


async def test_memory_without_firmware_tables(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {"proc/meminfo": "MemTotal:  1000 kB\n"}
    view = planted_view(tmp_path, tree)
    assert collect_memory(view) == wire.Memory(
        physical_bytes=1_024_000, usable_bytes=1_024_000, physical_bytes_method="meminfo"
    )
    blocks = "sys/devices/system/memory"
    plant(tmp_path, {f"{blocks}/block_size_bytes": "8000000\n", f"{blocks}/memory0/state": "online\n"})
    plant(tmp_path, {f"{blocks}/memory1/state": "online\n", f"{blocks}/memory2/state": "offline\n"})
    assert collect_memory(view) == wire.Memory(
        physical_bytes=2**28, usable_bytes=1_024_000, physical_bytes_method="ghw"
    )


async def test_frequency_is_the_highest_the_processor_can(tmp_path: Path) -> None:
    info = "processor : 0\nmodel name : X\ncpu MHz : 1234.567\n"
    view = planted_view(tmp_path, {"proc/cpuinfo": info, "proc/sys/kernel/arch": "x86_64\n"})
    assert (collect_cpu(view).frequency, collect_cpu(view).count) == (1235.0, 1)
    plant(tmp_path, {"proc/cpuinfo": info.replace("X", "Example(R) CPU @ 2.60GHz")})
    assert collect_cpu(view).frequency == 2600.0
    plant(tmp_path, {"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3500000\n"})
    assert collect_cpu(view).frequency == 3500.0


@pytest.mark.parametrize(("text", "version"), [("1", "1.2"), ("2\n", "2.0"), ("3", ""), (None, "none")])
async def test_tpm(tmp_path: Path, text: str | None, version: str) -> None:
    tree: dict[str, str | bytes] = {} if text is None else {"sys/class/tpm/tpm0/tpm_version_major": text}
    assert tpm_version(plant(tmp_path, tree)) == version


@pytest.mark.parametrize(
    ("sources", "kind"), [((), ""), (("/dev/loop1",), "ephemeral"), (("/dev/loop1", "/dev/sda4"), "persistent")]
)
async def test_where_the_system_lives(tmp_path: Path, sources: tuple[str, ...], kind: str) -> None:
    mounts = tuple(Mount(device="7:1", point="/sysroot", source=source) for source in sources)
    assert collect_boot(planted_view(tmp_path, {}), mounts=mounts).device_type == kind


async def test_accelerators_have_names_where_there_is_a_list(tmp_path: Path) -> None:
    card = "sys/bus/pci/devices/0000:3b:00.0"
    tree: dict[str, str | bytes] = {
        f"{card}/class": "0x030200\n",
        f"{card}/vendor": "0x10de\n",
        f"{card}/device": "0x20B0\n",
    }
    tree |= {"sys/bus/pci/devices/0000:00:1f.0/class": "0x060100\n"}
    view = planted_view(tmp_path, tree)
    expected = wire.Gpu(address="0000:3b:00.0", vendor_id="10de", device_id="20b0")
    assert collect_gpus(view) == (expected,)
    plant(tmp_path, {"usr/share/hwdata/pci.ids": "10de  NVIDIA Corporation\n\t20b0  GA100 [A100]\n\t\t1 2  x\n"})
    (named,) = collect_gpus(view)
    assert (named.vendor, named.name) == ("NVIDIA Corporation", "GA100 [A100]")


async def test_a_single_address_takes_the_network_routers_announced(tmp_path: Path) -> None:
    link = Link(index=2, name="eth0", flags=UP, mac="52:54:00:00:00:01")
    learned = Route(
        family=10,
        destination=IPv6Address("2001:db8::"),
        prefix_length=64,
        link=2,
        protocol=FROM_ROUTER_ADVERTISEMENT,
    )
    addresses = [
        Address(link=2, interface=ip_interface(text)) for text in ("2001:db8::9/128", "fe80::1/64", "fd00::9/128")
    ]
    network = Network(links=(link,), addresses=tuple(addresses), routes=(learned,))
    (found,) = collect_interfaces(planted_view(tmp_path, {}), network)
    assert found.ipv6_addresses == ("2001:db8::9/64", "fd00::9/128")


async def test_crowded_networks_keep_what_matters(tmp_path: Path) -> None:
    virtual = [Link(index=number, name=f"a{number:05}", kind="veth") for number in range(1, MOST_INTERFACES + 5)]
    real = Link(index=9_999, name="z0", kind="bond")
    routes = [
        Route(family=2, destination=IPv4Address(number), prefix_length=32, link=9_999)
        for number in range(MOST_ROUTES + 5)
    ]
    network = Network(links=(*virtual, real), routes=tuple(routes))
    found = collect_interfaces(planted_view(tmp_path, {}), network)
    assert (len(found), found[-1].name) == (MOST_INTERFACES, "z0")
    kept = collect_routes(network)
    assert (len(kept), kept[0].destination) == (MOST_ROUTES, "0.0.0.0")


class TestSectors:
    async def test_boot_sectors(self, tmp_path: Path) -> None:
        root = plant(tmp_path, {"dev/sda": BOOT_SECTOR, "dev/sdb": bytes(512), "dev/sdc": b"\x55\xaa"})
        assert await bootable_disks(root, ["/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/gone"]) == {"/dev/sda"}
        assert await bootable_disks(root, []) == frozenset()

    async def test_a_disk_that_never_answers_delays_nobody_and_is_not_asked_again(self, tmp_path: Path) -> None:
        root = plant(tmp_path, {"dev/sda": BOOT_SECTOR})
        os.mkfifo(tmp_path / "dev/hangs")
        paths = ["/dev/sda", "/dev/hangs"]
        assert await bootable_disks(root, paths, seconds=0.2) == {"/dev/sda"}
        # Were it read again, this would take as long as it may.
        assert await bootable_disks(root, paths, seconds=600) == {"/dev/sda"}
        (tmp_path / "dev/hangs").open("wb").close()


async def test_this_very_machine() -> None:
    """Whatever it is made of: a document that the wire types take back as it is, the same every time."""
    view = View(root=Root(), programs=LocalPrograms())
    once, again = await inventory_document(view), await inventory_document(view)
    inventory = msgspec.json.decode(once, type=wire.Inventory)
    assert msgspec.json.encode(inventory) == once
    assert inventory.cpu is not None
    assert inventory.cpu.count >= 1
    assert {one.name for one in inventory.interfaces or ()} >= {"lo"}
    mine = msgspec.json.decode(again, type=wire.Inventory)
    assert (mine.cpu, mine.memory, mine.system_vendor) == (inventory.cpu, inventory.memory, inventory.system_vendor)
