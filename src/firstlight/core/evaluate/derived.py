"""What is computed rather than decided: networks, who reaches whom, leases that never came."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.decision import Change
from firstlight.core.evaluate.surroundings import Surroundings
from firstlight.core.events.cluster import VipAllocationTimedOut
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION, ClusterStatus
from firstlight.core.model.host import HostState
from firstlight.core.network.addresses import addresses_of_inventory, in_network, normal_address
from firstlight.core.network.connectivity import ConnectivityMemo, groups_of, ip_collisions
from firstlight.core.network.machine_networks import derive_machine_networks
from firstlight.core.network.topology import smallest_group

NETWORKS_FOLLOW_FACTS: Final = frozenset({ClusterStatus.PENDING_FOR_INPUT, ClusterStatus.INSUFFICIENT})


def with_networks(cluster: Cluster, hosts: Sequence[HostState], *, memo: ConnectivityMemo) -> Cluster:
    """Machine networks as hosts and VIPs imply them, and the groups of hosts that reach each other."""
    if cluster.status not in BEFORE_INSTALLATION or cluster.is_day_two:
        return cluster
    networks = cluster.machine_networks
    if cluster.status in NETWORKS_FOLLOW_FACTS:
        networks = derive_machine_networks(cluster, hosts)
    groups = groups_of(hosts, smallest=smallest_group(cluster, [host.host for host in hosts]), memo=memo)
    return replace(
        cluster,
        machine_networks=networks,
        majority_groups=groups.majority_groups,
        connected_addresses=groups.connected_addresses,
        ip_collisions=ip_collisions(hosts),
    )


def lease_limit(cluster: Cluster, around: Surroundings) -> datetime | None:
    """When waiting for DHCP leases becomes worth telling; None when nobody waits, or it was told."""
    waits = cluster.vip_dhcp_allocation and cluster.machine_networks and not (cluster.api_vips and cluster.ingress_vips)
    if not waits or cluster.dhcp_timeout_told or cluster.status not in BEFORE_INSTALLATION:
        return None
    limit = (cluster.dhcp_since or around.now) + around.policy.timeouts.dhcp_lease
    return limit if around.listening_since is None else max(limit, around.listening_since)


def with_lease_timer(cluster: Cluster, around: Surroundings) -> tuple[Cluster, tuple[Change, ...]]:
    """The timer of DHCP leases starts with the wait and speaks once."""
    limit = lease_limit(cluster, around)
    if limit is None:
        return cluster, ()
    if cluster.dhcp_since is None:
        return replace(cluster, dhcp_since=around.now), ()
    if around.now < limit:
        return cluster, ()
    minutes = int(around.policy.timeouts.dhcp_lease.total_seconds() // 60)
    event = VipAllocationTimedOut(cluster_id=cluster.id, timeout_interval=minutes)
    return replace(cluster, dhcp_timeout_told=True), (Change(event=event),)


def with_single_node_vips(cluster: Cluster, hosts: Sequence[HostState]) -> Cluster:
    """A single node answers for itself: both VIPs are its own address in the primary machine network."""
    if not cluster.machine_networks or not hosts or hosts[0].reports.inventory is None:
        return cluster
    for address in addresses_of_inventory(hosts[0].reports.inventory):
        if in_network(address, cluster.machine_networks[0]):
            own = normal_address(address) or address
            return replace(cluster, api_vips=(own,), ingress_vips=(own,))
    return cluster
