"""The host's own place in the network: machine networks, routes, overlapping subnets, addresses taken twice."""

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import (
    NO_INVENTORY,
    NO_MACHINE_NETWORK,
    is_day_two,
    listed,
    refused,
    unreadable,
)
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.inventory import Inventory, Route
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.addresses import (
    Network,
    address_of,
    addresses_of_inventory,
    in_network,
    network_of,
    normal_address,
    versions_of,
)
from firstlight.core.rules import SUPPRESSED, Verdict, failed, passed


def machine_cidr_defined(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if cluster.user_managed_networking or is_day_two(facts):
        return passed("No machine network is needed.")
    if cluster.machine_networks:
        return passed("The machine network is known.")
    way_out = (
        "It is found as soon as all hosts agree on one network."
        if cluster.vip_dhcp_allocation
        else "Set the API VIP: the network that contains it becomes the machine network."
    )
    return failed(f"The machine network of the cluster is not known. {way_out}", cause="no-machine-network")


def belongs_to_machine_cidr(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    networks, is_free = cluster.machine_networks, cluster.user_managed_networking and not cluster.is_single_node
    if is_day_two(facts) or (is_free and not (facts.host.bootstrap and networks)):
        return passed("This host need not be in a machine network.")
    if facts.reports.inventory is None:
        return NO_INVENTORY
    if not networks:
        return NO_MACHINE_NETWORK
    for cidr in networks:
        if network_of(cidr) is None:
            return unreadable(facts, "The machine network", cidr)
    addresses = addresses_of_inventory(facts.reports.inventory)
    missing = [cidr for cidr in networks if not any(in_network(address, cidr) for address in addresses)]
    by_user = cluster.load_balancer is LoadBalancer.USER_MANAGED
    if not missing or (by_user and len(missing) < len(networks)):
        return passed("The host has an address in the machine network.")
    return refused(
        facts,
        f"The host has no address in {'any' if by_user else 'each'} of the machine networks: {', '.join(missing)}."
        " Connect it to that network or choose another machine network.",
        cause="outside-machine-network",
        evidence={"missing": missing, "addresses": list(addresses)},
    )


def has_default_route(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    if any(_is_default_route(route) for route in facts.reports.inventory.routes):
        return passed("The host has a default route.")
    return refused(
        facts,
        "The host has no default route. Set a gateway on one of its interfaces, by DHCP or in its static network"
        " configuration.",
        cause="no-default-route",
        evidence={"routes": len(facts.reports.inventory.routes)},
    )


def non_overlapping_subnets(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    inventory = facts.reports.inventory
    if inventory is None:
        return NO_INVENTORY
    for interface in inventory.interfaces:
        for text in interface.addresses:
            if network_of(text) is None:
                return unreadable(facts, f"The address of {interface.name}", text)
    overlaps = _overlaps(_placed_networks(inventory, cluster))
    if not overlaps:
        return passed("The networks of the interfaces do not overlap.")
    return refused(
        facts,
        f"Networks of this host overlap, so traffic may leave through the wrong interface: {listed(overlaps)}. Give"
        " each interface a network of its own, or use a bond.",
        cause="overlapping-networks",
        evidence={"overlaps": overlaps},
    )


def no_ip_collisions_in_network(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if facts.reports.inventory is None or is_day_two(facts) or not cluster.ip_collisions:
        return passed("No address of this host is known to be used twice.")
    own = frozenset(addresses_of_inventory(facts.reports.inventory))
    taken = [
        f"{address} ({', '.join(macs)})"
        for address, macs in sorted(cluster.ip_collisions.items())
        if normal_address(address) in own
    ]
    if not taken:
        return passed("No address of this host is used twice.")
    return refused(
        facts,
        f"Other machines answer for addresses of this host: {'; '.join(taken)}. Give each machine an address of its"
        " own.",
        cause="address-taken-twice",
        kind=ReportKind.CONNECTIVITY,
        evidence={"collisions": taken, "measured_by": "the other hosts of the cluster"},
    )


def _is_default_route(route: Route) -> bool:
    destination, gateway = address_of(route.destination), address_of(route.gateway)
    return destination is not None and destination.is_unspecified and gateway is not None and not gateway.is_unspecified


def _placed_networks(inventory: Inventory, cluster: Cluster) -> list[tuple[Network, str]]:
    """Each network with its interface, once, in an order that puts a network right before those inside it."""
    cidrs = (*cluster.service_networks, *(network.cidr for network in cluster.cluster_networks))
    versions = versions_of(cidrs)
    placed = {
        (network, interface.name)
        for interface in inventory.interfaces
        for text in interface.addresses
        if (network := network_of(text)) is not None
        and network.version in versions
        and not network.network_address.is_link_local
    }
    return sorted(placed, key=lambda place: (_sort_key(place[0]), place[1]))


def _sort_key(network: Network) -> tuple[int, int, int]:
    return network.version, int(network.network_address), network.prefixlen


def _overlaps(placed: list[tuple[Network, str]]) -> list[str]:
    """Two networks are apart, equal or nested: so comparing each with the widest one before it is enough."""
    overlaps: list[str] = []
    outer: tuple[Network, str] | None = None
    for network, interface in placed:
        if outer is None or not _contains(outer[0], network):
            outer = (network, interface)
        elif outer[0] == network:
            overlaps.append(f"{network} is on both {outer[1]} and {interface}")
        else:
            overlaps.append(f"{network} on {interface} lies inside {outer[0]} on {outer[1]}")
    return overlaps


def _contains(outer: Network, inner: Network) -> bool:
    return outer.version == inner.version and int(inner.network_address) <= int(outer.broadcast_address)
