"""install-config.yaml from the cluster's settings and hosts, written as JSON, which is YAML too."""

from collections.abc import Iterable
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install.cluster_inputs import ClusterInputs, is_ipv6
from firstlight.core.install.documents import Document, to_text
from firstlight.core.install.install_platforms import platform_section
from firstlight.core.install.overrides import apply_override
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from firstlight.core.versions.numbers import at_least

TECH_PREVIEW: Final = "TechPreviewNoUpgrade"


def render_install_config(cluster: ClusterInputs) -> str:
    return to_text(install_config(cluster))


def install_config(cluster: ClusterInputs) -> Document:
    """The document with the user's override applied. Raises Invalid when facts or override do not allow one."""
    document = apply_override(generated_config(cluster), cluster.install_config_override)
    # After the override: its own bundle is kept and comes first.
    bundle = joined([str(document.get("additionalTrustBundle", "")), *cluster.trust_bundles])
    if bundle:
        document["additionalTrustBundle"] = bundle
    return document


def joined(bundles: Iterable[str]) -> str:
    return "\n".join(bundle.strip() for bundle in bundles if bundle.strip())


def generated_config(cluster: ClusterInputs) -> Document:
    document: Document = {
        "apiVersion": "v1",
        "baseDomain": cluster.base_domain,
        "metadata": {"name": cluster.name},
        "compute": [machine_pool(cluster, HostRole.WORKER, cluster.hyperthreading)],
        "controlPlane": control_plane(cluster),
        "networking": networking(cluster),
        "platform": platform_section(cluster),
        "pullSecret": cluster.pull_secret,
        "sshKey": cluster.ssh_key,
        "fips": False,
    }
    if cluster.control_plane_count == 2 and cluster.with_role(HostRole.ARBITER):
        document["arbiter"] = machine_pool(cluster, HostRole.ARBITER, cluster.hyperthreading)
    if needs_tech_preview(cluster, has_arbiter="arbiter" in document):
        document["featureSet"] = TECH_PREVIEW
    if cluster.proxy.is_set:
        document["proxy"] = proxy(cluster)
    if cluster.mirrors is not None and cluster.mirrors.digest_mirrors:
        key = "imageDigestSources" if at_least(cluster.version, "4.14") else "imageContentSources"
        document[key] = [{"source": one.source, "mirrors": list(one.mirrors)} for one in cluster.mirrors.digest_mirrors]
    if cluster.is_single_node:
        document["bootstrapInPlace"] = {"installationDisk": bootstrap_disk(cluster)}
    return document


def machine_pool(cluster: ClusterInputs, role: HostRole, hyperthreading: str) -> Document:
    enabled = hyperthreading == "all" or f"{role}s" in hyperthreading.split(",")
    return {
        "name": str(role),
        "replicas": len(cluster.with_role(role)),
        "hyperthreading": "Enabled" if enabled else "Disabled",
    }


def control_plane(cluster: ClusterInputs) -> Document:
    pool = machine_pool(cluster, HostRole.MASTER, cluster.hyperthreading)
    credentials = fencing_credentials(cluster)
    if credentials:
        pool["fencing"] = {"credentials": credentials}
    return pool


def fencing_credentials(cluster: ClusterInputs) -> list[Document]:
    found: list[Document] = []
    for host in cluster.with_role(HostRole.MASTER):
        if host.fencing is None:
            continue
        known = host.fencing
        identity = {"macAddress": known.mac_address} if known.mac_address else {"hostname": host.name}
        credentials: Document = {
            **identity,
            "address": known.address,
            "username": known.username,
            "password": known.password,
        }
        if known.certificate_verification:
            credentials["certificateVerification"] = known.certificate_verification
        found.append(credentials)
    return found


def needs_tech_preview(cluster: ClusterInputs, *, has_arbiter: bool) -> bool:
    """Arbiter and fencing were previews in the releases before they became part of the product."""
    if has_arbiter:
        return not at_least(cluster.version, "4.20")
    return bool(fencing_credentials(cluster)) and not at_least(cluster.version, "4.22")


def networking(cluster: ClusterInputs) -> Document:
    return {
        # "None" means that the user's manifests bring the network: the installer wants nothing then.
        "networkType": "" if cluster.network_type == "None" else cluster.network_type,
        "clusterNetwork": [{"cidr": one.cidr, "hostPrefix": one.host_prefix} for one in cluster.cluster_networks],
        "machineNetwork": [{"cidr": cidr} for cidr in machine_networks(cluster)],
        "serviceNetwork": list(cluster.service_networks),
    }


def machine_networks(cluster: ClusterInputs) -> tuple[str, ...]:
    """The cluster's machine networks; where the user manages the network, those the bootstrap host is in."""
    if cluster.platform not in (PlatformType.NONE, PlatformType.EXTERNAL):
        return cluster.machine_networks
    bootstrap = cluster.bootstrap
    found = cluster.machine_networks or first_of_each_family(cluster, () if bootstrap is None else bootstrap.networks)
    if cluster.is_single_node:
        return found
    allocated = {is_ipv6(network): network for network in reversed(cluster.node_networks)}
    return tuple(allocated.get(is_ipv6(network), network) for network in found)


def first_of_each_family(cluster: ClusterInputs, networks: tuple[str, ...]) -> tuple[str, ...]:
    """One network per family the services use, in the services' order."""
    families = list(dict.fromkeys(is_ipv6(network) for network in cluster.service_networks)) or [False]
    picked = (next((network for network in networks if is_ipv6(network) is family), None) for family in families)
    return tuple(network for network in picked if network is not None)


def proxy(cluster: ClusterInputs) -> Document:
    exceptions = cluster.proxy.exceptions
    if exceptions != ("*",):
        pods = (network.cidr for network in cluster.cluster_networks)
        own = (f".{cluster.domain}", *pods, *cluster.service_networks, *machine_networks(cluster))
        exceptions = tuple(dict.fromkeys((*exceptions, *own)))
    section: Document = {"noProxy": ",".join(exceptions)}
    if cluster.proxy.http:
        section["httpProxy"] = cluster.proxy.http
    if cluster.proxy.https:
        section["httpsProxy"] = cluster.proxy.https
    return section


def bootstrap_disk(cluster: ClusterInputs) -> str:
    bootstrap = cluster.bootstrap
    if bootstrap is None or not bootstrap.installation_disk:
        raise Invalid(
            f"The single node of cluster {cluster.name} has no installation disk. "
            "Choose one of the host's disks before starting the installation."
        )
    return bootstrap.installation_disk
