"""What Ethernet, ARP, IPv6 and ICMP have in common: link addresses and the internet checksum."""

import struct
from typing import Final

BROADCAST_MAC: Final = b"\xff" * 6
ARP_PROTOCOL: Final = 0x0806
IPV4_PROTOCOL: Final = 0x0800
IPV6_PROTOCOL: Final = 0x86DD

_ETHERNET: Final = struct.Struct("!6s6sH")
ETHERNET_SIZE: Final = _ETHERNET.size


def mac_bytes(text: str) -> bytes:
    """Six bytes of `52:54:00:aa:bb:01`, with colons or dashes. Raises ValueError."""
    value = bytes.fromhex(text.strip().replace("-", ":").replace(":", " "))
    if len(value) != 6:
        raise ValueError(f"{text!r} is not a MAC address.")
    return value


def mac_text(value: bytes) -> str:
    return value.hex(":")


def framed(payload: bytes, *, destination: bytes, source: bytes, protocol: int) -> bytes:
    return _ETHERNET.pack(destination, source, protocol) + payload


def payload_of(frame: bytes, *, protocol: int) -> bytes | None:
    """What an Ethernet frame of this protocol carries."""
    if len(frame) < ETHERNET_SIZE or _ETHERNET.unpack_from(frame)[2] != protocol:
        return None
    return frame[ETHERNET_SIZE:]


def checksum(data: bytes) -> int:
    """The ones' complement sum of RFC 1071. Over data that already holds its checksum it is 0."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
