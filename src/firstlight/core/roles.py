"""Dealing roles: the smallest capable machines become the control plane, so that the big ones are left for work."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from firstlight.core.decision import HostKey
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import BEFORE_INSTALLATION, HostRole, HostStatus

Fits = Callable[[HostState, HostRole], bool]
"""Whether the host has what the role needs, operators included."""

GIB: Final = 1 << 30
MASTERS_OF_TWO_NODES: Final = 2


def weight(host: HostState) -> tuple[bool, float]:
    """Heavier means more precious as a worker; hosts with a GPU are dealt last."""
    inventory = host.reports.inventory
    if inventory is None:
        return (False, 0.0)
    eligible = {disk.id for disk in inventory.disks if not disk.refusals} - set(host.host.disk_problems)
    disk_gib = sum(disk.size_bytes for disk in inventory.disks if disk.id in eligible) / GIB
    return (
        bool(inventory.gpus),
        (inventory.cpu.count - 4) + 0.1 * (inventory.memory.usable_bytes / GIB - 16) + 0.004 * (disk_gib - 100),
    )


def deal(cluster: Cluster, hosts: Sequence[HostState], *, fits: Fits) -> Mapping[HostKey, HostRole]:
    """The role each auto-assign host gets. Nothing is dealt before every host has shown its inventory."""
    if any(host.reports.inventory is None for host in hosts):
        return {}
    open_hosts = [
        host for host in hosts if host.host.role is HostRole.AUTO_ASSIGN and host.host.status in BEFORE_INSTALLATION
    ]
    if cluster.is_day_two:
        return {key_of(host): HostRole.WORKER for host in open_hosts}
    open_keys = {key_of(host) for host in open_hosts}
    settled = [host.host.effective_role for host in hosts if key_of(host) not in open_keys]
    masters = settled.count(HostRole.MASTER)
    arbiters = settled.count(HostRole.ARBITER)
    dealt: dict[HostKey, HostRole] = {}
    for host in sorted(open_hosts, key=weight):
        role = HostRole.WORKER
        if masters < cluster.control_plane_count and fits(host, HostRole.MASTER):
            role, masters = HostRole.MASTER, masters + 1
        elif cluster.control_plane_count == MASTERS_OF_TWO_NODES and arbiters == 0 and fits(host, HostRole.ARBITER):
            role, arbiters = HostRole.ARBITER, 1
        dealt[key_of(host)] = role
    return dealt


BOOTSTRAP_CANDIDATES: Final = frozenset({HostStatus.KNOWN, HostStatus.PREPARING_FOR_INSTALLATION})


def choose_bootstrap(hosts: Sequence[HostState]) -> HostState | None:
    """The host that carries the temporary control plane: the one already chosen, else the last master in line."""
    for host in hosts:
        if host.host.bootstrap:
            return host
    masters = [
        host
        for host in hosts
        if host.host.effective_role is HostRole.MASTER and host.host.status in BOOTSTRAP_CANDIDATES
    ]
    return masters[-1] if masters else None


def key_of(host: HostState) -> tuple[UUID, UUID]:
    return (host.host.infra_env_id, host.host.id)
