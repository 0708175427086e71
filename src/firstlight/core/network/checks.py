"""Rules about the networks of a cluster that a request must keep. Each check raises Invalid, naming the way out."""

from collections.abc import Iterable, Sequence
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.network.addresses import (
    Network,
    address_of,
    is_dual_stack,
    network_of,
    normal_network,
    overlaps,
    strict_network,
    version_of,
    versions_of,
)

SPARE_BITS: Final = 7
"""Host bits a cluster or service network needs at least: 128 addresses."""
MACHINE_SPARE_BITS: Final = 4
USER_MANAGED_SPARE_BITS: Final = 2
SINGLE_NODE_SPARE_BITS: Final = 1
LEAST_NODES: Final = 4
"""Nodes a cluster network must have room for, however few there are now; a lone node needs room for itself."""
OWN_HOST_PREFIX: Final = {4: 25, 6: 64}
"""What counts instead of host_prefix for network types that divide the cluster network in their own way."""
USES_HOST_PREFIX: Final = frozenset({"", "OVNKubernetes", "OpenShiftSDN"})


def check_readable(what: str, cidr: str) -> str:
    """The network in normal form, as far as a text has one; host bits are judged later."""
    if network_of(cidr) is None:
        raise Invalid(f"'{_shown(cidr)}' is not a {what}. Write it as address/prefix, for example 10.128.0.0/14.")
    # Host bits stay: a later check names them instead of silently cutting them off.
    strict = strict_network(cidr)
    return cidr if strict is None else str(strict)


def check_cluster_network(network: ClusterNetwork) -> None:
    _check_shape("cluster network", network.cidr, spare=SPARE_BITS)


def check_service_network(cidr: str) -> None:
    _check_shape("service network", cidr, spare=SPARE_BITS)


def check_machine_network(cidr: str, *, single_node: bool, user_managed_load_balancer: bool) -> None:
    spare = MACHINE_SPARE_BITS
    if single_node:
        spare = SINGLE_NODE_SPARE_BITS
    elif user_managed_load_balancer:
        spare = USER_MANAGED_SPARE_BITS
    _check_shape("machine network", cidr, spare=spare)


def check_host_prefix(network: ClusterNetwork, *, host_count: int, network_type: str = "") -> None:
    problem = host_prefix_problem(network, host_count=host_count, network_type=network_type)
    if problem is not None:
        raise Invalid(problem)


def host_prefix_problem(network: ClusterNetwork, *, host_count: int, network_type: str = "") -> str | None:
    """Why the cluster network cannot give every node its share; None when it can."""
    parsed = network_of(network.cidr)
    if parsed is None:
        return f"'{_shown(network.cidr)}' is not a cluster network. Write it as address/prefix."
    host_prefix = network.host_prefix
    if network_type not in USES_HOST_PREFIX:
        host_prefix = OWN_HOST_PREFIX[parsed.version]
    longest = parsed.max_prefixlen - SPARE_BITS
    if not 1 <= host_prefix <= longest:
        return (
            f"Host prefix {host_prefix} of cluster network {parsed} must be between 1 and {longest}, "
            f"so that every node gets at least {2**SPARE_BITS} addresses."
        )
    needed = 1 if host_count == 1 else max(LEAST_NODES, host_count)
    room = 2 ** (host_prefix - parsed.prefixlen) if host_prefix >= parsed.prefixlen else 0
    if room < needed:
        return (
            f"Cluster network {parsed} with host prefix {host_prefix} has room for {room} nodes, but {needed} are "
            f"needed. Choose a larger cluster network or a longer host prefix."
        )
    return None


def check_no_overlap(*, service: Sequence[str], cluster: Sequence[str], machine: Sequence[str] = ()) -> None:
    """Machine networks are compared only if given: several nodes in a network the user keeps need none."""
    for pair in overlapping(service=service, cluster=cluster, machine=machine):
        raise Invalid(f"The {pair} overlap. Choose networks that share no address.")


