"""Clusters: register, list, show, change, give up; and the hosts of one."""

from typing import Annotated, Final, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

from firstlight.core import wire
from firstlight.core.clusters.control_planes import count_of
from firstlight.core.commands.cluster_settings import NewCluster
from firstlight.core.model.cluster import ClusterState
from firstlight.core.wire.cluster_wishes import operators_of, wish_of
from firstlight.core.wire.views import host_view, view_cluster
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.usecases import cluster_changes, cluster_registration, cluster_views
from firstlight.server.usecases.world import World

CLUSTERS: Final = "/v2/clusters"
CLUSTER: Final = CLUSTERS + "/{cluster_id:uuid}"
DELETED_TOO: Final = "get_unregistered_clusters"
"""The header by which administrators ask for clusters that were given up as well."""
MACHINE: Final = "x-secret-key"
"""Installers and controllers send it, with or without a secret."""

Text = Annotated[str, Meta(max_length=4096)]


class ListQuery(Struct, frozen=True):
    with_hosts: bool = False
    owner: Text | None = None
    openshift_cluster_id: UUID | None = None
    ams_subscription_ids: tuple[Text, ...] = ()


class ShowQuery(Struct, frozen=True):
    exclude_hosts: bool = field(default=False, name="exclude-hosts")


class HostsQuery(Struct, frozen=True):
    role: Literal["master", "arbiter", "worker", "auto-assign"] | None = None
    status: Text | None = None
    with_inventory: bool = field(default=False, name="with-inventory")
    with_connectivity: bool = field(default=False, name="with-connectivity")


async def answer(world: World, state: ClusterState) -> wire.Cluster:
    return view_cluster(await cluster_views.shown(world, state))


def _wants_deleted(call: Call[None, ListQuery] | Call[None, ShowQuery]) -> bool:
    return call.headers.get(DELETED_TOO, "").lower() == "true"


@operation(
    "POST",
    CLUSTERS,
    id="v2RegisterCluster",
    body=wire.ClusterCreateParams,
    body_name="newClusterParams",
    success=201,
    answer=wire.Cluster,
    errors=(400, 401, 403, 405, 500),
)
async def register_cluster(world: World, call: Call[wire.ClusterCreateParams, NoQuery]) -> wire.Cluster:
    """Register a cluster that shall be installed."""
    params = call.body
    new = NewCluster(
        openshift_version=params.openshift_version,
        release_image=params.ocp_release_image or "",
        cpu_architecture=params.cpu_architecture or "",
        control_plane_count=count_of(mode=params.high_availability_mode, count=params.control_plane_count),
    )
    state = await cluster_registration.register(
        world, new, wish_of(params), operators=operators_of(params), caller=call.actor
    )
    return await answer(world, state)


@operation(
    "GET",
    CLUSTERS,
    id="v2ListClusters",
    access=Access.READ | Access.WATCHER,
    query=ListQuery,
    answer=tuple[wire.Cluster, ...],
    errors=(401, 403, 405, 500, 503),
    headers=(DELETED_TOO,),
)
async def list_clusters(world: World, call: Call[None, ListQuery]) -> tuple[wire.Cluster, ...]:
    """The clusters the caller may see, newest first."""
    query = ClusterQuery(
        owner=call.query.owner,
        openshift_cluster_id=call.query.openshift_cluster_id,
        ams_subscription_ids=call.query.ams_subscription_ids,
        with_deleted=_wants_deleted(call),
        with_hosts=call.query.with_hosts,
    )
    return tuple(map(view_cluster, await cluster_views.find(world, query, caller=call.actor)))


@operation(
    "GET",
    CLUSTER,
    id="v2GetCluster",
    access=Access.READ | Access.AGENT | Access.WATCHER,
    query=ShowQuery,
    answer=wire.Cluster,
    errors=(401, 403, 404, 405, 500, 503),
    headers=("discovery_agent_version", DELETED_TOO),
    etag=True,
)
async def get_cluster(world: World, call: Call[None, ShowQuery]) -> wire.Cluster:
    """One cluster."""
    view = await cluster_views.get(
        world,
        call.uuid("cluster_id"),
        with_hosts=not call.query.exclude_hosts,
        with_deleted=_wants_deleted(call),
        caller=call.actor,
        installing=MACHINE in call.headers,
    )
    return view_cluster(view)


@operation(
    "PATCH",
    CLUSTER,
    id="V2UpdateCluster",
    body=wire.ClusterUpdateParams,
    body_name="clusterUpdateParams",
    success=201,
    answer=wire.Cluster,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def update_cluster(world: World, call: Call[wire.ClusterUpdateParams, NoQuery]) -> wire.Cluster:
    """Change what a cluster shall become."""
    state = await cluster_changes.update(
        world, call.uuid("cluster_id"), wish_of(call.body), operators=operators_of(call.body), caller=call.actor
    )
    return await answer(world, state)


@operation("DELETE", CLUSTER, id="v2DeregisterCluster", success=204, errors=(401, 403, 404, 405, 409, 500))
async def deregister_cluster(world: World, call: Call[None, NoQuery]) -> Empty:
    """Give a cluster up."""
    await cluster_changes.deregister(world, call.uuid("cluster_id"), caller=call.actor)
    return Empty()


@operation(
    "POST",
    CLUSTERS + "/import",
    id="v2ImportCluster",
    body=wire.ImportClusterParams,
    body_name="newImportClusterParams",
    success=201,
    answer=wire.Cluster,
    errors=(400, 401, 403, 500),
)
async def import_cluster(world: World, call: Call[wire.ImportClusterParams, NoQuery]) -> wire.Cluster:
    """Adopt a running cluster to add hosts to it."""
    params = call.body
    state = await cluster_registration.import_cluster(
        world,
        name=params.name,
        api_name=params.api_vip_dnsname,
        openshift_cluster_id=params.openshift_cluster_id,
        version=params.openshift_version or "",
        caller=call.actor,
    )
    return await answer(world, state)


@operation(
    "POST",
    CLUSTERS + "/disconnected",
    id="v2RegisterDisconnectedCluster",
    body=wire.DisconnectedClusterCreateParams,
    body_name="newClusterParams",
    success=201,
    answer=wire.Cluster,
    errors=(400, 401, 403, 500),
)
async def register_disconnected(
    world: World, call: Call[wire.DisconnectedClusterCreateParams, NoQuery]
) -> wire.Cluster:
    """Write down a cluster that is installed without this service."""
    state = await cluster_registration.register_disconnected(
        world, name=call.body.name, version=call.body.openshift_version, caller=call.actor
    )
    return await answer(world, state)


@operation(
    "GET",
    CLUSTER + "/hosts",
    id="ListClusterHosts",
    access=Access.READ | Access.AGENT,
    query=HostsQuery,
    answer=tuple[wire.Host, ...],
    errors=(401, 403, 404, 500),
)
async def list_hosts(world: World, call: Call[None, HostsQuery]) -> tuple[wire.Host, ...]:
    """The hosts of a cluster; none when there is no such cluster."""
    query = call.query
    views = await cluster_views.hosts_of(
        world,
        call.uuid("cluster_id"),
        role=query.role,
        status=query.status,
        with_inventory=query.with_inventory,
        with_connectivity=query.with_connectivity,
        installing=MACHINE in call.headers,
    )
    return tuple(map(host_view, views))
