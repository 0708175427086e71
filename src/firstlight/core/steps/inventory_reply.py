"""The inventory an agent sends: read with tolerance, bounded, and written again in one normal form.

Absent, null and zero mean the same. What rules cannot use (an address that is none, a route to nowhere) stays in the
document people look at and is left out of the facts.
"""

from typing import Final, TypeVar

import msgspec

from firstlight.core.model.inventory import (
    Boot,
    Cpu,
    Disk,
    Gpu,
    Interface,
    Inventory,
    Memory,
    Route,
    SystemVendor,
    Truncation,
)
from firstlight.core.steps.decoding import canonical_interface_address, decode, number_of_address
from firstlight.core.steps.inventory_document import (
    BootPart,
    CpuPart,
    DiskPart,
    EligibilityPart,
    GpuPart,
    InterfacePart,
    InventoryDocument,
    MemoryPart,
    RoutePart,
    TruncationPart,
)

T = TypeVar("T")

LARGEST_LISTS: Final = {"disks": 512, "interfaces": 512, "routes": 2_048, "gpus": 256}
"""Longer lists are cut, and the inventory says so."""
MOST_ADDRESSES: Final = 4_096
"""Of all interfaces together; each is compared with those of every peer."""
REAL_INTERFACES: Final = frozenset({None, "", "physical", "bond", "vlan"})

_DECODER: Final = msgspec.json.Decoder(InventoryDocument)
_ENCODER: Final = msgspec.json.Encoder()


def parse_inventory(output: str | bytes, *, virtual_interfaces: bool = False) -> tuple[Inventory, bytes]:
    """The facts of an inventory, and the document itself in normal form for whoever asks for it."""
    document = decode(_DECODER, output, what="inventory")
    disks = [disk for disk in document.disks or () if disk is not None and _settle_disk(disk)]
    interfaces = [
        interface
        for interface in document.interfaces or ()
        if interface is not None and (virtual_interfaces or interface.type in REAL_INTERFACES)
    ]
    for interface in interfaces:
        interface.mac_address = (interface.mac_address or "").lower()
    routes = [route for route in document.routes or () if route is not None]
    if len(routes) > LARGEST_LISTS["routes"]:
        # A cut must not lose the routes that matter, wherever the agent put them.
        routes.sort(key=lambda route: (route.destination or "").strip("0.:") != "")
    gpus = [gpu for gpu in document.gpus or () if gpu is not None]
    lost: list[str] = []
    disks, interfaces = _cut("disks", disks, lost), _cut("interfaces", interfaces, lost)
    _cut_addresses(interfaces, lost)
    routes, gpus = _cut("routes", routes, lost), _cut("gpus", gpus, lost)
    document.disks, document.interfaces, document.routes, document.gpus = [*disks], [*interfaces], [*routes], [*gpus]
    if lost:
        earlier = document.truncation or TruncationPart()
        document.truncation = TruncationPart(type=earlier.type or "partial", reasons=[*(earlier.reasons or ()), *lost])
    facts = _facts_of(document, disks=disks, interfaces=interfaces, routes=routes, gpus=gpus)
    return facts, _ENCODER.encode(document)


def _settle_disk(disk: DiskPart) -> bool:
    """Give the disk its id and its plain verdict; False when nothing names it."""
    if not disk.id:
        disk.id = disk.by_id or disk.by_path or disk.path or (f"/dev/{disk.name}" if disk.name else None)
    eligibility = disk.installation_eligibility
    if eligibility is None:
        eligibility = disk.installation_eligibility = EligibilityPart()
    # Agents of the first hours sent no verdict at all: that means eligible.
    eligibility.eligible = not eligibility.not_eligible_reasons
    return disk.id is not None


def _cut(name: str, items: list[T], lost: list[str]) -> list[T]:
    largest = LARGEST_LISTS[name]
    if len(items) <= largest:
        return items
    lost.append(f"The agent reported {len(items)} {name}; the first {largest} are kept.")
    return items[:largest]


def _cut_addresses(interfaces: list[InterfacePart], lost: list[str]) -> None:
    lists = [each for part in interfaces for each in (part.ipv4_addresses, part.ipv6_addresses) if each]
    left, total = MOST_ADDRESSES, sum(map(len, lists))
    if total <= left:
        return
    lost.append(f"The agent reported {total} addresses; the first {left} are kept.")
    for addresses in lists:
        del addresses[left:]
        left -= len(addresses)


