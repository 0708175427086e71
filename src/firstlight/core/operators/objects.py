"""Kubernetes objects several operators need in the same form."""

from collections.abc import Mapping

from firstlight.core.operators.spec import Document, OperatorSpec


def manifest_name(operator: str, part: str) -> str:
    """File name of one of an operator's manifests."""
    return f"50_openshift-{operator}_{part}.yaml"


def namespace(spec: OperatorSpec) -> Document:
    metadata: dict[str, object] = {"name": spec.namespace}
    if spec.monitored_namespace:
        metadata["labels"] = {"openshift.io/cluster-monitoring": "true"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def operator_group(spec: OperatorSpec) -> Document | None:
    if spec.group is None:
        return None
    metadata: dict[str, object] = {"name": spec.group.name, "namespace": spec.namespace}
    if spec.group.annotations:
        metadata["annotations"] = dict(spec.group.annotations)
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": metadata,
        "spec": {"targetNamespaces": [spec.namespace]} if spec.group.own_namespace_only else {},
    }


def subscription(spec: OperatorSpec, *, version: str) -> Document:
    name = spec.subscription_name(version)
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": name, "namespace": spec.namespace},
        "spec": {
            "name": spec.package or name,
            "source": spec.source,
            "sourceNamespace": "openshift-marketplace",
            "installPlanApproval": "Automatic",
        }
        | ({"channel": spec.channel} if spec.channel else {}),
    }


def prometheus_access(operator: str, *, namespace: str) -> Mapping[str, Document]:
    """Lets the cluster's monitoring read the operator's own metrics."""
    name = f"{namespace}-prometheus-k8s"
    metadata = {"name": name, "namespace": namespace}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [
            {"apiGroups": [""], "resources": ["services", "endpoints", "pods"], "verbs": ["get", "list", "watch"]}
        ],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "prometheus-k8s", "namespace": "openshift-monitoring"}],
    }
    return {
        manifest_name(operator, "prometheus-role"): role,
        manifest_name(operator, "prometheus-rolebinding"): binding,
    }


def machine_config(name: str, *, role: str, spec: Document) -> Document:
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": name, "labels": {"machineconfiguration.openshift.io/role": role}},
        "spec": spec,
    }


def setup_job(
    operator: str, *, namespace: str, image: str, script: str, rules: list[Document]
) -> Mapping[str, Document]:
    """A job that finishes the set-up inside the new cluster; the controller waits for its label."""
    role = f"{namespace}-setup"
    account = {"kind": "ServiceAccount", "name": "setup", "namespace": namespace}
    pod = {
        "serviceAccountName": "setup",
        "restartPolicy": "Never",
        "containers": [{"name": "setup", "image": image, "command": ["/usr/bin/bash", "-ec", script]}],
    }
    return {
        manifest_name(operator, "setup_serviceaccount"): {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "setup", "namespace": namespace},
        },
        manifest_name(operator, "setup_clusterrole"): {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": role},
            "rules": rules,
        },
        manifest_name(operator, "setup_clusterrolebinding"): {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [account],
        },
        manifest_name(operator, "setup_job"): {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": "setup",
                "namespace": namespace,
                "labels": {"agent-install.openshift.io/setup-job": operator},
            },
            "spec": {"template": {"spec": pod}},
        },
    }
