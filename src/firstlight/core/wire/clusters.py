"""Clusters as the service answers them."""

from uuid import UUID

from msgspec import field

from firstlight.core.wire.cluster_requests import DiskEncryption, IgnitionEndpoint
from firstlight.core.wire.hosts import Host
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
from firstlight.core.wire.platforms import Platform
from firstlight.core.wire.shape import Answer


class ImageInfo(Answer, frozen=True, kw_only=True):
    """A left-over of the first API that clients still require."""

    created_at: str
    expires_at: str
    ssh_public_key: str = ""
    size_bytes: int = 0
    download_url: str = ""
    generator_version: str = ""
    static_network_config: str = ""
    type: str = ""


class ClusterProgressInfo(Answer, frozen=True, kw_only=True):
    """How far an installation is, in percent per phase."""

    finalizing_stage_started_at: str
    total_percentage: int = 0
    preparing_for_installation_stage_percentage: int = 0
    installing_stage_percentage: int = 0
    finalizing_stage_percentage: int = 0
    finalizing_stage: str = ""
    finalizing_stage_timed_out: bool = False


class LastInstallationPreparation(Answer, frozen=True, kw_only=True):
    """How the last preparation for installation ended."""

    status: str = ""
    reason: str = ""


class Cluster(Answer, frozen=True, kw_only=True):
    """A cluster as GET and PATCH answer it."""

    kind: str
    id: UUID
    href: str
    image_info: ImageInfo
    api_vips: tuple[ApiVip, ...] | None
    ingress_vips: tuple[IngressVip, ...] | None
    status: str
    status_info: str
    status_updated_at: str
    hosts: tuple[Host, ...] | None
    updated_at: str
    created_at: str
    deleted_at: str | None
    install_started_at: str
    install_completed_at: str
    host_networks: tuple[HostNetwork, ...] | None
    controller_logs_collected_at: str
    controller_logs_started_at: str
    monitored_operators: tuple[MonitoredOperator, ...] | None
    operator_bundles: tuple[BundleCreateParams, ...] | None
    cluster_networks: tuple[ClusterNetwork, ...] | None
    service_networks: tuple[ServiceNetwork, ...] | None
    machine_networks: tuple[MachineNetwork, ...] | None
    last_installation_preparation: LastInstallationPreparation = field(name="last-installation-preparation")
    high_availability_mode: str = ""
    name: str = ""
    user_name: str = ""
    org_id: str = ""
    email_domain: str = ""
    openshift_version: str = ""
    ocp_release_image: str = ""
    openshift_cluster_id: UUID | None = None
    platform: Platform | None = None
    base_dns_domain: str = ""
    cluster_network_cidr: str = ""
    cluster_network_host_prefix: int = 0
    service_network_cidr: str = ""
    api_vip_dns_name: str | None = None
    machine_network_cidr: str = ""
    ssh_public_key: str = ""
    http_proxy: str = ""
    https_proxy: str = ""
    no_proxy: str = ""
    progress: ClusterProgressInfo | None = None
    disk_encryption: DiskEncryption | None = None
    ready_host_count: int = 0
    enabled_host_count: int = 0
    total_host_count: int = 0
    schedulable_masters: bool | None = None
    schedulable_masters_forced_true: bool | None = None
    pull_secret_set: bool = False
    vip_dhcp_allocation: bool | None = None
    validations_info: str = ""
    logs_info: str = ""
    install_config_overrides: str = ""
    connectivity_majority_groups: str = ""
    ip_collisions: str = ""
    ignored_host_validations: str = ""
    ignored_cluster_validations: str = ""
    user_managed_networking: bool | None = None
    additional_ntp_source: str = ""
    ntp_sources: str = ""
    ams_subscription_id: UUID | None = None
    hyperthreading: str = ""
    feature_usage: str = ""
    network_type: str | None = None
    cpu_architecture: str = ""
    ignition_endpoint: IgnitionEndpoint | None = None
    imported: bool | None = None
    tags: str = ""
    org_soft_timeouts_enabled: bool = False
    control_plane_count: int = 0
    load_balancer: LoadBalancer | None = None


class ClusterDefaultConfig(Answer, frozen=True, kw_only=True):
    """What a cluster gets when the user leaves the network fields out."""

    cluster_networks_ipv4: tuple[ClusterNetwork, ...]
    cluster_networks_dualstack: tuple[ClusterNetwork, ...]
    service_networks_ipv4: tuple[ServiceNetwork, ...]
    service_networks_dualstack: tuple[ServiceNetwork, ...]
    forbidden_hostnames: tuple[str, ...]
    ntp_source: str
    cluster_network_cidr: str = ""
    cluster_network_host_prefix: int = 0
    inactive_deletion_hours: int = 0
    service_network_cidr: str = ""


class Credentials(Answer, frozen=True, kw_only=True):
    """How to log in to the new cluster."""

    username: str = ""
    password: str = ""
    console_url: str = ""


class ManagedDomain(Answer, frozen=True, kw_only=True):
    """A DNS domain the service may write records in."""

    domain: str = ""
    provider: str = ""
