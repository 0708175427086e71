"""Whether the hosts of a cluster are enough, ready and of one time."""

from collections import Counter
from math import isfinite
from typing import Final

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.hosts.rules.answers import listed
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.network.topology import has_fencing
from firstlight.core.rules import Evidence, Verdict, failed, passed

READY: Final = frozenset({HostStatus.KNOWN, HostStatus.PREPARING_FOR_INSTALLATION, HostStatus.PREPARING_SUCCESSFUL})
CLOCKLESS: Final = frozenset(
    {HostStatus.DISCOVERING, HostStatus.DISCONNECTED, HostStatus.RESETTING_PENDING_USER_ACTION}
)
"""Hosts whose last word about the time is too old, or too young, to count."""
MOST_MINUTES_APART: Final = 4


def all_hosts_are_ready_to_install(facts: ClusterFacts) -> Verdict:
    unready = [state for state in facts.hosts if state.host.status not in READY]
    if not unready:
        return passed("Every host is ready to be installed.")
    names = [f"{_name(state)} ({state.host.status.value})" for state in unready]
    return failed(
        f"{len(unready)} of {len(facts.hosts)} hosts are not ready: {listed(names)}. See their own checks.",
        cause="hosts-not-ready",
        evidence={"hosts": [str(state.host.id) for state in unready[:20]], "count": len(unready)},
    )


def sufficient_masters_count(facts: ClusterFacts) -> Verdict:
    cluster = facts.cluster
    roles = Counter(_role(facts, state) for state in facts.hosts)
    masters, arbiters, workers = roles[HostRole.MASTER], roles[HostRole.ARBITER], roles[HostRole.WORKER]
    wanted = cluster.control_plane_count
    evidence: Evidence = {"masters": masters, "arbiters": arbiters, "workers": workers, "needed": wanted}
    if cluster.is_single_node:
        if masters == 1 and workers == 0:
            return passed("The cluster has its single node.")
        return failed(
            f"A single-node cluster consists of one control-plane node and nothing else, but there are {masters} "
            f"control-plane nodes and {workers} workers. Add or remove hosts, or change the control plane count.",
            cause="not-a-single-node",
            evidence=evidence,
        )
    if masters != wanted:
        return failed(
            f"The cluster needs exactly {wanted} control-plane nodes, but {masters} hosts are or can become one. "
            f"Add or remove hosts, or change roles or the control plane count.",
            cause="wrong-master-count",
            evidence=evidence,
        )
    if wanted == 2 and arbiters == 0 and not has_fencing(cluster, [state.host for state in facts.hosts]):
        return failed(
            "Two control-plane nodes need an arbiter, or fencing credentials on both of them. Make a third host the "
            "arbiter, or set the fencing credentials.",
            cause="no-arbiter-and-no-fencing",
            evidence=evidence,
        )
    return passed(f"The cluster has its {wanted} control-plane nodes.")


def ntp_server_configured(facts: ClusterFacts) -> Verdict:
    clocks = [
        (offset, _name(state))
        for state in facts.hosts
        if (offset := state.presence.clock_offset_seconds) is not None
        and isfinite(offset)
        and state.host.status not in CLOCKLESS
    ]
    if not clocks:
        return passed("No clocks differ.")
    slowest, fastest = min(clocks), max(clocks)
    apart = fastest[0] - slowest[0]
    if apart < (MOST_MINUTES_APART + 1) * 60:
        return passed("The clocks of the hosts agree.")
    # Offsets move a little with every check-in, so only whole minutes are told.
    return failed(
        f"The clocks of {slowest[1]} and {fastest[1]} differ by more than {MOST_MINUTES_APART} minutes. Set an NTP "
        f"server that all hosts reach, on the cluster or on the hosts.",
        cause="clocks-differ",
        evidence={"slowest": slowest[1], "fastest": fastest[1], "minutes": int(min(apart, 1e12) // 60)},
    )


def _role(facts: ClusterFacts, state: HostState) -> str:
    """The role counted: the host's own, or the one it would be dealt now."""
    role = state.host.effective_role
    return facts.candidate_roles.get(state.host.id, HostRole.WORKER) if role is HostRole.AUTO_ASSIGN else role


def _name(state: HostState) -> str:
    return hostname_of(state.host, state.reports)
