"""Virtual addresses of the API and of ingress: what a request may say, and whether an address can be used."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network.addresses import (
    address_of,
    in_network,
    in_networks,
    network_of,
    normal_address,
    version_of,
    versions_of,
)
from firstlight.core.network.free_addresses import scanned_by

MOST_VIPS: Final = 2
SPARE_ADDRESSES: Final = 4
"""Addresses a network needs beside one per host: network, broadcast and the two VIPs."""


class Availability(StrEnum):
    FREE = "free"
    TAKEN = "taken"
    """A machine answers at the address."""
    UNKNOWN = "unknown"
    """No host has looked yet."""


def check_vips(
    api: Sequence[str],
    ingress: Sequence[str],
    *,
    user_managed_networking: bool,
    dhcp: bool,
    load_balancer: LoadBalancer,
    two_allowed: bool,
    machine_networks: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both lists in normal form; Invalid when a request may not ask for them.

    `two_allowed`: the release (4.12 and newer) knows dual-stack VIPs. Without machine networks nothing is said
    about where the VIPs lie.
    """
    if (api or ingress) and user_managed_networking:
        raise Invalid(
            "VIPs cannot be set with user-managed networking. Remove them, or let the cluster keep its network."
        )
    if (api or ingress) and dhcp:
        raise Invalid("VIPs cannot be set while they come by DHCP. Remove them, or switch off VIP DHCP allocation.")
    if len(api) != len(ingress):
        raise Invalid(
            f"{len(api)} API VIPs and {len(ingress)} ingress VIPs are given, but there must be as many of one as of "
            f"the other."
        )
    if len(api) > MOST_VIPS:
        raise Invalid(f"At most {MOST_VIPS} API and {MOST_VIPS} ingress VIPs are possible, one per IP version.")
    normal_api, normal_ingress = _normal("API", api), _normal("ingress", ingress)
    for what, vips in (("API", normal_api), ("ingress", normal_ingress)):
        _check_pair(what, vips, two_allowed=two_allowed)
    shared = sorted(set(normal_api) & set(normal_ingress))
    user_managed = load_balancer is LoadBalancer.USER_MANAGED
    if shared and not user_managed:
        raise Invalid(
            f"{shared[0]} is both API and ingress VIP. Choose two addresses, or use a load balancer of your own."
        )
    for what, vips in (("API", normal_api), ("ingress", normal_ingress)):
        for problem in range_problems(what, vips, machine_networks, user_managed_load_balancer=user_managed):
            raise Invalid(problem)
    return normal_api, normal_ingress


def range_problems(
    what: str, vips: Sequence[str], machine_networks: Sequence[str], *, user_managed_load_balancer: bool
) -> list[str]:
    """Why VIPs cannot lie where they lie. Empty without machine networks: nothing can be said then."""
    if not machine_networks:
        return []
    problems: list[str] = []
    for index, vip in enumerate(vips):
        if user_managed_load_balancer:
            allowed = tuple(machine_networks)
        elif index < len(machine_networks):
            allowed = (machine_networks[index],)
        else:
            problems.append(f"The {what} VIP {vip} has no machine network. Add a machine network that contains it.")
            continue
        if not in_networks(vip, allowed):
            problems.append(
                f"The {what} VIP {vip} is not in the machine network {' or '.join(allowed)}. "
                f"Choose another VIP or another machine network."
            )
        elif any(is_broadcast(vip, network) for network in allowed):
            problems.append(f"The {what} VIP {vip} is the broadcast address of its network. Choose another VIP.")
    return problems


def is_broadcast(address: str, cidr: str) -> bool:
    network = network_of(cidr)
    return isinstance(network, IPv4Network) and address_of(address) == network.broadcast_address


def availability(vip: str, hosts: Iterable[HostState]) -> Availability:
    """Whether a VIP is free: what hosts found when they looked at it, else what they found when they scanned.

    One host that sees the address in use is enough: the others may look from another side.
    """
    scanned = Availability.UNKNOWN
    verified = Availability.UNKNOWN
    for state in hosts:
        looked = (state.reports.vips or {}).get(vip)
        if looked is False:
            return Availability.TAKEN
        if looked:
            verified = Availability.FREE
        elif verified is Availability.UNKNOWN and scanned is not Availability.TAKEN:
            free = scanned_by(state, address=vip)
            if free is not None:
                scanned = Availability.FREE if free else Availability.TAKEN
    return verified if verified is not Availability.UNKNOWN else scanned


def is_too_small(cidr: str, *, host_count: int) -> bool:
    """Whether a network cannot hold its hosts, both VIPs and what every network loses."""
    network = network_of(cidr)
    return network is not None and network.num_addresses - host_count - SPARE_ADDRESSES < 0


def machine_network_of(cluster: Cluster, vip: str) -> str | None:
    return next((cidr for cidr in cluster.machine_networks if in_network(vip, cidr)), None)


def _normal(what: str, vips: Sequence[str]) -> tuple[str, ...]:
    normal: list[str] = []
    for vip in vips:
        address = None if "/" in vip else normal_address(vip)
        if address is None:
            shown = vip if len(vip) <= 80 else vip[:77] + "..."
            raise Invalid(f"'{shown}' is not an IP address, so it cannot be an {what} VIP. Write it like 192.0.2.5.")
        normal.append(address)
    return tuple(normal)


def _check_pair(what: str, vips: Sequence[str], *, two_allowed: bool) -> None:
    if len(vips) < MOST_VIPS:
        return
    if vips[0] == vips[1]:
        raise Invalid(f"The {what} VIP {vips[0]} is given twice. Give one address, or one IPv4 and one IPv6 address.")
    if len(versions_of(vips)) != MOST_VIPS:
        raise Invalid(f"Two {what} VIPs must be one IPv4 and one IPv6 address, but both are IPv{version_of(vips[0])}.")
    if not two_allowed:
        raise Invalid(f"Two {what} VIPs need OpenShift 4.12 or newer. Give one VIP, or choose a newer version.")
