"""What the user still owes: networks, VIPs, the base domain, the pull secret."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.remedies import choose_machine_network, choose_vips, has_inventory
from firstlight.core.hosts.rules.answers import change_cluster
from firstlight.core.network.machine_networks import machine_networks_required
from firstlight.core.rules import Verdict, failed, passed, pending

DEFAULT_CLUSTER_NETWORK: Final = {"cidr": "10.128.0.0/14", "host_prefix": 23}
DEFAULT_SERVICE_NETWORK: Final = {"cidr": "172.30.0.0/16"}


def machine_cidr_defined(facts: ClusterFacts) -> Verdict:
    cluster = facts.cluster
    if not machine_networks_required(cluster):
        return passed("Machine networks are not needed: the user keeps the network of the nodes.")
    if cluster.machine_networks:
        return passed("The machine network of the cluster is known.")
    if not has_inventory(facts):
        return pending("No host has sent its inventory yet, so the machine network cannot be found.", cause="no-hosts")
    if cluster.is_single_node:
        return failed(
            "The machine network cannot be told from the networks of the host. Choose the one the node shall use.",
            cause="machine-network-ambiguous",
            fixes=choose_machine_network(facts),
        )
    if cluster.vip_dhcp_allocation:
        return failed(
            "The hosts have more than one network, or none. Choose the machine network in which DHCP gives the VIPs.",
            cause="machine-network-not-chosen",
            fixes=choose_machine_network(facts),
        )
    return failed(
        "The machine network is not known. Set the API and ingress VIPs: the host network that contains them is used.",
        cause="no-vips-to-tell-it",
        fixes=choose_vips(facts),
    )


def cluster_cidr_defined(facts: ClusterFacts) -> Verdict:
    if facts.cluster.cluster_networks:
        return passed("The cluster network, from which pods get their addresses, is set.")
    return failed(
        "The cluster network is missing. Pods get their addresses from it; set one that nothing else uses.",
        cause="no-cluster-network",
        fixes=(change_cluster("Use the default cluster network", cluster_networks=[DEFAULT_CLUSTER_NETWORK]),),
    )


def service_cidr_defined(facts: ClusterFacts) -> Verdict:
    if facts.cluster.service_networks:
        return passed("The service network is set.")
    return failed(
        "The service network is missing. Services get their addresses from it; set one that nothing else uses.",
        cause="no-service-network",
        fixes=(change_cluster("Use the default service network", service_networks=[DEFAULT_SERVICE_NETWORK]),),
    )


def api_vips_defined(facts: ClusterFacts) -> Verdict:
    return _vips_defined(facts, "API", facts.cluster.api_vips)


def ingress_vips_defined(facts: ClusterFacts) -> Verdict:
    return _vips_defined(facts, "ingress", facts.cluster.ingress_vips)


def dns_domain_defined(facts: ClusterFacts) -> Verdict:
    if facts.cluster.base_dns_domain:
        return passed("The base domain is set.")
    return failed(
        "The base domain is missing. The names of the cluster, such as api.NAME.DOMAIN, are made from it.",
        cause="no-base-domain",
        fixes=(change_cluster("Set a base domain; put yours in place of example.com", base_dns_domain="example.com"),),
    )


def pull_secret_set(facts: ClusterFacts) -> Verdict:
    if facts.cluster.pull_secret_set:
        return passed("The pull secret is set.")
    return failed(
        "The pull secret is missing. Without it the images of the release cannot be fetched; set it on the cluster.",
        cause="no-pull-secret",
    )


def _vips_defined(facts: ClusterFacts, what: str, vips: Sequence[str]) -> Verdict:
    cluster = facts.cluster
    if cluster.user_managed_networking or cluster.is_single_node:
        return passed(f"No {what} VIP is needed: the user keeps the network, or there is a single node.")
    if vips:
        return passed(f"The {what} VIP is set.")
    if not cluster.vip_dhcp_allocation:
        return failed(
            f"The {what} VIP is missing. Choose a free address in the network of the hosts.",
            cause="no-vip",
            fixes=choose_vips(facts),
        )
    if not cluster.machine_networks:
        return pending("The machine network is not known yet, so DHCP cannot be asked for VIPs.", cause="no-network")
    if cluster.dhcp_timeout_told:
        return failed(
            f"No DHCP lease for the {what} VIP has come in time. Check the DHCP server of "
            f"{cluster.machine_networks[0]}, or switch off VIP DHCP allocation and set the VIPs yourself.",
            cause="dhcp-lease-timed-out",
            evidence={"network": cluster.machine_networks[0]},
            fixes=(change_cluster("Set the VIPs yourself instead", vip_dhcp_allocation=False),),
        )
    return failed(
        f"The {what} VIP has not come by DHCP yet. A lease may take up to two minutes.",
        cause="dhcp-lease-awaited",
        evidence={"network": cluster.machine_networks[0]},
    )
