"""Kube Descheduler: moves workloads to better places; with virtual machines it moves those, live."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.objects import machine_config
from firstlight.core.operators.spec import Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

NAMESPACE: Final = "openshift-kube-descheduler-operator"
_KEEPING: Final = ["EvictPodsWithPVC", "EvictPodsWithLocalStorage"]
_IN_BACKGROUND: Final = {"devEnableEvictionsInBackground": True}

# Since which version which profiles serve virtual machines, and how they are tuned; the first that fits counts.
_FOR_MACHINES: Final[tuple[tuple[str, list[str], dict[str, object]], ...]] = (
    ("4.20", ["KubeVirtRelieveAndMigrate"], {}),
    ("4.19", ["DevKubeVirtRelieveAndMigrate"], {}),
    (
        "4.18",
        ["DevKubeVirtRelieveAndMigrate"],
        {
            **_IN_BACKGROUND,
            "devEnableSoftTainter": True,
            "devDeviationThresholds": "AsymmetricLow",
            "devActualUtilizationProfile": "PrometheusCPUCombined",
        },
    ),
    ("4.17", ["LongLifecycle", *_KEEPING], {**_IN_BACKGROUND}),
    ("0.0", ["DevPreviewLongLifecycle", *_KEEPING], {**_IN_BACKGROUND}),
)
PRESSURE_SINCE: Final = "4.18"
"""From here on the profiles read pressure figures, which the kernel gives only when asked."""


def resources(_hosts: Sequence[HostState], setting: Setting) -> tuple[Document, ...]:
    if "cnv" not in setting.selected:
        return (_descheduler({"mode": "Predictive", "profiles": ["AffinityAndTaints"], "every": 3600}),)
    _, profiles, tuning = next(
        entry for entry in _FOR_MACHINES if setting.reaches(entry[0]) or entry is _FOR_MACHINES[-1]
    )
    descheduler = _descheduler({"mode": "Automatic", "profiles": profiles, "every": 60, "tuning": tuning})
    if not setting.reaches(PRESSURE_SINCE):
        return (descheduler,)
    return (
        descheduler,
        *(
            machine_config(
                f"99-openshift-machineconfig-{role}-psi-karg", role=role, spec={"kernelArguments": ["psi=1"]}
            )
            for role in ("worker", "master")
        ),
    )


def _descheduler(choice: Document) -> Document:
    spec: dict[str, object] = {
        "logLevel": "Normal",
        "operatorLogLevel": "Normal",
        "managementState": "Managed",
        "mode": choice["mode"],
        "profiles": choice["profiles"],
        "deschedulingIntervalSeconds": choice["every"],
    }
    if choice.get("tuning"):
        spec["profileCustomizations"] = choice["tuning"]
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "KubeDescheduler",
        "metadata": {"name": "cluster", "namespace": NAMESPACE},
        "spec": spec,
    }


SPEC: Final = OperatorSpec(
    name="kube-descheduler",
    title="Kube Descheduler",
    feature=FeatureId.KUBE_DESCHEDULER,
    namespace=NAMESPACE,
    subscription="cluster-kube-descheduler-operator",
    channel="stable",
    memberships=(Membership(bundle="virtualization", on_single_node=False),),
    group=Group(name="openshift-node-availability"),
    monitored_namespace=True,
    resources=resources,
)
