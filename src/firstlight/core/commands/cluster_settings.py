"""A user registers a cluster, or changes what it shall become."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.clusters import settings, texts
from firstlight.core.clusters.control_planes import check_count
from firstlight.core.clusters.features import check_cluster_features
from firstlight.core.clusters.networking import with_networking
from firstlight.core.clusters.usages import with_usages
from firstlight.core.clusters.wish import ClusterWish, Defaults
from firstlight.core.commands.cluster_records import Owner
from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Conflict, Invalid
from firstlight.core.events.cluster import ProxySettingsChanged
from firstlight.core.events.own import ClusterChanged
from firstlight.core.events.telling import told
from firstlight.core.model.cluster import Cluster, ClusterNetwork, ClusterState
from firstlight.core.model.cluster_status import UPDATABLE, ClusterStatus
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.policy import Policy
from firstlight.core.operators.catalogue import (
    OPERATORS,
    BundleRequest,
    OperatorRequest,
    monitored_operators,
)
from firstlight.core.roles import key_of
from firstlight.core.versions.architectures import CpuArchitecture, normalise
from firstlight.core.versions.catalogue import Catalogue
from firstlight.core.versions.feature_ids import FeatureId
from firstlight.core.versions.numbers import at_least
from firstlight.core.versions.releases import ReleaseImage

OVN_SINCE: Final = "4.12"
UNTOLD: Final = frozenset({"updated_at", "usages", "majority_groups", "connected_addresses", "ip_collisions"})
"""Fields that follow from others; a change of theirs is no news."""


class OperatorWish(Struct, frozen=True, kw_only=True):
    """The whole set of OLM operators the cluster shall have; what is not named goes."""

    operators: tuple[OperatorRequest, ...] = ()
    bundles: tuple[BundleRequest, ...] = ()


class NewCluster(Struct, frozen=True, kw_only=True):
    """What a registration says beside the wish."""

    openshift_version: str
    release_image: str = ""
    cpu_architecture: str = ""
    control_plane_count: int = 3


class Grounds(Struct, frozen=True, kw_only=True):
    """What the service brings to a decision about a cluster's settings."""

    policy: Policy
    catalogue: Catalogue
    defaults: Defaults = Defaults()
    public_registries: tuple[str, ...] = ()
    needs_os_image: bool = True


def release_of(new: NewCluster, grounds: Grounds) -> ReleaseImage:
    """The release a new cluster is installed from; Invalid when it is not known or nothing boots for it."""
    architecture = normalise(new.cpu_architecture or CpuArchitecture.X86_64)
    catalogue = grounds.catalogue
    if new.release_image:
        release = catalogue.release_by_url(new.release_image)
    else:
        release = catalogue.release(new.openshift_version, architecture=architecture)
    single = release.cluster_architecture
    if grounds.needs_os_image and single is not CpuArchitecture.MULTI:
        catalogue.os_image(release.version, architecture=single)
    return release


def new_cluster(
    cluster_id: UUID,
    new: NewCluster,
    wish: ClusterWish,
    *,
    operators: OperatorWish,
    owner: Owner,
    grounds: Grounds,
    now: datetime,
) -> Cluster:
    """The cluster a registration asks for; Invalid when it cannot be."""
    release = release_of(new, grounds)
    policy, defaults = grounds.policy, grounds.defaults
    check_count(new.control_plane_count, version=release.version, policy=policy)
    single_node = new.control_plane_count == 1
    silent_about_time = wish.additional_ntp_source is None and wish.ntp_sources is None
    network = ClusterNetwork(cidr=defaults.cluster_network_cidr, host_prefix=defaults.cluster_network_host_prefix)
    base = Cluster(
        id=cluster_id,
        name=wish.name or "",
        status=ClusterStatus.INSUFFICIENT,
        status_info=texts.NOT_READY,
        status_updated_at=now,
        created_at=now,
        updated_at=now,
        user_name=owner.user_name,
        org_id=owner.org_id,
        email_domain=owner.email_domain,
        openshift_version=release.version,
        release_image=release.url,
        release_architectures=tuple(release.architectures),
        cpu_architecture=release.cluster_architecture.value,
        control_plane_count=new.control_plane_count,
        network_type="OVNKubernetes" if single_node or at_least(release.version, OVN_SINCE) else settings.SDN,
        cluster_networks=(network,),
        service_networks=(defaults.service_network_cidr,),
        additional_ntp_source=defaults.ntp_source if silent_about_time else "",
        soft_timeouts=policy.soft_timeouts,
    )
    cluster = _wished(base, wish, before=None, hosts=(), grounds=grounds)
    cluster = replace(
        cluster, operators=monitored_operators(operators.operators, operators.bundles, cluster, policy=policy)
    )
    check_cluster_features(cluster, operators=_operator_features(cluster))
    return with_usages(cluster)


