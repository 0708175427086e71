"""From requests about clusters to what they ask for. Fields of the first API (single CIDRs) are read and left alone."""

from collections.abc import Iterable

from firstlight.core.clusters.wish import ClusterWish, EncryptionWish, EndpointWish
from firstlight.core.commands.cluster_settings import OperatorWish
from firstlight.core.model.cluster import ClusterNetwork, Platform
from firstlight.core.model.cluster_status import EncryptionMode, LoadBalancer, PlatformType
from firstlight.core.operators.catalogue import BundleRequest, OperatorRequest
from firstlight.core.wire.cluster_requests import (
    ClusterCreateParams,
    ClusterUpdateParams,
    DiskEncryption,
    IgnitionEndpoint,
)
from firstlight.core.wire.networks import ApiVip, IngressVip, MachineNetwork, ServiceNetwork
from firstlight.core.wire.platforms import Platform as WirePlatform


def wish_of(params: ClusterCreateParams | ClusterUpdateParams) -> ClusterWish:
    networks = params.cluster_networks
    return ClusterWish(
        name=params.name,
        base_dns_domain=params.base_dns_domain,
        platform=None if params.platform is None else _platform(params.platform),
        user_managed_networking=params.user_managed_networking,
        load_balancer=_load_balancer(params),
        network_type=params.network_type,
        cluster_networks=None
        if networks is None
        else tuple(ClusterNetwork(cidr=item.cidr or "", host_prefix=item.host_prefix or 0) for item in networks),
        service_networks=_cidrs(params.service_networks),
        machine_networks=_cidrs(params.machine_networks),
        api_vips=_addresses(params.api_vips),
        ingress_vips=_addresses(params.ingress_vips),
        vip_dhcp_allocation=params.vip_dhcp_allocation,
        api_vip_dns_name=params.api_vip_dns_name if isinstance(params, ClusterUpdateParams) else None,
        # A new cluster's number of nodes is settled together with its high availability mode.
        control_plane_count=params.control_plane_count if isinstance(params, ClusterUpdateParams) else None,
        pull_secret=params.pull_secret,
        ssh_public_key=params.ssh_public_key,
        http_proxy=params.http_proxy,
        https_proxy=params.https_proxy,
        no_proxy=params.no_proxy,
        additional_ntp_source=params.additional_ntp_source,
        ntp_sources=params.ntp_sources,
        hyperthreading=params.hyperthreading,
        schedulable_masters=params.schedulable_masters,
        disk_encryption=None if params.disk_encryption is None else _encryption(params.disk_encryption),
        ignition_endpoint=None if params.ignition_endpoint is None else _endpoint(params.ignition_endpoint),
        tags=params.tags,
    )


def operators_of(params: ClusterCreateParams | ClusterUpdateParams) -> OperatorWish | None:
    """None when the request speaks of no operators; naming only bundles takes single operators away."""
    if params.olm_operators is None and params.operator_bundles is None:
        return None
    return OperatorWish(
        operators=tuple(
            OperatorRequest(name=item.name or "", properties=item.properties or "")
            for item in params.olm_operators or ()
        ),
        bundles=tuple(
            BundleRequest(id=item.id, optional_operators=item.optional_operators or ())
            for item in params.operator_bundles or ()
        ),
    )


def _platform(platform: WirePlatform) -> Platform:
    external = platform.external
    return Platform(
        type=PlatformType(platform.type),
        external_name="" if external is None else external.platform_name or "",
        external_ccm="" if external is None else external.cloud_controller_manager or "",
    )


def _load_balancer(params: ClusterCreateParams | ClusterUpdateParams) -> LoadBalancer | None:
    balancer = params.load_balancer
    return None if balancer is None or balancer.type is None else LoadBalancer(balancer.type)


def _cidrs(items: Iterable[ServiceNetwork] | Iterable[MachineNetwork] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(item.cidr or "" for item in items)


def _addresses(items: Iterable[ApiVip] | Iterable[IngressVip] | None) -> tuple[str, ...] | None:
    """Clients clear a VIP with an empty address as well as with an empty list."""
    return None if items is None else tuple(item.ip for item in items if item.ip)


def _encryption(encryption: DiskEncryption) -> EncryptionWish:
    return EncryptionWish(
        enable_on=encryption.enable_on,
        mode=None if encryption.mode is None else EncryptionMode(encryption.mode),
        tang_servers=encryption.tang_servers,
    )


def _endpoint(endpoint: IgnitionEndpoint) -> EndpointWish:
    return EndpointWish(url=endpoint.url, ca_certificate=endpoint.ca_certificate)
