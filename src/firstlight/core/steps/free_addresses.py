"""Free addresses as an agent lists them, packed to one bit each: lowest address first, most significant bit first."""

import ipaddress
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.steps.decoding import Text, decode

SHORTEST_PREFIX: Final = 22
"""Larger networks are neither scanned nor kept."""
MOST_NETWORKS: Final = 64
"""No host lies in more that are worth a scan; each costs a table of its addresses."""


class _Network(Struct):
    network: Text | None = None
    free_addresses: list[str] | None = None


_DECODER: Final[msgspec.json.Decoder[list[_Network] | None]] = msgspec.json.Decoder(list[_Network] | None)


def parse_free_addresses(output: str | bytes) -> dict[str, bytes]:
    """IPv4 network → bitmap of the addresses nobody answered for."""
    found = decode(_DECODER, output, what="free address report")
    if not found:
        raise Invalid("The free address report names no network. Scan at least one.")
    if len(found) > MOST_NETWORKS:
        raise Invalid(f"The free address report names {len(found)} networks; at most {MOST_NETWORKS} are read.")
    bitmaps: dict[str, bytes] = {}
    for entry in found:
        network = _network(entry.network or "")
        if network is not None:
            bitmaps[network] = _bitmap(network, entry.free_addresses or [])
    return bitmaps


def _network(text: str) -> str | None:
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise Invalid(f"'{text[:80]}' is not a network. Write it as 192.0.2.0/24, host bits zero.") from None
    return str(network) if network.version == 4 and network.prefixlen >= SHORTEST_PREFIX else None


@lru_cache(maxsize=MOST_NETWORKS)
def _positions(network: str) -> dict[str, int]:
    return {str(address): position for position, address in enumerate(ipaddress.IPv4Network(network))}


def _bitmap(network: str, addresses: list[str]) -> bytes:
    positions = _positions(network)
    bits = bytearray((len(positions) + 7) // 8)
    for address in addresses:
        position = positions.get(address)
        if position is not None:
            bits[position >> 3] |= 128 >> (position & 7)
    return bytes(bits)
