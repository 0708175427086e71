"""MAC addresses under which the DHCP leases of the virtual addresses are taken: the same for every host, for ever."""

from typing import Final
from uuid import UUID

_PREFIX: Final = (0x00, 0x1A, 0x4A)

# The permutation of RFC 3074, section 6.
_TABLE: Final = bytes.fromhex(
    "fbaf77d7510e4fbf6731b58fba9d00e81f20373c983a11edae46a090dc5a39df3b03128c6fa6cbc486f37c5fdeb3c541"
    "b430240f6b2ee982a51e7ba1d1176110285bdb3d640ad26dfa7f168a1d6cf443cf09b2cc4a627ef9a774224dc1c87905"
    "14714723800db65e19e2e3c74b1b29f5e6e02be1b11a9b96d48eda73f149586927723effc0c991d6a89edd949a7a0c54"
    "52a32c8be4eccdf2d90bbb929f4056efc32a6ac67670b8ac5702ad75b0e5f7fd89b963a466932d42e7348dd3c2cef6ee"
    "386e4ef83ff0bd5d5c3335b713ab48322168654508fc53784c875536ca7dbcd560eb88d0a281be849c262f0107fe1804"
    "d88359151c8525999550aa4406a9ea97"
)


def vip_mac(cluster_id: UUID, *, name: str) -> str:
    """`name` is api or ingress."""
    key = f"{cluster_id}-{name}".encode()
    tail = (_pearson(key, bump=index) for index in range(6 - len(_PREFIX)))
    return ":".join(f"{byte:02x}" for byte in (*_PREFIX, *tail))


def _pearson(key: bytes, *, bump: int) -> int:
    value = _TABLE[(key[0] + bump) % 256]
    for byte in key:
        value = _TABLE[value ^ byte]
    return value
