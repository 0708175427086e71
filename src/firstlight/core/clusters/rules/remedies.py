"""Requests that would mend a cluster's findings, made from what its hosts reported."""

from collections.abc import Sequence
from itertools import islice

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.hosts.rules.answers import change_cluster
from firstlight.core.network.addresses import version_of
from firstlight.core.network.free_addresses import usable_for_vips
from firstlight.core.network.host_networks import host_networks
from firstlight.core.rules import Fix

MOST_CHOICES = 3
"""Alternatives offered: enough to choose from, few enough to read."""


def has_inventory(facts: ClusterFacts) -> bool:
    return any(state.reports.inventory is not None for state in facts.hosts)


def choose_machine_network(facts: ClusterFacts) -> tuple[Fix, ...]:
    """One request per network that all hosts share."""
    return tuple(
        change_cluster(f"Use {network.cidr} as machine network", machine_networks=[{"cidr": network.cidr}])
        for network in host_networks(facts.hosts)[:MOST_CHOICES]
    )


def choose_vips(facts: ClusterFacts) -> tuple[Fix, ...]:
    """One request per network with two free addresses: the machine networks, else those that all hosts share."""
    networks = facts.cluster.machine_networks or [network.cidr for network in host_networks(facts.hosts)]
    choices = (change for cidr in networks for change in _two_vips(facts, cidr))
    return tuple(islice(choices, MOST_CHOICES))


def _two_vips(facts: ClusterFacts, cidr: str) -> tuple[Fix, ...]:
    taken = {*facts.cluster.api_vips, *facts.cluster.ingress_vips}
    free = usable_for_vips(facts.hosts, cidr=cidr, taken=taken, most=2)
    if len(free) < 2:
        return ()
    api, ingress = free[:2]
    return (
        change_cluster(
            f"Use the free addresses {api} and {ingress} as VIPs",
            api_vips=_with(api, facts.cluster.api_vips),
            ingress_vips=_with(ingress, facts.cluster.ingress_vips),
        ),
    )


def _with(address: str, vips: Sequence[str]) -> list[dict[str, str]]:
    """The VIPs with one of them exchanged; in dual stack the one of the other IP version stays."""
    if len(vips) < 2:
        return [{"ip": address}]
    return [{"ip": address if version_of(vip) == version_of(address) else vip} for vip in vips]
