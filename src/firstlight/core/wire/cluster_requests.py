"""What users and controllers may ask of a cluster."""

from uuid import UUID

from msgspec import Raw, field

from firstlight.core.wire.networks import (
    ApiVip,
    ClusterNetwork,
    IngressVip,
    LoadBalancer,
    MachineNetwork,
    ServiceNetwork,
)
from firstlight.core.wire.operators import BundleCreateParams, OperatorCreateParams
from firstlight.core.wire.platforms import Platform
from firstlight.core.wire.shape import Body, Cidr, ClusterName, HostPrefix, Int64
from firstlight.core.wire.words import (
    DiskEncryptionMode,
    DiskEncryptionRoles,
    FinalizingStage,
    HighAvailabilityMode,
    Hyperthreading,
    NetworkType,
    ReleaseArchitecture,
)


class DiskEncryption(Body, frozen=True, kw_only=True):
    """Which roles get encrypted disks, and how they are unlocked."""

    enable_on: DiskEncryptionRoles | None = None
    mode: DiskEncryptionMode | None = None
    tang_servers: str | None = None


class IgnitionEndpoint(Body, frozen=True, kw_only=True):
    """Where day-2 hosts fetch their Ignition from."""

    url: str | None = None
    ca_certificate: str | None = None


class ClusterCreateParams(Body, frozen=True, kw_only=True):
    """The request to register a cluster."""

    name: ClusterName
    openshift_version: str
    pull_secret: str
    high_availability_mode: HighAvailabilityMode | None = None
    ocp_release_image: str | None = None
    base_dns_domain: str | None = None
    cluster_network_cidr: Cidr | None = None
    cluster_network_host_prefix: HostPrefix | None = None
    service_network_cidr: Cidr | None = None
    api_vips: tuple[ApiVip, ...] | None = None
    ingress_vips: tuple[IngressVip, ...] | None = None
    ssh_public_key: str | None = None
    vip_dhcp_allocation: bool | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    user_managed_networking: bool | None = None
    additional_ntp_source: str | None = None
    ntp_sources: str | None = None
    olm_operators: tuple[OperatorCreateParams, ...] | None = None
    operator_bundles: tuple[BundleCreateParams, ...] | None = None
    hyperthreading: Hyperthreading | None = None
    network_type: NetworkType | None = None
    schedulable_masters: bool | None = None
    cluster_networks: tuple[ClusterNetwork, ...] | None = None
    service_networks: tuple[ServiceNetwork, ...] | None = None
    machine_networks: tuple[MachineNetwork, ...] | None = None
    platform: Platform | None = None
    cpu_architecture: ReleaseArchitecture | None = None
    disk_encryption: DiskEncryption | None = None
    ignition_endpoint: IgnitionEndpoint | None = None
    tags: str | None = None
    control_plane_count: Int64 | None = None
    load_balancer: LoadBalancer | None = None


class ClusterUpdateParams(Body, frozen=True, kw_only=True):
    """A change to a cluster; `None` leaves a field as it is, an empty value clears it."""

    name: ClusterName | None = None
    base_dns_domain: str | None = None
    cluster_network_cidr: Cidr | None = None
    platform: Platform | None = None
    cluster_network_host_prefix: HostPrefix | None = None
    service_network_cidr: Cidr | None = None
    api_vips: tuple[ApiVip, ...] | None = None
    ingress_vips: tuple[IngressVip, ...] | None = None
    api_vip_dns_name: str | None = None
    machine_network_cidr: Cidr | None = None
    pull_secret: str | None = None
    ssh_public_key: str | None = None
    vip_dhcp_allocation: bool | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    user_managed_networking: bool | None = None
    additional_ntp_source: str | None = None
    ntp_sources: str | None = None
    olm_operators: tuple[OperatorCreateParams, ...] | None = None
    operator_bundles: tuple[BundleCreateParams, ...] | None = None
    hyperthreading: Hyperthreading | None = None
    network_type: NetworkType | None = None
    schedulable_masters: bool | None = None
    cluster_networks: tuple[ClusterNetwork, ...] | None = None
    service_networks: tuple[ServiceNetwork, ...] | None = None
    machine_networks: tuple[MachineNetwork, ...] | None = None
    disk_encryption: DiskEncryption | None = None
    ignition_endpoint: IgnitionEndpoint | None = None
    tags: str | None = None
    control_plane_count: Int64 | None = None
    load_balancer: LoadBalancer | None = None


class ImportClusterParams(Body, frozen=True, kw_only=True):
    """The request to adopt a running cluster for day-2 hosts."""

    name: str
    api_vip_dnsname: str
    openshift_cluster_id: UUID
    openshift_version: str | None = None


class DisconnectedClusterCreateParams(Body, frozen=True, kw_only=True):
    """The request to register a cluster that is installed without this service."""

    name: ClusterName
    openshift_version: str


class CompletionParams(Body, frozen=True, kw_only=True):
    """The controller's word that the installation ended."""

    is_success: bool
    error_info: str | None = None
    data: dict[str, Raw] | None = None


class ClusterFinalizingProgress(Body, frozen=True, kw_only=True):
    """The finalizing stage the controller reached."""

    finalizing_stage: FinalizingStage | None = None


class IgnoredValidations(Body, frozen=True, kw_only=True):
    """Validations that may fail; some clients send lists, some a string holding a list."""

    cluster_validation_ids: str | tuple[str, ...] | None = field(default=None, name="cluster-validation-ids")
    host_validation_ids: str | tuple[str, ...] | None = field(default=None, name="host-validation-ids")
