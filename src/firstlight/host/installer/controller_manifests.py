"""The objects that bring the controller into the new cluster, as bootkube applies them."""

from typing import Final

from firstlight.core.install.documents import Document, to_text
from firstlight.core.install.kube_objects import config_map, kube_object
from firstlight.host.installer.settings import InstallerSettings

NAMESPACE: Final = "assisted-installer"
NAME: Final = "assisted-installer-controller"
FOLDER: Final = "/opt/openshift/manifests"
SERVICE_ALIAS: Final = "assisted-api.local.openshift.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ("get", "list", "watch")
_RULES: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    ("", ("pods", "pods/log", "configmaps"), _READ),
    ("", ("nodes",), (*_READ, "patch")),
    ("", ("events",), ("create",)),
    ("", ("namespaces",), ("patch",)),
    ("", ("services",), ("list", "delete")),
    ("", ("pods",), ("deletecollection",)),
    ("certificates.k8s.io", ("certificatesigningrequests",), _READ),
    ("certificates.k8s.io", ("certificatesigningrequests/approval",), ("update",)),
    ("batch", ("jobs",), ("get", "list", "delete")),
    ("config.openshift.io", ("clusteroperators", "clusterversions", "proxies"), _READ),
    ("metal3.io", ("baremetalhosts", "baremetalhosts/status"), (*_READ, "update", "patch")),
    ("metal3.io", ("provisionings",), _READ),
    ("machine.openshift.io", ("machines",), _READ),
    ("operators.coreos.com", ("clusterserviceversions",), _READ),
    ("operators.coreos.com", ("subscriptions", "installplans"), (*_READ, "delete")),
    ("machineconfiguration.openshift.io", ("machineconfigpools", "machineconfigs"), (*_READ, "patch")),
)
_SIGNERS: Final = ("kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving")


def controller_manifests(settings: InstallerSettings) -> dict[str, str]:
    """File name → text. The token is in the secret and nowhere else."""
    objects = {
        "namespace": _namespace(),
        "service-account": kube_object("v1", "ServiceAccount", NAME, namespace=NAMESPACE),
        "cluster-role": _cluster_role(),
        "cluster-role-binding": _binding(),
        "network-policy": kube_object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "assisted-installer-network-policy",
            namespace=NAMESPACE,
            spec={"podSelector": {}},
        ),
        "cm": _config(settings),
        "secret": kube_object(
            "v1",
            "Secret",
            f"{NAME}-secret",
            namespace=NAMESPACE,
            labels={"app": NAME},
            type="Opaque",
            stringData={"pull-secret-token": settings.token},
        ),
        "pod": _job(settings),
    }
    return {f"{NAME}-{name}.yaml": to_text(document) for name, document in objects.items()}


def _namespace() -> Document:
    levels = {f"pod-security.kubernetes.io/{kind}": "privileged" for kind in ("enforce", "audit", "warn")}
    labels = {"name": NAMESPACE, **levels, "security.openshift.io/scc.podSecurityLabelSync": "false"}
    return kube_object("v1", "Namespace", NAMESPACE, labels=labels)


def _cluster_role() -> Document:
    rules: list[Document] = [
        {"apiGroups": [group], "resources": list(kinds), "verbs": list(verbs)} for group, kinds, verbs in _RULES
    ]
    rules.append(
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["signers"],
            "resourceNames": list(_SIGNERS),
            "verbs": ["approve"],
        }
    )
    return kube_object(f"{_RBAC}/v1", "ClusterRole", NAME, rules=rules)


def _binding() -> Document:
    return kube_object(
        f"{_RBAC}/v1",
        "ClusterRoleBinding",
        NAME,
        roleRef={"apiGroup": _RBAC, "kind": "ClusterRole", "name": NAME},
        subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    )


