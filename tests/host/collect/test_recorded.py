"""The whole inventory of machines that were really there: see tests/host/trees/README.md for how they were made."""

import pytest

from firstlight.core import wire
from firstlight.core.model.inventory import Inventory
from firstlight.core.steps.inventory_reply import parse_inventory
from firstlight.host.collect.collecting import collect_inventory, inventory_document
from firstlight.host.collect.identity import fingerprint, host_id
from firstlight.host.collect.view import View
from tests.host.collect.trees import recorded_view, unpack

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, View]:
    names = ("server", "server-anonymous", "plain")
    return {name: recorded_view(unpack(name, tmp_path_factory.mktemp(name))) for name in names}


async def inventory_of(machines: dict[str, View], name: str) -> wire.Inventory:
    return await collect_inventory(machines[name])


def disk_named(inventory: wire.Inventory, name: str) -> wire.Disk:
    return next(disk for disk in inventory.disks or () if disk.name == name)


def reasons(disk: wire.Disk) -> tuple[str, ...]:
    assert disk.installation_eligibility is not None
    return disk.installation_eligibility.not_eligible_reasons or ()


async def test_firmware(machines: dict[str, View]) -> None:
    server = await inventory_of(machines, "server")
    assert server.system_vendor == wire.SystemVendor(
        serial_number="SYS0001", product_name="Rack 2000", manufacturer="Example Corp", virtual=True
    )
    assert server.memory is not None
    assert (server.memory.physical_bytes, server.memory.physical_bytes_method) == (2 * 2**30, "dmidecode")
    assert server.memory.usable_bytes < server.memory.physical_bytes
    assert server.boot is not None
    assert (server.boot.current_boot_mode, server.boot.secure_boot_state) == ("uefi", "Disabled")
    assert server.boot.pxe_interface == "01-52-54-00-aa-00-01"
    assert server.tpm_version == "2.0"
    assert [gpu.address for gpu in server.gpus or ()] == ["0000:00:05.0"]


async def test_processors(machines: dict[str, View]) -> None:
    cpu = (await inventory_of(machines, "server")).cpu
    assert cpu is not None
    assert (cpu.architecture, cpu.count, cpu.model_name) == ("x86_64", 2, "QEMU TCG CPU version 2.5+")
    assert "hypervisor" in (cpu.flags or ())
    assert cpu.frequency > 1_000


async def test_cards_bond_and_vlan(machines: dict[str, View]) -> None:
    server = await inventory_of(machines, "server")
    found = {one.name: one for one in server.interfaces or ()}
    assert {name: one.type for name, one in found.items()} == {
        "bond0": "bond",
        "bond0.42": "vlan",
        "br-ex": "bridge",
        "enp0s1": "physical",
        "enp0s2": "physical",
        "enp0s3": "physical",
        "lo": "device",
        "veth0": "veth",
        "veth1": "veth",
    }
    # Both members carry the bond's address; each is shown with its own.
    assert [found[name].mac_address[-2:] for name in ("enp0s1", "enp0s2", "enp0s3", "bond0")] == [
        "01",
        "02",
        "03",
        "01",
    ]
    vlan = found["bond0.42"]
    assert (vlan.ipv4_addresses, vlan.ipv6_addresses) == (("192.0.2.11/24",), ("2001:db8::11/64",))
    assert vlan.flags == ("up", "broadcast", "multicast", "running")
    assert (found["bond0"].has_carrier, found["br-ex"].has_carrier) == (True, False)
    assert (found["enp0s1"].vendor, found["enp0s1"].product) == ("0x1af4", "0x0001")


async def test_routes(machines: dict[str, View]) -> None:
    routes = (await inventory_of(machines, "server")).routes or ()
    fourth = [(row.destination, row.gateway, row.interface, row.metric) for row in routes if row.family == 2]
    assert fourth == [
        ("0.0.0.0", "192.0.2.1", "bond0.42", 400),
        ("192.0.2.0", "", "bond0.42", 0),
        ("198.51.100.0", "", "enp0s3", 0),
        ("203.0.113.0", "198.51.100.1", "enp0s3", 0),
    ]
    assert {row.family for row in routes} == {2, 10}


