"""Machines and hosts of a bare-metal cluster, so that it knows its hardware from its first minute."""

from collections.abc import Iterator, Mapping
from typing import Final

from firstlight.core.install.documents import Document, mapping, sequence
from firstlight.core.install.infrastructure import replicas
from firstlight.core.install.kube_objects import kube_object

NAMESPACE: Final = "openshift-machine-api"
MACHINE_API: Final = "machine.openshift.io/v1beta1"
DEPLOY: Final = {"customDeploy": {"method": "install_coreos"}}


def baremetal_manifests(config: Mapping[str, object], *, infra_id: str) -> Iterator[tuple[str, Document]]:
    block = mapping(mapping(config.get("platform")).get("baremetal"))
    hosts = [mapping(host) for host in sequence(block.get("hosts"))]
    masters = [host for host in hosts if host.get("role") == "master"]
    spec: Document = {
        "provisioningNetwork": block.get("provisioningNetwork", "Disabled"),
        "additionalNTPServers": sequence(block.get("additionalNTPServers")),
        "watchAllNamespaces": False,
    }
    provisioning = kube_object("metal3.io/v1alpha1", "Provisioning", "provisioning-configuration", spec=spec)
    yield "99_baremetal-provisioning-config.yaml", provisioning
    for index in range(len(masters)):
        name = f"{infra_id}-master-{index}"
        document = kube_object(
            MACHINE_API,
            "Machine",
            name,
            namespace=NAMESPACE,
            labels=machine_labels(infra_id, "master"),
            spec=machine("master"),
        )
        yield f"99_openshift-cluster-api_master-machines-{padded(index, len(masters))}.yaml", document
    yield "99_openshift-cluster-api_worker-machineset-0.yaml", worker_set(infra_id, replicas(config, "compute"))
    for index, host in enumerate(hosts):
        consumer = f"{infra_id}-master-{masters.index(host)}" if host in masters else ""
        yield f"99_openshift-cluster-api_hosts-{padded(index, len(hosts))}.yaml", bare_metal_host(host, consumer)


def padded(index: int, count: int) -> str:
    return str(index).zfill(len(str(max(count - 1, 0))))


def machine_labels(infra_id: str, role: str) -> Document:
    return {
        "machine.openshift.io/cluster-api-cluster": infra_id,
        "machine.openshift.io/cluster-api-machine-role": role,
        "machine.openshift.io/cluster-api-machine-type": role,
    }


def machine(role: str) -> Document:
    provider = {
        "apiVersion": "baremetal.cluster.k8s.io/v1alpha1",
        "kind": "BareMetalMachineProviderSpec",
        "hostSelector": {},
        "image": {"checksum": "", "url": ""},
        "userData": {"name": f"{role}-user-data-managed"},
        **DEPLOY,
    }
    return {"metadata": {}, "providerSpec": {"value": provider}}


def worker_set(infra_id: str, count: int) -> Document:
    name = f"{infra_id}-worker-0"
    chosen = {
        "machine.openshift.io/cluster-api-cluster": infra_id,
        "machine.openshift.io/cluster-api-machineset": name,
    }
    return kube_object(
        MACHINE_API,
        "MachineSet",
        name,
        namespace=NAMESPACE,
        labels={"machine.openshift.io/cluster-api-cluster": infra_id},
        spec={
            "replicas": count,
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {"labels": {**machine_labels(infra_id, "worker"), **chosen}},
                "spec": machine("worker"),
            },
        },
    )


def bare_metal_host(host: Document, consumer: str) -> Document:
    """A host as the cluster's bare-metal operator keeps it; a worker's is paused until its node joined."""
    spec: Document = {
        "online": True,
        "bootMACAddress": host.get("bootMACAddress", ""),
        "bootMode": host.get("bootMode", ""),
        "bmc": {"address": "", "credentialsName": ""},
    }
    name, parts = str(host.get("name")), {}
    if consumer:
        spec |= {
            "consumerRef": {"apiVersion": MACHINE_API, "kind": "Machine", "name": consumer, "namespace": NAMESPACE},
            "userData": {"name": "master-user-data-managed", "namespace": NAMESPACE},
            **DEPLOY,
        }
        parts = {"labels": {"installer.openshift.io/role": "control-plane"}}
    else:
        parts = {"annotations": {"baremetalhost.metal3.io/paused": ""}}
    return kube_object("metal3.io/v1alpha1", "BareMetalHost", name, namespace=NAMESPACE, spec=spec, **parts)
