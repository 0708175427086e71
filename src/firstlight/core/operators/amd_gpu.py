"""AMD GPU: drivers and device plugin for AMD accelerators; the module that comes with the system must stay away."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.accelerators import cluster_has, secure_boot_off
from firstlight.core.operators.objects import machine_config, prometheus_access
from firstlight.core.operators.spec import Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

TITLE: Final = "The AMD GPU operator"
VENDOR: Final = "1002"
NAMESPACE: Final = "openshift-amd-gpu"


def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    file = {
        "path": "/etc/modprobe.d/amdgpu-blacklist.conf",
        "mode": 420,
        "overwrite": True,
        "contents": {"source": "data:,blacklist%20amdgpu%0A"},
    }
    ignition = {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}}
    configs = tuple(
        machine_config(f"99-amdgpu-module-blacklist-{role}", role=role, spec=ignition) for role in ("worker", "master")
    )
    device = {
        "apiVersion": "amd.com/v1alpha1",
        "kind": "DeviceConfig",
        "metadata": {"name": "default", "namespace": NAMESPACE},
        "spec": {
            "devicePlugin": {
                "devicePluginImage": "docker.io/rocm/k8s-device-plugin:latest",
                "nodeLabellerImage": "docker.io/rocm/k8s-device-plugin:labeller-latest",
            },
            "driver": {"version": "6.4.3"},
            "selector": {"feature.node.kubernetes.io/amd-gpu": "true"},
        },
    }
    return (*configs, device)


def extras(_setting: Setting) -> Mapping[str, Document]:
    return prometheus_access("amd-gpu", namespace=NAMESPACE)


SPEC: Final = OperatorSpec(
    name="amd-gpu",
    title=TITLE,
    feature=FeatureId.AMD_GPU,
    namespace=NAMESPACE,
    subscription="amd-gpu-operator",
    source="certified-operators",
    channel="alpha",
    dependencies=("node-feature-discovery", "kmm"),
    memberships=(Membership(bundle="openshift-ai", optional=True),),
    group=Group(name="kube-amd-gpu", own_namespace_only=False),
    monitored_namespace=True,
    host_rule=secure_boot_off(TITLE, vendor=VENDOR),
    cluster_rule=cluster_has(TITLE, vendor=VENDOR, maker="AMD"),
    resources=resources,
    extras=extras,
)
