"""The report of a connectivity check."""

from uuid import UUID

from firstlight.core.wire.shape import Payload


class L2Connectivity(Payload, frozen=True, kw_only=True):
    """An answer of a peer on the link."""

    outgoing_nic: str = ""
    outgoing_ip_address: str = ""
    remote_ip_address: str = ""
    remote_mac: str = ""
    successful: bool = False


class L3Connectivity(Payload, frozen=True, kw_only=True):
    """A ping to a peer."""

    outgoing_nic: str = ""
    remote_ip_address: str = ""
    successful: bool = False
    average_rtt_ms: float = 0.0
    packet_loss_percentage: float = 0.0


class MtuReport(Payload, frozen=True, kw_only=True):
    """Whether full-size packets reach a peer."""

    outgoing_nic: str = ""
    remote_ip_address: str = ""
    mtu_successful: bool = False


class ConnectivityRemoteHost(Payload, frozen=True, kw_only=True):
    """How one peer was reached."""

    host_id: UUID | None = None
    l2_connectivity: tuple[L2Connectivity, ...] | None = None
    l3_connectivity: tuple[L3Connectivity, ...] | None = None
    mtu_report: tuple[MtuReport, ...] | None = None


class ConnectivityReport(Payload, frozen=True, kw_only=True):
    """How every peer was reached."""

    remote_hosts: tuple[ConnectivityRemoteHost, ...] | None = None
