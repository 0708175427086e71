"""A cluster as v2 answers it."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.model.cluster import Cluster, ClusterProgress, ClusterState, Operator
from firstlight.core.model.cluster_status import ClusterKind, PlatformType, PreparationStatus
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.host_networks import host_networks
from firstlight.core.wire import clusters as wire
from firstlight.core.wire.cluster_requests import DiskEncryption, IgnitionEndpoint
from firstlight.core.wire.dates import zulu, zulu_stored
from firstlight.core.wire.networks import (
    ApiVip,
    ClusterNetwork,
    HostNetwork,
    IngressVip,
    LoadBalancer,
    MachineNetwork,
    ServiceNetwork,
)
from firstlight.core.wire.operators import BundleCreateParams, MonitoredOperator
from firstlight.core.wire.platforms import Platform, PlatformExternal
from firstlight.core.wire.views.findings import cluster_validations
from firstlight.core.wire.views.hosts import view_host

_encode = msgspec.json.Encoder(order="deterministic").encode
READY: Final = frozenset({HostStatus.KNOWN, HostStatus.PREPARING_FOR_INSTALLATION, HostStatus.PREPARING_SUCCESSFUL})


class ClusterView(Struct, frozen=True, kw_only=True):
    """What it takes to show a cluster."""

    state: ClusterState
    policy: Policy
    raw: Mapping[HostKey, Mapping[ReportKind, bytes]] = {}
    bundles: Mapping[str, Sequence[str]] = {}
    """Operator → the bundles that contain it."""
    with_hosts: bool = True


def view_cluster(view: ClusterView) -> wire.Cluster:
    state, cluster = view.state, view.state.cluster
    proxy = cluster.proxy
    return wire.Cluster(
        kind=cluster.kind.value,
        id=cluster.id,
        href=f"/api/assisted-install/v2/clusters/{cluster.id}",
        image_info=wire.ImageInfo(
            created_at=zulu_stored(None), expires_at=zulu(None), ssh_public_key=cluster.ssh_public_key
        ),
        api_vips=tuple(
            ApiVip(cluster_id=cluster.id, ip=ip, verification=_verified(state, ip)) for ip in cluster.api_vips
        ),
        ingress_vips=tuple(
            IngressVip(cluster_id=cluster.id, ip=ip, verification=_verified(state, ip)) for ip in cluster.ingress_vips
        ),
        status=cluster.status.value,
        status_info=cluster.status_info,
        status_updated_at=zulu(cluster.status_updated_at),
        hosts=_hosts(view),
        updated_at=zulu_stored(cluster.updated_at),
        created_at=zulu_stored(cluster.created_at),
        deleted_at=None if cluster.deleted_at is None else zulu_stored(cluster.deleted_at),
        install_started_at=zulu(cluster.install_started_at),
        install_completed_at=zulu(cluster.install_completed_at),
        host_networks=tuple(
            HostNetwork(cidr=network.cidr, host_ids=network.host_ids) for network in host_networks(state.hosts)
        )
        or None,
        controller_logs_collected_at=zulu(cluster.controller_logs_collected_at),
        controller_logs_started_at=zulu(cluster.controller_logs_started_at),
        monitored_operators=tuple(view_operator(operator, cluster.id, view.bundles) for operator in cluster.operators),
        operator_bundles=_chosen_bundles(cluster),
        cluster_networks=tuple(
            ClusterNetwork(cluster_id=cluster.id, cidr=network.cidr, host_prefix=network.host_prefix or None)
            for network in cluster.cluster_networks
        ),
        service_networks=tuple(ServiceNetwork(cluster_id=cluster.id, cidr=cidr) for cidr in cluster.service_networks),
        machine_networks=tuple(MachineNetwork(cluster_id=cluster.id, cidr=cidr) for cidr in cluster.machine_networks),
        last_installation_preparation=_preparation(cluster),
        high_availability_mode="None" if cluster.is_single_node else "Full",
        name=cluster.name,
        user_name=cluster.user_name,
        org_id=cluster.org_id,
        email_domain=cluster.email_domain,
        openshift_version=cluster.openshift_version,
        ocp_release_image=cluster.release_image,
        openshift_cluster_id=cluster.openshift_cluster_id,
        platform=_platform(cluster),
        base_dns_domain=cluster.base_dns_domain,
        api_vip_dns_name=cluster.api_vip_dns_name or None,
        ssh_public_key=cluster.ssh_public_key,
        http_proxy=proxy.http,
        https_proxy=proxy.https,
        no_proxy=proxy.no_proxy,
        progress=_progress(cluster.progress),
        disk_encryption=DiskEncryption(
            enable_on=cluster.disk_encryption.enable_on,
            mode=cluster.disk_encryption.mode.value,
            tang_servers=cluster.disk_encryption.tang_servers or None,
        ),
        ready_host_count=sum(host.host.status in READY for host in state.hosts),
        enabled_host_count=len(state.hosts),
        total_host_count=len(state.hosts),
        schedulable_masters=cluster.schedulable_masters,
        schedulable_masters_forced_true=cluster.schedulable_masters_forced,
        pull_secret_set=cluster.pull_secret_set,
        vip_dhcp_allocation=cluster.vip_dhcp_allocation,
        validations_info=cluster_validations(state.findings),
        logs_info=cluster.logs.value,
        install_config_overrides=cluster.install_config_overrides,
        connectivity_majority_groups=_groups(cluster),
        ip_collisions=_text(cluster.ip_collisions),
        ignored_host_validations=_text(cluster.ignored_host_validations),
        ignored_cluster_validations=_text(cluster.ignored_cluster_validations),
        user_managed_networking=cluster.user_managed_networking,
        additional_ntp_source=cluster.additional_ntp_source,
        ntp_sources=cluster.ntp_sources,
        ams_subscription_id=UUID(cluster.ams_subscription_id) if cluster.ams_subscription_id else None,
        hyperthreading=cluster.hyperthreading,
        feature_usage=_usages(cluster),
        network_type=cluster.network_type or None,
        cpu_architecture=cluster.cpu_architecture,
        ignition_endpoint=_ignition_endpoint(cluster),
        imported=cluster.imported,
        tags=cluster.tags,
        org_soft_timeouts_enabled=cluster.soft_timeouts,
        control_plane_count=cluster.control_plane_count,
        load_balancer=LoadBalancer(type=cluster.load_balancer.value),
    )


def _hosts(view: ClusterView) -> tuple[wire.Host, ...]:
    if not view.with_hosts:
        return ()
    return tuple(
        view_host(
            host,
            cluster=view.state.cluster,
            policy=view.policy,
            raw=view.raw.get((host.host.infra_env_id, host.host.id), {}),
        )
        for host in view.state.hosts
    )


def _verified(state: ClusterState, vip: str) -> str:
    """Taken as soon as one host met somebody there; free when somebody looked and nobody answered."""
    seen = [
        host.reports.vips[vip] for host in state.hosts if host.reports.vips is not None and vip in host.reports.vips
    ]
    if not seen:
        return "unverified"
    return "succeeded" if all(seen) else "failed"


def view_operator(operator: Operator, cluster_id: UUID, bundles: Mapping[str, Sequence[str]]) -> MonitoredOperator:
    return MonitoredOperator(
        cluster_id=cluster_id,
        name=operator.name,
        version=operator.version,
        namespace=operator.namespace,
        subscription_name=operator.subscription_name,
        operator_type=operator.kind.value,
        properties=operator.properties,
        timeout_seconds=operator.timeout_seconds,
        status="" if operator.status is None else operator.status.value,
        status_info=operator.status_info,
        status_updated_at=zulu(operator.status_updated_at),
        bundles=tuple(bundles.get(operator.name, ())) or None,
        source_bundles=operator.source_bundles or None,
        dependency_only=operator.dependency_only,
    )


def _chosen_bundles(cluster: Cluster) -> tuple[BundleCreateParams, ...] | None:
    chosen = sorted({bundle for operator in cluster.operators for bundle in operator.source_bundles})
    return tuple(BundleCreateParams(id=bundle) for bundle in chosen) or None


def _preparation(cluster: Cluster) -> wire.LastInstallationPreparation:
    preparation = cluster.preparation
    if cluster.kind is not ClusterKind.CLUSTER or preparation.attempt == 0:
        return wire.LastInstallationPreparation()
    if preparation.status is PreparationStatus.NOT_STARTED:
        return wire.LastInstallationPreparation(status="not_started", reason=preparation.reason)
    return wire.LastInstallationPreparation(status=preparation.status.value, reason=preparation.reason)


def _platform(cluster: Cluster) -> Platform:
    external = None
    if cluster.platform.type is PlatformType.EXTERNAL:
        external = PlatformExternal(
            platform_name=cluster.platform.external_name or None,
            cloud_controller_manager=cluster.platform.external_ccm,
        )
    return Platform(type=cluster.platform.type.value, external=external)


def _progress(progress: ClusterProgress) -> wire.ClusterProgressInfo:
    return wire.ClusterProgressInfo(
        finalizing_stage_started_at=zulu(progress.finalizing_stage_started_at),
        total_percentage=progress.total,
        preparing_for_installation_stage_percentage=progress.preparing,
        installing_stage_percentage=progress.installing,
        finalizing_stage_percentage=progress.finalizing,
        finalizing_stage="" if progress.finalizing_stage is None else progress.finalizing_stage.value,
        finalizing_stage_timed_out=progress.finalizing_stage_timed_out,
    )


def _groups(cluster: Cluster) -> str:
    if not cluster.majority_groups:
        return ""
    groups = {name: [str(member) for member in members] for name, members in cluster.majority_groups.items()}
    addresses = {str(host): list(found) for host, found in cluster.connected_addresses.items()}
    return _encode({"majority_groups": groups, "l3_connected_addresses": addresses}).decode()


def _ignition_endpoint(cluster: Cluster) -> IgnitionEndpoint | None:
    endpoint = cluster.ignition_endpoint
    if endpoint is None:
        return None
    return IgnitionEndpoint(url=endpoint.url or None, ca_certificate=endpoint.ca_certificate or None)


def _usages(cluster: Cluster) -> str:
    if not cluster.usages:
        return ""
    return _encode(
        {
            usage.name: {"id": usage.id, "name": usage.name, **({"data": usage.data} if usage.data else {})}
            for usage in cluster.usages
        }
    ).decode()


def _text(value: object) -> str:
    return _encode(value).decode() if value else ""
