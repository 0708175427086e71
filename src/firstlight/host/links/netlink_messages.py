"""rtnetlink messages as bytes: requests built, dumps read. Whatever bytes come, reading never raises."""

import struct
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_interface
from typing import Final

from firstlight.host.links.rows import Address, IpAddress, Link, Route

HEADER: Final = struct.Struct("=IHHII")
_LINK: Final = struct.Struct("=BxHiII")
_ADDRESS: Final = struct.Struct("=BBBBi")
_ROUTE: Final = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_NEXT_HOP: Final = struct.Struct("=HBBi")

NEW_LINK, DELETE_LINK, GET_LINK = 16, 17, 18
NEW_ADDRESS, GET_ADDRESS = 20, 22
NEW_ROUTE, GET_ROUTE = 24, 26
ERROR, DONE = 2, 3

REQUEST, ACKNOWLEDGE, DUMP, EXCLUSIVE, CREATE = 0x1, 0x4, 0x300, 0x200, 0x400
_NESTED: Final = 0x8000
_TYPE_MASK: Final = 0x3FFF
_CLONED: Final = 0x200
_UNICAST: Final = 1
PRIVATE: Final = 1
"""Macvlans in this mode never talk to each other."""


def messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Type, sequence number and payload of each whole message."""
    while len(data) >= HEADER.size:
        length, kind, _, sequence, _ = HEADER.unpack_from(data)
        if not HEADER.size <= length <= len(data):
            return
        yield kind, sequence, data[HEADER.size : length]
        data = data[_aligned(length) :]


def attributes(data: bytes) -> dict[int, bytes]:
    """The attributes at the start of `data`; what is cut off is left out."""
    found: dict[int, bytes] = {}
    while len(data) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(data)
        if not _ATTRIBUTE.size <= length <= len(data):
            break
        found[kind & _TYPE_MASK] = data[_ATTRIBUTE.size : length]
        data = data[_aligned(length) :]
    return found


def request(kind: int, *, flags: int, sequence: int, payload: bytes) -> bytes:
    return HEADER.pack(HEADER.size + len(payload), kind, REQUEST | flags, sequence, 0) + payload


def dump_request(kind: int, *, sequence: int) -> bytes:
    """Ask for all rows of every family. The general header is the first byte of each table's own."""
    size = {GET_LINK: _LINK.size, GET_ADDRESS: _ADDRESS.size, GET_ROUTE: _ROUTE.size}[kind]
    return request(kind, flags=DUMP, sequence=sequence, payload=bytes(size))


def macvlan_request(*, name: str, parent: int, mac: bytes, sequence: int) -> bytes:
    """Create a private macvlan over a link and bring it up in one go."""
    data = attribute(1, struct.pack("=I", PRIVATE))
    info = attribute(1, b"macvlan") + attribute(2 | _NESTED, data)
    payload = _LINK.pack(0, 0, 0, 1, 1) + b"".join(
        (
            attribute(3, name.encode() + b"\0"),
            attribute(1, mac),
            attribute(5, struct.pack("=I", parent)),
            attribute(18 | _NESTED, info),
        )
    )
    return request(NEW_LINK, flags=ACKNOWLEDGE | CREATE | EXCLUSIVE, sequence=sequence, payload=payload)


def delete_request(*, index: int, sequence: int) -> bytes:
    return request(DELETE_LINK, flags=ACKNOWLEDGE, sequence=sequence, payload=_LINK.pack(0, 0, index, 0, 0))


def attribute(kind: int, value: bytes) -> bytes:
    length = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(length, kind) + value + bytes(_aligned(length) - length)


def error_number(payload: bytes) -> int:
    """The errno of an error message, 0 for an acknowledgement."""
    return -struct.unpack_from("=i", payload)[0] if len(payload) >= 4 else 0


def link_of(payload: bytes) -> Link | None:
    if len(payload) < _LINK.size:
        return None
    _, _, index, flags, _ = _LINK.unpack_from(payload)
    found = attributes(payload[_LINK.size :])
    info = attributes(found.get(18, b""))
    name = _text(found.get(3, b""))
    if not name:
        return None
    return Link(
        index=index,
        name=name,
        mac=_mac(found.get(1, b"")),
        permanent_mac=_mac(found.get(54, b"")),
        mtu=_number(found, 4),
        flags=flags,
        kind=_text(info.get(1, b"")),
        member_kind=_text(info.get(4, b"")),
        master=_number(found, 10),
        parent=_number(found, 5),
        carrier=found.get(33, b"\0")[:1] == b"\1",
    )


def address_of(payload: bytes) -> Address | None:
    if len(payload) < _ADDRESS.size:
        return None
    family, prefix, flags, scope, index = _ADDRESS.unpack_from(payload)
    found = attributes(payload[_ADDRESS.size :])
    # On point-to-point links the plain address is the peer's, the local one is ours.
    own = _ip(family, found.get(2) or found.get(1, b""))
    if own is None or prefix > own.max_prefixlen:
        return None
    return Address(
        link=index,
        interface=ip_interface((own, prefix)),
        scope=scope,
        flags=_number(found, 8) or flags,
        label=_text(found.get(3, b"")),
    )


def route_of(payload: bytes) -> Route | None:
    if len(payload) < _ROUTE.size:
        return None
    family, prefix, _, _, table, protocol, _, kind, flags = _ROUTE.unpack_from(payload)
    if kind != _UNICAST or flags & _CLONED:
        return None
    found = attributes(payload[_ROUTE.size :])
    zero: IpAddress | None = {2: IPv4Address(0), 10: IPv6Address(0)}.get(family)
    destination = _ip(family, found[1]) if 1 in found else zero
    if destination is None or prefix > destination.max_prefixlen:
        return None
    hop = _first_hop(found.get(9, b""), family)
    return Route(
        family=family,
        destination=destination,
        prefix_length=prefix,
        gateway=_ip(family, found.get(5, b"")) or hop[1],
        link=_number(found, 4) or hop[0],
        metric=_number(found, 6),
        table=_number(found, 15) or table,
        protocol=protocol,
    )


def _first_hop(data: bytes, family: int) -> tuple[int, IpAddress | None]:
    if len(data) < _NEXT_HOP.size:
        return 0, None
    length, _, _, index = _NEXT_HOP.unpack_from(data)
    return index, _ip(family, attributes(data[_NEXT_HOP.size : length]).get(5, b""))


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _number(found: Mapping[int, bytes], kind: int) -> int:
    value = found.get(kind, b"")
    return struct.unpack_from("=I", value)[0] if len(value) >= 4 else 0


def _text(value: bytes) -> str:
    return value.split(b"\0", 1)[0].decode("utf-8", "replace")


def _mac(value: bytes) -> str:
    return value.hex(":") if len(value) == 6 else ""


def _ip(family: int, value: bytes) -> IpAddress | None:
    if family == 2 and len(value) == 4:
        return IPv4Address(value)
    if family == 10 and len(value) == 16:
        return IPv6Address(value)
    return None
