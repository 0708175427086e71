"""The inventory an agent collects."""

from msgspec import field

from firstlight.core.wire.shape import Int64, Payload


class Interface(Payload, frozen=True, kw_only=True):
    """A network interface."""

    ipv6_addresses: tuple[str, ...] | None = None
    vendor: str = ""
    name: str = ""
    has_carrier: bool = False
    product: str = ""
    mtu: Int64 = 0
    ipv4_addresses: tuple[str, ...] | None = None
    biosdevname: str = ""
    client_id: str = ""
    mac_address: str = ""
    flags: tuple[str, ...] | None = None
    speed_mbps: Int64 = 0
    type: str = ""


class IoPerf(Payload, frozen=True, kw_only=True):
    """A measurement old agents sent along."""

    sync_duration: Int64 = 0


class Iscsi(Payload, frozen=True, kw_only=True):
    """The session behind an iSCSI disk."""

    host_ip_address: str = ""


class InstallationEligibility(Payload, frozen=True, kw_only=True):
    """Whether OpenShift may be installed on a disk, and why not."""

    eligible: bool = False
    not_eligible_reasons: tuple[str, ...] | None = None


class Disk(Payload, frozen=True, kw_only=True):
    """A block device."""

    id: str = ""
    drive_type: str = ""
    has_uuid: bool = False
    vendor: str = ""
    name: str = ""
    path: str = ""
    hctl: str = ""
    by_path: str = ""
    by_id: str = ""
    model: str = ""
    wwn: str = ""
    serial: str = ""
    size_bytes: Int64 = 0
    bootable: bool = False
    removable: bool = False
    partition_types: str = field(default="", name="partitionTypes")
    is_installation_media: bool = False
    installation_eligibility: InstallationEligibility | None = None
    smart: str = ""
    io_perf: IoPerf | None = None
    holders: str = ""
    iscsi: Iscsi | None = None


class Boot(Payload, frozen=True, kw_only=True):
    """How the machine was started."""

    current_boot_mode: str = ""
    pxe_interface: str = ""
    command_line: str = ""
    secure_boot_state: str = ""
    device_type: str = ""


class SystemVendor(Payload, frozen=True, kw_only=True):
    """Who made the machine, and whether it is a virtual one."""

    serial_number: str = ""
    product_name: str = ""
    manufacturer: str = ""
    virtual: bool = False


class Memory(Payload, frozen=True, kw_only=True):
    """Installed and usable memory."""

    physical_bytes: Int64 = 0
    usable_bytes: Int64 = 0
    physical_bytes_method: str = ""


class Cpu(Payload, frozen=True, kw_only=True):
    """The processors."""

    count: Int64 = 0
    frequency: float = 0.0
    flags: tuple[str, ...] | None = None
    model_name: str = ""
    architecture: str = ""


class Gpu(Payload, frozen=True, kw_only=True):
    """An accelerator on the PCI bus."""

    vendor: str = ""
    vendor_id: str = ""
    device_id: str = ""
    name: str = ""
    address: str = ""


class Route(Payload, frozen=True, kw_only=True):
    """A row of the routing table; the family is 2 or 10."""

    interface: str = ""
    gateway: str = ""
    destination: str = ""
    family: Int64 = 0
    metric: Int64 = 0


class Truncation(Payload, frozen=True, kw_only=True):
    """What an agent left out to keep the document small."""

    type: str = ""
    reasons: tuple[str, ...] | None = None


class Inventory(Payload, frozen=True, kw_only=True):
    """Everything an agent knows of its machine."""

    hostname: str = ""
    bmc_address: str = ""
    interfaces: tuple[Interface, ...] | None = None
    disks: tuple[Disk, ...] | None = None
    boot: Boot | None = None
    system_vendor: SystemVendor | None = None
    bmc_v6address: str = ""
    memory: Memory | None = None
    cpu: Cpu | None = None
    gpus: tuple[Gpu, ...] | None = None
    routes: tuple[Route, ...] | None = None
    tpm_version: str = ""
    truncation: Truncation | None = None
