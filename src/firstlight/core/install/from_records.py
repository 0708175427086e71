"""From what the service remembers of a cluster and its hosts to what the installation documents are made from."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from firstlight.core.install.cluster_inputs import (
    USER_MANAGED_PLATFORMS,
    ClusterInputs,
    FencingCredentials,
    HostInterface,
    InstallHost,
    PodNetwork,
)
from firstlight.core.install.inputs import HostFile, MirrorRegistries, ProxySettings
from firstlight.core.install.pointer import DayTwoEndpoint
from firstlight.core.install.system_manifests import EncryptionSettings, SystemSettings, encrypted_roles
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import EncryptionMode, LoadBalancer
from firstlight.core.model.host import Host, HostState, hostname_of
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.policy import Policy
from firstlight.core.network.addresses import in_network, network_of, networks_of_inventory, version_of
from firstlight.core.network.dhcp import never_expiring
from firstlight.core.network.host_networks import default_network
from firstlight.core.operators.manifests import openshift_manifests
from firstlight.core.steps.day_two import api_address
from firstlight.core.steps.vip_macs import vip_mac
from firstlight.core.validate.disk_encryption import parse_tang_servers

KEEPALIVED: Final = "/etc/keepalived"
PERSISTENT: Final = "persistent"


def cluster_inputs(
    state: ClusterState,
    *,
    pull_secret: str,
    service_ca: str = "",
    service_url: str = "",
    agent_tokens: Mapping[UUID, str] | None = None,
    mirrors: MirrorRegistries | None = None,
) -> ClusterInputs:
    """`agent_tokens` are what hosts prove themselves with, by infra-env."""
    tokens = agent_tokens or {}
    cluster = state.cluster
    external = [infra_env.additional_trust_bundle for infra_env in infra_envs_of(state)]
    return ClusterInputs(
        cluster_id=cluster.id,
        name=cluster.name,
        base_domain=cluster.base_dns_domain,
        version=cluster.openshift_version,
        release_image=cluster.release_image,
        architecture=cluster.cpu_architecture,
        platform=cluster.platform.type,
        platform_name=cluster.platform.external_name,
        external_cloud_controller=cluster.platform.external_ccm == "External",
        user_managed_networking=cluster.user_managed_networking,
        user_managed_load_balancer=cluster.load_balancer is LoadBalancer.USER_MANAGED,
        control_plane_count=cluster.control_plane_count,
        network_type=cluster.network_type,
        cluster_networks=tuple(
            PodNetwork(cidr=one.cidr, host_prefix=one.host_prefix) for one in cluster.cluster_networks
        ),
        service_networks=cluster.service_networks,
        machine_networks=cluster.machine_networks,
        node_networks=tuple(
            network for host in state.hosts if host.host.bootstrap for network in node_networks(cluster, host)
        ),
        api_vips=cluster.api_vips,
        ingress_vips=cluster.ingress_vips,
        hyperthreading=cluster.hyperthreading,
        proxy=ProxySettings(http=cluster.proxy.http, https=cluster.proxy.https, no_proxy=cluster.proxy.no_proxy),
        pull_secret=pull_secret,
        ssh_key=cluster.ssh_public_key,
        additional_ntp_servers=additional_ntp_servers(state),
        mirrors=mirrors,
        trust_bundles=tuple(dict.fromkeys(bundle for bundle in (*mirror_bundles(mirrors), *external) if bundle)),
        service_ca=service_ca,
        service_url=service_url,
        install_config_override=cluster.install_config_overrides,
        hosts=tuple(
            install_host(host, cluster=cluster, agent_token=tokens.get(host.host.infra_env_id, ""))
            for host in state.hosts
        ),
    )


def infra_envs_of(state: ClusterState) -> list[InfraEnv]:
    return sorted(state.infra_envs.values(), key=lambda one: (one.created_at, one.id))


def mirror_bundles(mirrors: MirrorRegistries | None) -> tuple[str, ...]:
    return () if mirrors is None else (mirrors.ca_bundle,)


def install_host(state: HostState, *, cluster: Cluster, agent_token: str = "") -> InstallHost:
    host, inventory = state.host, state.reports.inventory
    interfaces = () if inventory is None else inventory.interfaces
    networks = node_networks(cluster, state)
    return InstallHost(
        id=host.id,
        name=hostname_of(host, state.reports),
        role=host.effective_role,
        interfaces=tuple(HostInterface(mac=one.mac, addresses=one.addresses) for one in interfaces),
        uefi=inventory is None or inventory.boot.mode != "bios",
        installation_disk=host.installation_disk_id or host.installation_disk_path,
        is_bootstrap=host.bootstrap or cluster.is_single_node,
        booted_from_disk=inventory is not None and inventory.boot.device_type == PERSISTENT,
        machine_config_pool=host.machine_config_pool_name,
        ignition_override=host.ignition_override,
        node_ip_hint=networks[0].partition("/")[0] if networks else "",
        fencing=fencing(host),
        infra_env_id=host.infra_env_id,
        agent_token=agent_token,
    )


def fencing(host: Host) -> FencingCredentials | None:
    known = host.fencing
    if known is None:
        return None
    return FencingCredentials(
        address=known.address,
        username=known.username,
        password=known.password,
        certificate_verification=known.certificate_verification,
    )


def needs_node_networks(cluster: Cluster) -> bool:
    """Whether nodes must be told which of their addresses to use: several nodes, and no VIP to derive it from."""
    own_vips = cluster.platform.type not in USER_MANAGED_PLATFORMS and not cluster.user_managed_networking
    return not cluster.is_single_node and (not own_vips or cluster.load_balancer is LoadBalancer.USER_MANAGED)


def node_networks(cluster: Cluster, state: HostState) -> tuple[str, ...]:
    """The network of the node's own address, one per family the services use, in the services' order.

    Addresses that every other host reaches come first, and among them the one on the way to the default gateway.
    """
    inventory = state.reports.inventory
    if inventory is None or cluster.is_day_two or not needs_node_networks(cluster):
        return ()
    families = dict.fromkeys(version_of(cidr) or 4 for cidr in cluster.service_networks) or {4: None}
    reached = cluster.connected_addresses.get(state.host.id, ())
    found = (node_network(inventory, version=version, reached=reached) for version in families)
    return tuple(network for network in found if network is not None)


def node_network(inventory: Inventory, *, version: int, reached: Iterable[str]) -> str | None:
    usable = [
        network
        for network in networks_of_inventory(inventory)
        if version_of(network) == version and any(in_network(address, network) for address in reached)
    ]
    preferred = default_network(inventory, version=version)
    chosen = preferred if preferred is not None and (preferred in usable or not usable) else next(iter(usable), None)
    network = None if chosen is None else network_of(chosen)
    return None if network is None else str(network)


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def additional_ntp_servers(state: ClusterState) -> tuple[str, ...]:
    """The cluster's own, else those of all infra-envs its hosts came from."""
    own = listed(state.cluster.additional_ntp_source)
    others = (name for infra_env in infra_envs_of(state) for name in listed(infra_env.additional_ntp_sources))
    return own or tuple(dict.fromkeys(others))


