"""Manifests of the cluster's machines and first credentials (folder `openshift`)."""

from collections.abc import Iterator
from typing import Final

from firstlight.core.install import ignition
from firstlight.core.install.baremetal_manifests import baremetal_manifests
from firstlight.core.install.certificates import ROOT_CA
from firstlight.core.install.cluster_manifests import Installation
from firstlight.core.install.documents import Document, mapping, sequence
from firstlight.core.install.ignition_models import User
from firstlight.core.install.infrastructure import replicas
from firstlight.core.install.kube_objects import (
    Manifest,
    config_map,
    config_object,
    machine_config,
    manifest,
    secret,
)
from firstlight.core.install.pointer import role_pointer
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole

FOLDER: Final = "openshift"
POOLS: Final = {HostRole.MASTER: "controlPlane", HostRole.ARBITER: "arbiter", HostRole.WORKER: "compute"}
NO_TEMPLATE: Final = "true\n"
NO_HYPERTHREADING: Final = ("nosmt", "smt-enabled=off")
BOTH_FAMILIES: Final = ("ip=dhcp,dhcp6",)


def openshift_manifests(installation: Installation) -> tuple[Manifest, ...]:
    named = [*common(installation), *machine_configs(installation)]
    if installation.cluster.platform is PlatformType.BAREMETAL:
        named += baremetal_manifests(installation.config, infra_id=installation.identity.infra_id)
    return tuple(manifest(FOLDER, name, document) for name, document in named)


def roles(installation: Installation) -> list[HostRole]:
    base = [HostRole.MASTER, HostRole.WORKER]
    return [*base, HostRole.ARBITER] if replicas(installation.config, "arbiter") else base


def common(installation: Installation) -> Iterator[tuple[str, Document]]:
    config = installation.config
    hashed = {"kubeadmin": installation.identity.kubeadmin_hash}
    yield "99_kubeadmin-password-secret.yaml", secret("kubeadmin", "kube-system", hashed)
    origin = {"version": installation.cluster.version, "invoker": installation.invoker}
    yield "openshift-install-manifests.yaml", config_map("openshift-install-manifests", "openshift-config", origin)
    yield "99_feature-gate.yaml", config_object("FeatureGate", spec=feature_gate(installation))
    root_ca = installation.certificates.pairs[ROOT_CA].certificate
    for role in roles(installation):
        # Machines made later by the cluster itself boot with the bare pointer, not with a host's own additions.
        document = ignition.encode(role_pointer(installation.cluster, role, root_ca=root_ca)).decode()
        user_data = {"userData": document, "disableTemplating": NO_TEMPLATE}
        yield (
            f"99_openshift-cluster-api_{role}-user-data-secret.yaml",
            secret(f"{role}-user-data", "openshift-machine-api", user_data),
        )
    for index, credentials in enumerate(fencing(config)):
        name = str(credentials.get("hostname") or credentials.get("macAddress", "")).lower().replace(":", "-")
        data = {key: str(value) for key, value in credentials.items() if key not in {"hostname", "macAddress"}}
        yield (
            f"99_openshift-etcd_fencing-credentials-secrets-{index}.yaml",
            secret(f"fencing-credentials-{name}", "openshift-etcd", data),
        )


def feature_gate(installation: Installation) -> Document:
    config = installation.config
    spec: Document = {}
    if config.get("featureSet"):
        spec["featureSet"] = config["featureSet"]
    gates = [str(gate).partition("=") for gate in sequence(config.get("featureGates"))]
    if gates:
        enabled = [name for name, _, value in gates if value.lower() == "true"]
        disabled = [name for name, _, value in gates if value.lower() != "true"]
        spec["customNoUpgrade"] = {"enabled": enabled, "disabled": disabled}
    return spec


def fencing(config: object) -> list[Document]:
    section = mapping(mapping(mapping(config).get("controlPlane")).get("fencing"))
    return [mapping(one) for one in sequence(section.get("credentials"))]


def machine_configs(installation: Installation) -> Iterator[tuple[str, Document]]:
    config = installation.config
    keys = tuple(dict.fromkeys(line.strip() for line in str(config.get("sshKey", "")).splitlines() if line.strip()))
    two_families = len(sequence(mapping(config.get("networking")).get("serviceNetwork"))) > 1
    for role in roles(installation):
        made: list[tuple[str, Document]] = []
        if keys:
            access = ignition.config("3.2.0", users=(User(name="core", ssh_authorized_keys=keys),))
            made.append((f"99-{role}-ssh", machine_config(f"99-{role}-ssh", role, document=access)))
        if config.get("fips"):
            made.append((f"99-{role}-fips", machine_config(f"99-{role}-fips", role, fips=True)))
        if pool_of(config, role).get("hyperthreading") == "Disabled":
            name = f"99-{role}-disable-hyperthreading"
            made.append((name, machine_config(name, role, kernel_arguments=NO_HYPERTHREADING)))
        if two_families:
            name = f"99-dual-stack-{role}"
            made.append((name, machine_config(name, role, kernel_arguments=BOTH_FAMILIES)))
        yield from ((f"99_openshift-machineconfig_{name}.yaml", document) for name, document in made)


def pool_of(config: object, role: HostRole) -> Document:
    section = mapping(config).get(POOLS[role])
    return mapping(sequence(section)[0]) if role is HostRole.WORKER and sequence(section) else mapping(section)
