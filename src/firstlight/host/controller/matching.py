"""Which host of the service a node is, and which hosts asked the machine-config server for their configuration."""

import re
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Final

from firstlight.host.controller.documents import Address, HostDocument
from firstlight.host.controller.objects import Node

ADDRESS_TYPES: Final = frozenset({"InternalIP", "ExternalIP"})
NAME_TYPES: Final = frozenset({"Hostname", "InternalDNS", "ExternalDNS"})
OUT: Final = "disabled"
# An address with its port, by newer servers in quotes; the agent that asked follows.
_REQUEST: Final = re.compile(
    r'requested by (?:address:)?"?\[?([0-9A-Fa-f.:]+?)(?:%[^\]"\s]*)?\]?:\d+"?,?\s+User-Agent:"Ignition/'
)


def node_addresses(node: Node) -> frozenset[Address]:
    found: set[Address] = set()
    for one in node.status.addresses:
        if one.type in ADDRESS_TYPES and (address := parse_address(one.address)) is not None:
            found.add(address)
    return frozenset(found)


def node_names(node: Node) -> frozenset[str]:
    named = {one.address.lower() for one in node.status.addresses if one.type in NAME_TYPES}
    return frozenset(named | {node.metadata.name.lower()})


def host_of(node: Node, hosts: Iterable[HostDocument]) -> HostDocument | None:
    """By its name; else by an address that only one host has. Two hosts that fit are none."""
    wanted = [host for host in hosts if host.status != OUT]
    for fitting in (
        [host for host in wanted if node.metadata.name.lower() in host.names],
        [host for host in wanted if host.addresses & node_addresses(node)],
    ):
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def host_named(name: str, hosts: Iterable[HostDocument]) -> HostDocument | None:
    fitting = [host for host in hosts if host.status != OUT and name.lower() in host.names]
    return fitting[0] if len(fitting) == 1 else None


def ignited_addresses(log: str) -> frozenset[Address]:
    """Who asked for a configuration with Ignition, by the log of the machine-config server."""
    found = (parse_address(match[1]) for match in _REQUEST.finditer(log))
    return frozenset(address for address in found if address is not None)


def ignited(hosts: Sequence[HostDocument], addresses: frozenset[Address]) -> list[HostDocument]:
    return [host for host in hosts if host.addresses & addresses]


def parse_address(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A server that listens on both families sees its IPv4 clients in this form.
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
