"""The environment of a discovery image: what its hosts boot with and whom they call."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct


class Proxy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    http: str = ""
    https: str = ""
    no_proxy: str = ""


class KernelArgument(Struct, frozen=True):
    operation: str
    value: str


class MacInterface(Struct, frozen=True):
    mac_address: str
    logical_nic_name: str


class HostNetworkConfig(Struct, frozen=True):
    network_yaml: str
    mac_interface_map: tuple[MacInterface, ...] = ()


class InfraEnv(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything a booted host needs to call home."""

    id: UUID
    name: str
    cluster_id: UUID | None = None
    created_at: datetime
    updated_at: datetime
    image_type: str = "full-iso"
    openshift_version: str = ""
    cpu_architecture: str = "x86_64"
    ssh_authorized_key: str = ""
    pull_secret_set: bool = False
    proxy: Proxy = Proxy()
    additional_ntp_sources: str = ""
    ntp_sources: str = ""
    static_network: tuple[HostNetworkConfig, ...] = ()
    ignition_override: str = ""
    kernel_arguments: tuple[KernelArgument, ...] = ()
    additional_trust_bundle: str = ""
    rendezvous_ip: str = ""
    network_discovery_delay_seconds: int = 0
    download_url: str = ""
    expires_at: datetime | None = None
    user_name: str = "admin"
    org_id: str = ""
    email_domain: str = "Unknown"
