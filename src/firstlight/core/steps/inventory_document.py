"""The inventory as agents write it: every field optional, every list nullable.

Lists get their default from a function, so that empty ones are written too: clients index them without asking.
"""

from msgspec import Struct, field

from firstlight.core.steps.decoding import Integer, LongText, Text


def _texts() -> list[Text]:
    return []


class Part(Struct, kw_only=True, omit_defaults=True):
    """Not frozen: it lives only while one reply is read."""


class InterfacePart(Part):
    ipv6_addresses: list[Text] | None = field(default_factory=_texts)
    vendor: Text | None = None
    name: Text | None = None
    has_carrier: bool | None = None
    product: Text | None = None
    mtu: Integer | None = None
    ipv4_addresses: list[Text] | None = field(default_factory=_texts)
    biosdevname: Text | None = None
    client_id: Text | None = None
    mac_address: Text | None = None
    flags: list[Text] | None = field(default_factory=_texts)
    speed_mbps: Integer | None = None
    type: Text | None = None


class EligibilityPart(Part):
    eligible: bool | None = None
    not_eligible_reasons: list[Text] | None = field(default_factory=_texts)


class IscsiPart(Part):
    host_ip_address: Text | None = None


class IoPerformancePart(Part):
    sync_duration: Integer | None = None


class DiskPart(Part):
    id: Text | None = None
    drive_type: Text | None = None
    has_uuid: bool | None = None
    vendor: Text | None = None
    name: Text | None = None
    path: Text | None = None
    hctl: Text | None = None
    by_path: Text | None = None
    by_id: Text | None = None
    model: Text | None = None
    wwn: Text | None = None
    serial: Text | None = None
    size_bytes: Integer | None = None
    bootable: bool | None = None
    removable: bool | None = None
    partition_types: Text | None = field(name="partitionTypes", default=None)
    is_installation_media: bool | None = None
    installation_eligibility: EligibilityPart | None = field(default_factory=EligibilityPart)
    smart: LongText | None = None
    io_perf: IoPerformancePart | None = None
    holders: Text | None = None
    iscsi: IscsiPart | None = None


class BootPart(Part):
    current_boot_mode: Text | None = None
    pxe_interface: Text | None = None
    command_line: Text | None = None
    secure_boot_state: Text | None = None
    device_type: Text | None = None


class SystemVendorPart(Part):
    serial_number: Text | None = None
    product_name: Text | None = None
    manufacturer: Text | None = None
    virtual: bool | None = None


class MemoryPart(Part):
    physical_bytes: Integer | None = None
    usable_bytes: Integer | None = None
    physical_bytes_method: Text | None = None


class CpuPart(Part):
    count: Integer | None = None
    frequency: float | None = None
    flags: list[Text] | None = field(default_factory=_texts)
    model_name: Text | None = None
    architecture: Text | None = None


class GpuPart(Part):
    vendor: Text | None = None
    vendor_id: Text | None = None
    device_id: Text | None = None
    name: Text | None = None
    address: Text | None = None


class RoutePart(Part):
    interface: Text | None = None
    gateway: Text | None = None
    destination: Text | None = None
    family: Integer | None = None
    metric: Integer | None = None


class TruncationPart(Part):
    type: Text | None = None
    reasons: list[Text] | None = field(default_factory=_texts)


def _interfaces() -> list[InterfacePart | None]:
    return []


def _disks() -> list[DiskPart | None]:
    return []


def _gpus() -> list[GpuPart | None]:
    return []


def _routes() -> list[RoutePart | None]:
    return []


class InventoryDocument(Part):
    hostname: Text | None = None
    bmc_address: Text | None = None
    interfaces: list[InterfacePart | None] | None = field(default_factory=_interfaces)
    disks: list[DiskPart | None] | None = field(default_factory=_disks)
    boot: BootPart | None = field(default_factory=BootPart)
    system_vendor: SystemVendorPart | None = None
    bmc_v6address: Text | None = None
    memory: MemoryPart | None = field(default_factory=MemoryPart)
    cpu: CpuPart | None = field(default_factory=CpuPart)
    gpus: list[GpuPart | None] | None = field(default_factory=_gpus)
    routes: list[RoutePart | None] | None = field(default_factory=_routes)
    tpm_version: Text | None = None
    truncation: TruncationPart | None = None
