"""Neighbour solicitations and advertisements of IPv6 (RFC 4861) as whole frames; reading never raises."""

import struct
from ipaddress import IPv6Address
from typing import Final

from msgspec import Struct

from firstlight.host.links.frames import IPV6_PROTOCOL, checksum, framed, payload_of

_IPV6: Final = struct.Struct("!IHBB16s16s")
_NEIGHBOUR: Final = struct.Struct("!BBHI16s")
ICMPV6: Final = 58
SOLICITATION, ADVERTISEMENT = 135, 136
_ONLY_FROM_THE_LINK: Final = 255
"""A router lowers the hop limit, so this value proves that the sender is a neighbour."""
_SOURCE_ADDRESS, _TARGET_ADDRESS = 1, 2
_SOLICITED_NODE: Final = IPv6Address("ff02::1:ff00:0").packed[:13]


class Advertisement(Struct, frozen=True, kw_only=True):
    """Someone says: this address is mine."""

    mac: bytes
    ip: IPv6Address


def solicited_node(target: IPv6Address) -> IPv6Address:
    """The group that every owner of the address listens to."""
    return IPv6Address(_SOLICITED_NODE + target.packed[13:])


def group_mac(group: IPv6Address) -> bytes:
    return b"\x33\x33" + group.packed[12:]


def pseudo_header(source: IPv6Address, destination: IPv6Address, *, length: int, protocol: int = ICMPV6) -> bytes:
    return source.packed + destination.packed + struct.pack("!II", length, protocol)


def solicitation(target: IPv6Address, *, mac: bytes, source: IPv6Address) -> bytes:
    """Ask the owners of an address for their link address."""
    group = solicited_node(target)
    option = bytes((_SOURCE_ADDRESS, 1)) + mac
    return _frame(
        _NEIGHBOUR.pack(SOLICITATION, 0, 0, 0, target.packed) + option,
        macs=(group_mac(group), mac),
        addresses=(source, group),
    )


def advertisement(target: IPv6Address, *, mac: bytes, to_mac: bytes, to: IPv6Address) -> bytes:
    """The answer to a solicitation, as an owner gives it."""
    solicited_and_override = 0x6000_0000
    option = bytes((_TARGET_ADDRESS, 1)) + mac
    return _frame(
        _NEIGHBOUR.pack(ADVERTISEMENT, 0, 0, solicited_and_override, target.packed) + option,
        macs=(to_mac, mac),
        addresses=(target, to),
    )


def advertisement_of(frame: bytes) -> Advertisement | None:
    """The advertisement in a frame, None for anything else or a damaged one."""
    packet = payload_of(frame, protocol=IPV6_PROTOCOL)
    if packet is None or len(packet) < _IPV6.size:
        return None
    _, length, protocol, hops, source, destination = _IPV6.unpack_from(packet)
    message = packet[_IPV6.size : _IPV6.size + length]
    if protocol != ICMPV6 or hops != _ONLY_FROM_THE_LINK or len(message) < max(length, _NEIGHBOUR.size):
        return None
    header = pseudo_header(IPv6Address(source), IPv6Address(destination), length=length)
    if checksum(header + message):
        return None
    kind, code, _, _, target = _NEIGHBOUR.unpack_from(message)
    if (kind, code) != (ADVERTISEMENT, 0):
        return None
    # Without the option the frame's own sender is the owner, or speaks for it.
    mac = _target_address(message[_NEIGHBOUR.size :]) or frame[6:12]
    return Advertisement(mac=mac, ip=IPv6Address(target))


def _target_address(options: bytes) -> bytes | None:
    while len(options) >= 8 and options[1]:
        if options[0] == _TARGET_ADDRESS and options[1] == 1:
            return options[2:8]
        options = options[8 * options[1] :]
    return None


def _frame(message: bytes, *, macs: tuple[bytes, bytes], addresses: tuple[IPv6Address, IPv6Address]) -> bytes:
    """An ICMPv6 message with its checksum in an IPv6 packet in an Ethernet frame."""
    source, destination = addresses
    total = checksum(pseudo_header(source, destination, length=len(message)) + message)
    message = message[:2] + struct.pack("!H", total) + message[4:]
    header = _IPV6.pack(6 << 28, len(message), ICMPV6, _ONLY_FROM_THE_LINK, source.packed, destination.packed)
    return framed(header + message, destination=macs[0], source=macs[1], protocol=IPV6_PROTOCOL)
