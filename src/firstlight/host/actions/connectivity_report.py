"""What a connectivity check asks and what its report says: peers, links and measurements in, wire document out."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.wire.connectivity import (
    ConnectivityRemoteHost,
    ConnectivityReport,
    L2Connectivity,
    L3Connectivity,
    MtuReport,
)
from firstlight.host.links.ping import Ping
from firstlight.host.links.rows import Address, IpAddress, IpInterface, Link

_COMMON_MTU: Final = 1500
"""Links of this size are not measured: every network carries it."""
_OUTGOING_KINDS: Final = frozenset({"", "bond", "team", "vlan", "veth"})
"""Hardware has no kind; a veth is the hardware of a laboratory's machine."""


class RemoteNic(Struct, frozen=True, kw_only=True):
    """An interface of a peer, as the service names it."""

    name: str = ""
    mac: str = ""
    ip_addresses: tuple[str, ...] | None = None


class RemoteHost(Struct, frozen=True, kw_only=True):
    """A peer, as the service names it."""

    host_id: UUID
    nics: tuple[RemoteNic, ...] | None = None

    @property
    def addresses(self) -> tuple[IpAddress, ...]:
        """Each once; texts that are no address are passed over, a prefix length is tolerated."""
        texts = (text for nic in self.nics or () for text in nic.ip_addresses or ())
        return tuple(dict.fromkeys(ip for text in texts if (ip := _address(text)) is not None))

    @property
    def macs(self) -> frozenset[str]:
        return frozenset(nic.mac.lower() for nic in self.nics or ())


class Outgoing(Struct, frozen=True, kw_only=True):
    """A link of ours through which peers are asked."""

    link: Link
    interfaces: tuple[IpInterface, ...]

    def source_v4(self, target: IPv4Address) -> IPv4Address | None:
        """Our address in the target's subnet: ARP reaches no further."""
        for interface in self.interfaces:
            if isinstance(interface.ip, IPv4Address) and target in interface.network:
                return interface.ip
        return None

    def source_v6(self, target: IPv6Address) -> IPv6Address | None:
        """The address to ask with: one of the target's subnet, else any; leases of one address have no subnet."""
        own = [interface for interface in self.interfaces if isinstance(interface.ip, IPv6Address)]
        own.sort(key=lambda interface: target not in interface.network)
        return next((interface.ip for interface in own if isinstance(interface.ip, IPv6Address)), None)

    def has_version(self, version: int) -> bool:
        return any(interface.version == version for interface in self.interfaces)

    @property
    def measures_mtu(self) -> bool:
        return self.link.mtu != _COMMON_MTU


class Measured(Struct, frozen=True, kw_only=True):
    """Everything that was found out, by target and by our link's name."""

    pings: Mapping[IpAddress, Ping]
    owners: Mapping[tuple[str, IpAddress], tuple[str, ...]]
    whole_packets: Mapping[tuple[str, IpAddress], bool]
    """Whether packets of the link's full size arrive; a target that does not even answer small ones is missing."""


def outgoing_links(links: Iterable[Link], addresses: Iterable[Address]) -> tuple[Outgoing, ...]:
    """Links with an address that is valid beyond the link. Members of a bond speak through the bond only."""
    own: dict[int, list[IpInterface]] = {}
    for address in addresses:
        own.setdefault(address.link, []).append(address.interface)
    return tuple(
        Outgoing(link=link, interfaces=tuple(own[link.index]))
        for link in links
        if link.kind in _OUTGOING_KINDS
        and link.mac
        and not link.master
        and not link.is_loopback
        and any(not interface.is_link_local for interface in own.get(link.index, ()))
    )


def all_targets(hosts: Iterable[RemoteHost], *, asker: UUID) -> tuple[IpAddress, ...]:
    """Each address once. Every machine begins elsewhere in the list, so that no peer is asked by all at once."""
    targets = tuple(dict.fromkeys(ip for host in hosts for ip in host.addresses))
    start = asker.int % len(targets) if targets else 0
    return targets[start:] + targets[:start]


def report(hosts: Iterable[RemoteHost], *, outgoing: Sequence[Outgoing], measured: Measured) -> ConnectivityReport:
    """Lists are sorted, so that equal measurements are equal bytes."""
    ordered = sorted(hosts, key=lambda host: str(host.host_id))
    return ConnectivityReport(remote_hosts=tuple(_about(host, outgoing, measured) for host in ordered))


def _about(host: RemoteHost, outgoing: Sequence[Outgoing], measured: Measured) -> ConnectivityRemoteHost:
    neighbours = [
        L2Connectivity(
            outgoing_nic=nic.link.name,
            outgoing_ip_address=str(nic.source_v4(ip) or "") if isinstance(ip, IPv4Address) else "",
            remote_ip_address=str(ip),
            remote_mac=mac,
            successful=mac in host.macs,
        )
        for ip in host.addresses
        for nic in outgoing
        for mac in measured.owners.get((nic.link.name, ip), ())
    ]
    sizes = [
        MtuReport(outgoing_nic=nic.link.name, remote_ip_address=str(ip), mtu_successful=arrived)
        for ip in host.addresses
        for nic in outgoing
        if (arrived := measured.whole_packets.get((nic.link.name, ip))) is not None
    ]
    reached = [_reached(ip, measured.pings.get(ip)) for ip in host.addresses]
    return ConnectivityRemoteHost(
        host_id=host.host_id,
        l2_connectivity=tuple(
            sorted(neighbours, key=lambda row: (row.remote_ip_address, row.remote_mac, row.outgoing_nic))
        ),
        l3_connectivity=tuple(sorted(reached, key=lambda row: row.remote_ip_address)),
        mtu_report=tuple(sorted(sizes, key=lambda row: (row.remote_ip_address, row.outgoing_nic))),
    )


def _reached(ip: IpAddress, ping: Ping | None) -> L3Connectivity:
    if ping is None or not ping.received:
        return L3Connectivity(remote_ip_address=str(ip), packet_loss_percentage=100.0)
    return L3Connectivity(
        remote_ip_address=str(ip),
        successful=True,
        average_rtt_ms=ping.average_ms,
        packet_loss_percentage=ping.loss_percent,
    )


def _address(text: str) -> IpAddress | None:
    try:
        return ip_address(text.partition("/")[0])
    except ValueError:
        return None
