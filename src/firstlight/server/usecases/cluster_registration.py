"""New clusters: to be installed, adopted to grow, or only written down."""

from uuid import UUID

from firstlight.core.clusters.wish import ClusterWish, Defaults
from firstlight.core.commands import cluster_records, cluster_settings
from firstlight.core.commands.cluster_records import Owner
from firstlight.core.commands.cluster_settings import Grounds, NewCluster, OperatorWish
from firstlight.core.decision import Change
from firstlight.core.events.cluster import ClusterRegistered
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import MakeDue, PutCluster, PutSecret
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import EVALUATE, events_of
from firstlight.server.usecases.world import World

KEPT_AS = "pull_secret"
"""The name under which the pull secret of a cluster is kept."""


def defaults_of(world: World) -> Defaults:
    service = world.service
    return Defaults(
        cluster_network_cidr=service.cluster_network_cidr,
        cluster_network_host_prefix=service.cluster_network_host_prefix,
        cluster_network_host_prefix_v6=service.cluster_network_host_prefix_v6,
        service_network_cidr=service.service_network_cidr,
        ntp_source=service.default_ntp_source,
    )


def grounds_of(world: World) -> Grounds:
    return Grounds(
        policy=world.policy,
        catalogue=world.catalogue,
        defaults=defaults_of(world),
        public_registries=world.service.public_registries,
        needs_os_image=world.service.image_service,
    )


def owner_of(caller: Caller) -> Owner:
    return Owner(user_name=caller.name, org_id=caller.org_id, email_domain=caller.email_domain)


async def register(
    world: World, new: NewCluster, wish: ClusterWish, *, operators: OperatorWish | None, caller: Caller
) -> ClusterState:
    """Nothing is stored when the wish is refused. Its checks are made right after, not within, this request."""
    cluster = cluster_settings.new_cluster(
        world.new_id(),
        new,
        wish,
        operators=operators or OperatorWish(),
        owner=owner_of(caller),
        grounds=grounds_of(world),
        now=world.clock.now(),
    )
    return await _store(world, cluster, caller=caller, pull_secret=wish.pull_secret)


async def import_cluster(
    world: World, *, name: str, api_name: str, openshift_cluster_id: UUID, version: str, caller: Caller
) -> ClusterState:
    cluster = cluster_records.imported_cluster(
        world.new_id(),
        name=name,
        api_name=api_name,
        openshift_cluster_id=openshift_cluster_id,
        version=version,
        owner=owner_of(caller),
        now=world.clock.now(),
    )
    return await _store(world, cluster, caller=caller)


async def register_disconnected(world: World, *, name: str, version: str, caller: Caller) -> ClusterState:
    cluster = cluster_records.disconnected_cluster(
        world.new_id(), name=name, version=version, owner=owner_of(caller), now=world.clock.now()
    )
    return await _store(world, cluster, caller=caller)


async def _store(world: World, cluster: Cluster, *, caller: Caller, pull_secret: str | None = None) -> ClusterState:
    subject, now = cluster_subject(cluster.id), cluster.created_at
    registered = Change(
        event=ClusterRegistered(cluster_id=cluster.id, cluster_kind=cluster.kind.value),
        after={"name": cluster.name, "status": cluster.status.value},
    )
    await world.store.commit(
        PutCluster(cluster=cluster, expect_revision=None),
        *([PutSecret(subject=subject, name=KEPT_AS, value=pull_secret)] if pull_secret else []),
        MakeDue(subject=subject, kind=EVALUATE, at=now),
        *events_of((registered,), caller=caller, now=now),
    )
    world.wake()
    return ClusterState(cluster=cluster)
