"""Which host of the service a node is, and which hosts asked the machine-config server for their configuration."""

from collections.abc import Iterable, Sequence
from typing import Final

from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.objects import Node
from firstlight.host.recognising import Address, parse_address

ADDRESS_TYPES: Final = frozenset({"InternalIP", "ExternalIP"})
NAME_TYPES: Final = frozenset({"Hostname", "InternalDNS", "ExternalDNS"})
OUT: Final = "disabled"


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


def ignited(hosts: Sequence[HostDocument], addresses: frozenset[Address]) -> list[HostDocument]:
    return [host for host in hosts if host.addresses & addresses]
