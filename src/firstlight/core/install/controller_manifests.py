"""The controller's objects in the new cluster, under the names that the original's programs look for.

The program that starts the bootstrap puts them among bootkube's manifests.
"""

from collections.abc import Iterator
from typing import Final

from firstlight.core.install.controller_rights import CLUSTER_RULES, FOREIGN_RULES, OWN_RULES, WIDER_RULES
from firstlight.core.install.documents import Document
from firstlight.core.install.inputs import Value
from firstlight.core.install.kube_objects import Manifest, config_map, kube_object, manifest

FOLDER: Final = "manifests"
NAMESPACE: Final = "assisted-installer"
NAME: Final = "assisted-installer-controller"
RBAC: Final = "rbac.authorization.k8s.io"
MASTER: Final = "node-role.kubernetes.io/master"
OURS: Final = "firstlight"
SERVICE_NAME: Final = "assisted-api.local.openshift.io"
BOOTSTRAP_SECRETS: Final = "/etc/kubernetes/bootstrap-secrets"
KEYS: Final = {
    "CLUSTER_ID": "cluster-id",
    "INVENTORY_URL": "inventory-url",
    "SKIP_CERT_VERIFICATION": "skip-cert-verification",
    "CA_CERT_PATH": "ca-cert-path",
    "CHECK_CLUSTER_VERSION": "check-cluster-version",
    "CONTROL_PLANE_COUNT": "control-plane-count",
    "MUST_GATHER_IMAGE": "must-gather-image",
}
"""Variable → key of the ConfigMap."""


class ControllerJob(Value, frozen=True, kw_only=True):
    image: str
    cluster_id: str
    service_url: str
    openshift_version: str
    token: str = ""
    insecure: bool = False
    ca_path: str = ""
    check_cluster_version: bool = False
    control_plane_count: int = 3
    must_gather_image: str = ""
    service_addresses: tuple[str, ...] = ()
    """Where the service answers when no name server of the cluster knows it."""
    notify_reboots: bool = False

    @property
    def is_single_node(self) -> bool:
        return self.control_plane_count == 1

    @property
    def is_ours(self) -> bool:
        """Whether the image says that our own controller is in it, which needs fewer rights than the original's."""
        return OURS in self.image.partition("/")[2]


def controller_manifests(job: ControllerJob) -> tuple[Manifest, ...]:
    """In the order in which they can be applied."""
    return tuple(manifest(FOLDER, name, document) for name, document in _documents(job))


def _documents(job: ControllerJob) -> Iterator[tuple[str, Document]]:
    def file(kind: str) -> str:
        return f"{NAME}-{kind}.yaml"

    yield file("namespace"), _namespace()
    yield file("serviceaccount"), kube_object("v1", "ServiceAccount", NAME, namespace=NAMESPACE)
    everywhere = [*CLUSTER_RULES] if job.is_ours else [*CLUSTER_RULES, *WIDER_RULES]
    yield file("clusterrole"), kube_object(f"{RBAC}/v1", "ClusterRole", NAME, rules=everywhere)
    yield file("clusterrolebinding"), _binding("ClusterRole")
    for place, (namespace, rules) in enumerate(((NAMESPACE, OWN_RULES), *FOREIGN_RULES)):
        role = kube_object(f"{RBAC}/v1", "Role", NAME, namespace=namespace, rules=list(rules))
        yield file(f"role-{place}"), role
        yield file(f"rolebinding-{place}"), _binding("Role", namespace=namespace)
    policy: Document = {"podSelector": {}, "ingress": [{}], "egress": [{}], "policyTypes": ["Ingress", "Egress"]}
    yield (
        file("networkpolicy"),
        kube_object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "assisted-installer-network-policy",
            namespace=NAMESPACE,
            spec=policy,
        ),
    )
    yield file("configmap"), config_map(f"{NAME}-config", NAMESPACE, _settings(job), labels={"app": NAME})
    yield (
        file("secret"),
        kube_object(
            "v1",
            "Secret",
            f"{NAME}-secret",
            namespace=NAMESPACE,
            labels={"app": NAME},
            type="Opaque",
            stringData={"pull-secret-token": job.token},
        ),
    )
    yield file("job"), _job(job)


