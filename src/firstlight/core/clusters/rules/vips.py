"""Whether the VIPs lie where they must and nobody else uses them."""

from collections.abc import Sequence
from datetime import datetime

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.remedies import choose_vips, has_inventory
from firstlight.core.hosts.rules.answers import listed
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.free_addresses import scanned_by
from firstlight.core.network.vips import Availability, availability, is_too_small, machine_network_of, range_problems
from firstlight.core.rules import Verdict, failed, passed, pending


def api_vips_valid(facts: ClusterFacts) -> Verdict:
    return _vips_valid(facts, "API", facts.cluster.api_vips)


def ingress_vips_valid(facts: ClusterFacts) -> Verdict:
    return _vips_valid(facts, "ingress", facts.cluster.ingress_vips)


def _vips_valid(facts: ClusterFacts, what: str, vips: Sequence[str]) -> Verdict:
    cluster = facts.cluster
    if cluster.user_managed_networking or cluster.is_single_node:
        return passed(f"No {what} VIP is needed: the user keeps the network, or there is a single node.")
    if not vips:
        return pending(f"The {what} VIP is not set yet.", cause="no-vip")
    if not has_inventory(facts):
        return pending("No host has sent its inventory yet, so the VIPs cannot be judged.", cause="no-hosts")
    if not cluster.machine_networks:
        return pending("The machine network is not known yet, so the VIPs cannot be judged.", cause="no-network")
    user_managed = cluster.load_balancer is LoadBalancer.USER_MANAGED
    outside = range_problems(what, vips, cluster.machine_networks, user_managed_load_balancer=user_managed)
    if outside:
        return failed("; ".join(outside), cause="vip-out-of-range", fixes=choose_vips(facts))
    if user_managed:
        return passed(f"The {what} VIP lies in a machine network; the user's load balancer serves it.")
    return _vips_free(facts, what, vips)


def _vips_free(facts: ClusterFacts, what: str, vips: Sequence[str]) -> Verdict:
    cluster = facts.cluster
    shared = [vip for vip in vips if vip in cluster.api_vips and vip in cluster.ingress_vips]
    if shared:
        return failed(
            f"{shared[0]} is both API and ingress VIP. Choose two addresses, or use a load balancer of your own.",
            cause="vip-shared",
            evidence={"vip": shared[0]},
            fixes=choose_vips(facts),
        )
    found = {vip: availability(vip, facts.hosts) for vip in vips}
    taken = [vip for vip, state in found.items() if state is Availability.TAKEN]
    if taken:
        return _taken(facts, what, taken)
    unknown = [vip for vip, state in found.items() if state is Availability.UNKNOWN]
    if unknown:
        return failed(
            f"No host has looked yet whether the {what} VIP {' and '.join(unknown)} is free. This takes a minute.",
            cause="vip-not-verified",
            evidence={"vips": unknown},
        )
    return passed(f"The {what} VIP lies in the machine network and is free.")


def _taken(facts: ClusterFacts, what: str, taken: Sequence[str]) -> Verdict:
    messages: list[str] = []
    for vip in taken:
        messages.append(
            f"The {what} VIP {vip} is already in use. Choose another, or switch off the machine that has it"
        )
        network = machine_network_of(facts.cluster, vip)
        if network is not None and is_too_small(network, host_count=len(facts.hosts)):
            messages.append(f"The machine network {network} is too small for {len(facts.hosts)} hosts and the VIPs")
    witnesses = [state for state in facts.hosts if any(_sees(state, vip) for vip in taken)]
    names = sorted(hostname_of(state.host, state.reports) for state in witnesses)
    return failed(
        "; ".join(messages) + ".",
        cause="vip-in-use",
        evidence={"vips": list(taken), "measured_by": listed(names)},
        measured_at=_newest(witnesses),
        fixes=choose_vips(facts),
    )


def _sees(state: HostState, vip: str) -> bool:
    looked = (state.reports.vips or {}).get(vip)
    return looked is False or (looked is None and scanned_by(state, address=vip) is False)


def _newest(witnesses: Sequence[HostState]) -> datetime | None:
    kinds = (ReportKind.VIPS, ReportKind.FREE_ADDRESSES)
    return max(
        (at for state in witnesses for kind in kinds if (at := state.reports.measured_at.get(kind)) is not None),
        default=None,
    )
