"""The machine's name, made of a MAC where nobody gave it one."""

from collections.abc import Iterable
from ipaddress import ip_interface
from typing import Final

from firstlight.core import wire

NAMELESS: Final = frozenset(
    {
        *("localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4"),
        *("localhost6", "localhost6.localdomain6"),
    }
)
_TYPES: Final = frozenset({"physical", "vlan", "bond"})


def choose_hostname(name: str, interfaces: Iterable[wire.Interface]) -> str:
    """The name itself unless it is one that every machine has; then the MAC of the first interface that is in use."""
    own = name.strip()
    if own not in NAMELESS:
        return own
    for interface in sorted(interfaces, key=lambda found: found.name):
        if interface.type in _TYPES and interface.mac_address and _has_global(interface):
            return interface.mac_address.lower().replace(":", "-")
    return own


def _has_global(interface: wire.Interface) -> bool:
    """Private addresses count; those that mean nothing beyond the machine or the link do not."""
    for text in (*(interface.ipv4_addresses or ()), *(interface.ipv6_addresses or ())):
        address = ip_interface(text).ip
        if not (address.is_loopback or address.is_multicast or address.is_unspecified or address.is_link_local):
            return True
    return False