def _namespace() -> Document:
    levels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}
    labels = {**levels, "security.openshift.io/scc.podSecurityLabelSync": "false"}
    return kube_object("v1", "Namespace", NAMESPACE, labels=labels)


def _binding(kind: str, *, namespace: str = "") -> Document:
    return kube_object(
        f"{RBAC}/v1",
        f"{kind}Binding",
        NAME,
        namespace=namespace,
        roleRef={"apiGroup": RBAC, "kind": kind, "name": NAME},
        subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    )


def _settings(job: ControllerJob) -> dict[str, str]:
    return {
        "cluster-id": job.cluster_id,
        "inventory-url": job.service_url,
        "skip-cert-verification": _word(job.insecure),
        "ca-cert-path": job.ca_path,
        "check-cluster-version": _word(job.check_cluster_version),
        "control-plane-count": str(job.control_plane_count),
        "must-gather-image": job.must_gather_image,
    }


def _job(job: ControllerJob) -> Document:
    pod: Document = {
        "containers": [_container(job)],
        "serviceAccountName": NAME,
        "restartPolicy": "OnFailure",
        "hostNetwork": True,
        "nodeSelector": {MASTER: ""},
        "tolerations": _tolerations(job),
        "volumes": [volume for volume, _ in _volumes(job)],
    }
    if job.service_addresses:
        pod["hostAliases"] = [{"ip": address, "hostnames": [SERVICE_NAME]} for address in job.service_addresses]
    labels = {"app": NAME, "job-name": NAME}
    spec: Document = {"backoffLimit": 100, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return kube_object("batch/v1", "Job", NAME, namespace=NAMESPACE, spec=spec)


def _container(job: ControllerJob) -> Document:
    variables: list[Document] = []
    for name, key in KEYS.items():
        variables.append({"name": name, "valueFrom": {"configMapKeyRef": {"name": f"{NAME}-config", "key": key}}})
    plain = {
        "OPENSHIFT_VERSION": job.openshift_version,
        "NOTIFY_NUM_REBOOTS": _word(job.notify_reboots),
        "NAMESPACE": NAMESPACE,
    }
    variables.extend({"name": name, "value": value} for name, value in plain.items())
    return {
        "name": NAME,
        "image": job.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "10m", "memory": "100Mi"}},
        "env": variables,
        "volumeMounts": [mount for _, mount in _volumes(job)],
    }


def _tolerations(job: ControllerJob) -> list[Document]:
    taints = [MASTER]
    if job.is_single_node:
        # It has to start before there is a network.
        taints += ["node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"]
    return [{"key": taint, "operator": "Exists", "effect": "NoSchedule"} for taint in taints]


def _volumes(job: ControllerJob) -> list[tuple[Document, Document]]:
    """Volumes with their mounts."""
    token: Document = {
        "secretName": f"{NAME}-secret",
        "defaultMode": 0o400,
        "items": [{"key": "pull-secret-token", "path": "token"}],
    }
    found: list[tuple[Document, Document]] = [
        ({"name": "token", "secret": token}, _mount("token", "/etc/assisted-installer-controller")),
        _from_host("host-pki", "/etc/pki", "/etc/pki"),
        _from_host("host-resolv", "/etc/resolv.conf", "/tmp/host-resolv.conf"),  # noqa: S108 - the original's place
        _from_host(
            "host-nm-resolv",
            "/var/run/NetworkManager/resolv.conf",
            "/tmp/var-run-resolv.conf",  # noqa: S108 - the original's place
        ),
    ]
    if job.ca_path:
        found.append(_from_host("service-ca", job.ca_path, job.ca_path))
    if job.is_single_node:
        found.append(_from_host("bootstrap-secrets", BOOTSTRAP_SECRETS, "/tmp/bootstrap-secrets"))  # noqa: S108 - same
    return found


def _from_host(name: str, path: str, inside: str) -> tuple[Document, Document]:
    return {"name": name, "hostPath": {"path": path}}, _mount(name, inside)


def _mount(name: str, path: str) -> Document:
    return {"name": name, "mountPath": path, "readOnly": True}


def _word(truth: bool) -> str:
    return "true" if truth else "false"
