"""Whether an installation in which hosts failed can still be saved by trying them again, and why not.

The bootstrap host is what makes it possible: as long as it waits in the live system, masters may still join it. Workers
need only a control plane that did not fail.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters import headcount
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import AFTER_REBOOT, HostRole, HostStatus

C, S = ClusterStatus, HostStatus
AT_WORK: Final = frozenset({S.INSTALLING, S.INSTALLING_IN_PROGRESS})
UNDER_WAY: Final = frozenset({C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.FINALIZING})
CONTROL_PLANE: Final = frozenset({HostRole.MASTER, HostRole.ARBITER})


def failed_itself(host: Host) -> bool:
    """Rather than along with its cluster."""
    return host.status is S.ERROR and host.kept_status is None


def as_kept(host: Host) -> HostStatus:
    """What the host is beneath the failure of its cluster."""
    return host.kept_status or host.status


def beneath(state: ClusterState) -> ClusterState:
    """A failed cluster as it may still be saved: what its installers and its controller are shown.

    They leave for good when they see the failure, and nobody could take it back.
    """
    if state.cluster.status is not C.ERROR or not any(host.host.kept_status for host in state.hosts):
        return state
    hosts = tuple(replace(host, host=replace(host.host, status=as_kept(host.host))) for host in state.hosts)
    return replace(state, cluster=replace(state.cluster, status=C.INSTALLING), hosts=hosts)


def bootstrap_of(hosts: Sequence[Host]) -> Host | None:
    return next((host for host in hosts if host.bootstrap), None)


def bootstrap_waits(hosts: Sequence[Host]) -> bool:
    """It installs in the live system; nothing is said about whether it was heard of lately."""
    host = bootstrap_of(hosts)
    return host is not None and as_kept(host) in AT_WORK and host.progress.stage not in AFTER_REBOOT


def may_go_on(cluster: Cluster, hosts: Sequence[Host]) -> bool:
    """Whether trying failed hosts again could still lead to an installed cluster."""
    if cluster.is_single_node or cluster.is_day_two:
        return False
    failed = [host for host in hosts if failed_itself(host)]
    if not failed or _has_enough(cluster, hosts):
        return False
    return bootstrap_waits(hosts) or not any(host.effective_role in CONTROL_PLANE for host in failed)


def _has_enough(cluster: Cluster, hosts: Sequence[Host]) -> bool:
    """Enough hosts were installed: hosts are not why the cluster failed."""
    return headcount.enough(cluster, hosts, headcount.INSTALLED, status_of=as_kept)


def why_not(
    cluster: Cluster, hosts: Sequence[Host], host: Host, *, name: str, failed: str, bootstrap_silent: bool
) -> str:
    """Why this host cannot be tried again, as a sentence with the way out; empty when it can.

    `name` is the host's, `failed` are those of the hosts that failed themselves.
    """
    if host.is_day_two or cluster.is_day_two:
        return f"Host {name} joins a cluster that runs already. Reset the host and install it again instead."
    if cluster.is_single_node:
        return f"Host {name} is all there is of cluster {cluster.name}. Reset the cluster and install it again."
    if cluster.status not in UNDER_WAY | {C.ERROR}:
        return f"Cluster {cluster.name} is {cluster.status}; a host is tried again only while its cluster installs."
    if host.status is not S.ERROR:
        return f"Host {name} is {host.status}; only a host that failed can be tried again."
    if host.kept_status is not None:
        return f"Host {name} did not fail itself. Try again {failed or 'the host that did'} instead."
    if host.bootstrap:
        return (
            f"Host {name} bootstraps cluster {cluster.name}: what the other hosts wait for was lost with it. "
            "Reset the cluster and install it again."
        )
    return _too_late(cluster, hosts, host, name=name, bootstrap_silent=bootstrap_silent)


def _too_late(cluster: Cluster, hosts: Sequence[Host], host: Host, *, name: str, bootstrap_silent: bool) -> str:
    if host.effective_role in CONTROL_PLANE:
        return _no_bootstrap(hosts, name=name, role=host.effective_role, silent=bootstrap_silent)
    if cluster.status is not C.ERROR or may_go_on(cluster, hosts):
        return ""
    return (
        f"It is too late to try host {name} again: cluster {cluster.name} failed for more than its workers. "
        "Reset the cluster and install it again."
    )


def _no_bootstrap(hosts: Sequence[Host], *, name: str, role: HostRole, silent: bool) -> str:
    bootstrap = bootstrap_of(hosts)
    if bootstrap is None:
        happened = "is not there any more"
    elif bootstrap.progress.stage in AFTER_REBOOT:
        happened = "has rebooted into the new cluster already"
    elif not bootstrap_waits(hosts):
        happened = "failed as well, or was stopped"
    elif silent:
        happened = "has not been heard of lately"
    else:
        return ""
    return (
        f"It is too late to try {role} {name} again: it would join the control plane that the bootstrap host runs, and "
        f"that one {happened}. Reset the cluster and install it again."
    )
