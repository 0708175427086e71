"""Operators that ask nothing of hosts: mostly a subscription, sometimes one object that switches them on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.machines import CLUSTER_IS_FINE, X86_ONLY, too_old, wrong_architecture
from firstlight.core.operators.objects import prometheus_access
from firstlight.core.operators.spec import Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.rules import Verdict
from firstlight.core.versions.feature_ids import FeatureId

VIRTUALIZATION: Final = (Membership(bundle="virtualization"),)
AI: Final = (Membership(bundle="openshift-ai", on_single_node=False),)
EVERYWHERE: Final = "openshift-operators"
"""A namespace that comes with the cluster, with a group for all namespaces."""


def _one(document: Document) -> Callable[[Sequence[HostState], Setting], tuple[Document, ...]]:
    def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
        return (document,)

    return resources


def nmstate_rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
    title = "The NMState operator"
    refused = wrong_architecture(setting, title=title, allowed=X86_ONLY)
    return refused or too_old(setting, title=title, since="4.12") or CLUSTER_IS_FINE


def numa_extras(_setting: Setting) -> Mapping[str, Document]:
    return prometheus_access("numaresources", namespace="openshift-numaresources")


_NMSTATE: Final = {"apiVersion": "nmstate.io/v1", "kind": "NMState", "metadata": {"name": "nmstate"}}
_METALLB: Final = {
    "apiVersion": "metallb.io/v1beta1",
    "kind": "MetalLB",
    "metadata": {"name": "metallb", "namespace": "metallb-system"},
    "spec": {},
}
_NUMA: Final = {
    "apiVersion": "nodetopology.openshift.io/v1",
    "kind": "NUMAResourcesOperator",
    "metadata": {"name": "numaresourcesoperator"},
    "spec": {
        "nodeGroups": [
            {
                "machineConfigPoolSelector": {
                    "matchLabels": {"pools.operator.machineconfiguration.openshift.io/worker": ""}
                }
            }
        ]
    },
}
_OADP: Final = {
    "apiVersion": "oadp.openshift.io/v1alpha1",
    "kind": "DataProtectionApplication",
    "metadata": {"name": "dpa-sample", "namespace": "openshift-adp"},
    "spec": {"configuration": {"velero": {"defaultPlugins": ["openshift"]}}},
}

SPECS: Final = (
    OperatorSpec(
        name="nmstate",
        title="Kubernetes NMState",
        feature=FeatureId.NMSTATE,
        namespace="openshift-nmstate",
        subscription="kubernetes-nmstate-operator",
        channel="stable",
        timeout_minutes=60,
        memberships=VIRTUALIZATION,
        group=Group(name="openshift-nmstate"),
        cluster_rule=nmstate_rule,
        resources=_one(_NMSTATE),
    ),
    OperatorSpec(
        name="metallb",
        title="MetalLB",
        feature=FeatureId.METALLB,
        namespace="metallb-system",
        subscription="metallb-operator",
        memberships=VIRTUALIZATION,
        group=Group(name="metallb", own_namespace_only=False),
        resources=_one(_METALLB),
    ),
    OperatorSpec(
        name="numaresources",
        title="NUMA Resources",
        feature=FeatureId.NUMA_RESOURCES,
        namespace="openshift-numaresources",
        subscription="numaresources-operator",
        rule_prefix="numa-resources",
        memberships=VIRTUALIZATION,
        group=Group(name="numaresources-operator"),
        monitored_namespace=True,
        resources=_one(_NUMA),
        extras=numa_extras,
    ),
    OperatorSpec(
        name="oadp",
        title="OpenShift API for Data Protection",
        feature=FeatureId.OADP,
        namespace="openshift-adp",
        subscription="redhat-oadp-operator",
        memberships=VIRTUALIZATION,
        group=Group(name="oadp"),
        resources=_one(_OADP),
    ),
    OperatorSpec(
        name="pipelines",
        title="OpenShift Pipelines",
        feature=FeatureId.PIPELINES,
        namespace=EVERYWHERE,
        subscription="openshift-pipelines-operator-rh",
        channel="latest",
        memberships=AI,
    ),
    OperatorSpec(
        name="servicemesh",
        title="OpenShift Service Mesh",
        feature=FeatureId.SERVICEMESH,
        namespace=EVERYWHERE,
        subscription="servicemeshoperator",
        channel="stable",
        memberships=AI,
    ),
    OperatorSpec(
        name="serverless",
        title="OpenShift Serverless",
        feature=FeatureId.SERVERLESS,
        namespace="openshift-serverless",
        subscription="serverless-operator",
        channel="stable",
        memberships=AI,
        group=Group(name="openshift-serverless", own_namespace_only=False),
    ),
    OperatorSpec(
        name="authorino",
        title="Authorino",
        feature=FeatureId.AUTHORINO,
        namespace=EVERYWHERE,
        subscription="authorino-operator",
        channel="tech-preview-v1",
        memberships=AI,
    ),
)
