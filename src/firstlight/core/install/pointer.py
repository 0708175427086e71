"""Pointer configs: the small Ignition an installed host boots with, which sends it to the cluster for the rest."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import ClusterInputs, InstallHost, is_ipv6
from firstlight.core.install.data_url import to_data_url
from firstlight.core.install.discovery import SERVICE_CA_PATH
from firstlight.core.install.discovery_files import STABLE_IPV6
from firstlight.core.install.first_boot import CLEANUP_SCRIPT, CLEANUP_SCRIPT_PATH, CLEANUP_UNIT, CLEANUP_UNIT_NAME
from firstlight.core.install.first_boot_reporter import FirstBoot, with_reporter
from firstlight.core.install.ignition_merge import merge_text
from firstlight.core.install.ignition_models import (
    Config,
    File,
    HttpHeader,
    Ignition,
    References,
    Resource,
    Security,
    Tls,
)
from firstlight.core.install.inputs import HostFile, Value
from firstlight.core.model.host_status import HostRole

VERSION: Final = "3.2.0"
SECURE_PORT: Final = 22623
PLAIN_PORT: Final = 22624
NODE_IP_FILE: Final = "/etc/default/nodeip-configuration"


class DayTwoEndpoint(Value, frozen=True, kw_only=True):
    """Where a running cluster serves the configuration of its machines."""

    api_host: str = ""
    """Name or address of the API, when the cluster names no endpoint of its own."""
    url: str = ""
    authorities: tuple[str, ...] = ()
    """PEM certificates that sign the endpoint; without any it is asked over plain HTTP."""
    token: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def pointer(
    source: str, *, authorities: Sequence[str] = (), headers: Sequence[tuple[str, str]] = (), files: Sequence[File] = ()
) -> Config:
    resource = Resource(
        source=source, http_headers=tuple(HttpHeader(name=name, value=value) for name, value in headers)
    )
    trusted = tuple(Resource(source=to_data_url(pem.encode())) for pem in dict.fromkeys(authorities))
    section = Ignition(
        config=References(merge=(resource,)), security=Security(tls=Tls(certificate_authorities=trusted))
    )
    document = ignition.config(VERSION, ignition=section, files=files)
    ignition.require_valid(document)
    return document


def role_pointer(
    cluster: ClusterInputs, role: HostRole, *, root_ca: str, lease_files: Sequence[HostFile] = ()
) -> Config:
    """`{role}.ign`. `lease_files` are for masters that keep DHCP leases of the VIPs."""
    source = f"https://{machine_config_host(cluster)}:{SECURE_PORT}/config/{role}"
    return pointer(source, authorities=(root_ca,), files=tuple(role_files(cluster, role, lease_files)))


def machine_config_host(cluster: ClusterInputs) -> str:
    if not (cluster.has_own_vips and cluster.api_vips):
        return f"api-int.{cluster.domain}"
    vip = cluster.api_vips[0]
    return f"[{vip}]" if is_ipv6(vip) else vip


def role_files(cluster: ClusterInputs, role: HostRole, lease_files: Sequence[HostFile]) -> Iterator[File]:
    if cluster.service_ca:
        yield ignition.file(SERVICE_CA_PATH, cluster.service_ca)
    if role is HostRole.MASTER:
        yield from (ignition.file(one.path, one.content, mode=one.mode) for one in lease_files)
    if any(is_ipv6(network) for host in cluster.hosts for network in host.networks):
        yield ignition.file("/etc/NetworkManager/conf.d/01-ipv6.conf", STABLE_IPV6)


def host_config(cluster: ClusterInputs, host: InstallHost, *, base: Config, pools: Sequence[str] = ()) -> Config:
    """`{role}-{host id}.ign`: the role's pointer made this host's own.

    `pools` are the machine config pools the cluster's manifests define. Raises Invalid for a pool nobody defines
    and for an override that Ignition would refuse.
    """
    document = ignition.with_files(base, [*hostname_file(host), *node_ip_files(cluster, host)])
    document = merge_text(document, host.ignition_override)
    if host.node_role is HostRole.WORKER and host.machine_config_pool:
        document = in_pool(document, host, pools)
    document = with_light(document, host, service_url=cluster.service_url)
    return with_cleanup(document) if host.booted_from_disk else document


def with_light(document: Config, host: InstallHost, *, service_url: str) -> Config:
    """The host tells the service about its first boot, if it knows how to reach it."""
    if not service_url or host.infra_env_id is None:
        return document
    boot = FirstBoot(service_url=service_url, infra_env_id=host.infra_env_id, host_id=host.id, token=host.agent_token)
    return with_reporter(document, boot)


def hostname_file(host: InstallHost) -> list[File]:
    return [ignition.file("/etc/hostname", host.name)] if host.name else []


def node_ip_files(cluster: ClusterInputs, host: InstallHost) -> list[File]:
    hint = host.node_ip_hint
    if cluster.is_single_node and cluster.machine_networks:
        hint = cluster.machine_networks[0].partition("/")[0]
    return [ignition.file(NODE_IP_FILE, f"KUBELET_NODEIP_HINT={hint}\n")] if hint else []


def in_pool(document: Config, host: InstallHost, pools: Sequence[str]) -> Config:
    pool = host.machine_config_pool
    if pool not in pools:
        raise Invalid(
            f"Host {host.name} belongs to the machine config pool {pool}, but no manifest of the cluster defines "
            "it. Upload a manifest with that MachineConfigPool or choose another pool."
        )
    references = document.ignition.config
    moved = tuple(
        msgspec.structs.replace(one, source=(one.source or "").replace("config/worker", f"config/{pool}"))
        for one in references.merge
    )
    section = msgspec.structs.replace(document.ignition, config=msgspec.structs.replace(references, merge=moved))
    return msgspec.structs.replace(document, ignition=section)


def with_cleanup(document: Config) -> Config:
    script = ignition.file(CLEANUP_SCRIPT_PATH, CLEANUP_SCRIPT, mode=0o755)
    unit = ignition.unit(CLEANUP_UNIT_NAME, CLEANUP_UNIT)
    return ignition.with_units(ignition.with_files(document, [script]), [unit])


def day_two_config(host: InstallHost, endpoint: DayTwoEndpoint, *, service_url: str = "") -> Config:
    """The config of a host that joins a running cluster."""
    pool = host.machine_config_pool or host.node_role
    override = ignition.parse(host.ignition_override) if host.ignition_override.strip() else None
    own = () if override is None else override.ignition.security.tls.certificate_authorities
    headers = [("Authorization", f"Bearer {endpoint.token}")] if endpoint.token else []
    document = pointer(
        day_two_source(endpoint, str(pool), secure=bool(endpoint.authorities or own)),
        authorities=endpoint.authorities,
        headers=[*headers, *endpoint.headers],
    )
    document = ignition.with_files(merge_text(document, host.ignition_override), hostname_file(host))
    document = with_light(document, host, service_url=service_url)
    return with_cleanup(document) if host.booted_from_disk else document


def day_two_source(endpoint: DayTwoEndpoint, pool: str, *, secure: bool) -> str:
    if endpoint.url:
        return f"{endpoint.url}/{pool}"
    host = f"[{endpoint.api_host}]" if is_ipv6(endpoint.api_host) else endpoint.api_host
    if not secure:
        return f"http://{host}:{PLAIN_PORT}/config/{pool}"
    # The certificate of the machine config server knows api-int, not api.
    host = f"api-int.{host.removeprefix('api.')}" if host.startswith("api.") else host
    return f"https://{host}:{SECURE_PORT}/config/{pool}"
