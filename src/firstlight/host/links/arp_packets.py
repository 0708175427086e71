"""ARP requests for IPv4 over Ethernet, built and read; reading never raises."""

import struct
from ipaddress import IPv4Address
from typing import Final

from msgspec import Struct

from firstlight.host.links.frames import ARP_PROTOCOL, BROADCAST_MAC, framed, payload_of

_ARP: Final = struct.Struct("!HHBBH6s4s6s4s")
_REQUEST, _REPLY = 1, 2
_ETHERNET_OVER_IPV4: Final = (1, 0x0800, 6, 4)
_SHORTEST: Final = 60
"""Without padding some drivers send frames that switches drop."""


class ArpReply(Struct, frozen=True, kw_only=True):
    """Someone says: this address is mine."""

    mac: bytes
    ip: IPv4Address


def arp_request(target: IPv4Address, *, mac: bytes, source: IPv4Address) -> bytes:
    """Ask everyone on the link. With the source 0.0.0.0 it is a probe that fills no neighbour's table."""
    packet = _ARP.pack(*_ETHERNET_OVER_IPV4, _REQUEST, mac, source.packed, bytes(6), target.packed)
    return framed(packet, destination=BROADCAST_MAC, source=mac, protocol=ARP_PROTOCOL).ljust(_SHORTEST, b"\0")


def arp_reply_of(frame: bytes) -> ArpReply | None:
    """The reply in a frame, None for anything else."""
    packet = payload_of(frame, protocol=ARP_PROTOCOL)
    if packet is None or len(packet) < _ARP.size:
        return None
    *form, operation, mac, ip, _, _ = _ARP.unpack_from(packet)
    if tuple(form) != _ETHERNET_OVER_IPV4 or operation != _REPLY or mac in (bytes(6), BROADCAST_MAC):
        return None
    return ArpReply(mac=mac, ip=IPv4Address(ip))
