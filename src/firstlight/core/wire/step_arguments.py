"""The documents inside a step's `args`."""

from uuid import UUID

from firstlight.core.wire.networks import Proxy
from firstlight.core.wire.shape import Answer


class ConnectivityCheckNic(Answer, frozen=True, kw_only=True):
    """An interface of a peer to be reached."""

    ip_addresses: tuple[str, ...]
    name: str = ""
    mac: str = ""


class ConnectivityCheckHost(Answer, frozen=True, kw_only=True):
    """A peer to be reached."""

    nics: tuple[ConnectivityCheckNic, ...]
    host_id: UUID | None = None


class VerifyVip(Answer, frozen=True, kw_only=True):
    """A virtual address that must be free."""

    vip: str = ""
    vip_type: str = ""


class DownloadBootArtifactsRequest(Answer, frozen=True, kw_only=True):
    """Where a host to be reclaimed finds its next boot."""

    kernel_url: str
    rootfs_url: str
    initrd_url: str
    host_fs_mount_dir: str


class RebootForReclaimRequest(Answer, frozen=True, kw_only=True):
    """Boot into what was downloaded."""

    host_fs_mount_dir: str


class ApiVipConnectivityAdditionalRequestHeader(Answer, frozen=True, kw_only=True):
    """A header sent with that request."""

    key: str = ""
    value: str = ""


class ApiVipConnectivityRequest(Answer, frozen=True, kw_only=True):
    """Which worker Ignition a day-2 host shall fetch."""

    url: str
    request_headers: tuple[ApiVipConnectivityAdditionalRequestHeader, ...] | None = None
    verify_cidr: bool = False
    ca_certificate: str | None = None
    ignition_endpoint_token: str | None = None


class TangConnectivityRequest(Answer, frozen=True, kw_only=True):
    """Tang servers to be asked, as JSON text."""

    tang_servers: str


class DiskSpeedCheckRequest(Answer, frozen=True, kw_only=True):
    """The disk to be measured."""

    path: str


class DomainToResolve(Answer, frozen=True, kw_only=True):
    """One name, with or without its final dot."""

    domain_name: str


class DomainResolutionRequest(Answer, frozen=True, kw_only=True):
    """Names to be resolved."""

    domains: tuple[DomainToResolve, ...]


class DhcpAllocationRequest(Answer, frozen=True, kw_only=True):
    """Leases to be taken for the virtual addresses."""

    interface: str
    api_vip_mac: str
    ingress_vip_mac: str
    api_vip_lease: str = ""
    ingress_vip_lease: str = ""


class NextStepCmdRequest(Answer, frozen=True, kw_only=True):
    """Arguments of the step runner."""

    infra_env_id: UUID
    host_id: UUID
    agent_version: str


class LogsGatherCmdRequest(Answer, frozen=True, kw_only=True):
    """Which logs to collect."""

    cluster_id: UUID
    infra_env_id: UUID
    host_id: UUID
    bootstrap: bool
    installer_gather: bool
    master_ips: tuple[str, ...]


class InstallCmdRequest(Answer, frozen=True, kw_only=True):
    """Everything the installer on the host needs to know."""

    cluster_id: UUID
    infra_env_id: UUID
    host_id: UUID
    role: str
    boot_device: str
    controller_image: str
    installer_image: str
    disks_to_format: tuple[str, ...]
    service_ips: tuple[str, ...] | None
    control_plane_count: int = 0
    proxy: Proxy | None = None
    check_cvo: bool | None = None
    must_gather_image: str = ""
    mco_image: str = ""
    openshift_version: str = ""
    installer_args: str = ""
    skip_installation_disk_cleanup: bool = False
    enable_skip_mco_reboot: bool = False
    notify_num_reboots: bool = False
    coreos_image: str = ""


class NtpSynchronizationRequest(Answer, frozen=True, kw_only=True):
    """Time servers, separated by commas."""

    ntp_source: str


class ContainerImageAvailabilityRequest(Answer, frozen=True, kw_only=True):
    """Images to be pulled, within one shared time limit."""

    images: tuple[str, ...]
    timeout: int = 0


class UpgradeAgentRequest(Answer, frozen=True, kw_only=True):
    """The agent image to be pulled."""

    agent_image: str = ""
