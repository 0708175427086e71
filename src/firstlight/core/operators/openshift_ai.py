"""OpenShift AI: training and serving models; wants workers of some size, and storage under them."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.machines import CLUSTER_IS_FINE, has_room
from firstlight.core.operators.objects import setup_job
from firstlight.core.operators.spec import (
    NOTHING,
    Candidate,
    Document,
    Group,
    Membership,
    Need,
    OperatorSpec,
    Preflight,
    Setting,
)
from firstlight.core.rules import Verdict, failed, passed
from firstlight.core.versions.feature_ids import FeatureId

TITLE: Final = "OpenShift AI"
WORKER: Final = Need(cpu_cores=8, ram_mib=32 * 1024)
FEWEST_WORKERS: Final = 2
GPU_OPERATORS: Final = {"nvidia-gpu": ("NVIDIA GPU", "nvidia.com/gpu"), "amd-gpu": ("AMD GPU", "amd.com/gpu")}
GPU_RULE: Final = "openshift-ai-gpu-requirements-satisfied"
NAMESPACE: Final = "redhat-ods-operator"
REMOVED: Final = ("trustyai", "trainingoperator")
MANAGED: Final = (
    "codeflare",
    "ray",
    "kueue",
    "workbenches",
    "dashboard",
    "modelmeshserving",
    "datasciencepipelines",
)
MAKE_DEFAULT: Final = """
echo "Waiting for the storage class {name}."
until oc get storageclass {name}; do sleep 30; done
oc annotate --overwrite storageclass {name} storageclass.kubernetes.io/is-default-class=true
echo "Volumes are now taken from {name} unless they name another class."
"""


def need(candidate: Candidate, _setting: Setting) -> Need:
    return WORKER if candidate.host.effective_role is HostRole.WORKER else NOTHING


def host_rule(candidate: Candidate, setting: Setting) -> Verdict:
    return has_room(candidate, need=need(candidate, setting), title=TITLE)


def cluster_rule(hosts: Sequence[HostState], setting: Setting) -> Verdict:
    workers = sum(member.host.effective_role is HostRole.WORKER for member in hosts)
    if setting.single_node or workers >= FEWEST_WORKERS:
        return CLUSTER_IS_FINE
    return failed(
        f"{TITLE} needs at least {FEWEST_WORKERS} workers; this cluster has {workers}. Add workers.",
        cause="too-few-workers",
        evidence={"workers": workers},
    )


def gpu_rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
    if setting.selected & GPU_OPERATORS.keys():
        return passed("A GPU operator is part of the cluster.")
    return passed(f"No GPU operator is chosen: {TITLE} will work without GPUs.")


def preflight(_setting: Setting) -> Preflight:
    return Preflight(worker=WORKER)


def resources(_hosts: Sequence[HostState], setting: Setting) -> tuple[Document, ...]:
    mesh = "Removed" if setting.single_node else "Managed"
    beginning = {
        "apiVersion": "dscinitialization.opendatahub.io/v1",
        "kind": "DSCInitialization",
        "metadata": {"name": "default-dsci"},
        "spec": {
            "applicationsNamespace": "redhat-ods-applications",
            "monitoring": {"managementState": "Managed", "namespace": "redhat-ods-monitoring"},
            "serviceMesh": {"managementState": mesh},
            "trustedCABundle": {"managementState": "Managed", "customCABundle": ""},
        },
    }
    serving = {
        "managementState": "Managed",
        "name": "knative-serving",
        "ingressGateway": {"certificate": {"type": "OpenshiftDefaultIngress"}},
    }
    components: dict[str, object] = {name: {"managementState": "Managed"} for name in MANAGED}
    components |= {name: {"managementState": "Removed"} for name in REMOVED}
    components["kserve"] = {"managementState": mesh, "serving": serving}
    science = {
        "apiVersion": "datasciencecluster.opendatahub.io/v1",
        "kind": "DataScienceCluster",
        "metadata": {"name": "default-dsc"},
        "spec": {"components": components},
    }
    profiles = (_hardware_profile(name) for name in sorted(setting.selected & GPU_OPERATORS.keys()))
    return (beginning, science, *profiles)


def _hardware_profile(operator: str) -> Document:
    title, resource = GPU_OPERATORS[operator]
    toleration = {"key": resource, "operator": "Exists", "effect": "NoSchedule"}
    identifier = {
        "identifier": resource,
        "displayName": title,
        "resourceType": "Accelerator",
        "defaultCount": 1,
        "minCount": 0,
    }
    return {
        "apiVersion": "infrastructure.opendatahub.io/v1alpha1",
        "kind": "HardwareProfile",
        "metadata": {"name": operator, "namespace": "redhat-ods-applications"},
        "spec": {
            "identifiers": [identifier],
            "scheduling": {"type": "Node", "node": {"tolerations": [toleration]}},
        },
    }


def extras(setting: Setting) -> Mapping[str, Document]:
    storage_class = "lvms-vg1" if setting.single_node else "ocs-storagecluster-ceph-rbd"
    verbs = ["get", "list", "watch", "patch", "update"]
    return setup_job(
        "openshift-ai",
        namespace=NAMESPACE,
        image=setting.controller_image,
        script=MAKE_DEFAULT.format(name=storage_class),
        rules=[{"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": verbs}],
    )


SPEC: Final = OperatorSpec(
    name="openshift-ai",
    title=TITLE,
    feature=FeatureId.OPENSHIFT_AI,
    namespace=NAMESPACE,
    subscription="rhods-operator",
    channel="stable",
    single_node_dependencies=("lvm",),
    memberships=(Membership(bundle="openshift-ai"),),
    group=Group(name="rhods-operator", own_namespace_only=False),
    need=need,
    preflight=preflight,
    host_rule=host_rule,
    cluster_rule=cluster_rule,
    further_cluster_rules={GPU_RULE: gpu_rule},
    resources=resources,
    extras=extras,
)
