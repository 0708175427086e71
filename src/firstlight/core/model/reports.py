"""What agents measured, reduced to what rules read. Raw replies are kept elsewhere for whoever wants to look."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.inventory import Inventory


class ReportKind(StrEnum):
    """One stored row per host and kind; the value is also the storage key."""

    INVENTORY = "inventory"
    CONNECTIVITY = "connectivity"
    NTP = "ntp"
    DOMAINS = "domains"
    IMAGES = "images"
    DISK_SPEEDS = "disk-speeds"
    TANG = "tang"
    API_VIP = "api-vip"
    FREE_ADDRESSES = "free-addresses"
    VIPS = "vips"


class PartialPeer(Struct, frozen=True, array_like=True):
    """A peer of which some, but not all probed addresses of one IP version answered."""

    host_id: UUID
    version: int
    answered: tuple[str, ...]


class SlowPath(Struct, frozen=True, array_like=True):
    host_id: UUID
    address: str
    rtt_ms: float


class LossyPath(Struct, frozen=True, array_like=True):
    host_id: UUID
    address: str
    loss_percent: float


class BrokenMtu(Struct, frozen=True, array_like=True):
    host_id: UUID
    interface: str
    address: str


class Connectivity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One host's view of its peers. Peers are packed as 16-byte ids: five hundred hosts see each other cheaply."""

    asked: bytes = b""
    """Ids of all peers the report speaks of, reached or not."""
    layer2: dict[str, bytes] = {}
    """Own network (CIDR) → ids of the peers that answered inside it on layer 2 (IPv6: or on layer 3)."""
    layer3: dict[int, bytes] = {}
    """IP version (4, 6) → ids of the peers all of whose probed addresses of that version answered."""
    partial: tuple[PartialPeer, ...] = ()
    slow: tuple[SlowPath, ...] = ()
    """Paths slower than the smallest latency limit of any role."""
    lossy: tuple[LossyPath, ...] = ()
    """Paths that lost any packet."""
    broken_mtu: tuple[BrokenMtu, ...] = ()
    collisions: dict[str, tuple[str, ...]] = {}
    """Remote address → the different MACs that answered for it on one interface."""


class NtpSource(Struct, frozen=True, array_like=True):
    name: str
    state: str
    """synced, combined, not_combined, unreachable, error or variable."""


class Resolution(Struct, frozen=True, array_like=True):
    addresses: tuple[str, ...] = ()
    cnames: tuple[str, ...] = ()


class ImageStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    success: bool
    size_bytes: float = 0.0
    seconds: float = 0.0
    megabytes_per_second: float = 0.0


class DiskSpeed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    exit_code: int = 0
    speed_ms: int = 0
    error: str = ""
    """Why there is no speed, in the agent's words."""


class TangReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    success: bool
    error: str = ""


class ApiVipReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A day-2 host's try to download the worker Ignition of the running cluster."""

    success: bool
    url: str = ""
    error: str = ""
    ignition: str = ""


class Reports(Struct, frozen=True, kw_only=True):
    """Everything measured about one host; None means never reported (or void since re-registration)."""

    inventory: Inventory | None = None
    connectivity: Connectivity | None = None
    ntp: tuple[NtpSource, ...] | None = None
    domains: dict[str, Resolution] | None = None
    images: dict[str, ImageStatus] | None = None
    disk_speeds: dict[str, DiskSpeed] | None = None
    """Disk path as asked → result."""
    tang: TangReply | None = None
    api_vip: ApiVipReply | None = None
    free_addresses: dict[str, bytes] | None = None
    """IPv4 network → bitmap of free addresses, lowest address first, most significant bit first."""
    vips: dict[str, bool] | None = None
    """VIP → whether it was free when this host looked."""
    measured_at: dict[ReportKind, datetime] = {}


REPORT_FIELDS: dict[ReportKind, str] = {
    ReportKind.INVENTORY: "inventory",
    ReportKind.CONNECTIVITY: "connectivity",
    ReportKind.NTP: "ntp",
    ReportKind.DOMAINS: "domains",
    ReportKind.IMAGES: "images",
    ReportKind.DISK_SPEEDS: "disk_speeds",
    ReportKind.TANG: "tang",
    ReportKind.API_VIP: "api_vip",
    ReportKind.FREE_ADDRESSES: "free_addresses",
    ReportKind.VIPS: "vips",
}
NO_REPORTS = Reports()
