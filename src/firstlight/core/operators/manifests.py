"""Operators as files: what the cluster starts with, and what its controller applies once each operator is up.

Every document is JSON, which every reader of YAML understands.
"""

import base64
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.model.policy import Policy
from firstlight.core.operators import mce
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.objects import manifest_name, namespace, operator_group, subscription
from firstlight.core.operators.spec import Document, OperatorSpec, Setting, count_roles, setting_of

CONFIG_MAP_FILE: Final = "olm_operator_manifests.yaml"
CUSTOM_MANIFESTS_FILE: Final = "custom_manifests.json"

_ENCODER: Final = msgspec.json.Encoder()


class CustomManifest(Struct, frozen=True, rename="pascal"):
    """Documents the controller applies once the operator of that name is up."""

    name: str
    content: str
    """Base64 of YAML documents."""


def openshift_manifests(cluster: Cluster, hosts: Sequence[HostState], *, policy: Policy) -> dict[str, str]:
    """File name → content of everything operators put in the cluster's `openshift` folder."""
    setting = _setting(cluster, hosts, policy)
    files: dict[str, str] = {}
    for spec in _chosen(cluster):
        if spec.group is not None:
            files[manifest_name(spec.name, "ns")] = _text(namespace(spec))
        group = operator_group(spec)
        if group is not None:
            files[manifest_name(spec.name, "operator_group")] = _text(group)
        files[manifest_name(spec.name, "subscription")] = _text(subscription(spec, version=cluster.openshift_version))
        files |= {name: _text(document) for name, document in spec.extras(setting).items()}
    if files:
        files[CONFIG_MAP_FILE] = _text(_config_map(cluster, hosts, setting))
    return files


def custom_manifests(cluster: Cluster, hosts: Sequence[HostState], *, policy: Policy) -> tuple[CustomManifest, ...]:
    setting = _setting(cluster, hosts, policy)
    return tuple(
        CustomManifest(name, _encoded(_joined(documents))) for name, documents in _resources(cluster, hosts, setting)
    )


def custom_manifests_file(cluster: Cluster, hosts: Sequence[HostState], *, policy: Policy) -> str:
    """The content of custom_manifests.json."""
    return _text(custom_manifests(cluster, hosts, policy=policy))


def _setting(cluster: Cluster, hosts: Sequence[HostState], policy: Policy) -> Setting:
    return setting_of(cluster, policy=policy, roles=count_roles(hosts))


def _chosen(cluster: Cluster) -> list[OperatorSpec]:
    return [OPERATORS[operator.name] for operator in cluster.operators if operator.name in OPERATORS]


def _resources(
    cluster: Cluster, hosts: Sequence[HostState], setting: Setting
) -> list[tuple[str, tuple[Document, ...]]]:
    """Operator → its documents; an operator may come twice."""
    found = [(spec.name, spec.resources(hosts, setting)) for spec in _chosen(cluster)]
    storage = next((name for name in mce.STORAGE_CLASSES if name in setting.selected), "")
    if "mce" in setting.selected and storage:
        # Named after the storage: the controller must wait until that is up.
        found.append((storage, (mce.infrastructure_service(mce.STORAGE_CLASSES[storage]),)))
    return found


def _config_map(cluster: Cluster, hosts: Sequence[HostState], setting: Setting) -> Document:
    """The same documents inside the cluster, for when the service cannot be reached from there."""
    data: dict[str, str] = {}
    files: dict[str, list[str]] = {}
    for name, documents in _resources(cluster, hosts, setting):
        for document in documents:
            listed = files.setdefault(name, [])
            listed.append(f"{name}-{len(listed) + 1:02}.yaml")
            data[listed[-1]] = _encoded(_text(document))
    for name, listed in files.items():
        spec = OPERATORS[name]
        about = {
            "namespace": spec.namespace,
            "subscriptionName": spec.subscription_name(cluster.openshift_version),
            "manifests": listed,
        }
        data[f"{name}.metadata.yaml"] = _text(about)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "olm-operator-manifests", "namespace": "assisted-installer"},
        "data": data,
    }


def _joined(documents: Sequence[Document]) -> str:
    return "\n---\n".join(_text(document) for document in documents)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _text(document: object) -> str:
    return _ENCODER.encode(document).decode()
