"""Whether the host is among those that all reach each other."""

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_MACHINE_NETWORK, is_day_two, listed, refused
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.addresses import normal_network, version_of, versions_of
from firstlight.core.network.connectivity import ids_of
from firstlight.core.network.topology import SMALLEST_FENCED_GROUP, SMALLEST_GROUP
from firstlight.core.rules import SUPPRESSED, Verdict, passed, pending


def belongs_to_majority_group(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if is_day_two(facts) or cluster.is_single_node:
        return passed("This host need not reach other hosts of the cluster.")
    if not cluster.majority_groups:
        return pending("It is not known yet which hosts reach each other.", cause="no-groups")
    routed = cluster.user_managed_networking or cluster.load_balancer is LoadBalancer.USER_MANAGED
    if not routed and not cluster.machine_networks:
        return NO_MACHINE_NETWORK
    missing = _unreached_versions(facts, cluster) if routed else _missed_networks(facts, cluster)
    if not missing:
        return passed("The host reaches the majority of the hosts.")
    smallest = _smallest_group(facts, cluster)
    if facts.context.host_count < smallest:
        return pending(
            f"Groups of hosts that reach each other have at least {smallest} members; the cluster has fewer hosts.",
            cause="too-few-hosts",
        )
    unreached = _unreached(facts, missing)
    named = f" It gets no answer from {listed(unreached)}." if unreached else ""
    return refused(
        facts,
        f"The host does not reach the majority of the hosts over {' and '.join(missing)}.{named} Check cables, VLANs,"
        " firewalls and the addresses of its interfaces.",
        cause="outside-majority",
        kind=ReportKind.CONNECTIVITY,
        evidence={"networks": missing, "unreached": unreached},
    )


def _unreached(facts: HostFacts, missing: list[str]) -> list[str]:
    """Names of the peers that do not answer this host over one of the networks or IP versions at least."""
    report = facts.reports.connectivity
    if report is None:
        return []
    reached = {normal_network(cidr) or cidr: packed for cidr, packed in report.layer2.items()}
    reached |= {f"IPv{version}": packed for version, packed in report.layer3.items()}
    answering = [ids_of(reached.get(normal_network(name) or name, b"")) for name in missing]
    silent = {peer for peer in ids_of(report.asked) if not all(peer in answers for answers in answering)}
    peers = facts.context.peers
    return sorted(peers[peer].name if peer in peers else str(peer) for peer in silent - {facts.host.id})


def _missed_networks(facts: HostFacts, cluster: Cluster) -> list[str]:
    groups = {normal_network(cidr) or cidr: members for cidr, members in cluster.majority_groups.items()}
    return [
        cidr for cidr in cluster.machine_networks if facts.host.id not in groups.get(normal_network(cidr) or cidr, ())
    ]


def _unreached_versions(facts: HostFacts, cluster: Cluster) -> list[str]:
    cidrs = (
        *cluster.machine_networks,
        *cluster.service_networks,
        *(network.cidr for network in cluster.cluster_networks),
    )
    reached = {version_of(address) for address in cluster.connected_addresses.get(facts.host.id, ())}
    return [f"IPv{version}" for version in sorted(versions_of(cidrs) - reached)]


def _smallest_group(facts: HostFacts, cluster: Cluster) -> int:
    arbiters = any(peer.role is HostRole.ARBITER for peer in facts.context.peers.values())
    fenced = cluster.control_plane_count == 2 and facts.host.fencing is not None and not arbiters
    return SMALLEST_FENCED_GROUP if fenced else SMALLEST_GROUP
