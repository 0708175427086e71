"""What one host saw of its peers, reduced to sets of peers and the few paths that are not as they should be."""

from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.reports import BrokenMtu, Connectivity, LossyPath, PartialPeer, SlowPath
from firstlight.core.steps.decoding import Text, decode, network_around, number_of_address
from firstlight.core.steps.limits import DEFAULT_LIMITS, Limits, smallest_latency

MOST_PEERS: Final = 5_000

Networks = tuple[tuple[str, int, int, int], ...]
"""(CIDR, IP version, network number, mask) of each network the host lies in."""


class _Link(Struct):
    outgoing_nic: Text | None = None
    remote_ip_address: Text | None = None
    remote_mac: Text | None = None
    successful: bool | None = None


class _Ping(Struct):
    remote_ip_address: Text | None = None
    successful: bool | None = None
    average_rtt_ms: float | None = None
    packet_loss_percentage: float | None = None


class _Mtu(Struct):
    outgoing_nic: Text | None = None
    remote_ip_address: Text | None = None
    mtu_successful: bool | None = None


class _Peer(Struct):
    host_id: UUID | None = None
    l2_connectivity: list[_Link] | None = None
    l3_connectivity: list[_Ping] | None = None
    mtu_report: list[_Mtu] | None = None


class _Report(Struct):
    remote_hosts: list[_Peer | None] | None = None


_DECODER: Final = msgspec.json.Decoder(_Report)


class _Gathering:
    """Grows while the peers are read; `finish` packs it."""

    def __init__(self, networks: Networks, slowest_ms: float) -> None:
        self.near: dict[tuple[int, int], dict[int, str]] = {}
        """(IP version, mask) → network number → CIDR: a host has many networks, but few sizes of them."""
        for cidr, version, network, mask in networks:
            self.near.setdefault((version, mask), {})[network] = cidr
        self.slowest_ms = slowest_ms
        self.asked: set[bytes] = set()
        self.layer2: dict[str, set[bytes]] = {cidr: set() for cidr, _, _, _ in networks}
        self.layer3: dict[int, set[bytes]] = {4: set(), 6: set()}
        self.partial: list[PartialPeer] = []
        self.slow: list[SlowPath] = []
        self.lossy: list[LossyPath] = []
        self.broken_mtu: list[BrokenMtu] = []
        self.macs: dict[tuple[str, str], set[str]] = {}

    def add(self, peer: _Peer) -> None:
        if peer.host_id is None:
            return
        packed = peer.host_id.bytes
        self.asked.add(packed)
        for link in peer.l2_connectivity or ():
            self._add_link(link, packed)
        if peer.l3_connectivity:
            self._add_pings(peer.l3_connectivity, peer.host_id, packed)
        for mtu in peer.mtu_report or ():
            if not mtu.mtu_successful:
                self.broken_mtu.append(BrokenMtu(peer.host_id, mtu.outgoing_nic or "", mtu.remote_ip_address or ""))

    def _add_link(self, link: _Link, packed: bytes) -> None:
        address = link.remote_ip_address
        if not address:
            return
        if link.remote_mac:
            self.macs.setdefault((link.outgoing_nic or "", address), set()).add(link.remote_mac.lower())
        if link.successful:
            self._add_near(address, packed)

    def _add_near(self, address: str, packed: bytes) -> None:
        number = number_of_address(address)
        if number is None:
            return
        for (version, mask), networks in self.near.items():
            cidr = networks.get(number[1] & mask) if version == number[0] else None
            if cidr is not None:
                self.layer2[cidr].add(packed)

    def _add_pings(self, pings: list[_Ping], host_id: UUID, packed: bytes) -> None:
        answered: dict[int, list[str]] = {}
        asked: dict[int, int] = {}
        for ping in pings:
            address = ping.remote_ip_address or ""
            number = number_of_address(address)
            if number is None:
                continue
            version = number[0]
            asked[version] = asked.get(version, 0) + 1
            if ping.successful:
                answered.setdefault(version, []).append(address)
                if version == 6:
                    # Neighbour discovery answers get lost: a ping inside the network is as good.
                    self._add_near(address, packed)
            if ping.average_rtt_ms is not None and ping.average_rtt_ms > self.slowest_ms:
                self.slow.append(SlowPath(host_id, address, ping.average_rtt_ms))
            if ping.packet_loss_percentage is not None and ping.packet_loss_percentage > 0:
                self.lossy.append(LossyPath(host_id, address, ping.packet_loss_percentage))
        for version, addresses in answered.items():
            if len(addresses) == asked[version]:
                self.layer3[version].add(packed)
            else:
                self.partial.append(PartialPeer(host_id, version, tuple(sorted(addresses))))

    def finish(self) -> Connectivity:
        collisions: dict[str, set[str]] = {}
        for (_, address), macs in self.macs.items():
            if len(macs) > 1:
                collisions.setdefault(address, set()).update(macs)
        return Connectivity(
            asked=b"".join(sorted(self.asked)),
            layer2={cidr: b"".join(sorted(ids)) for cidr, ids in self.layer2.items() if ids},
            layer3={version: b"".join(sorted(ids)) for version, ids in self.layer3.items() if ids},
            partial=tuple(self.partial),
            slow=tuple(self.slow),
            lossy=tuple(self.lossy),
            broken_mtu=tuple(self.broken_mtu),
            collisions={address: tuple(sorted(collisions[address])) for address in sorted(collisions)},
        )


def networks_of(inventory: Inventory) -> Networks:
    """The distinct networks the host has an address in."""
    found = {address: network_around(address) for interface in inventory.interfaces for address in interface.addresses}
    return tuple(dict.fromkeys(network for network in found.values() if network is not None))


def parse_connectivity(output: str | bytes, *, own: Inventory | None, limits: Limits = DEFAULT_LIMITS) -> Connectivity:
    """`own` is the reporting host's inventory: layer 2 is counted per network of its own."""
    report = decode(_DECODER, output, what="connectivity report")
    peers = report.remote_hosts or []
    if len(peers) > MOST_PEERS:
        raise Invalid(f"The connectivity report names {len(peers)} hosts; at most {MOST_PEERS} are read.")
    gathering = _Gathering(networks_of(own) if own is not None else (), smallest_latency(limits))
    for peer in peers:
        if peer is not None:
            gathering.add(peer)
    return gathering.finish()
