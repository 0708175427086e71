"""Operators that watch the cluster: metrics stacks, logging, and the store of the logs."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.machines import CLUSTER_IS_FINE, too_old
from firstlight.core.operators.spec import ClusterRule, Document, Group, Membership, OperatorSpec, Setting
from firstlight.core.rules import Verdict
from firstlight.core.versions.feature_ids import FeatureId

VIRTUALIZATION: Final = (Membership(bundle="virtualization"),)
LOGGING_SINCE: Final = "4.17"


def since(title: str, version: str) -> ClusterRule:
    def rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
        return too_old(setting, title=title, since=version) or CLUSTER_IS_FINE

    return rule


def monitoring(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    stack = {
        "apiVersion": "monitoring.rhobs/v1alpha1",
        "kind": "MonitoringStack",
        "metadata": {"name": "sample-monitoring-stack", "labels": {"mso": "example"}},
        "spec": {"logLevel": "debug", "retention": "1d", "resourceSelector": {"matchLabels": {"app": "demo"}}},
    }
    querier = {
        "apiVersion": "monitoring.rhobs/v1alpha1",
        "kind": "ThanosQuerier",
        "metadata": {"name": "example-thanos"},
        "spec": {"selector": {"matchLabels": {"mso": "example"}}},
    }
    return stack, querier


SPECS: Final = (
    OperatorSpec(
        name="cluster-observability",
        title="Cluster Observability",
        feature=FeatureId.CLUSTER_OBSERVABILITY,
        namespace="openshift-cluster-observability-operator",
        subscription="cluster-observability-operator",
        channel="stable",
        dependencies=("openshift-logging",),
        memberships=VIRTUALIZATION,
        group=Group(name="cluster-observability", own_namespace_only=False),
        monitored_namespace=True,
        resources=monitoring,
    ),
    OperatorSpec(
        name="openshift-logging",
        title="OpenShift Logging",
        feature=FeatureId.OPENSHIFT_LOGGING,
        namespace="openshift-logging",
        subscription="cluster-logging",
        dependencies=("loki",),
        memberships=VIRTUALIZATION,
        group=Group(name="cluster-logging"),
        monitored_namespace=True,
        cluster_rule=since("OpenShift Logging", LOGGING_SINCE),
    ),
    OperatorSpec(
        name="loki",
        title="Loki",
        feature=FeatureId.LOKI,
        namespace="openshift-operators-redhat",
        subscription="loki-operator",
        memberships=VIRTUALIZATION,
        group=Group(name="loki-operator", own_namespace_only=False),
        monitored_namespace=True,
        cluster_rule=since("Loki", LOGGING_SINCE),
    ),
)
