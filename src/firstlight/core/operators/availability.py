"""Operators that notice broken nodes, repair them, or take them out of service. None makes sense on a single node."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.spec import Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

NAMESPACE: Final = "openshift-workload-availability"
UNHEALTHY_AFTER: Final = "300s"
FEWEST_HEALTHY: Final = "51%"
VIRTUALIZATION: Final = (Membership(bundle="virtualization", on_single_node=False),)


def health_check(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    """Workers only: a control plane is not repaired by itself."""
    check = {
        "apiVersion": "remediation.medik8s.io/v1alpha1",
        "kind": "NodeHealthCheck",
        "metadata": {"name": "node-healthcheck-self-node-remediation-workers"},
        "spec": {
            "minHealthy": FEWEST_HEALTHY,
            "selector": {
                "matchExpressions": [
                    {"key": f"node-role.kubernetes.io/{role}", "operator": "DoesNotExist"}
                    for role in ("control-plane", "master")
                ]
            },
            "remediationTemplate": {
                "apiVersion": "self-node-remediation.medik8s.io/v1alpha1",
                "kind": "SelfNodeRemediationTemplate",
                "namespace": NAMESPACE,
                "name": "self-node-remediation-automatic-strategy-template",
            },
            "unhealthyConditions": [
                {"type": "Ready", "status": status, "duration": UNHEALTHY_AFTER} for status in ("False", "Unknown")
            ],
        },
    }
    return (check,)


SPECS: Final = (
    OperatorSpec(
        name="node-healthcheck",
        title="Node Health Check",
        feature=FeatureId.NODE_HEALTHCHECK,
        namespace=NAMESPACE,
        subscription="node-healthcheck-operator",
        channel="stable",
        memberships=VIRTUALIZATION,
        group=Group(name="openshift-node-availability", own_namespace_only=False),
        resources=health_check,
    ),
    OperatorSpec(
        name="self-node-remediation",
        title="Self Node Remediation",
        feature=FeatureId.SELF_NODE_REMEDIATION,
        namespace=NAMESPACE,
        subscription="self-node-remediation",
        channel="stable",
        dependencies=("node-healthcheck",),
    ),
    OperatorSpec(
        name="fence-agents-remediation",
        title="Fence Agents Remediation",
        feature=FeatureId.FENCE_AGENTS_REMEDIATION,
        namespace=NAMESPACE,
        subscription="fence-agents-remediation",
        channel="stable",
        dependencies=("node-healthcheck",),
        memberships=VIRTUALIZATION,
    ),
    OperatorSpec(
        name="node-maintenance",
        title="Node Maintenance",
        feature=FeatureId.NODE_MAINTENANCE,
        namespace="openshift-workload-maintenance",
        subscription="node-maintenance-operator",
        channel="stable",
        memberships=VIRTUALIZATION,
        group=Group(name="openshift-node-availability", own_namespace_only=False),
    ),
)
