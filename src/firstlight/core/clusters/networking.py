"""What a wish about networks, VIPs and DHCP makes of a cluster. Platform and load balancer are settled before."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters.wish import ClusterWish, Defaults
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster, ClusterNetwork
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network import checks
from firstlight.core.network.addresses import in_networks, is_dual_stack, is_v6
from firstlight.core.network.machine_networks import derive_machine_networks, is_dual_stack_cluster
from firstlight.core.network.vips import check_vips
from firstlight.core.versions.numbers import at_least

DUAL_STACK_VIPS_SINCE: Final = "4.12"
"""Also the first release that allows IPv6 first."""


def with_networking(
    cluster: Cluster,
    wish: ClusterWish,
    *,
    before: Cluster | None,
    hosts: Sequence[HostState],
    defaults: Defaults,
    ipv6_support: bool,
) -> Cluster:
    """The cluster as wished; Invalid for what cannot be. `before` is None for a new cluster, which is judged later."""
    checks.check_ipv6_allowed(_texts(wish), ipv6_support=ipv6_support)
    cluster = _with_modes(cluster, wish, before=before)
    cluster = _with_own_networks(cluster, wish, before=before, hosts=hosts, defaults=defaults)
    cluster = _with_machine_networks(cluster, wish, before=before)
    cluster = _with_vips(cluster, wish, before=before, hosts=hosts)
    if before is not None and _touched(wish):
        checks.check_no_overlap(
            service=cluster.service_networks,
            cluster=[network.cidr for network in cluster.cluster_networks],
            machine=cluster.machine_networks if cluster.user_managed_networking else (),
        )
    return _with_primary_stack(cluster, wish)


def _texts(wish: ClusterWish) -> list[str]:
    cidrs = [network.cidr for network in wish.cluster_networks or ()]
    lists = (wish.service_networks, wish.machine_networks, wish.api_vips, wish.ingress_vips)
    return [*cidrs, *(text for texts in lists for text in texts or ())]


def _touched(wish: ClusterWish) -> bool:
    return not (wish.cluster_networks is None and wish.service_networks is None and wish.machine_networks is None)


def _with_modes(cluster: Cluster, wish: ClusterWish, *, before: Cluster | None) -> Cluster:
    """Who keeps the network and where VIPs come from; whatever belonged to the old way goes."""
    if cluster.user_managed_networking and wish.vip_dhcp_allocation:
        raise Invalid(
            "VIPs by DHCP need a network that the cluster keeps. Switch off VIP DHCP allocation or user-managed"
            " networking."
        )
    known = cluster if before is None else before
    dhcp = known.vip_dhcp_allocation if wish.vip_dhcp_allocation is None else wish.vip_dhcp_allocation
    dhcp = dhcp and not cluster.user_managed_networking
    if dhcp != known.vip_dhcp_allocation:
        cluster = replace(_without_vips(cluster), vip_dhcp_allocation=dhcp, machine_networks=())
    if cluster.user_managed_networking != known.user_managed_networking:
        cluster = replace(cluster, machine_networks=())
    if cluster.user_managed_networking and (not known.user_managed_networking or wish.user_managed_networking):
        cluster = _without_vips(cluster)
    return cluster


def _without_vips(cluster: Cluster) -> Cluster:
    return replace(cluster, api_vips=(), ingress_vips=(), vip_leases=("", ""), dhcp_since=None, dhcp_timeout_told=False)


def _with_own_networks(
    cluster: Cluster,
    wish: ClusterWish,
    *,
    before: Cluster | None,
    hosts: Sequence[HostState],
    defaults: Defaults,
) -> Cluster:
    """The networks inside the cluster: for pods and for services."""
    if wish.cluster_networks is not None:
        networks = tuple(_readable(network, defaults) for network in wish.cluster_networks)
        if before is not None:
            for network in networks:
                checks.check_cluster_network(network)
                checks.check_host_prefix(network, host_count=len(hosts), network_type=cluster.network_type)
        cluster = replace(cluster, cluster_networks=networks)
    if wish.service_networks is not None:
        cidrs = tuple(checks.check_readable("service network", cidr) for cidr in wish.service_networks)
        if before is not None:
            for cidr in cidrs:
                checks.check_service_network(cidr)
        cluster = replace(cluster, service_networks=cidrs)
    return cluster


def _readable(network: ClusterNetwork, defaults: Defaults) -> ClusterNetwork:
    cidr = checks.check_readable("cluster network", network.cidr)
    usual = defaults.cluster_network_host_prefix_v6 if is_v6(cidr) else defaults.cluster_network_host_prefix
    return ClusterNetwork(cidr=cidr, host_prefix=network.host_prefix or usual)


def _with_machine_networks(cluster: Cluster, wish: ClusterWish, *, before: Cluster | None) -> Cluster:
    if wish.machine_networks is None:
        return cluster
    networks = tuple(checks.check_readable("machine network", cidr) for cidr in wish.machine_networks)
    if before is not None:
        user_managed = cluster.load_balancer is LoadBalancer.USER_MANAGED
        for cidr in networks:
            checks.check_machine_network(
                cidr, single_node=cluster.is_single_node, user_managed_load_balancer=user_managed
            )
        _check_settable(replace(cluster, machine_networks=networks), before=before)
    return replace(cluster, machine_networks=networks)


def _check_settable(cluster: Cluster, *, before: Cluster) -> None:
    networks = cluster.machine_networks
    if cluster.vip_dhcp_allocation and not networks:
        raise Invalid("With VIPs by DHCP the machine network cannot be empty. Name the network, or leave it out.")
    free = (
        cluster.vip_dhcp_allocation
        or cluster.user_managed_networking
        or cluster.load_balancer is LoadBalancer.USER_MANAGED
        or is_dual_stack_cluster(cluster)
    )
    if networks and not free and networks != before.machine_networks:
        raise Invalid(
            "The machine network of this cluster follows its VIPs and cannot be set. Set the VIPs, or switch on VIP"
            " DHCP allocation, user-managed networking or a load balancer of your own."
        )


def _with_vips(cluster: Cluster, wish: ClusterWish, *, before: Cluster | None, hosts: Sequence[HostState]) -> Cluster:
    """Lists replace what was there; where the service does not take VIPs from users, only empty lists may be sent."""
    if wish.api_vips is None and wish.ingress_vips is None:
        return cluster
    kept = cluster.user_managed_networking or cluster.vip_dhcp_allocation
    api = wish.api_vips if wish.api_vips is not None else () if kept else cluster.api_vips
    ingress = wish.ingress_vips if wish.ingress_vips is not None else () if kept else cluster.ingress_vips
    known_networks = before is None or wish.machine_networks is not None or not _follow_vips(cluster)
    api, ingress = check_vips(
        api,
        ingress,
        user_managed_networking=cluster.user_managed_networking,
        dhcp=cluster.vip_dhcp_allocation,
        load_balancer=cluster.load_balancer,
        two_allowed=_reaches_dual_stack_vips(cluster),
        machine_networks=cluster.machine_networks if known_networks else (),
    )
    if kept:
        return cluster
    cluster = replace(cluster, api_vips=api, ingress_vips=ingress)
    if known_networks:
        return cluster
    return replace(cluster, machine_networks=_networks_of_vips(cluster, hosts))


def _follow_vips(cluster: Cluster) -> bool:
    """Whether the machine network is found from the VIPs rather than given by the user."""
    return cluster.load_balancer is LoadBalancer.CLUSTER_MANAGED and not is_dual_stack_cluster(cluster)


def _networks_of_vips(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[str, ...]:
    """Where the new VIPs lie, as far as hosts know; before any host is known, a given network that fits stays."""
    found = derive_machine_networks(replace(cluster, machine_networks=()), hosts)
    if found or not cluster.api_vips:
        return found
    fits = all(in_networks(vip, cluster.machine_networks) for vip in (*cluster.api_vips, *cluster.ingress_vips))
    return cluster.machine_networks if fits else ()


def _with_primary_stack(cluster: Cluster, wish: ClusterWish) -> Cluster:
    if not _touched(wish) and wish.api_vips is None and wish.ingress_vips is None:
        return cluster
    own = tuple(network.cidr for network in cluster.cluster_networks)
    primary = checks.check_stacks(
        machine=_meant(cluster.machine_networks, given=wish.machine_networks is not None),
        service=_meant(cluster.service_networks, given=wish.service_networks is not None),
        cluster=_meant(own, given=wish.cluster_networks is not None),
        api_vips=cluster.api_vips,
        ingress_vips=cluster.ingress_vips,
        any_order=_reaches_dual_stack_vips(cluster),
        user_managed_load_balancer=cluster.load_balancer is LoadBalancer.USER_MANAGED,
    )
    return replace(cluster, primary_ip_stack=primary)


def _meant(cidrs: tuple[str, ...], *, given: bool) -> tuple[str, ...]:
    """Lists nobody spoke of count only where they are dual-stack: a default follows with a later request."""
    return cidrs if given or is_dual_stack(cidrs) else ()


def _reaches_dual_stack_vips(cluster: Cluster) -> bool:
    return not cluster.openshift_version or at_least(cluster.openshift_version, DUAL_STACK_VIPS_SINCE)
