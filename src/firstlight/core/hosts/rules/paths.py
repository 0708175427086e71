"""The quality of the paths to other hosts: round-trip time, lost packets, packet size."""

from collections.abc import Iterable
from uuid import UUID

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_CONNECTIVITY, NO_INVENTORY, SHOWN, is_day_two, listed, refused
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.reports import BrokenMtu, ReportKind
from firstlight.core.network.addresses import in_networks
from firstlight.core.rules import SUPPRESSED, Verdict, passed

Path = tuple[UUID, str, float]
"""Peer, its address, what was measured."""


def sufficient_network_latency_requirement_for_role(facts: HostFacts) -> Verdict:
    limit = facts.requirements.network_latency_threshold_ms
    early = _too_early(facts, limit)
    if early is not None or limit is None:
        return early or passed("No limit on network latency concerns this host.")
    report = facts.reports.connectivity
    measured = () if report is None else ((path.host_id, path.address, path.rtt_ms) for path in report.slow)
    worst = _worst_paths(facts, measured, limit=limit)
    if not worst:
        return passed(f"The network is fast enough for the role {facts.host.effective_role}.")
    shown = [f"{name} ({value:.2f} ms)" for name, _, value in worst]
    return refused(
        facts,
        f"Between hosts of the role {facts.host.effective_role} a packet may take {limit:g} ms there and back. It takes"
        f" longer to {listed(shown)}. Look closer with: {_pings(worst)}.",
        cause="network-too-slow",
        kind=ReportKind.CONNECTIVITY,
        evidence={"limit_ms": limit, "slow": shown},
    )


def sufficient_packet_loss_requirement_for_role(facts: HostFacts) -> Verdict:
    limit = facts.requirements.packet_loss_percentage
    early = _too_early(facts, limit)
    if early is not None or limit is None:
        return early or passed("No limit on packet loss concerns this host.")
    report = facts.reports.connectivity
    measured = () if report is None else ((path.host_id, path.address, path.loss_percent) for path in report.lossy)
    worst = _worst_paths(facts, measured, limit=limit)
    if not worst:
        return passed(f"The network loses few enough packets for the role {facts.host.effective_role}.")
    shown = [f"{name} ({value:.2f} %)" for name, _, value in worst]
    return refused(
        facts,
        f"Between hosts of the role {facts.host.effective_role} at most {limit:g} % of the packets may get lost. More"
        f" are lost to {listed(shown)}. Look closer with: {_pings(worst)}. Where two interfaces share one network, bond"
        " them or disable one.",
        cause="packets-lost",
        kind=ReportKind.CONNECTIVITY,
        evidence={"limit_percent": limit, "lossy": shown},
    )


def mtu_valid(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None or cluster.is_single_node:
        return SUPPRESSED
    if is_day_two(facts):
        return passed("Packet sizes are not checked on hosts that are added later.")
    inventory, report = facts.reports.inventory, facts.reports.connectivity
    if inventory is None:
        return NO_INVENTORY
    if report is None:
        return NO_CONNECTIVITY
    broken = [f"{probe.interface} to {probe.address}" for probe in _counting(report.broken_mtu, cluster, inventory)]
    if not broken:
        return passed("Full-size packets reach the other hosts.")
    return refused(
        facts,
        f"Packets of the size the interface claims to carry do not arrive: {listed(broken)}. Set the same MTU on the"
        " interfaces of all hosts and on the switches between them.",
        cause="mtu-broken",
        kind=ReportKind.CONNECTIVITY,
        evidence={"broken": broken},
    )


def _counting(probes: Iterable[BrokenMtu], cluster: Cluster, inventory: Inventory) -> Iterable[BrokenMtu]:
    """With user-managed networking every probe counts, otherwise those that stay inside the machine networks."""
    if cluster.user_managed_networking:
        return probes
    networks = cluster.machine_networks
    inside = {
        interface.name
        for interface in inventory.interfaces
        if any(in_networks(address, networks) for address in interface.addresses)
    }
    return (probe for probe in probes if probe.interface in inside and in_networks(probe.address, networks))


def _too_early(facts: HostFacts, limit: float | None) -> Verdict | None:
    """The verdict where the paths need no look or cannot be looked at yet."""
    if facts.context.cluster is None:
        return SUPPRESSED
    if (
        limit is None
        or facts.context.host_count <= 1
        or facts.host.effective_role is HostRole.AUTO_ASSIGN
        or is_day_two(facts)
    ):
        return passed("The paths to other hosts need not be judged for this host.")
    if facts.reports.inventory is None:
        return NO_INVENTORY
    return NO_CONNECTIVITY if facts.reports.connectivity is None else None


def _worst_paths(facts: HostFacts, paths: Iterable[Path], *, limit: float) -> list[tuple[str, str, float]]:
    """Name, address and value of the worst path to each peer of the same role that is over the limit."""
    worst: dict[UUID, tuple[str, str, float]] = {}
    for peer_id, address, value in paths:
        peer = facts.context.peers.get(peer_id)
        if peer is None or peer.role is not facts.host.effective_role or not value > limit:
            continue
        if peer_id not in worst or value > worst[peer_id][2]:
            worst[peer_id] = (peer.name, address, value)
    return sorted(worst.values())


def _pings(paths: list[tuple[str, str, float]]) -> str:
    return "; ".join(f"ping -c 10 -W 3 {address}" for _, address, _ in paths[:SHOWN])