def _facts_of(
    document: InventoryDocument,
    *,
    disks: list[DiskPart],
    interfaces: list[InterfacePart],
    routes: list[RoutePart],
    gpus: list[GpuPart],
) -> Inventory:
    vendor, truncation = document.system_vendor, document.truncation
    return Inventory(
        hostname=document.hostname or "",
        cpu=_cpu_of(document.cpu or CpuPart()),
        memory=_memory_of(document.memory or MemoryPart()),
        disks=tuple([_disk_of(disk) for disk in disks]),
        interfaces=tuple([_interface_of(interface) for interface in interfaces]),
        routes=tuple([_route_of(route) for route in routes if _leads_somewhere(route)]),
        boot=_boot_of(document.boot or BootPart()),
        vendor=None
        if vendor is None
        else SystemVendor(
            manufacturer=vendor.manufacturer or "",
            product_name=vendor.product_name or "",
            serial_number=vendor.serial_number or "",
            virtual=vendor.virtual or False,
        ),
        gpus=tuple([_gpu_of(gpu) for gpu in gpus]),
        tpm_version=document.tpm_version or "",
        bmc_address=document.bmc_address or "",
        bmc_v6address=document.bmc_v6address or "",
        truncation=None
        if truncation is None
        else Truncation(type=truncation.type or "", reasons=tuple(truncation.reasons or ())),
    )


def _cpu_of(part: CpuPart) -> Cpu:
    return Cpu(
        architecture=part.architecture or "",
        count=max(0, part.count or 0),
        model_name=part.model_name or "",
        frequency=part.frequency or 0.0,
        flags=tuple(part.flags or ()),
    )


def _memory_of(part: MemoryPart) -> Memory:
    return Memory(
        physical_bytes=max(0, part.physical_bytes or 0),
        usable_bytes=max(0, part.usable_bytes or 0),
        method=part.physical_bytes_method or "",
    )


def _boot_of(part: BootPart) -> Boot:
    return Boot(
        mode=part.current_boot_mode or "",
        secure_boot=part.secure_boot_state or "",
        device_type=part.device_type or "",
        pxe_interface=part.pxe_interface or "",
        command_line=part.command_line or "",
    )


def _disk_of(part: DiskPart) -> Disk:
    eligibility = part.installation_eligibility
    return Disk(
        id=part.id or "",
        name=part.name or "",
        path=part.path or "",
        by_id=part.by_id or "",
        by_path=part.by_path or "",
        drive_type=part.drive_type or "",
        size_bytes=max(0, part.size_bytes or 0),
        vendor=part.vendor or "",
        model=part.model or "",
        serial=part.serial or "",
        wwn=part.wwn or "",
        hctl=part.hctl or "",
        bootable=part.bootable or False,
        removable=part.removable or False,
        has_uuid=part.has_uuid or False,
        is_installation_media=part.is_installation_media or False,
        holders=tuple(holder for holder in part.holders.split(",") if holder) if part.holders else (),
        iscsi_host_ip=(part.iscsi.host_ip_address or "") if part.iscsi else "",
        refusals=tuple(eligibility.not_eligible_reasons or ()) if eligibility else (),
    )


def _interface_of(part: InterfacePart) -> Interface:
    return Interface(
        name=part.name or "",
        mac=part.mac_address or "",
        type=part.type or "",
        mtu=max(0, part.mtu or 0),
        speed_mbps=part.speed_mbps or 0,
        has_carrier=part.has_carrier or False,
        vendor=part.vendor or "",
        product=part.product or "",
        ipv4=_addresses(part.ipv4_addresses),
        ipv6=_addresses(part.ipv6_addresses),
    )


def _addresses(texts: list[str] | None) -> tuple[str, ...]:
    found = [canonical_interface_address(text) for text in texts or ()]
    return tuple([address for address in found if address is not None])


def _leads_somewhere(part: RoutePart) -> bool:
    return number_of_address(part.destination or "") is not None and (
        not part.gateway or number_of_address(part.gateway) is not None
    )


def _route_of(part: RoutePart) -> Route:
    return Route(
        destination=part.destination or "",
        gateway=part.gateway or "",
        interface=part.interface or "",
        family=part.family or 0,
        metric=part.metric or 0,
    )


def _gpu_of(part: GpuPart) -> Gpu:
    return Gpu(
        address=part.address or "",
        vendor_id=part.vendor_id or "",
        device_id=part.device_id or "",
        vendor=part.vendor or "",
        name=part.name or "",
    )
