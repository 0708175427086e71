"""Addresses and networks read from text once: cached, and None (or False) for what cannot be read, never an error."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from firstlight.core.model.inventory import Inventory

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

CACHED = 65_536
"""Texts remembered per function: the addresses of a few large clusters. Older ones are read again."""


@lru_cache(maxsize=CACHED)
def address_of(text: str) -> Address | None:
    """The address in `text`, with or without a prefix behind it; zones (`%eth0`) are refused."""
    head, slash, _ = text.partition("/")
    if (slash and network_of(text) is None) or "%" in head:
        return None
    try:
        return ip_address(head)
    except ValueError:
        return None


@lru_cache(maxsize=CACHED)
def network_of(text: str) -> Network | None:
    """The network an `address/prefix` text lies in; host bits are cut off, a prefix is needed."""
    head, _, prefix = text.partition("/")
    # ipaddress would also read netmasks (/255.255.255.0), which no other part of the installer understands.
    if not (prefix.isascii() and prefix.isdigit()) or len(prefix) > 3 or "%" in head:
        return None
    try:
        return ip_network((head, int(prefix)), strict=False)
    except ValueError:
        return None


@lru_cache(maxsize=CACHED)
def strict_network(text: str) -> Network | None:
    """The network written in `text`; None when host bits are set."""
    network = network_of(text)
    if network is None or network.network_address != address_of(text):
        return None
    return network


@lru_cache(maxsize=CACHED)
def normal_network(text: str) -> str | None:
    """The one way to write the network `text` lies in: no host bits, shortest form."""
    network = network_of(text)
    return None if network is None else str(network)


@lru_cache(maxsize=CACHED)
def normal_address(text: str) -> str | None:
    """The one way to write the address in `text`: no prefix, shortest form."""
    address = address_of(text)
    return None if address is None else str(address)


def version_of(text: str) -> int | None:
    """4 or 6, of an address or a network; None when `text` is neither."""
    address = address_of(text)
    return None if address is None else address.version


def is_v6(text: str) -> bool:
    return version_of(text) == 6


@lru_cache(maxsize=CACHED)
def in_network(address: str, cidr: str) -> bool:
    """Whether the address (with or without prefix) lies in the network. False when either cannot be read."""
    found, network = address_of(address), network_of(cidr)
    return found is not None and network is not None and found.version == network.version and found in network


def in_networks(address: str, cidrs: Iterable[str]) -> bool:
    return any(in_network(address, cidr) for cidr in cidrs)


@lru_cache(maxsize=CACHED)
def overlaps(first: str, second: str) -> bool:
    """Whether two networks share an address. Different IP versions never do, nor does what cannot be read."""
    one, other = network_of(first), network_of(second)
    if isinstance(one, IPv4Network) and isinstance(other, IPv4Network):
        return one.overlaps(other)
    return isinstance(one, IPv6Network) and isinstance(other, IPv6Network) and one.overlaps(other)


def same_network(first: str, second: str) -> bool:
    """Equal once written the same way; unreadable texts equal nothing."""
    normal = normal_network(first)
    return normal is not None and normal == normal_network(second)


def versions_of(texts: Iterable[str]) -> frozenset[int]:
    """The distinct IP versions among readable texts."""
    return frozenset(version for text in texts if (version := version_of(text)) is not None)


def is_dual_stack(texts: Iterable[str]) -> bool:
    return len(versions_of(texts)) == 2


def networks_of_inventory(inventory: Inventory) -> tuple[str, ...]:
    """Networks of all interfaces in normal form, in the order found, each once; link-local ones left out."""
    return _joined(tuple(interface.ipv4 + interface.ipv6 for interface in inventory.interfaces))


def addresses_of_inventory(inventory: Inventory) -> tuple[str, ...]:
    """Addresses of all interfaces in normal form, without prefixes; unreadable and link-local ones left out."""
    return _joined_addresses(tuple(interface.ipv4 + interface.ipv6 for interface in inventory.interfaces))


@lru_cache(maxsize=CACHED)
def _networks_of(addresses: tuple[str, ...]) -> tuple[str, ...]:
    networks = (network_of(address) for address in addresses if not _is_link_local(address))
    return tuple(dict.fromkeys(str(network) for network in networks if network is not None))


@lru_cache(maxsize=CACHED)
def _joined(interfaces: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(network for addresses in interfaces for network in _networks_of(addresses)))


@lru_cache(maxsize=CACHED)
def _joined_addresses(interfaces: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    normal = (normal_address(text) for texts in interfaces for text in texts if not _is_link_local(text))
    return tuple(dict.fromkeys(address for address in normal if address is not None))


def _is_link_local(text: str) -> bool:
    address = address_of(text)
    return address is not None and address.is_link_local
