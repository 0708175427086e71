"""What a machine is made of, as its agent measured it. Addresses are text in `address/prefix` form."""

from enum import StrEnum

from msgspec import Struct


class MemoryMethod(StrEnum):
    DMIDECODE = "dmidecode"
    GHW = "ghw"
    MEMINFO = "meminfo"


class Cpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    architecture: str = ""
    count: int = 0
    model_name: str = ""
    frequency: float = 0.0
    flags: tuple[str, ...] = ()


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    physical_bytes: int = 0
    usable_bytes: int = 0
    method: str = ""
    """A MemoryMethod, or whatever a newer agent says."""


class Disk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    """by-id path, else by-path, else /dev path: never empty."""
    name: str = ""
    path: str = ""
    by_id: str = ""
    by_path: str = ""
    drive_type: str = ""
    size_bytes: int = 0
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    hctl: str = ""
    bootable: bool = False
    removable: bool = False
    has_uuid: bool = False
    is_installation_media: bool = False
    holders: tuple[str, ...] = ()
    iscsi_host_ip: str = ""
    refusals: tuple[str, ...] = ()
    """Reasons of the agent itself why nothing may be installed on this disk."""


class Interface(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str = ""
    mac: str = ""
    """Lower case."""
    type: str = ""
    mtu: int = 0
    speed_mbps: int = 0
    has_carrier: bool = False
    vendor: str = ""
    product: str = ""
    ipv4: tuple[str, ...] = ()
    ipv6: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.ipv4 + self.ipv6


class Route(Struct, frozen=True, kw_only=True, omit_defaults=True):
    destination: str = ""
    """Network address without prefix; the default route is 0.0.0.0 or ::."""
    gateway: str = ""
    interface: str = ""
    family: int = 0
    """2 for IPv4, 10 for IPv6 (address family numbers, as agents send them)."""
    metric: int = 0


class Boot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    mode: str = ""
    """uefi or bios."""
    secure_boot: str = ""
    """Enabled, Disabled, NotSupported, Unknown or empty."""
    device_type: str = ""
    """persistent, ephemeral or empty."""
    pxe_interface: str = ""
    command_line: str = ""


class SystemVendor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    manufacturer: str = ""
    product_name: str = ""
    serial_number: str = ""
    virtual: bool = False


class Gpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    address: str = ""
    vendor_id: str = ""
    device_id: str = ""
    vendor: str = ""
    name: str = ""


class Truncation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str = ""
    """partial, or full (then the rest of the inventory is worthless)."""
    reasons: tuple[str, ...] = ()


class Inventory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    hostname: str = ""
    cpu: Cpu
    memory: Memory
    disks: tuple[Disk, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    boot: Boot = Boot()
    vendor: SystemVendor | None = None
    gpus: tuple[Gpu, ...] = ()
    tpm_version: str = ""
    bmc_address: str = ""
    bmc_v6address: str = ""
    truncation: Truncation | None = None
