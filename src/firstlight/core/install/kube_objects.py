"""Shapes of the Kubernetes objects we write, and a manifest as a file of one of them."""

import base64
from collections.abc import Iterable, Mapping

from firstlight.core.install import ignition
from firstlight.core.install.documents import Document, mapping, to_text
from firstlight.core.install.ignition_models import Config
from firstlight.core.install.inputs import Value


class Manifest(Value, frozen=True, kw_only=True):
    """One file of a cluster's manifests, as text and as the objects in it."""

    folder: str
    name: str
    content: str
    documents: tuple[Document, ...] = ()


def manifest(folder: str, name: str, document: Document) -> Manifest:
    return Manifest(folder=folder, name=name, content=to_text(document), documents=(document,))


def kube_object(api_version: str, kind: str, name: str, *, namespace: str = "", **parts: object) -> Document:
    """An object; `parts` are its sections (spec, status, data …), and `labels`, `annotations` go into its metadata."""
    metadata: Document = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for key in ("labels", "annotations"):
        if parts.get(key):
            metadata[key] = parts[key]
    sections = {key: value for key, value in parts.items() if key not in {"labels", "annotations"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **sections}


def config_object(kind: str, **parts: object) -> Document:
    """A cluster-wide setting of OpenShift: there is one of each, named cluster."""
    return {"apiVersion": "config.openshift.io/v1", "kind": kind, "metadata": {"name": "cluster"}, **parts}


def config_map(name: str, namespace: str, data: Mapping[str, str], **parts: object) -> Document:
    return kube_object("v1", "ConfigMap", name, namespace=namespace, data=dict(data), **parts)


def secret(name: str, namespace: str, data: Mapping[str, str], *, kind: str = "Opaque", **parts: object) -> Document:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return kube_object("v1", "Secret", name, namespace=namespace, type=kind, data=encoded, **parts)


def machine_config(
    name: str, role: str, *, document: Config | None = None, kernel_arguments: Iterable[str] = (), fips: bool = False
) -> Document:
    spec: Document = {"config": ignition_document(document or ignition.config("3.2.0"))}
    arguments = list(kernel_arguments)
    if arguments:
        spec["kernelArguments"] = arguments
    if fips:
        spec["fips"] = True
    labels = {"machineconfiguration.openshift.io/role": role}
    return kube_object("machineconfiguration.openshift.io/v1", "MachineConfig", name, labels=labels, spec=spec)


def ignition_document(document: Config) -> Document:
    ignition.require_valid(document)
    return mapping(ignition.to_document(document))


def identity_of(document: Document) -> tuple[str, str, str, str]:
    """Group, kind, namespace and name: what no two manifests of a cluster may share."""
    metadata = mapping(document.get("metadata"))
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return group, str(document.get("kind", "")), str(metadata.get("namespace", "")), str(metadata.get("name", ""))