async def test_a_machine_without_a_name_is_called_by_its_card(machines: dict[str, View]) -> None:
    assert (await inventory_of(machines, "server")).hostname == "52-54-00-aa-00-01"
    assert (await inventory_of(machines, "plain")).hostname == "plain.lab.example"


async def test_multipath(machines: dict[str, View]) -> None:
    server = await inventory_of(machines, "server")
    device = disk_named(server, "dm-0")
    assert (device.drive_type, device.id) == ("Multipath", "/dev/disk/by-id/wwn-0x5000c50015ea71aa")
    assert reasons(device) == ()
    for name, address in (("sda", "0:0:0:0"), ("sdb", "1:0:0:0")):
        path = disk_named(server, name)
        assert (path.holders, path.hctl, path.wwn, path.has_uuid) == ("dm-0", address, "0x5000c50015ea71aa", True)
        assert path.by_id == ""
        assert "one path of the multipath device dm-0" in reasons(path)[0]


async def test_disks_in_use(machines: dict[str, View]) -> None:
    server = await inventory_of(machines, "server")
    assert reasons(disk_named(server, "nvme0n1")) == (
        "The disk is in use: nvme0n1p2 is mounted at /mnt/data through dm-1.",
    )
    assert disk_named(server, "nvme0n1").bootable
    assert reasons(disk_named(server, "vdc")) == ("The disk is in use: vdc is used as swap space.",)
    assert disk_named(server, "sr0").is_installation_media
    assert (disk_named(server, "vda").holders, disk_named(server, "md0").drive_type) == ("md0", "RAID")
    free = disk_named(server, "nvme1n1")
    assert (free.drive_type, free.size_bytes, free.serial, reasons(free)) == ("SSD", 130 * 2**30, "NVME0002", ())
    assert not free.bootable


async def test_the_stick_it_was_started_from(machines: dict[str, View]) -> None:
    plain = await inventory_of(machines, "plain")
    stick = disk_named(plain, "sda")
    assert (stick.removable, stick.is_installation_media, len(reasons(stick))) == (False, True, 1)
    assert reasons(disk_named(plain, "vda")) == ()
    assert plain.tpm_version == "none"
    assert plain.boot is not None
    assert (plain.boot.current_boot_mode, plain.boot.secure_boot_state) == ("bios", "NotSupported")


async def test_who_they_are(machines: dict[str, View]) -> None:
    server, plain = machines["server"], machines["plain"]
    # MD5 of the board's serial number BRD0001.
    assert str(host_id(server.root, server.network().links)) == "17f1d209-c1fb-9f79-4f3b-5cb4f16fb8a3"
    macs = fingerprint(server.root, server.network().links).macs
    assert macs == ("525400aa0001", "525400aa0002", "525400aa0003")
    assert fingerprint(plain.root, plain.network().links).macs == ("525400bb0001",)


async def test_a_disguise_changes_names_only(machines: dict[str, View]) -> None:
    open_one, hidden = await inventory_of(machines, "server"), await inventory_of(machines, "server-anonymous")
    assert [disk.name for disk in open_one.disks or ()] == [disk.name for disk in hidden.disks or ()]
    for one, other in zip(open_one.disks or (), hidden.disks or (), strict=True):
        assert (one.drive_type, one.size_bytes, one.holders, one.bootable, reasons(one)) == (
            other.drive_type,
            other.size_bytes,
            other.holders,
            other.bootable,
            reasons(other),
        )
    assert open_one.memory == hidden.memory
    assert open_one.routes == hidden.routes
    text = (await inventory_document(machines["server-anonymous"])).decode()
    for secret in ("SYS0001", "BRD0001", "SHARED01", "NVME0001", "5000c50015ea71aa", "52:54:00:aa:00:01"):
        assert secret not in text


@pytest.mark.parametrize("name", ["server", "plain"])
async def test_the_service_understands_every_field_and_nothing_moves(machines: dict[str, View], name: str) -> None:
    once, again = await inventory_document(machines[name]), await inventory_document(machines[name])
    assert once == again
    facts, normal = parse_inventory(once)
    assert isinstance(facts, Inventory)
    assert parse_inventory(normal)[0] == facts
    assert len(facts.disks) == len((await inventory_of(machines, name)).disks or ())
