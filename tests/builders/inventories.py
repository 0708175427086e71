"""Machines that pass every check: 8 cores, 16 GiB, one 120 GiB SSD, one interface in 192.0.2.0/24.

`number` makes machines differ where machines must: name, address, MAC, disk.
"""

from typing import Any

from msgspec.structs import replace

from firstlight.core.model.inventory import (
    Boot,
    Cpu,
    Disk,
    Interface,
    Inventory,
    Memory,
    MemoryMethod,
    Route,
    SystemVendor,
)

GIB = 1024**3
MIB = 1024**2
GB = 10**9
NETWORK = "192.0.2.0/24"


def address_of_number(number: int) -> str:
    """Host 1 has 192.0.2.11; the numbers run to 240, then on into the next networks."""
    high, low = divmod(number - 1, 240)
    return f"192.0.{2 + high}.{11 + low}"


def a_disk(number: int = 1, **changes: Any) -> Disk:
    wwn = f"0x5000c5000000{number:04x}"
    name = f"sd{chr(ord('a') + (number - 1) % 26)}"
    disk = Disk(
        id=f"/dev/disk/by-id/wwn-{wwn}",
        name=name,
        path=f"/dev/{name}",
        by_id=f"/dev/disk/by-id/wwn-{wwn}",
        by_path=f"/dev/disk/by-path/pci-0000:00:{number:02x}.0",
        drive_type="SSD",
        size_bytes=120 * GIB,
        wwn=wwn,
        hctl=f"0:0:0:{number}",
        has_uuid=True,
    )
    return replace(disk, **changes)


def an_interface(number: int = 1, **changes: Any) -> Interface:
    interface = Interface(
        name="enp1s0",
        mac=f"52:54:00:aa:{number >> 8 & 255:02x}:{number & 255:02x}",
        type="physical",
        mtu=1500,
        speed_mbps=1000,
        has_carrier=True,
        vendor="0x1af4",
        product="0x1041",
        ipv4=(f"{address_of_number(number)}/24",),
    )
    return replace(interface, **changes)


def a_route(**changes: Any) -> Route:
    """The default route."""
    route = Route(destination="0.0.0.0", gateway="192.0.2.1", interface="enp1s0", family=2, metric=100)
    return replace(route, **changes)


def an_inventory(
    number: int = 1,
    *,
    cpu_count: int = 8,
    architecture: str = "x86_64",
    ram_mib: int = 16_384,
    memory_method: str = MemoryMethod.DMIDECODE,
    **changes: Any,
) -> Inventory:
    inventory = Inventory(
        hostname=f"host-{number}",
        cpu=Cpu(architecture=architecture, count=cpu_count, model_name="Example CPU", flags=("fpu", "vmx")),
        memory=Memory(physical_bytes=ram_mib * MIB, usable_bytes=max(0, ram_mib - 400) * MIB, method=memory_method),
        disks=(a_disk(),),
        interfaces=(an_interface(number),),
        routes=(a_route(),),
        boot=Boot(mode="uefi", secure_boot="Disabled", device_type="ephemeral"),
        vendor=SystemVendor(manufacturer="QEMU", product_name="Standard PC", virtual=True),
        tpm_version="none",
    )
    return replace(inventory, **changes)
