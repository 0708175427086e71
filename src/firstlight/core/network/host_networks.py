"""Networks as the hosts see them: which ones all share, and through which one a host speaks to the world."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.host import HostState
from firstlight.core.model.inventory import Inventory, Route
from firstlight.core.network.addresses import address_of, in_network, network_of, networks_of_inventory, version_of

ADDRESS_FAMILIES: Final = {2: 4, 10: 6}
"""Address family numbers in routes → IP version."""


class HostNetwork(Struct, frozen=True, kw_only=True):
    cidr: str
    host_ids: tuple[UUID, ...]


def host_networks(hosts: Sequence[HostState]) -> tuple[HostNetwork, ...]:
    """Networks that every host with an inventory has, IPv4 first, ascending; host ids in the order given."""
    inventories = [(state.host.id, inventory) for state in hosts if (inventory := state.reports.inventory)]
    if not inventories:
        return ()
    shared = set(networks_of_inventory(inventories[0][1]))
    for _, inventory in inventories[1:]:
        shared.intersection_update(networks_of_inventory(inventory))
    ids = tuple(host_id for host_id, _ in inventories)
    return tuple(HostNetwork(cidr=cidr, host_ids=ids) for cidr in in_order(shared))


def in_order(cidrs: Iterable[str]) -> list[str]:
    """IPv4 before IPv6, lower networks first, larger before smaller; unreadable ones are dropped."""
    known = {cidr: network for cidr in cidrs if (network := network_of(cidr)) is not None}
    return sorted(
        known, key=lambda cidr: (known[cidr].version, int(known[cidr].network_address), known[cidr].prefixlen)
    )


def all_networks(hosts: Iterable[HostState]) -> list[str]:
    """Every distinct network of every inventory, in order."""
    networks: set[str] = set()
    for state in hosts:
        if state.reports.inventory is not None:
            networks.update(networks_of_inventory(state.reports.inventory))
    return in_order(networks)


def network_with(address: str, hosts: Iterable[HostState]) -> str | None:
    """The first network of the first host that contains the address."""
    for state in hosts:
        if state.reports.inventory is not None:
            for network in networks_of_inventory(state.reports.inventory):
                if in_network(address, network):
                    return network
    return None


def default_routes(inventory: Inventory, *, version: int) -> list[Route]:
    """Default routes of one IP version, lowest metric first."""
    found = [route for route in inventory.routes if _is_default(route, version)]
    return sorted(found, key=lambda route: (route.metric, route.gateway, route.interface))


def default_network(inventory: Inventory, *, version: int) -> str | None:
    """The network of the lowest-metric default gateway; else the only network of that IP version; else None."""
    networks = [network for network in networks_of_inventory(inventory) if version_of(network) == version]
    for route in default_routes(inventory, version=version):
        for network in networks:
            if in_network(route.gateway, network):
                return network
    return networks[0] if len(networks) == 1 else None


def _is_default(route: Route, version: int) -> bool:
    destination, gateway = address_of(route.destination), address_of(route.gateway)
    return (
        destination is not None
        and gateway is not None
        and destination.is_unspecified
        and not gateway.is_unspecified
        and destination.version == version
        and ADDRESS_FAMILIES.get(route.family, version) == version
    )
