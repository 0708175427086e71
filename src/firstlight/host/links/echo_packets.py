"""Echo requests and replies of ICMP and ICMPv6; reading never raises."""

import struct
from typing import Final

from msgspec import Struct

from firstlight.host.links.frames import checksum

_ECHO: Final = struct.Struct("!BBHHH")
ECHO_SIZE: Final = _ECHO.size
REQUEST_V4, REPLY_V4 = 8, 0
REQUEST_V6, REPLY_V6 = 128, 129
HEADERS: Final = {4: 20 + ECHO_SIZE, 6: 40 + ECHO_SIZE}
"""What a packet carries beside its payload, by IP version."""


class EchoReply(Struct, frozen=True, kw_only=True):
    identifier: int
    sequence: int


def echo_request(*, version: int, identifier: int, sequence: int, size: int) -> bytes:
    """A request with `size` bytes of payload. The kernel fills the checksum of ICMPv6, which covers its addresses."""
    payload = bytes(index & 0xFF for index in range(size))
    if version == 6:
        return _ECHO.pack(REQUEST_V6, 0, 0, identifier, sequence) + payload
    total = checksum(_ECHO.pack(REQUEST_V4, 0, 0, identifier, sequence) + payload)
    return _ECHO.pack(REQUEST_V4, 0, total, identifier, sequence) + payload


def echo_reply_of(data: bytes, *, version: int) -> EchoReply | None:
    """What a raw socket delivered: with the IP header for ICMP, without it for ICMPv6."""
    if version == 4:
        if not data or data[0] >> 4 != 4:
            return None
        data = data[4 * (data[0] & 0xF) :]
    if len(data) < _ECHO.size:
        return None
    kind, code, _, identifier, sequence = _ECHO.unpack_from(data)
    if (kind, code) != ((REPLY_V4 if version == 4 else REPLY_V6), 0) or (version == 4 and checksum(data)):
        return None
    return EchoReply(identifier=identifier, sequence=sequence)
