"""A host took DHCP leases for the virtual addresses of its cluster."""

from datetime import datetime

from msgspec.structs import replace

from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Invalid
from firstlight.core.events.cluster import VipsAllocated
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION
from firstlight.core.network.dhcp import leased_vips
from firstlight.core.steps.leases import VipLeases


def take_leases(cluster: Cluster, leases: VipLeases, *, now: datetime) -> Decision:
    """The leased addresses become the VIPs; nothing while the cluster does not get them by DHCP."""
    if not cluster.vip_dhcp_allocation or not cluster.machine_networks:
        return Decision()
    api, ingress = leased_vips(leases.api_vip, leases.ingress_vip, network=cluster.machine_networks[0])
    texts = (leases.api_lease, leases.ingress_lease)
    if cluster.api_vips == (api,) and cluster.ingress_vips == (ingress,):
        return Decision() if texts == cluster.vip_leases else Decision(cluster=replace(cluster, vip_leases=texts))
    if cluster.status not in BEFORE_INSTALLATION:
        raise Invalid(f"Cluster {cluster.name} is {cluster.status}; its VIPs cannot change any more.")
    changed = replace(cluster, api_vips=(api,), ingress_vips=(ingress,), vip_leases=texts, updated_at=now)
    event = VipsAllocated(cluster_id=cluster.id, api_vip=api, ingress_vip=ingress)
    before = {"api_vips": list(cluster.api_vips), "ingress_vips": list(cluster.ingress_vips)}
    after = {"api_vips": [api], "ingress_vips": [ingress]}
    return Decision(cluster=changed, changes=(Change(event=event, before=before, after=after),))