def _config(settings: InstallerSettings) -> Document:
    data = {
        "cluster-id": str(settings.cluster_id),
        "inventory-url": settings.url,
        "skip-cert-verification": _truth(settings.insecure),
        "ca-cert-path": str(settings.ca_certificate or ""),
        "check-cluster-version": _truth(settings.check_cluster_version),
        "control-plane-count": str(settings.control_plane_count),
        "must-gather-image": settings.must_gather_image,
    }
    return config_map(f"{NAME}-config", NAMESPACE, data, labels={"app": NAME})


def _job(settings: InstallerSettings) -> Document:
    mounts = list(_mounts(settings))
    tainted = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"]
    if settings.is_single_node:
        # It must start before the network is there.
        tainted += ["node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"]
    tolerations = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in tainted]
    pod: Document = {
        "restartPolicy": "OnFailure",
        "hostNetwork": True,
        "serviceAccountName": NAME,
        "nodeSelector": {"node-role.kubernetes.io/master": ""},
        "tolerations": tolerations,
        "containers": [
            {
                "name": NAME,
                "image": settings.controller_image,
                "imagePullPolicy": "IfNotPresent",
                "env": _environment(settings),
                "volumeMounts": [mount for mount, _ in mounts],
            }
        ],
        "volumes": [volume for _, volume in mounts],
    }
    if settings.service_ips:
        pod["hostAliases"] = [{"ip": address, "hostnames": [SERVICE_ALIAS]} for address in settings.service_ips]
    spec = {"backoffLimit": 100, "template": {"metadata": {"labels": {"app": NAME}}, "spec": pod}}
    return kube_object("batch/v1", "Job", NAME, namespace=NAMESPACE, spec=spec)


def _environment(settings: InstallerSettings) -> list[Document]:
    keys = {
        "CLUSTER_ID": "cluster-id",
        "INVENTORY_URL": "inventory-url",
        "SKIP_CERT_VERIFICATION": "skip-cert-verification",
        "CA_CERT_PATH": "ca-cert-path",
        "CHECK_CLUSTER_VERSION": "check-cluster-version",
        "CONTROL_PLANE_COUNT": "control-plane-count",
        "MUST_GATHER_IMAGE": "must-gather-image",
    }
    found: list[Document] = [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": f"{NAME}-config", "key": key, "optional": True}}}
        for name, key in keys.items()
    ]
    reference = {"name": f"{NAME}-secret", "key": "pull-secret-token", "optional": True}
    return [
        *found,
        {"name": "OPENSHIFT_VERSION", "value": settings.openshift_version},
        {"name": "NOTIFY_NUM_REBOOTS", "value": _truth(settings.notify_num_reboots)},
        {"name": "PULL_SECRET_TOKEN", "valueFrom": {"secretKeyRef": reference}},
    ]


def _mounts(settings: InstallerSettings) -> list[tuple[Document, Document]]:
    """Mounts of the container with the volumes of the pod."""
    paths = {
        "pki": ("/etc/pki", "/etc/pki"),
        "network-resolv": ("/tmp/var-run-resolv.conf", "/var/run/NetworkManager/resolv.conf"),  # noqa: S108
        "host-resolv": ("/tmp/host-resolv.conf", "/etc/resolv.conf"),  # noqa: S108
    }
    if settings.ca_certificate is not None:
        paths["service-ca"] = (str(settings.ca_certificate), str(settings.ca_certificate))
    if settings.is_single_node:
        paths["bootstrap-secrets"] = ("/tmp/bootstrap-secrets", "/etc/kubernetes/bootstrap-secrets")  # noqa: S108
    found: list[tuple[Document, Document]] = [
        ({"name": name, "mountPath": inside}, {"name": name, "hostPath": {"path": outside}})
        for name, (inside, outside) in paths.items()
    ]
    items = [{"key": "pull-secret-token", "path": "token", "mode": 0o400}]
    found.append(
        (
            {"name": "secret", "mountPath": "/etc/assisted-installer-controller", "readOnly": True},
            {"name": "secret", "secret": {"secretName": f"{NAME}-secret", "items": items}},
        )
    )
    return found


def _truth(value: bool) -> str:
    return "true" if value else "false"
