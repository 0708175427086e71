"""Which tabulated features a cluster uses, and whether its release, architecture and platform go with them."""

from collections.abc import Iterable, Sequence

from firstlight.core.clusters.platforms import ORACLE
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import LoadBalancer, PlatformType
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import HostRole
from firstlight.core.network.machine_networks import is_dual_stack_cluster
from firstlight.core.network.topology import has_fencing
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.feature_ids import NETWORK_TYPE_FEATURES, PLATFORM_FEATURES, FeatureId
from firstlight.core.versions.features import Target, check_features
from firstlight.core.versions.numbers import parse

F = FeatureId
USUAL_COUNTS = frozenset({1, 2, 3})


def active_features(
    cluster: Cluster, *, hosts: Sequence[Host] = (), operators: Iterable[FeatureId] = ()
) -> frozenset[FeatureId]:
    """`operators` are the features of the cluster's OLM operators."""
    platform = cluster.platform
    wanted = {
        F.SNO: cluster.is_single_node,
        F.TNA: any(host.effective_role is HostRole.ARBITER for host in hosts),
        F.TNF: has_fencing(cluster, hosts),
        F.NON_STANDARD_HA_CONTROL_PLANE: cluster.control_plane_count not in USUAL_COUNTS,
        F.VIP_AUTO_ALLOC: cluster.vip_dhcp_allocation,
        F.CLUSTER_MANAGED_NETWORKING: not cluster.user_managed_networking,
        F.USER_MANAGED_NETWORKING: cluster.user_managed_networking,
        F.USER_MANAGED_LOAD_BALANCER: cluster.load_balancer is LoadBalancer.USER_MANAGED,
        F.EXTERNAL_PLATFORM_OCI: platform.type is PlatformType.EXTERNAL and platform.external_name == ORACLE,
        F.DUAL_STACK: is_dual_stack_cluster(cluster),
        F.DUAL_STACK_VIPS: len(cluster.api_vips) > 1,
        F.DUAL_STACK_PRIMARY_IPV6: cluster.primary_ip_stack == 6,
        F.CUSTOM_MANIFEST: cluster.has_custom_manifests,
    }
    found = {feature for feature, active in wanted.items() if active}
    found.add(PLATFORM_FEATURES[platform.type])
    if cluster.network_type in NETWORK_TYPE_FEATURES:
        found.add(NETWORK_TYPE_FEATURES[cluster.network_type])
    return frozenset(found.union(operators))


def target_of(cluster: Cluster) -> Target:
    return Target(
        version=parse(cluster.openshift_version),
        architecture=CpuArchitecture(cluster.cpu_architecture),
        platform=cluster.platform.type,
        external_name=cluster.platform.external_name,
    )


def check_cluster_features(
    cluster: Cluster, *, hosts: Sequence[Host] = (), operators: Iterable[FeatureId] = ()
) -> None:
    """Invalid when the cluster could not be installed with what it uses. Running clusters are what they are."""
    if not cluster.is_day_two and cluster.openshift_version:
        check_features(active_features(cluster, hosts=hosts, operators=operators), target=target_of(cluster))
