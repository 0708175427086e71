"""Hosts as others see them: name and addresses in an inventory, and who asked a machine-config server for Ignition.

Addresses are compared as values, never as parts of a text.
"""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

# An address with its port, by newer servers in quotes; the agent that asked follows.
_ASKED: Final = re.compile(
    r"""(?<![\w.:\[%])\[?([0-9A-Fa-f:.]{2,45}?)(?:%[\w.\-]+)?\]?:\d{1,5}"?,?\s+User-Agent:"Ignition"""
)

Address = IPv4Address | IPv6Address


class Identity(NamedTuple):
    """Who a host is, by its own inventory."""

    name: str = ""
    addresses: frozenset[Address] = frozenset()
    """Link-local ones too."""


class _Interface(Struct, frozen=True):
    ipv4_addresses: tuple[str, ...] | None = None
    ipv6_addresses: tuple[str, ...] | None = None


class _Inventory(Struct, frozen=True):
    hostname: str | None = None
    interfaces: tuple[_Interface, ...] | None = None


@lru_cache(maxsize=2048)
def identity_in(inventory: str) -> Identity:
    """Nobody, if it cannot be read. It is asked for each node and each certificate request."""
    try:
        read = msgspec.json.decode(inventory or "{}", type=_Inventory)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Identity()
    texts = (
        text
        for interface in read.interfaces or ()
        for text in (*(interface.ipv4_addresses or ()), *(interface.ipv6_addresses or ()))
    )
    return Identity(read.hostname or "", frozenset(found for text in texts if (found := _of_interface(text))))


def only_identity(inventory: str) -> str:
    """An inventory that says who the host is, and nothing else."""
    own = identity_in(inventory)
    addresses = _Interface(ipv4_addresses=tuple(sorted(map(str, own.addresses))))
    return msgspec.json.encode(_Inventory(hostname=own.name, interfaces=(addresses,))).decode()


def parse_address(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A server that listens on both families sees its IPv4 clients in this form.
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def ignited_addresses(log: str) -> frozenset[Address]:
    """Who asked for a configuration with Ignition, in either form that machine-config servers have logged it."""
    found = (parse_address(match[1]) for match in _ASKED.finditer(log))
    return frozenset(address for address in found if address is not None)


def _of_interface(text: str) -> Address | None:
    try:
        return ip_interface(text.partition("%")[0]).ip
    except ValueError:
        return None
