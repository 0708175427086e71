"""What the controller's account may do in the new cluster: look at much, change little, delete nothing.

Rarer and harsher acts (objects of operators, OLM's leftovers, a Service on the DNS's address, counting reboots) are
done with the installation's own kubeconfig, which the controller asks the service for at that moment. The original's
controller does such things by its own right, so its image gets more.
"""

from typing import Final

from firstlight.core.install.documents import Document

LOOK: Final = ("get", "list", "watch")
FOLLOW: Final = ("list", "watch")
READY_CONFIG_MAP: Final = "assisted-installer-controller-ready"
OPERATORS_CONFIG_MAP: Final = "olm-operator-manifests"


def rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...], *, names: tuple[str, ...] = ()) -> Document:
    named: Document = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs), **named}


CLUSTER_RULES: Final[tuple[Document, ...]] = (
    rule("", ("nodes",), (*FOLLOW, "patch")),
    rule("", ("events", "services"), ("list",)),
    rule("certificates.k8s.io", ("certificatesigningrequests",), LOOK),
    rule("certificates.k8s.io", ("certificatesigningrequests/approval",), ("update",)),
    rule(
        "certificates.k8s.io",
        ("signers",),
        ("approve",),
        names=("kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"),
    ),
    rule("config.openshift.io", ("clusteroperators", "clusterversions"), FOLLOW),
    rule("config.openshift.io", ("proxies",), ("get",), names=("cluster",)),
    rule("operators.coreos.com", ("subscriptions", "clusterserviceversions"), FOLLOW),
    rule("machine.openshift.io", ("machines",), FOLLOW),
    rule("metal3.io", ("baremetalhosts",), (*FOLLOW, "patch")),
    rule("metal3.io", ("baremetalhosts/status",), ("patch",)),
    rule("metal3.io", ("provisionings",), ("get",), names=("provisioning-configuration",)),
    # Not what it does, but what its pod is made of: the host's network and some of its files.
    rule("security.openshift.io", ("securitycontextconstraints",), ("use",), names=("privileged",)),
    rule("machineconfiguration.openshift.io", ("machineconfigpools",), ("patch",), names=("worker",)),
)
"""In every namespace. Kinds whose namespace an installation may lack are here: a Role there could never be made."""

OWN_RULES: Final[tuple[Document, ...]] = (
    rule("", ("events",), ("create",)),
    # Server-side apply of a new object asks for `create`, which knows no names.
    rule("", ("configmaps",), ("create",)),
    rule("", ("configmaps",), ("get", "patch"), names=(READY_CONFIG_MAP,)),
    # Objects of operators, where no service is left to ask for them.
    rule("", ("configmaps",), ("get",), names=(OPERATORS_CONFIG_MAP,)),
)
"""In the controller's own namespace."""

FOREIGN_RULES: Final[tuple[tuple[str, tuple[Document, ...]], ...]] = (
    (
        "openshift-machine-config-operator",
        (rule("", ("pods",), ("list",)), rule("", ("pods/log",), ("get",))),
    ),
    ("openshift-config-managed", (rule("", ("configmaps",), FOLLOW, names=("default-ingress-cert",)),)),
    ("kube-system", (rule("", ("configmaps",), ("get",), names=("cluster-config-v1",)),)),
    ("openshift-config", (rule("", ("configmaps",), ("get",), names=("openshift-install-manifests",)),)),
)
"""In namespaces that every cluster has."""

WIDER_RULES: Final[tuple[Document, ...]] = (
    rule("", ("nodes",), ("get",)),
    rule("", ("pods", "pods/log", "configmaps"), LOOK),
    rule("", ("pods",), ("deletecollection",)),
    rule("", ("services",), ("list", "delete")),
    rule("", ("events",), ("create",)),
    rule("batch", ("jobs",), ("get", "list", "delete")),
    rule("config.openshift.io", ("proxies", "clusteroperators", "clusterversions"), ("get", "list")),
    rule("machine.openshift.io", ("machines",), ("get",)),
    rule("metal3.io", ("baremetalhosts",), ("get", "update")),
    rule("metal3.io", ("baremetalhosts/status",), ("get", "update")),
    rule("metal3.io", ("provisionings",), ("get", "list")),
    rule("operators.coreos.com", ("clusterserviceversions",), ("get",)),
    rule("operators.coreos.com", ("subscriptions", "installplans"), ("get", "list", "update", "delete")),
    rule("machineconfiguration.openshift.io", ("*",), ("get", "patch")),
)
"""What the original's controller needs in every namespace besides. It could do with less, but it asks for this."""
