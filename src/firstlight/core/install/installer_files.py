"""What the release's own installer wrote, made ready for the hosts of one cluster.

The installer knows nothing of discovered machines: its manifests get ours before it goes on, and its Ignition configs
are turned into one per host afterwards.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.bootstrap import HOME, UNMANAGED_RESOLVER
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document, mapping, to_text
from firstlight.core.install.ignition_models import Config, File
from firstlight.core.install.inputs import HostFile
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.install.outputs import pool_names
from firstlight.core.install.pointer import host_config, role_files
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole

BOOTSTRAP: Final = "bootstrap.ign"
SINGLE_NODE_BOOTSTRAP: Final = "bootstrap-in-place-for-live-iso.ign"
KUBECONFIG: Final = "auth/kubeconfig"
PASSWORD: Final = "auth/kubeadmin-password"  # noqa: S105 - the name of a file
METADATA: Final = "metadata.json"
INFRASTRUCTURE: Final = "cluster-infrastructure-02-config.yml"
VERSION_PATH: Final = f"{HOME}/manifests/cvo-overrides.yaml"
MOTD_PATH: Final = "/etc/motd"
PROVISIONING_PROFILE: Final = "/etc/NetworkManager/system-connections/nmconnection"
"""Brings up the interface of a provisioning host, which a discovered machine is not."""
CLOUD_MACHINES: Final = (
    "_openshift-cluster-api_master-machines-",
    "_openshift-cluster-api_worker-machineset-",
    "_openshift-machine-api_master-control-plane-machine-set",
)
"""Machines that a cloud would create: ours exist already."""


def for_our_machines(generated: Sequence[Manifest], cluster: ClusterInputs) -> list[Manifest]:
    """The installer's manifests without what only a cloud could fulfil."""
    kept = list(generated)
    if cluster.platform in {PlatformType.VSPHERE, PlatformType.NUTANIX}:
        kept = [one for one in kept if not any(part in one.name for part in CLOUD_MACHINES)]
    if len(cluster.with_role(HostRole.WORKER)) == 1:
        # A single worker is no reason to run one replica of everything: the masters can host the others.
        kept = [_highly_available(one) if one.name == INFRASTRUCTURE else one for one in kept]
    return kept


def _highly_available(manifest: Manifest) -> Manifest:
    document = mapping(manifest.documents[0] if manifest.documents else None)
    status: Document = {**mapping(document.get("status")), "infrastructureTopology": "HighlyAvailable"}
    changed: Document = {**document, "status": status}
    return replace(manifest, content=to_text(changed), documents=(changed,))


def host_files(
    made: Mapping[str, bytes],
    cluster: ClusterInputs,
    *,
    manifests: Sequence[Manifest],
    install_config: str,
    lease_files: Sequence[HostFile] = (),
) -> dict[str, bytes]:
    """File name → content, under the names by which installers and users ask. `made` is what the installer wrote."""
    bootstrap = _bootstrap(ignition.parse(made[bootstrap_name(cluster)]), cluster)
    pools = pool_names(document for one in manifests for document in one.documents)
    bases = {role: _base(made, cluster, role, lease_files) for role in _roles(cluster)}
    configs = {BOOTSTRAP: bootstrap} | {f"{role}.ign": base for role, base in bases.items()}
    for host in cluster.hosts:
        base = bases[host.node_role]
        configs[f"{host.node_role}-{host.id}.ign"] = host_config(cluster, host, base=base, pools=pools)
    return {
        "install-config.yaml": install_config.encode(),
        "metadata.json": made[METADATA],
        "kubeadmin-password": made[PASSWORD],
        "kubeconfig-noingress": made[KUBECONFIG],
    } | {name: ignition.encode(config) for name, config in configs.items()}


def bootstrap_name(cluster: ClusterInputs) -> str:
    return SINGLE_NODE_BOOTSTRAP if cluster.is_single_node else BOOTSTRAP


def required_files(cluster: ClusterInputs) -> tuple[str, ...]:
    """What the installer must have left behind, or it did not do its work."""
    pointers = () if cluster.is_single_node else tuple(f"{role}.ign" for role in _roles(cluster))
    return (bootstrap_name(cluster), *pointers, METADATA, KUBECONFIG, PASSWORD)


def openshift_cluster_id(files: Mapping[str, bytes]) -> UUID:
    """The id under which the new cluster will know itself."""
    content = ignition.content_of(ignition.parse(files[BOOTSTRAP]), VERSION_PATH) or b""
    for line in content.decode().splitlines():
        name, _, value = line.strip().partition(":")
        if name == "clusterID":
            return UUID(value.strip().strip("\"'"))
    raise Invalid("The installer's bootstrap.ign does not say the new cluster's id.")


def _roles(cluster: ClusterInputs) -> list[HostRole]:
    arbiters = [HostRole.ARBITER] if cluster.with_role(HostRole.ARBITER) else []
    return [HostRole.MASTER, HostRole.WORKER, *arbiters]


def _base(made: Mapping[str, bytes], cluster: ClusterInputs, role: HostRole, lease_files: Sequence[HostFile]) -> Config:
    files = list(role_files(cluster, role, lease_files))
    if cluster.is_single_node:
        # Its rest is on its own disk already: the config points nowhere.
        version = ignition.parse(made[SINGLE_NODE_BOOTSTRAP]).ignition.version
        return ignition.config(version, files=files)
    return ignition.with_files(ignition.parse(made[f"{role}.ign"]), files)


def _bootstrap(config: Config, cluster: ClusterInputs) -> Config:
    kept = tuple(_whole(file) for file in config.storage.files if file.path != PROVISIONING_PROFILE)
    config = replace(config, storage=replace(config.storage, files=kept))
    if cluster.is_single_node:
        return config
    more = [
        ignition.file(f"{HOME}/assisted-install-bootstrap", ""),
        ignition.file("/etc/NetworkManager/conf.d/99-kni.conf", UNMANAGED_RESOLVER),
    ]
    return ignition.with_files(config, more)


def _whole(file: File) -> File:
    """The program that lays this config over a running system knows no appended files."""
    if file.path != MOTD_PATH or not file.append:
        return file
    return replace(file, contents=file.append[0], append=(), overwrite=True)
