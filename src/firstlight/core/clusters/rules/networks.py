"""Whether the networks of a cluster fit together and fit the hosts."""

from typing import Final

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.remedies import has_inventory
from firstlight.core.hosts.rules.answers import change_cluster
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.network.addresses import is_v6, network_of, same_network, version_of
from firstlight.core.network.checks import host_prefix_problem, overlapping
from firstlight.core.network.machine_networks import machine_networks_required, network_of_vips
from firstlight.core.rules import Evidence, Verdict, errored, failed, passed, pending

OVN: Final = "OVNKubernetes"
SDN: Final = "OpenShiftSDN"
NEEDS_MANIFESTS: Final = frozenset({"Cilium", "Calico", "CiscoACI", "None"})
"""Network types the installer leaves to the user's own manifests."""
NETWORK_TYPES: Final = NEEDS_MANIFESTS | {OVN, SDN, ""}


def machine_cidr_equals_to_calculated_cidr(facts: ClusterFacts) -> Verdict:
    cluster = facts.cluster
    if cluster.user_managed_networking or cluster.load_balancer is LoadBalancer.USER_MANAGED:
        return passed("Machine networks are the user's own choice here.")
    if not cluster.api_vips and not cluster.ingress_vips:
        return pending("The VIPs are not set yet, so nothing says which machine network is meant.", cause="no-vips")
    if not has_inventory(facts):
        return pending("No host has sent its inventory yet.", cause="no-hosts")
    problems: list[str] = []
    calculated: list[str] = []
    for index in range(max(len(cluster.api_vips), len(cluster.ingress_vips))):
        found = network_of_vips(cluster, facts.hosts, index=index)
        if found is None:
            vips = [*cluster.api_vips[index : index + 1], *cluster.ingress_vips[index : index + 1]]
            problems.append(f"No host has a network that contains the VIP {' or '.join(vips)}. Choose other VIPs.")
            continue
        calculated.append(found)
        current = cluster.machine_networks[index] if index < len(cluster.machine_networks) else "not set"
        if not same_network(found, current):
            problems.append(f"Machine network {index + 1} is {current}, but the VIPs lie in the host network {found}.")
    if not problems:
        return passed("The machine networks are those of the VIPs.")
    return failed(
        " ".join(problems),
        cause="machine-network-differs",
        evidence={"machine_networks": list(cluster.machine_networks), "calculated": calculated},
    )


def no_cidrs_overlapping(facts: ClusterFacts) -> Verdict:
    missing = _undefined(facts.cluster)
    if missing:
        return pending(f"The {missing} network is not known yet.", cause=f"no-{missing}-network")
    service, cluster = facts.cluster.service_networks, _cluster_cidrs(facts.cluster)
    if len(service) != len(cluster):
        return errored(
            f"There are {len(cluster)} cluster networks and {len(service)} service networks; they must be as many.",
            cause="network-counts-differ",
            evidence={"cluster_networks": len(cluster), "service_networks": len(service)},
        )
    machine = facts.cluster.machine_networks if machine_networks_required(facts.cluster) else ()
    pairs = overlapping(service=service, cluster=cluster, machine=machine)
    if not pairs:
        return passed("The networks of the cluster share no address.")
    return failed(
        f"Some networks overlap: {'; '.join(pairs)}. Choose networks that share no address.",
        cause="networks-overlap",
        evidence={"overlapping": pairs},
    )


def networks_same_address_families(facts: ClusterFacts) -> Verdict:
    missing = _undefined(facts.cluster)
    if missing:
        return pending(f"The {missing} network is not known yet.", cause=f"no-{missing}-network")
    service, cluster = facts.cluster.service_networks, _cluster_cidrs(facts.cluster)
    machine = facts.cluster.machine_networks if machine_networks_required(facts.cluster) else ()
    for cidr in (*service, *cluster, *machine):
        if network_of(cidr) is None:
            return errored(
                f"'{cidr[:80]}' cannot be read as a network. Write it as address/prefix.",
                cause="unreadable-network",
                evidence={"text": cidr[:80]},
            )
    wanted = sorted(version_of(cidr) or 0 for cidr in service)
    for name, cidrs in (("cluster", cluster), ("machine", machine)):
        if cidrs and sorted({version_of(cidr) or 0 for cidr in cidrs}) != wanted:
            return failed(
                f"The {name} networks ({', '.join(cidrs)}) are of other IP versions than the service networks "
                f"({', '.join(service)}). Give one network of each version in every list.",
                cause="address-families-differ",
                evidence={"list": name, "networks": list(cidrs), "service_networks": list(service)},
            )
    return passed("All lists of networks have the same IP versions.")


def network_prefix_valid(facts: ClusterFacts) -> Verdict:
    cluster = facts.cluster
    if not cluster.cluster_networks:
        return pending("The cluster network is not known yet.", cause="no-cluster-network")
    problems = [
        problem
        for network in cluster.cluster_networks
        if (problem := host_prefix_problem(network, host_count=len(facts.hosts), network_type=cluster.network_type))
    ]
    if problems:
        return failed(" ".join(problems), cause="cluster-network-too-small", evidence={"host_count": len(facts.hosts)})
    return passed("The cluster networks have room for every node.")


def network_type_valid(facts: ClusterFacts) -> Verdict:
    cluster = facts.cluster
    evidence: Evidence = {"network_type": cluster.network_type[:80]}
    use_ovn = (change_cluster(f"Use {OVN}", network_type=OVN),)
    if cluster.network_type not in NETWORK_TYPES:
        known = ", ".join(sorted(NETWORK_TYPES - {""}))
        message = f"The network type '{cluster.network_type[:80]}' is not known. Use one of {known}."
        return failed(message, cause="unknown-network-type", evidence=evidence, fixes=use_ovn)
    if cluster.network_type == SDN:
        if any(map(is_v6, (*cluster.machine_networks, *cluster.service_networks, *_cluster_cidrs(cluster)))):
            message = f"The network type {SDN} cannot carry IPv6. Use {OVN}, or IPv4 networks only."
            return failed(message, cause="sdn-without-ipv6", evidence=evidence, fixes=use_ovn)
        if cluster.is_single_node:
            message = f"The network type {SDN} does not run on a single node. Use {OVN}."
            return failed(message, cause="sdn-on-single-node", evidence=evidence, fixes=use_ovn)
    if cluster.network_type == OVN and cluster.vip_dhcp_allocation:
        return failed(
            f"VIPs cannot come by DHCP with the network type {OVN}. Set the VIPs yourself, or use {SDN}.",
            cause="dhcp-with-ovn",
            evidence=evidence,
            fixes=(change_cluster("Set the VIPs yourself instead", vip_dhcp_allocation=False),),
        )
    return passed("The network type suits the cluster.")


def _cluster_cidrs(cluster: Cluster) -> tuple[str, ...]:
    return tuple(network.cidr for network in cluster.cluster_networks)


def _undefined(cluster: Cluster) -> str:
    """The first kind of network that is needed and not known; empty if all are."""
    if not cluster.service_networks:
        return "service"
    if not cluster.cluster_networks:
        return "cluster"
    return "machine" if machine_networks_required(cluster) and not cluster.machine_networks else ""
