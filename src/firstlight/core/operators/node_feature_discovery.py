"""Node Feature Discovery: labels nodes by the devices they carry, for the operators of those devices."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.spec import Document, Group, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

NAMESPACE: Final = "openshift-nfd"
TITLE: Final = "Node Feature Discovery"
WORKER_CONFIG: Final = (
    'core:\n  sleepInterval: 60s\nsources:\n  pci:\n    deviceClassWhitelist: ["0200", "03", "12"]\n'
    '    deviceLabelFields: ["vendor"]\n'
)
AMD_GPUS: Final = (
    "738c", "738e", "7408", "740c", "740f", "74a0", "74a1", "74a2",
    "74a5", "74a8", "74a9", "74bd", "75a0", "75a3", "75a8",
)  # fmt: skip
AMD_VIRTUAL_GPUS: Final = ("7410", "74b5", "74b6", "74b9", "74bc", "74bd", "75b0", "75b3", "75b8")


def resources(_hosts: Sequence[HostState], setting: Setting) -> tuple[Document, ...]:
    discovery = {
        "apiVersion": "nfd.openshift.io/v1",
        "kind": "NodeFeatureDiscovery",
        "metadata": {"name": "nfd-instance", "namespace": NAMESPACE},
        "spec": {
            "instance": "",
            "operand": {"imagePullPolicy": "IfNotPresent", "servicePort": 12000},
            "topologyUpdater": False,
            "workerConfig": {"configData": WORKER_CONFIG},
        },
    }
    if "amd-gpu" not in setting.selected:
        return (discovery,)
    return discovery, _label("amd-gpu", AMD_GPUS), _label("amd-vgpu", AMD_VIRTUAL_GPUS)


def _label(name: str, devices: tuple[str, ...]) -> Document:
    match = {"vendor": {"op": "In", "value": ["1002"]}, "device": {"op": "In", "value": list(devices)}}
    rule = {
        "name": name,
        "labels": {f"feature.node.kubernetes.io/{name}": "true"},
        "matchFeatures": [{"feature": "pci.device", "matchExpressions": match}],
    }
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"rules": [rule]},
    }


SPEC: Final = OperatorSpec(
    name="node-feature-discovery",
    title=TITLE,
    feature=FeatureId.NODE_FEATURE_DISCOVERY,
    namespace=NAMESPACE,
    subscription="nfd",
    channel="stable",
    group=Group(name=NAMESPACE),
    monitored_namespace=True,
    resources=resources,
)
