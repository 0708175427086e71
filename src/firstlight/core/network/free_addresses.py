"""Free addresses of a network as a bitmap: lowest address first, most significant bit first."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network
from itertools import islice
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.network.addresses import address_of, addresses_of_inventory, in_network, network_of, same_network

LONGEST_BITMAP: Final = 2**16
"""Addresses of the largest network a bitmap is kept for. Agents look at /22 and smaller."""


def bitmap_of(free: Iterable[str], *, cidr: str) -> bytes | None:
    """The bitmap of the free addresses in an IPv4 network; None for any other or a larger network."""
    network = _kept(cidr)
    if network is None:
        return None
    bits = bytearray((network.num_addresses + 7) // 8)
    first = int(network.network_address)
    for text in free:
        address = address_of(text)
        if isinstance(address, IPv4Address) and address in network:
            position = int(address) - first
            bits[position >> 3] |= 0x80 >> (position & 7)
    return bytes(bits)


def free_list(bitmap: bytes, cidr: str) -> tuple[str, ...]:
    """The free addresses a bitmap stands for, ascending."""
    return tuple(_free(bitmap, cidr))


def is_free(bitmap: bytes, cidr: str, *, address: str) -> bool:
    network, found = _kept(cidr), address_of(address)
    if network is None or not isinstance(found, IPv4Address) or found not in network:
        return False
    position = int(found) - int(network.network_address)
    return position >> 3 < len(bitmap) and bool(bitmap[position >> 3] & 0x80 >> (position & 7))


def free_for_all(hosts: Sequence[HostState], *, cidr: str) -> bytes | None:
    """Bitmap of the addresses that every host which scanned the network found free; None when nobody scanned it."""
    bitmaps = [
        bitmap
        for state in hosts
        for scanned, bitmap in (state.reports.free_addresses or {}).items()
        if same_network(scanned, cidr)
    ]
    if not bitmaps:
        return None
    # A bitmap that was cut short says nothing about the rest.
    length = min(map(len, bitmaps))
    common = -1
    for bitmap in set(bitmaps):
        common &= int.from_bytes(bitmap[:length], "big")
    return common.to_bytes(length, "big")


def usable_for_vips(hosts: Sequence[HostState], *, cidr: str, taken: Iterable[str], most: int) -> tuple[str, ...]:
    """The lowest free addresses a user may choose as VIPs: not the first and last of the network, no gateway, no
    host's own."""
    network = _kept(cidr)
    bitmap = free_for_all(hosts, cidr=cidr)
    if network is None or bitmap is None:
        return ()
    spoken_for = {*taken, str(network.network_address), str(network.broadcast_address)}
    for state in hosts:
        if state.reports.inventory is not None:
            spoken_for.update(addresses_of_inventory(state.reports.inventory))
            spoken_for.update(route.gateway for route in state.reports.inventory.routes)
    return tuple(islice((address for address in _free(bitmap, cidr) if address not in spoken_for), most))


def scanned_by(state: HostState, *, address: str) -> bool | None:
    """Whether this host's scan found the address free; None when it scanned no network with it."""
    for scanned, bitmap in (state.reports.free_addresses or {}).items():
        if in_network(address, scanned):
            return is_free(bitmap, scanned, address=address)
    return None


def _kept(cidr: str) -> IPv4Network | None:
    network = network_of(cidr)
    if isinstance(network, IPv4Network) and network.num_addresses <= LONGEST_BITMAP:
        return network
    return None


def _free(bitmap: bytes, cidr: str) -> Iterator[str]:
    network = _kept(cidr)
    if network is None:
        return
    first, count = int(network.network_address), min(network.num_addresses, len(bitmap) * 8)
    for position in range(count):
        if bitmap[position >> 3] & 0x80 >> (position & 7):
            yield str(IPv4Address(first + position))
