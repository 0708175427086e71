"""What a user may ask of a cluster, whether it is new or exists already."""

from msgspec import Struct

from firstlight.core.model.cluster import ClusterNetwork, Platform
from firstlight.core.model.cluster_status import EncryptionMode, LoadBalancer


class EncryptionWish(Struct, frozen=True, kw_only=True):
    enable_on: str | None = None
    mode: EncryptionMode | None = None
    tang_servers: str | None = None


class EndpointWish(Struct, frozen=True, kw_only=True):
    url: str | None = None
    ca_certificate: str | None = None


class ClusterWish(Struct, frozen=True, kw_only=True):
    """None leaves a field as it is, an empty value clears it."""

    name: str | None = None
    base_dns_domain: str | None = None
    platform: Platform | None = None
    user_managed_networking: bool | None = None
    load_balancer: LoadBalancer | None = None
    network_type: str | None = None
    cluster_networks: tuple[ClusterNetwork, ...] | None = None
    """A host prefix of 0 means the usual one."""
    service_networks: tuple[str, ...] | None = None
    machine_networks: tuple[str, ...] | None = None
    api_vips: tuple[str, ...] | None = None
    ingress_vips: tuple[str, ...] | None = None
    vip_dhcp_allocation: bool | None = None
    api_vip_dns_name: str | None = None
    control_plane_count: int | None = None
    pull_secret: str | None = None
    ssh_public_key: str | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    additional_ntp_source: str | None = None
    ntp_sources: str | None = None
    hyperthreading: str | None = None
    schedulable_masters: bool | None = None
    disk_encryption: EncryptionWish | None = None
    ignition_endpoint: EndpointWish | None = None
    tags: str | None = None


class Defaults(Struct, frozen=True, kw_only=True):
    """What a cluster gets where its user says nothing."""

    cluster_network_cidr: str = "10.128.0.0/14"
    cluster_network_host_prefix: int = 23
    cluster_network_host_prefix_v6: int = 64
    service_network_cidr: str = "172.30.0.0/16"
    ntp_source: str = ""
