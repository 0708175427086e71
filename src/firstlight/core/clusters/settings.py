"""What a wish about everything but networks makes of a cluster: names, keys, proxies, time, disks."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters.control_planes import check_count
from firstlight.core.clusters.platforms import Networking, settle
from firstlight.core.clusters.wish import ClusterWish, EncryptionWish, EndpointWish
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster, DiskEncryption, IgnitionEndpoint
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.infra_env import Proxy
from firstlight.core.model.policy import Policy
from firstlight.core.validate import names
from firstlight.core.validate.disk_encryption import check_disk_encryption
from firstlight.core.validate.ignition_endpoint import check_ignition_endpoint
from firstlight.core.validate.ntp import check_ntp_sources, check_one_kind_of_ntp
from firstlight.core.validate.proxy import check_http_proxy, check_https_proxy, check_no_proxy
from firstlight.core.validate.pull_secret import check_pull_secret
from firstlight.core.validate.ssh_keys import check_ssh_keys

SDN: Final = "OpenShiftSDN"


def with_topology(cluster: Cluster, wish: ClusterWish, *, before: Cluster | None, policy: Policy) -> Cluster:
    """Control plane, platform, who keeps network and load balancer."""
    if wish.control_plane_count is not None and before is not None:
        if not cluster.is_day_two:
            check_count(wish.control_plane_count, version=cluster.openshift_version, policy=policy)
        cluster = replace(cluster, control_plane_count=wish.control_plane_count)
    asked = wish.platform is not None or wish.user_managed_networking is not None
    resized = before is not None and before.is_single_node != cluster.is_single_node
    if before is None or asked or resized:
        known = Networking(platform=cluster.platform, user_managed=cluster.user_managed_networking)
        settled = settle(
            platform=wish.platform,
            user_managed=wish.user_managed_networking,
            before=None if before is None else known,
            single_node=cluster.is_single_node,
            architecture=cluster.cpu_architecture,
        )
        cluster = replace(cluster, platform=settled.platform, user_managed_networking=settled.user_managed)
    if wish.load_balancer is not None:
        cluster = replace(cluster, load_balancer=wish.load_balancer)
    if wish.network_type is not None:
        cluster = replace(cluster, network_type=wish.network_type)
    if cluster.is_single_node and wish.network_type == SDN:
        raise Invalid(f"A single node cannot use the network type {SDN}. Choose OVNKubernetes.")
    return cluster


def with_names(cluster: Cluster, wish: ClusterWish) -> Cluster:
    name = wish.name or cluster.name
    domain = cluster.base_dns_domain if wish.base_dns_domain is None else wish.base_dns_domain
    if wish.name is not None:
        names.check_cluster_name(name, platform_none=cluster.platform.type is PlatformType.NONE)
    if wish.base_dns_domain:
        names.check_base_domain(domain)
    if (wish.name or wish.base_dns_domain) and domain:
        names.check_cluster_domain(name, base_domain=domain)
    if wish.tags is not None:
        cluster = replace(cluster, tags=names.check_tags(wish.tags))
    if wish.api_vip_dns_name is not None:
        if not cluster.is_day_two:
            raise Invalid(
                "The DNS name of the API can be set only for a cluster that hosts are added to. Leave"
                " api_vip_dns_name out."
            )
        cluster = replace(cluster, api_vip_dns_name=wish.api_vip_dns_name)
    return replace(cluster, name=name, base_dns_domain=domain)


def with_pull_secret(cluster: Cluster, wish: ClusterWish, *, images: Sequence[str], exempt: Sequence[str]) -> Cluster:
    """The secret itself is kept apart; the cluster only knows whether there is one. Empty takes it away."""
    if wish.pull_secret is None:
        return cluster
    if wish.pull_secret:
        check_pull_secret(wish.pull_secret, images=images, exempt=exempt)
    return replace(cluster, pull_secret_set=bool(wish.pull_secret))


def with_access(cluster: Cluster, wish: ClusterWish) -> Cluster:
    """SSH keys and proxy."""
    if wish.ssh_public_key is not None:
        cluster = replace(cluster, ssh_public_key=check_ssh_keys(wish.ssh_public_key))
    proxy = cluster.proxy
    return replace(
        cluster,
        proxy=Proxy(
            http=proxy.http if wish.http_proxy is None else check_http_proxy(wish.http_proxy),
            https=proxy.https if wish.https_proxy is None else check_https_proxy(wish.https_proxy),
            no_proxy=proxy.no_proxy
            if wish.no_proxy is None
            else check_no_proxy(wish.no_proxy, version=cluster.openshift_version),
        ),
    )


def with_machines(cluster: Cluster, wish: ClusterWish) -> Cluster:
    """Time sources and what happens on the nodes themselves."""
    check_one_kind_of_ntp(additional=wish.additional_ntp_source or None, only=wish.ntp_sources or None)
    if wish.additional_ntp_source is not None:
        additional = check_ntp_sources(wish.additional_ntp_source)
        cluster = replace(
            cluster, additional_ntp_source=additional, ntp_sources="" if additional else cluster.ntp_sources
        )
    if wish.ntp_sources is not None:
        only = check_ntp_sources(wish.ntp_sources)
        cluster = replace(
            cluster, ntp_sources=only, additional_ntp_source="" if only else cluster.additional_ntp_source
        )
    if wish.hyperthreading is not None:
        cluster = replace(cluster, hyperthreading=wish.hyperthreading)
    if wish.schedulable_masters is not None:
        cluster = replace(cluster, schedulable_masters=wish.schedulable_masters)
    if wish.disk_encryption is not None:
        cluster = replace(cluster, disk_encryption=_encryption(cluster, wish.disk_encryption))
    if wish.ignition_endpoint is not None:
        cluster = replace(cluster, ignition_endpoint=_endpoint(cluster, wish.ignition_endpoint))
    return cluster


def _encryption(cluster: Cluster, wish: EncryptionWish) -> DiskEncryption:
    if cluster.imported:
        raise Invalid(
            f"Cluster {cluster.name} was installed elsewhere, so its disk encryption cannot be set here. New hosts take"
            " it from the cluster itself."
        )
    known = cluster.disk_encryption
    after = DiskEncryption(
        enable_on=known.enable_on if wish.enable_on is None else wish.enable_on,
        mode=known.mode if wish.mode is None else wish.mode,
        tang_servers=known.tang_servers if wish.tang_servers is None else wish.tang_servers,
    )
    check_disk_encryption(enable_on=after.enable_on, mode=after.mode, tang_servers=after.tang_servers)
    return after


def _endpoint(cluster: Cluster, wish: EndpointWish) -> IgnitionEndpoint | None:
    known = cluster.ignition_endpoint or IgnitionEndpoint()
    after = IgnitionEndpoint(
        url=known.url if wish.url is None else wish.url,
        ca_certificate=known.ca_certificate if wish.ca_certificate is None else wish.ca_certificate,
    )
    check_ignition_endpoint(url=after.url, ca_certificate=after.ca_certificate)
    return after if after.url or after.ca_certificate else None
