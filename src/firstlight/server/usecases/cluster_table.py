"""Clusters as rows of a table: what a list shows, and nothing of their hosts but numbers."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.cluster import ClusterState
from firstlight.core.wire.views.clusters import READY
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.cluster_views import may_see
from firstlight.server.usecases.world import World


class ClusterRow(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    kind: str
    status: str
    status_info: str
    base_domain: str
    version: str
    architecture: str
    control_planes: int
    created_at: datetime
    percent: int
    hosts: int
    ready: int


async def cluster_rows(world: World, *, caller: Caller) -> tuple[ClusterRow, ...]:
    """Newest first; users see their own."""
    states = await world.store.clusters(ClusterQuery())
    return tuple(_row(state) for state in states if caller.is_admin or may_see(state.cluster, caller))


def _row(state: ClusterState) -> ClusterRow:
    cluster = state.cluster
    return ClusterRow(
        id=cluster.id,
        name=cluster.name,
        kind=cluster.kind.value,
        status=cluster.status.value,
        status_info=cluster.status_info,
        base_domain=cluster.base_dns_domain,
        version=cluster.openshift_version,
        architecture=cluster.cpu_architecture,
        control_planes=cluster.control_plane_count,
        created_at=cluster.created_at,
        percent=cluster.progress.total,
        hosts=len(state.hosts),
        ready=sum(host.host.status in READY for host in state.hosts),
    )
