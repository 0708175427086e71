"""Rules about one host's description: a small function each, which tells what it found."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from firstlight.core.network.addresses import Network, address_of, network_of
from firstlight.core.network.nmstate_document import Interface, NetworkDocument, Route

SMALLEST_MTU: Final = 68
SMALLEST_MTU_V6: Final = 1_280
LARGEST_MTU: Final = 65_535
LONGEST_NAME: Final = 15
VLANS: Final = range(1, 4_095)
POINT_TO_POINT: Final = {4: 31, 6: 127}
"""Prefixes by family from which on a network has no address for itself."""


class Trouble(NamedTuple):
    code: str
    message: str
    interface: str = ""


Rule = Callable[[NetworkDocument, frozenset[str]], Iterator[Trouble]]
"""The description and the names that are mapped to cards."""


def names_are_usable(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    for name, count in Counter(interface.name for interface in document.all_interfaces).items():
        if count > 1:
            yield Trouble("interface-twice", f"Interface {name} is described {count} times. Describe it once.", name)
        if len(name.encode()) > LONGEST_NAME or "/" in name or any(letter.isspace() for letter in name):
            yield Trouble(
                "interface-name",
                f"The kernel cannot call an interface {name[:60]!r}: at most {LONGEST_NAME} characters, no slash and no"
                " space.",
                name,
            )


def cards_are_used(document: NetworkDocument, cards: frozenset[str]) -> Iterator[Trouble]:
    mentioned = {name for interface in document.all_interfaces for name in (interface.name, *interface.below)}
    for name in sorted(cards - mentioned - {""}):
        yield Trouble(
            "unused-card", f"A MAC address is mapped to {name}, which the description does not mention. Is it a typo?"
        )


def references_are_known(document: NetworkDocument, cards: frozenset[str]) -> Iterator[Trouble]:
    known = cards | {interface.name for interface in document.all_interfaces}
    for interface in document.all_interfaces:
        for name in interface.below:
            if name not in known:
                message = f"{interface.name} stands on {name}, which is neither described nor mapped to a MAC address."
                yield Trouble("interface-unknown", message, interface.name)
    for route in document.all_routes:
        name = route.next_hop_interface or ""
        if name not in known:
            where = f"leaves through {name}, which is not described" if name else "names no next-hop-interface"
            yield Trouble("route-interface", f"The route to {route.destination} {where}.", name)


def ports_belong_to_one(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    owners: dict[str, list[str]] = {}
    for interface in document.all_interfaces:
        for port in interface.ports:
            owners.setdefault(port, []).append(interface.name)
        if interface.type in ("bond", "linux-bridge") and interface.is_up and not interface.ports:
            yield Trouble("no-ports", f"{interface.name} has no ports, so nothing comes through it.", interface.name)
    for port, names in owners.items():
        if len(names) > 1:
            yield Trouble(
                "port-twice", f"{port} is a port of {' and of '.join(names)}. It can serve one of them.", port
            )


def addresses_can_be_used(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    for interface in document.all_interfaces:
        for one in interface.addresses:
            address, shown = address_of(one.ip), f"{one.ip}/{one.prefix_length}"
            network = network_of(shown)
            if address is None or network is None:
                yield Trouble("address-malformed", f"{shown} is no address with a prefix length.", interface.name)
            elif address.is_multicast or address.is_unspecified or address.is_loopback:
                yield Trouble("address-unusable", f"No host can have the address {one.ip}.", interface.name)
            elif network.prefixlen < POINT_TO_POINT[network.version] and (
                address == network.network_address or (network.version == 4 and address == network.broadcast_address)
            ):
                what = "the network itself" if address == network.network_address else "all hosts of its network"
                yield Trouble("address-unusable", f"{shown} stands for {what}. Choose another address.", interface.name)


def gateways_are_within_reach(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    by_name = {interface.name: interface for interface in document.all_interfaces}
    for route in document.all_routes:
        interface = by_name.get(route.next_hop_interface or "")
        if route.next_hop_address and interface is not None:
            yield from _gateway_troubles(route, interface)


def _gateway_troubles(route: Route, interface: Interface) -> Iterator[Trouble]:
    gateway = address_of(route.next_hop_address or "")
    if gateway is None:
        yield Trouble("gateway-malformed", f"The gateway {route.next_hop_address} is no address.", interface.name)
        return
    networks = _networks(interface, gateway.version)
    if gateway in {address_of(one.ip) for one in interface.addresses}:
        message = f"The gateway {gateway} is the host's own address. Name the router's."
        yield Trouble("gateway-own", message, interface.name)
    elif networks and not gateway.is_link_local and not any(gateway in network for network in networks):
        shown = ", ".join(map(str, networks))
        message = f"The gateway {gateway} is not in {shown}, so {interface.name} cannot reach it."
        yield Trouble("gateway-outside", message, interface.name)
    elif not networks and not interface.asks:
        family = f"IPv{gateway.version}"
        message = f"{interface.name} has no {family} address, so the gateway {gateway} is out of its reach."
        yield Trouble("gateway-outside", message, interface.name)


def _networks(interface: Interface, version: int) -> list[Network]:
    found = (network_of(f"{one.ip}/{one.prefix_length}") for one in interface.addresses)
    return [network for network in found if network is not None and network.version == version]


def one_default_route_per_family(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    defaults = Counter(
        (":" in (route.next_hop_address or route.destination or ""), route.metric, route.table_id or 254)
        for route in document.all_routes
        if route.is_default
    )
    for (is_v6, _, _), count in defaults.items():
        if count > 1:
            family = "IPv6" if is_v6 else "IPv4"
            message = (
                f"There are {count} default routes for {family} with the same metric. Give them different metrics."
            )
            yield Trouble("default-route-twice", message)


def mtu_fits(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    sizes = {interface.name: interface.mtu for interface in document.all_interfaces}
    for interface in document.all_interfaces:
        mtu = interface.mtu
        if mtu is None:
            continue
        v6 = interface.ipv6 is not None and interface.ipv6.enabled is True
        smallest = SMALLEST_MTU_V6 if v6 else SMALLEST_MTU
        if not smallest <= mtu <= LARGEST_MTU:
            reason = "IPv6 needs at least" if v6 and mtu < smallest else "The MTU must be at least"
            message = (
                f"{interface.name} has an MTU of {mtu}. {reason} {smallest}, and at most {LARGEST_MTU} is possible."
            )
            yield Trouble("mtu", message, interface.name)
        for below in interface.below:
            under = sizes.get(below)
            if under is not None and under < mtu:
                message = (
                    f"{interface.name} has an MTU of {mtu}, but {below} below it only {under}. Raise the lower one."
                )
                yield Trouble("mtu", message, interface.name)


def vlans_have_numbers(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    for interface in document.all_interfaces:
        if interface.vlan is not None and interface.vlan.id not in VLANS:
            message = f"{interface.name} has the VLAN number {interface.vlan.id}. Numbers are 1 to {VLANS.stop - 1}."
            yield Trouble("vlan", message, interface.name)


def names_can_be_looked_up(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    for server in document.dns_servers:
        if address_of(server.partition("%")[0]) is None:
            yield Trouble("dns-malformed", f"The DNS server {server} is no address.")
    told = any(
        family is not None and family.asks and family.auto_dns is not False
        for interface in document.all_interfaces
        for family in (interface.ipv4, interface.ipv6)
    )
    if not document.dns_servers and not told:
        yield Trouble(
            "dns-missing", "No DNS server is given and nobody is asked for one, so the host cannot look up any name."
        )


def hosts_can_be_reached(document: NetworkDocument, _cards: frozenset[str]) -> Iterator[Trouble]:
    up = [interface for interface in document.all_interfaces if interface.is_up]
    asks = any(interface.asks for interface in up)
    if not asks and not any(interface.addresses for interface in up):
        yield Trouble("no-address", "No interface has an address or asks for one, so the host cannot be reached.")
    elif not asks and not any(route.is_default for route in document.all_routes):
        yield Trouble(
            "no-default-route", "There is no default route, so the host reaches nothing beyond its own networks."
        )


RULES: Final[tuple[Rule, ...]] = (
    names_are_usable,
    cards_are_used,
    references_are_known,
    ports_belong_to_one,
    addresses_can_be_used,
    gateways_are_within_reach,
    one_default_route_per_family,
    mtu_fits,
    vlans_have_numbers,
    names_can_be_looked_up,
    hosts_can_be_reached,
)
