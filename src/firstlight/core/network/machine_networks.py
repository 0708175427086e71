"""Machine networks nobody has to type: found from VIPs, or from the only network the hosts have."""

from collections.abc import Sequence

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network.addresses import is_dual_stack, networks_of_inventory, version_of, versions_of
from firstlight.core.network.host_networks import all_networks, default_network, in_order, network_with


def machine_networks_required(cluster: Cluster) -> bool:
    """Whether installation needs machine networks: always, unless the user keeps the network of several nodes."""
    return cluster.is_single_node or not cluster.user_managed_networking


def derive_machine_networks(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[str, ...]:
    """The machine networks the cluster should have by what its hosts report; as they are when nothing says otherwise.

    Hosts are asked in the order given, which must not depend on chance.
    """
    if cluster.is_day_two:
        return cluster.machine_networks
    if cluster.is_single_node:
        return cluster.machine_networks or _single_node(cluster, hosts)
    if cluster.user_managed_networking:
        return cluster.machine_networks or user_managed_networks(cluster, hosts)
    if cluster.vip_dhcp_allocation:
        networks = all_networks(hosts)
        return cluster.machine_networks or (tuple(networks) if len(networks) == 1 else ())
    if cluster.load_balancer is LoadBalancer.USER_MANAGED:
        return cluster.machine_networks
    return _from_vips(cluster, hosts)


def is_dual_stack_cluster(cluster: Cluster) -> bool:
    """Whether any list of networks holds both IP versions."""
    cluster_cidrs = [network.cidr for network in cluster.cluster_networks]
    return any(map(is_dual_stack, (cluster.machine_networks, cluster.service_networks, cluster_cidrs)))


def network_of_vips(cluster: Cluster, hosts: Sequence[HostState], *, index: int) -> str | None:
    """The first host network that contains the API VIP of that index, else the one with the ingress VIP."""
    for vips in (cluster.api_vips, cluster.ingress_vips):
        if index < len(vips) and (found := network_with(vips[index], hosts)) is not None:
            return found
    return None


def user_managed_networks(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[str, ...]:
    """Where several nodes live whose network the user keeps: the bootstrap host's own networks decide.

    One network per IP version of the cluster, primary version first; the one with the default route if there are
    several. Nothing until a bootstrap host is chosen.
    """
    inventory = next((state.reports.inventory for state in hosts if state.host.bootstrap), None)
    if inventory is None:
        return ()
    networks = in_order(networks_of_inventory(inventory))
    found: list[str] = []
    for version in _versions(cluster):
        fallback = next((network for network in networks if version_of(network) == version), None)
        network = default_network(inventory, version=version) or fallback
        if network is not None:
            found.append(network)
    return tuple(found) or tuple(networks[:1])


def _single_node(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[str, ...]:
    versions = versions_of(cluster.service_networks)
    if not versions or versions != versions_of(network.cidr for network in cluster.cluster_networks):
        return ()
    found: list[str] = []
    for version in _versions(cluster):
        networks = {
            network
            for state in hosts
            if state.reports.inventory is not None
            and (network := default_network(state.reports.inventory, version=version)) is not None
        }
        if len(networks) != 1:
            return ()
        found.extend(networks)
    return tuple(found)


def _versions(cluster: Cluster) -> list[int]:
    """IP versions of the service networks, primary first; IPv4 when nothing is said."""
    named = [version for cidr in cluster.service_networks if (version := version_of(cidr)) is not None]
    primary = [cluster.primary_ip_stack] if cluster.primary_ip_stack in named else []
    return list(dict.fromkeys([*primary, *named])) or [4]


def _from_vips(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[str, ...]:
    """One network per IP version: a VIP's network takes the place of the one of its version."""
    networks = list(cluster.machine_networks)
    dual_stack = is_dual_stack_cluster(cluster)
    for index in range(max(len(cluster.api_vips), len(cluster.ingress_vips))):
        found = network_of_vips(cluster, hosts, index=index)
        if found is None:
            continue
        place = next((at for at, cidr in enumerate(networks) if version_of(cidr) == version_of(found)), None)
        if place is not None:
            networks[place] = found
        elif dual_stack:
            networks.append(found)
        else:
            networks = [found]
    if cluster.primary_ip_stack and is_dual_stack(networks):
        networks.sort(key=lambda cidr: version_of(cidr) != cluster.primary_ip_stack)
    return tuple(networks)