def system_settings(state: ClusterState, *, policy: Policy, service_url: str) -> SystemSettings:
    """What decides which manifests the service adds."""
    cluster = state.cluster
    reported = (source.name for host in state.hosts for source in host.reports.ntp or ())
    return SystemSettings(
        ntp_sources=listed(cluster.ntp_sources),
        other_ntp_sources=tuple(dict.fromkeys((*reported, *additional_ntp_servers(state)))),
        schedulable_masters=cluster.schedulable_masters or cluster.schedulable_masters_forced,
        single_node_dns=policy.single_node_dnsmasq,
        encryption=encryption_settings(cluster),
        service_url=service_url,
        operator_manifests=tuple(openshift_manifests(cluster, state.hosts, policy=policy).items()),
    )


def encryption_settings(cluster: Cluster) -> EncryptionSettings:
    wanted = cluster.disk_encryption
    tang = wanted.mode is EncryptionMode.TANG and wanted.tang_servers
    servers = parse_tang_servers(wanted.tang_servers) if tang else ()
    return EncryptionSettings(
        roles=encrypted_roles(wanted.enable_on),
        mode=wanted.mode,
        tang_servers=tuple((server.url, server.thumbprint) for server in servers),
    )


def lease_files(cluster: Cluster) -> tuple[HostFile, ...]:
    """What masters need to go on with the DHCP leases that hosts took for the VIPs."""
    if not cluster.vip_dhcp_allocation or not (cluster.api_vips and cluster.ingress_vips):
        return ()
    api, ingress = (
        f"{name}-vip:\n    name: {name}\n    mac-address: {vip_mac(cluster.id, name=name)}\n    ip-address: {address}\n"
        for name, address in (("api", cluster.api_vips[0]), ("ingress", cluster.ingress_vips[0]))
    )
    texts = {
        "unsupported-monitor.conf": api + ingress,
        "lease-api": never_expiring(cluster.vip_leases[0]),
        "lease-ingress": never_expiring(cluster.vip_leases[1]),
    }
    return tuple(HostFile(path=f"{KEEPALIVED}/{name}", content=text.encode()) for name, text in texts.items())


def day_two_endpoint(cluster: Cluster, host: Host, *, token: str = "") -> DayTwoEndpoint:
    """Where a host that joins a running cluster gets its configuration."""
    known = cluster.ignition_endpoint
    authority = pem_of(known.ca_certificate) if known is not None else ""
    return DayTwoEndpoint(
        api_host=api_address(cluster),
        url=known.url.rstrip("/") if known is not None else "",
        authorities=(authority,) if authority else (),
        token=token,
        headers=tuple((header.key, header.value) for header in host.ignition_endpoint_headers),
    )


def pem_of(encoded: str) -> str:
    """The certificates of an endpoint, which travel as base64; what is none is checked where it comes in."""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
