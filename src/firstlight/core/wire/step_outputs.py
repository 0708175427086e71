"""The documents inside a step reply's `output`, except the two large ones."""

from firstlight.core.wire.shape import Int64, Payload


class FreeNetworkAddresses(Payload, frozen=True, kw_only=True):
    """Addresses of one network that nobody answered for."""

    network: str = ""
    free_addresses: tuple[str, ...] | None = None


class ApiVipConnectivityResponse(Payload, frozen=True, kw_only=True):
    """The worker Ignition as fetched, or why not."""

    is_success: bool = False
    url: str = ""
    download_error: str = ""
    ignition: str = ""


class TangServerSignature(Payload, frozen=True, kw_only=True):
    """One signature over a tang advertisement."""

    protected: str = ""
    signature: str = ""


class TangServerResponse(Payload, frozen=True, kw_only=True):
    """The advertisement of one tang server."""

    tang_url: str = ""
    payload: str = ""
    signatures: tuple[TangServerSignature, ...] | None = None


class TangConnectivityResponse(Payload, frozen=True, kw_only=True):
    """What the tang servers said."""

    is_success: bool = False
    tang_server_response: tuple[TangServerResponse, ...] | None = None


class DiskSpeedCheckResponse(Payload, frozen=True, kw_only=True):
    """The slowest percentile of a synchronous write."""

    io_sync_duration: Int64 = 0
    path: str = ""


class DomainResolution(Payload, frozen=True, kw_only=True):
    """What one name resolved to; the name comes back exactly as asked."""

    domain_name: str = ""
    ipv4_addresses: tuple[str, ...] | None = None
    ipv6_addresses: tuple[str, ...] | None = None
    cnames: tuple[str, ...] | None = None


class DomainResolutionResponse(Payload, frozen=True, kw_only=True):
    """What the names resolved to."""

    resolutions: tuple[DomainResolution, ...] | None = None


class DiskSpeed(Payload, frozen=True, kw_only=True):
    """The stored result of a disk measurement."""

    tested: bool = False
    exit_code: Int64 = 0
    speed_ms: Int64 = 0


class DiskInfo(Payload, frozen=True, kw_only=True):
    """A disk and its measurement."""

    id: str = ""
    path: str = ""
    disk_speed: DiskSpeed | None = None


class DhcpAllocationResponse(Payload, frozen=True, kw_only=True):
    """The leases taken."""

    api_vip_address: str = ""
    ingress_vip_address: str = ""
    api_vip_lease: str = ""
    ingress_vip_lease: str = ""


class NtpSource(Payload, frozen=True, kw_only=True):
    """One time server and its state."""

    source_name: str = ""
    source_state: str = ""


class NtpSynchronizationResponse(Payload, frozen=True, kw_only=True):
    """The time servers as the clock daemon sees them."""

    ntp_sources: tuple[NtpSource, ...] | None = None


class ContainerImageAvailability(Payload, frozen=True, kw_only=True):
    """The outcome of one pull."""

    name: str = ""
    size_bytes: float = 0.0
    time: float = 0.0
    download_rate: float = 0.0
    result: str = ""


class ContainerImageAvailabilityResponse(Payload, frozen=True, kw_only=True):
    """The outcome of each pull."""

    images: tuple[ContainerImageAvailability, ...] | None = None


class UpgradeAgentResponse(Payload, frozen=True, kw_only=True):
    """The outcome of pulling a new agent."""

    agent_image: str = ""
    result: str = ""


class VerifiedVip(Payload, frozen=True, kw_only=True):
    """A virtual address and whether it is free."""

    vip: str = ""
    vip_type: str = ""
    verification: str = ""
