"""Infra-envs: the requests and the answers."""

from uuid import UUID

from firstlight.core.wire.networks import Proxy
from firstlight.core.wire.shape import Answer, Body, KernelArgumentValue, MacAddress, RendezvousIp, Seconds, TrustBundle
from firstlight.core.wire.words import CpuArchitecture, ImageType, KernelArgumentOperation


class MacInterfaceMapItem(Body, frozen=True, kw_only=True):
    """Which name of the nmstate document stands for which hardware address."""

    mac_address: MacAddress | None = None
    logical_nic_name: str | None = None


class HostStaticNetworkConfig(Body, frozen=True, kw_only=True):
    """The nmstate document of one host and how its names map to hardware."""

    network_yaml: str | None = None
    mac_interface_map: tuple[MacInterfaceMapItem, ...] | None = None


class KernelArgument(Body, frozen=True, kw_only=True):
    """One change to the kernel command line of the discovery image."""

    operation: KernelArgumentOperation | None = None
    value: KernelArgumentValue | None = None


class InfraEnvCreateParams(Body, frozen=True, kw_only=True):
    """The request to register an infra-env."""

    name: str
    pull_secret: str
    proxy: Proxy | None = None
    additional_ntp_sources: str | None = None
    ntp_sources: str | None = None
    ssh_authorized_key: str | None = None
    static_network_config: tuple[HostStaticNetworkConfig, ...] | None = None
    rendezvous_ip: RendezvousIp | None = None
    image_type: ImageType | None = None
    ignition_config_override: str | None = None
    cluster_id: UUID | None = None
    openshift_version: str | None = None
    cpu_architecture: CpuArchitecture | None = None
    kernel_arguments: tuple[KernelArgument, ...] | None = None
    additional_trust_bundle: TrustBundle | None = None
    network_discovery_delay_seconds: Seconds | None = None


class InfraEnvUpdateParams(Body, frozen=True, kw_only=True):
    """A change to an infra-env; `None` leaves a field as it is."""

    proxy: Proxy | None = None
    additional_ntp_sources: str | None = None
    ntp_sources: str | None = None
    ssh_authorized_key: str | None = None
    pull_secret: str | None = None
    static_network_config: tuple[HostStaticNetworkConfig, ...] | None = None
    rendezvous_ip: RendezvousIp | None = None
    image_type: ImageType | None = None
    ignition_config_override: str | None = None
    kernel_arguments: tuple[KernelArgument, ...] | None = None
    additional_trust_bundle: TrustBundle | None = None
    openshift_version: str | None = None
    network_discovery_delay_seconds: Seconds | None = None


class InfraEnv(Answer, frozen=True, kw_only=True):
    """An infra-env as GET and PATCH answer it."""

    kind: str
    id: UUID
    href: str
    name: str
    type: str
    updated_at: str
    created_at: str
    expires_at: str
    openshift_version: str = ""
    user_name: str = ""
    org_id: str = ""
    email_domain: str = ""
    proxy: Proxy | None = None
    additional_ntp_sources: str = ""
    ntp_sources: str = ""
    ssh_authorized_key: str = ""
    pull_secret_set: bool = False
    static_network_config: str = ""
    rendezvous_ip: str | None = None
    ignition_config_override: str = ""
    cluster_id: UUID | None = None
    size_bytes: int = 0
    download_url: str = ""
    generator_version: str = ""
    cpu_architecture: str = ""
    kernel_arguments: str | None = None
    additional_trust_bundle: str = ""
    network_discovery_delay_seconds: int | None = None


class PresignedUrl(Answer, frozen=True, kw_only=True):
    """A link that needs no further credential."""

    url: str
    expires_at: str
