"""All files one preparation leaves behind, under the names by which installers and users ask for them."""

from collections.abc import Iterable, Sequence

from firstlight.core.install import ignition
from firstlight.core.install.bootstrap import bootstrap_config
from firstlight.core.install.certificates import ROOT_CA
from firstlight.core.install.cluster_manifests import Installation
from firstlight.core.install.documents import Document, mapping, to_text
from firstlight.core.install.ignition_models import Config
from firstlight.core.install.inputs import HostFile
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.install.kubeconfig import admin_kubeconfig
from firstlight.core.install.metadata import render_metadata
from firstlight.core.install.pointer import VERSION, host_config, role_files, role_pointer
from firstlight.core.model.host_status import HostRole


def installation_files(
    installation: Installation, *, manifests: Iterable[Manifest] = (), lease_files: Sequence[HostFile] = ()
) -> dict[str, bytes]:
    """File name → content. `manifests` are the service's and the user's, patches left out.

    Raises Invalid when a manifest, an override or a machine config pool does not fit.
    """
    extra = list(manifests)
    cluster, certificates = installation.cluster, installation.certificates
    pools = pool_names(document for one in extra for document in one.documents)
    bases = {role: role_config(installation, role, lease_files) for role in file_roles(installation)}
    feature_set = str(installation.config.get("featureSet", ""))
    texts = {
        "install-config.yaml": to_text(installation.config),
        "metadata.json": render_metadata(cluster, installation.identity, feature_set=feature_set),
        "kubeadmin-password": installation.identity.kubeadmin_password,
        "kubeconfig-noingress": admin_kubeconfig(cluster, certificates),
    }
    configs = {"bootstrap.ign": bootstrap_config(installation, extra=extra)}
    configs |= {f"{role}.ign": base for role, base in bases.items()}
    for host in cluster.hosts:
        base = bases[host.node_role]
        configs[f"{host.node_role}-{host.id}.ign"] = host_config(cluster, host, base=base, pools=pools)
    encoded = {name: ignition.encode(config) for name, config in configs.items()}
    return {name: text.encode() for name, text in texts.items()} | encoded


def file_roles(installation: Installation) -> list[HostRole]:
    arbiters = [HostRole.ARBITER] if installation.cluster.with_role(HostRole.ARBITER) else []
    return [HostRole.MASTER, HostRole.WORKER, *arbiters]


def role_config(installation: Installation, role: HostRole, lease_files: Sequence[HostFile]) -> Config:
    """A pointer; a single node's rest is on its own disk already, so its config points nowhere."""
    cluster = installation.cluster
    if cluster.is_single_node:
        return ignition.config(VERSION, files=role_files(cluster, role, lease_files))
    root_ca = installation.certificates.pairs[ROOT_CA].certificate
    return role_pointer(cluster, role, root_ca=root_ca, lease_files=lease_files)


def pool_names(documents: Iterable[Document]) -> tuple[str, ...]:
    pools = (mapping(document.get("metadata")) for document in documents if document.get("kind") == "MachineConfigPool")
    return tuple(str(metadata.get("name", "")) for metadata in pools)