def _wished(
    cluster: Cluster, wish: ClusterWish, *, before: Cluster | None, hosts: Sequence[HostState], grounds: Grounds
) -> Cluster:
    policy = grounds.policy
    cluster = settings.with_topology(cluster, wish, before=before, policy=policy)
    cluster = with_networking(
        cluster, wish, before=before, hosts=hosts, defaults=grounds.defaults, ipv6_support=policy.ipv6_support
    )
    cluster = settings.with_machines(cluster, wish)
    cluster = settings.with_access(cluster, wish)
    cluster = settings.with_names(cluster, wish)
    images = (policy.agent_image, policy.installer_image, policy.controller_image, cluster.release_image)
    try:
        return settings.with_pull_secret(
            cluster, wish, images=[image for image in images if image], exempt=grounds.public_registries
        )
    except Invalid as refusal:
        whose = "new cluster" if before is None else f"cluster {before.name}"
        raise Invalid(f"pull secret for {whose} is invalid: {refusal}") from None


def _operator_features(cluster: Cluster) -> list[FeatureId]:
    return [OPERATORS[operator.name].feature for operator in cluster.operators if operator.name in OPERATORS]


def update_cluster(
    state: ClusterState, wish: ClusterWish, *, operators: OperatorWish | None, grounds: Grounds, now: datetime
) -> Decision:
    """A bad value is Invalid in every state; a good one is a Conflict where the cluster may no longer change."""
    before = state.cluster
    cluster = _wished(before, wish, before=before, hosts=state.hosts, grounds=grounds)
    if operators is not None:
        chosen = monitored_operators(operators.operators, operators.bundles, cluster, policy=grounds.policy)
        cluster = replace(cluster, operators=chosen)
    if before.status not in UPDATABLE:
        raise Conflict(
            f"Cluster {before.name} is {before.status}; it can be changed only while it is"
            f" {', '.join(sorted(UPDATABLE))}.",
            code="wrong-state",
        )
    if cluster != before or operators is not None:
        records = [host.host for host in state.hosts]
        check_cluster_features(cluster, hosts=records, operators=_operator_features(cluster))
    cluster = with_usages(cluster, state.hosts)
    if cluster == before:
        return Decision()
    hosts = {}
    if [operator.name for operator in cluster.operators] != [operator.name for operator in before.operators]:
        hosts = {
            key_of(host): replace(host.host, suggested_role=None)
            for host in state.hosts
            if host.host.role is HostRole.AUTO_ASSIGN and host.host.suggested_role is not None
        }
    return Decision(cluster=replace(cluster, updated_at=now), hosts=hosts, changes=changes_between(before, cluster))


def changes_between(before: Cluster, after: Cluster) -> tuple[Change, ...]:
    """What to tell about new settings."""
    names = [
        name
        for name in Cluster.__struct_fields__
        if name not in UNTOLD and getattr(before, name) != getattr(after, name)
    ]
    if not names:
        return ()
    proxy = [Change(event=ProxySettingsChanged(cluster_id=after.id))] if "proxy" in names else []
    changed = Change(
        event=ClusterChanged(cluster_id=after.id, fields=", ".join(names)),
        before=told({name: getattr(before, name) for name in names}),
        after=told({name: getattr(after, name) for name in names}),
    )
    return (changed, *proxy)
