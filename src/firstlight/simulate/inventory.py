"""The inventory a machine's agent collects: the same bytes every time it is asked."""

from typing import Final

import msgspec

from firstlight.core import wire
from firstlight.simulate.machines import DiskSpec, Machine

NIC: Final = "enp1s0"
FLAGS: Final = ("fpu", "vme", "aes", "avx2", "sse4_2", "rdrand", "vmx")
AF_INET: Final = 2
ANYWHERE: Final = "0.0.0.0"  # noqa: S104 - the default route, and a baseboard controller that is not there

_ENCODE: Final = msgspec.json.Encoder().encode


def inventory_text(machine: Machine) -> str:
    return _ENCODE(inventory_of(machine)).decode()


def inventory_of(machine: Machine) -> wire.Inventory:
    return wire.Inventory(
        hostname=machine.name,
        bmc_address=ANYWHERE,
        bmc_v6address="::/0",
        boot=wire.Boot(
            current_boot_mode="uefi",
            command_line="BOOT_IMAGE=/images/vmlinuz coreos.liveiso=rhcos ignition.firstboot firstlight.simulated",
            secure_boot_state="Disabled",
            device_type="ephemeral",
        ),
        cpu=wire.Cpu(
            count=machine.cpu_cores,
            frequency=2600.0,
            flags=FLAGS,
            model_name="Intel(R) Xeon(R) Silver 4310 CPU @ 2.10GHz",
            architecture="x86_64",
        ),
        memory=wire.Memory(
            physical_bytes=machine.memory_bytes,
            usable_bytes=machine.memory_bytes - machine.memory_bytes // 40,
            physical_bytes_method="dmidecode",
        ),
        disks=tuple(_disk(disk, number) for number, disk in enumerate(machine.disks)),
        interfaces=(
            wire.Interface(
                name=NIC,
                mac_address=machine.mac,
                ipv4_addresses=(f"{machine.address}/{machine.network.prefix}",),
                ipv6_addresses=(),
                flags=("up", "broadcast", "multicast", "running"),
                has_carrier=True,
                mtu=1500,
                speed_mbps=10_000,
                type="physical",
                vendor="0x8086",
                product="0x1593",
            ),
        ),
        routes=(
            wire.Route(
                interface=NIC,
                gateway=machine.network.gateway,
                destination=ANYWHERE,
                family=AF_INET,
                metric=100,
            ),
            wire.Route(interface=NIC, destination=machine.network.cidr.partition("/")[0], family=AF_INET, metric=100),
        ),
        system_vendor=wire.SystemVendor(
            manufacturer=machine.manufacturer, product_name=machine.product, serial_number=machine.serial
        ),
        tpm_version="2.0",
    )


def _disk(disk: DiskSpec, number: int) -> wire.Disk:
    by_id = f"/dev/disk/by-id/wwn-{disk.wwn}"
    return wire.Disk(
        id=by_id,
        by_id=by_id,
        by_path=f"/dev/disk/by-path/pci-0000:00:1f.2-ata-{number + 1}",
        name=disk.name,
        path=f"/dev/{disk.name}",
        drive_type=disk.drive_type,
        hctl=f"{number}:0:0:0",
        model="SAMSUNG_MZ7LH480" if disk.drive_type == "SSD" else "ST2000NX0253",
        vendor="ATA",
        serial=disk.serial,
        wwn=disk.wwn,
        size_bytes=disk.size_bytes,
        installation_eligibility=wire.InstallationEligibility(eligible=True, not_eligible_reasons=()),
    )
