"""How many hosts a cluster needs, and whether those in given statuses are enough."""

from collections.abc import Callable, Sequence
from typing import Final

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.network.topology import has_fencing

S = HostStatus
STILL_INSTALLING: Final = frozenset(
    {
        S.INSTALLING,
        S.INSTALLING_IN_PROGRESS,
        S.INSTALLED,
        S.INSTALLING_PENDING_USER_ACTION,
        S.PREPARING_SUCCESSFUL,
    }
)
INSTALLED: Final = frozenset({S.INSTALLED})
COMING_AGAIN: Final = frozenset(
    {
        S.RESETTING_PENDING_USER_ACTION,
        S.BINDING,
        S.DISCOVERING,
        S.KNOWN,
        S.INSUFFICIENT,
        S.PENDING_FOR_INPUT,
        S.DISCONNECTED,
    }
)
"""What a host goes through that is tried again, or takes the place of another, before it installs."""
FEWEST_MASTERS: Final = 3
FEWEST_MASTERS_OF_TWO_NODES: Final = 2
FEWEST_WORKERS: Final = 2


def own_status(host: Host) -> HostStatus:
    return host.status


def coming_or_own(host: Host) -> HostStatus:
    """A host on its way back counts as one that installs."""
    return S.INSTALLING if host.tries and host.status in COMING_AGAIN else host.status


def count(
    hosts: Sequence[Host],
    role: HostRole,
    statuses: frozenset[HostStatus] | None = None,
    *,
    status_of: Callable[[Host], HostStatus] = own_status,
) -> int:
    return sum(host.effective_role is role and (statuses is None or status_of(host) in statuses) for host in hosts)


def enough(
    cluster: Cluster,
    hosts: Sequence[Host],
    statuses: frozenset[HostStatus],
    *,
    status_of: Callable[[Host], HostStatus] = own_status,
) -> bool:
    """Whether the cluster can live with just the hosts in these statuses."""
    masters = count(hosts, HostRole.MASTER, statuses, status_of=status_of)
    workers = count(hosts, HostRole.WORKER, statuses, status_of=status_of)
    if cluster.is_single_node:
        return masters == 1 and workers == 0
    expected_masters = count(hosts, HostRole.MASTER)
    arbiters = count(hosts, HostRole.ARBITER)
    two_nodes = arbiters > 0 or has_fencing(cluster, hosts)
    fewest = FEWEST_MASTERS_OF_TWO_NODES if two_nodes else FEWEST_MASTERS
    return (
        expected_masters >= fewest
        and masters == expected_masters
        and (arbiters == 0 or count(hosts, HostRole.ARBITER, statuses, status_of=status_of) > 0)
        and (count(hosts, HostRole.WORKER) < FEWEST_WORKERS or workers >= FEWEST_WORKERS)
    )


def masters_must_be_schedulable(cluster: Cluster, hosts: Sequence[Host]) -> bool:
    """With fewer than two workers nothing else could carry the ingress routers."""
    return cluster.is_single_node or count(hosts, HostRole.WORKER) < FEWEST_WORKERS
