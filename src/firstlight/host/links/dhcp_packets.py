"""DHCP for IPv4 (RFC 2131) as a client speaks it, in whole Ethernet frames; reading never raises."""

import struct
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address
from typing import Final

from msgspec import Struct

from firstlight.host.links.frames import BROADCAST_MAC, IPV4_PROTOCOL, checksum, framed, payload_of

_BOOTP: Final = struct.Struct("!BBBBIHH4s4s4s4s16s64s128s")
_IPV4: Final = struct.Struct("!BBHHHBBH4s4s")
_UDP: Final = struct.Struct("!HHHH")
_COOKIE: Final = b"\x63\x82\x53\x63"
_ASK_BROADCAST: Final = 0x8000
CLIENT_PORT, SERVER_PORT = 68, 67
UDP: Final = 17

DISCOVER, OFFER, REQUEST, ACKNOWLEDGE, REFUSE = 1, 2, 3, 5, 6
MASK, ROUTERS, DNS, HOST_NAME, DOMAIN, BROADCAST = 1, 3, 6, 12, 15, 28
WANTED_ADDRESS, LEASE_SECONDS, OVERLOAD, KIND, SERVER, WANTED_OPTIONS, RENEW, REBIND = 50, 51, 52, 53, 54, 55, 58, 59
_PAD, _END = 0, 255
_WANTED: Final = bytes((MASK, BROADCAST, ROUTERS, DOMAIN, DNS, HOST_NAME, LEASE_SECONDS, RENEW, REBIND))


class DhcpAnswer(Struct, frozen=True, kw_only=True):
    """What a server offered, granted or refused."""

    kind: int
    address: IPv4Address
    server: IPv4Address | None
    options: Mapping[int, bytes]

    @property
    def seconds(self) -> int:
        return self.number(LEASE_SECONDS, default=3600)

    def number(self, option: int, *, default: int) -> int:
        value = self.options.get(option, b"")
        return struct.unpack("!I", value)[0] if len(value) == 4 else default


def dhcp_message(
    kind: int,
    *,
    transaction: int,
    mac: bytes,
    host_name: str,
    wanted: IPv4Address | None = None,
    server: IPv4Address | None = None,
) -> bytes:
    """A broadcast of a client that has no address yet."""
    options = [(KIND, bytes((kind,))), (HOST_NAME, host_name.encode()[:63]), (WANTED_OPTIONS, _WANTED)]
    if wanted is not None:
        options.append((WANTED_ADDRESS, wanted.packed))
    if server is not None:
        options.append((SERVER, server.packed))
    none = bytes(4)
    head = _BOOTP.pack(1, 1, 6, 0, transaction, 0, _ASK_BROADCAST, none, none, none, none, mac, b"", b"")
    tail = b"".join(bytes((code, len(value))) + value for code, value in options) + bytes((_END,))
    message = (head + _COOKIE + tail).ljust(300, b"\0")
    # A checksum of 0 means that there is none, which UDP over IPv4 allows.
    datagram = _UDP.pack(CLIENT_PORT, SERVER_PORT, _UDP.size + len(message), 0) + message
    header = _IPV4.pack(0x45, 0x10, _IPV4.size + len(datagram), 0, 0, 64, UDP, 0, none, b"\xff" * 4)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return framed(header + datagram, destination=BROADCAST_MAC, source=mac, protocol=IPV4_PROTOCOL)


def dhcp_answer_of(frame: bytes, *, transaction: int, mac: bytes) -> DhcpAnswer | None:
    """A server's answer to this transaction, None for anything else.

    The checksum of UDP is not looked at: on virtual links it is often left to hardware that does not exist.
    """
    message = _bootp_of(frame)
    if message is None:
        return None
    operation, hardware, length, _, number, *_ = fields = _BOOTP.unpack_from(message)
    yours, chaddr, server_name, file = fields[8], fields[11], fields[12], fields[13]
    if (operation, hardware, length, number) != (2, 1, 6, transaction) or chaddr[:6] != mac:
        return None
    if message[_BOOTP.size : _BOOTP.size + 4] != _COOKIE:
        return None
    options = dict(_options(message[_BOOTP.size + 4 :]))
    overload = options.get(OVERLOAD, b"\0")[:1]
    for bit, area in ((1, file), (2, server_name)):
        if overload and overload[0] & bit:
            options = {**dict(_options(area)), **options}
    kind = options.get(KIND, b"")
    server = options.get(SERVER, b"")
    if len(kind) != 1:
        return None
    return DhcpAnswer(
        kind=kind[0],
        address=IPv4Address(yours),
        server=IPv4Address(server) if len(server) == 4 else None,
        options=options,
    )


def _bootp_of(frame: bytes) -> bytes | None:
    packet = payload_of(frame, protocol=IPV4_PROTOCOL)
    if packet is None or len(packet) < _IPV4.size or packet[0] >> 4 != 4:
        return None
    size = 4 * (packet[0] & 0xF)
    datagram = packet[size:]
    if size < _IPV4.size or packet[9] != UDP or len(datagram) < _UDP.size + _BOOTP.size + 4:
        return None
    source, destination, _, _ = _UDP.unpack_from(datagram)
    return datagram[_UDP.size :] if (source, destination) == (SERVER_PORT, CLIENT_PORT) else None


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Options one after the other; a piece of a long one is simply the last to count."""
    place = 0
    while place < len(data) and data[place] != _END:
        if data[place] == _PAD:
            place += 1
            continue
        if place + 2 > len(data) or place + 2 + data[place + 1] > len(data):
            return
        yield data[place], data[place + 2 : place + 2 + data[place + 1]]
        place += 2 + data[place + 1]
