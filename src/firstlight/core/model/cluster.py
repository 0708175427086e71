"""A cluster as the service remembers it."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.cluster_status import (
    ClusterKind,
    ClusterStatus,
    EncryptionMode,
    FinalizingStage,
    LoadBalancer,
    OperatorKind,
    OperatorStatus,
    PlatformType,
    PreparationStatus,
)
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import LogsState
from firstlight.core.model.infra_env import InfraEnv, Proxy
from firstlight.core.rules import Finding


class ClusterNetwork(Struct, frozen=True, kw_only=True, omit_defaults=True):
    cidr: str
    host_prefix: int = 0


class TangServer(Struct, frozen=True):
    url: str
    thumbprint: str


class DiskEncryption(Struct, frozen=True, kw_only=True, omit_defaults=True):
    enable_on: str = "none"
    """none, all, or a comma list of masters, arbiters, workers."""
    mode: EncryptionMode = EncryptionMode.TPM2
    tang_servers: str = ""
    """JSON text as the user sent it."""


class Platform(Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: PlatformType = PlatformType.BAREMETAL
    external_name: str = ""
    external_ccm: str = ""
    """"External" or empty."""


class IgnitionEndpoint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    url: str = ""
    ca_certificate: str = ""


class Operator(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operator the cluster waits for."""

    name: str
    kind: OperatorKind
    namespace: str = ""
    subscription_name: str = ""
    properties: str = ""
    timeout_seconds: int = 0
    dependency_only: bool = False
    source_bundles: tuple[str, ...] = ()
    status: OperatorStatus | None = None
    status_info: str = ""
    version: str = ""
    status_updated_at: datetime | None = None


class ClusterProgress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    preparing: int = 0
    installing: int = 0
    finalizing: int = 0
    total: int = 0
    finalizing_stage: FinalizingStage | None = None
    finalizing_stage_started_at: datetime | None = None
    finalizing_stage_timed_out: bool = False


class Preparation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last try to make install-config, Ignition and credentials."""

    status: PreparationStatus = PreparationStatus.NOT_STARTED
    reason: str = ""
    attempt: int = 0
    """Raised by every install, cancel and reset: results of an older attempt are void."""


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A feature in use, for feature_usage."""

    id: str
    name: str
    data: dict[str, object] = {}


class Cluster(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: UUID
    kind: ClusterKind = ClusterKind.CLUSTER
    name: str
    status: ClusterStatus
    status_info: str = ""
    status_updated_at: datetime
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    user_name: str = "admin"
    org_id: str = ""
    email_domain: str = "Unknown"
    ams_subscription_id: str = ""

    openshift_version: str = ""
    release_image: str = ""
    release_parts: dict[str, str] = {}
    """Component → image: what hosts need of the release, known once a preparation has looked into it."""
    openshift_cluster_id: UUID | None = None
    cpu_architecture: str = "x86_64"
    """x86_64, arm64, s390x, ppc64le or multi."""
    release_architectures: tuple[str, ...] = ()
    base_dns_domain: str = ""
    control_plane_count: int = 3
    platform: Platform = Platform()
    user_managed_networking: bool = False
    load_balancer: LoadBalancer = LoadBalancer.CLUSTER_MANAGED
    network_type: str = "OVNKubernetes"
    cluster_networks: tuple[ClusterNetwork, ...] = ()
    service_networks: tuple[str, ...] = ()
    machine_networks: tuple[str, ...] = ()
    primary_ip_stack: int = 0
    """4 or 6 in dual stack, else 0."""
    api_vips: tuple[str, ...] = ()
    ingress_vips: tuple[str, ...] = ()
    vip_dhcp_allocation: bool = False
    vip_leases: tuple[str, str] = ("", "")
    """DHCP leases of the API and the ingress VIP."""
    dhcp_since: datetime | None = None
    """When DHCP allocation began to wait for leases."""
    dhcp_timeout_told: bool = False
    api_vip_dns_name: str = ""
    ssh_public_key: str = ""
    pull_secret_set: bool = False
    proxy: Proxy = Proxy()
    additional_ntp_source: str = ""
    ntp_sources: str = ""
    hyperthreading: str = "all"
    disk_encryption: DiskEncryption = DiskEncryption()
    ignition_endpoint: IgnitionEndpoint | None = None
    schedulable_masters: bool = False
    schedulable_masters_forced: bool = True
    tags: str = ""
    imported: bool = False
    install_config_overrides: str = ""
    ignored_host_validations: tuple[str, ...] = ()
    ignored_cluster_validations: tuple[str, ...] = ()
    waiver_reasons: dict[str, str] = {}
    """Check → why a person let it pass."""
    ui_settings: str = ""
    soft_timeouts: bool = False
    operators: tuple[Operator, ...] = ()
    usages: tuple[Usage, ...] = ()
    has_custom_manifests: bool = False

    progress: ClusterProgress = ClusterProgress()
    preparation: Preparation = Preparation()
    install_started_at: datetime | None = None
    install_completed_at: datetime | None = None
    retry_until: datetime | None = None
    """So long the installation waits for hosts that are tried again."""
    kubeconfig_complete: bool = False
    """The ingress certificate arrived and is part of the kubeconfig."""
    logs: LogsState = LogsState.NONE
    controller_logs_started_at: datetime | None = None
    controller_logs_collected_at: datetime | None = None
    majority_groups: dict[str, tuple[UUID, ...]] = {}
    """Machine network candidate (CIDR) or "IPv4"/"IPv6" → hosts that all reach each other."""
    connected_addresses: dict[UUID, tuple[str, ...]] = {}
    """Host → its addresses that every other host reaches on layer 3."""
    ip_collisions: dict[str, tuple[str, ...]] = {}

    @property
    def is_single_node(self) -> bool:
        return self.control_plane_count == 1

    @property
    def is_day_two(self) -> bool:
        return self.kind is ClusterKind.ADD_HOSTS


class ClusterState(Struct, frozen=True, kw_only=True):
    """A cluster with everything a decision about it may read."""

    cluster: Cluster
    hosts: tuple[HostState, ...] = ()
    """Sorted by registration time, then id: the order in which ties are broken."""
    infra_envs: Mapping[UUID, InfraEnv] = {}
    """The infra-envs its hosts came from and those bound to it."""
    findings: tuple[Finding, ...] = ()
    revision: int = 0
