"""NVIDIA GPU: drivers and device plugin for NVIDIA accelerators."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.accelerators import cluster_has, secure_boot_off
from firstlight.core.operators.spec import Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

TITLE: Final = "The NVIDIA GPU operator"
VENDOR: Final = "10de"
ENABLED: Final = ("dcgm", "gfd", "migManager", "nodeStatusExporter", "sandboxDevicePlugin", "vfioManager")
DISABLED: Final = ("gdrcopy", "gds", "vgpuManager")


def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    parts: dict[str, object] = {name: {"enabled": True} for name in ENABLED}
    parts |= {name: {"enabled": False} for name in DISABLED}
    parts |= {
        "operator": {"defaultRuntime": "crio", "runtimeClass": "nvidia", "use_ocp_driver_toolkit": True},
        "daemonsets": {"updateStrategy": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "1"}},
        "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": True}},
        "devicePlugin": {"enabled": True, "mps": {"root": "/run/nvidia/mps"}},
        "driver": {
            "enabled": True,
            "useOpenKernelModules": False,
            "useNvidiaDriverCRD": False,
            "upgradePolicy": {"autoUpgrade": True, "maxParallelUpgrades": 1, "maxUnavailable": "25%"},
        },
        "mig": {"strategy": "single"},
        "sandboxWorkloads": {"enabled": False, "defaultWorkload": "container"},
        "toolkit": {"enabled": True, "installDir": "/usr/local/nvidia"},
        "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
        "vgpuDeviceManager": {"enabled": True},
    }
    policy = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": parts,
    }
    return (policy,)


SPEC: Final = OperatorSpec(
    name="nvidia-gpu",
    title=TITLE,
    feature=FeatureId.NVIDIA_GPU,
    namespace="nvidia-gpu-operator",
    subscription="gpu-operator-certified",
    source="certified-operators",
    channel="stable",
    dependencies=("node-feature-discovery",),
    memberships=(Membership(bundle="openshift-ai", optional=True),),
    group=Group(name="nvidia-gpu-operator"),
    host_rule=secure_boot_off(TITLE, vendor=VENDOR),
    cluster_rule=cluster_has(TITLE, vendor=VENDOR, maker="NVIDIA"),
    resources=resources,
)