def overlapping(*, service: Sequence[str], cluster: Sequence[str], machine: Sequence[str] = ()) -> list[str]:
    """Pairs of networks that share addresses, in words."""
    named = [("machine", machine), ("service", service), ("cluster", cluster)]
    pairs: list[str] = []
    for index, (first_name, first) in enumerate(named):
        for second_name, second in named[index + 1 :]:
            pairs += [
                f"{first_name} network {one} and {second_name} network {other}"
                for one in first
                for other in second
                if overlaps(one, other)
            ]
    return pairs


def check_stacks(
    *,
    machine: Sequence[str],
    service: Sequence[str],
    cluster: Sequence[str],
    api_vips: Sequence[str] = (),
    ingress_vips: Sequence[str] = (),
    any_order: bool,
    user_managed_load_balancer: bool = False,
    machine_needed: bool = False,
) -> int:
    """The primary IP version of a dual-stack cluster, 0 for a single-stack one.

    `any_order`: the release (4.12 and newer) allows IPv6 first. `machine_needed`: dual stack without machine
    networks is refused, as at creation.
    """
    lists = {"machine networks": machine, "service networks": service, "cluster networks": cluster}
    if not any(map(is_dual_stack, lists.values())):
        if len(machine) > 1 and not user_managed_load_balancer:
            raise Invalid(
                "A single-stack cluster has one machine network, but several are given. Remove all but one, or "
                "use a load balancer of your own."
            )
        return 0
    if machine_needed and not machine:
        raise Invalid("A dual-stack cluster needs its machine networks: give one IPv4 and one IPv6 network.")
    for name, cidrs in lists.items():
        if cidrs and (len(cidrs) != 2 or not is_dual_stack(cidrs)):
            raise Invalid(f"The {name} of a dual-stack cluster must be exactly one IPv4 and one IPv6 network.")
    return _check_first(lists | {"API VIPs": api_vips, "ingress VIPs": ingress_vips}, any_order=any_order)


def _check_first(lists: dict[str, Sequence[str]], *, any_order: bool) -> int:
    firsts = {name: texts[0] for name, texts in lists.items() if texts}
    versions = versions_of(firsts.values())
    if len(versions) > 1:
        listed = ", ".join(f"{name}: {first}" for name, first in firsts.items())
        raise Invalid(
            f"The first entries of a dual-stack cluster must all be of one IP version ({listed}). "
            f"Reorder the lists so that the primary version comes first everywhere."
        )
    primary = next(iter(versions), 4)
    if primary == 6 and not any_order:
        raise Invalid("Before OpenShift 4.12 a dual-stack cluster must list IPv4 first. Reorder the lists.")
    return primary


def check_ipv6_allowed(texts: Iterable[str], *, ipv6_support: bool) -> None:
    found = next((text for text in texts if version_of(text) == 6), None)
    if found is not None and not ipv6_support:
        raise Invalid(f"IPv6 is switched off in this service, but {found} is IPv6. Use IPv4 only.")


def _check_shape(what: str, cidr: str, *, spare: int) -> None:
    network = network_of(cidr)
    if network is None:
        raise Invalid(f"'{_shown(cidr)}' is not a {what}. Write it as address/prefix, for example 10.128.0.0/14.")
    _check_size(what, network, spare=spare)
    if network.network_address.is_unspecified:
        raise Invalid(f"The {what} {network} starts at the unspecified address. Choose a real network.")
    if address_of(cidr) != network.network_address:
        raise Invalid(f"'{_shown(cidr)}' has host bits set. Did you mean the {what} {normal_network(cidr)}?")


def _check_size(what: str, network: Network, *, spare: int) -> None:
    longest = network.max_prefixlen - spare
    if not 1 <= network.prefixlen <= longest:
        raise Invalid(
            f"The prefix of {what} {network} must be between 1 and {longest}, so that it holds {2**spare} addresses."
        )


def _shown(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
