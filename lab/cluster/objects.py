"""What the laboratory's cluster needs besides its control plane: kinds of OpenShift, namespaces, and operators by hand.

The kinds are minimal schemas of our own; they take whatever fields are written.
"""

from typing import Final

from lab.cluster.api import Api, Json, Refusal, wait_for

KINDS: Final = (
    ("config.openshift.io", "v1", "ClusterOperator", "clusteroperators", "Cluster"),
    ("config.openshift.io", "v1", "ClusterVersion", "clusterversions", "Cluster"),
    ("config.openshift.io", "v1", "Proxy", "proxies", "Cluster"),
    ("operators.coreos.com", "v1alpha1", "Subscription", "subscriptions", "Namespaced"),
    ("operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions", "Namespaced"),
    ("operators.coreos.com", "v1alpha1", "InstallPlan", "installplans", "Namespaced"),
    ("machine.openshift.io", "v1beta1", "Machine", "machines", "Namespaced"),
    ("metal3.io", "v1alpha1", "BareMetalHost", "baremetalhosts", "Namespaced"),
    ("metal3.io", "v1alpha1", "Provisioning", "provisionings", "Cluster"),
    ("machineconfiguration.openshift.io", "v1", "MachineConfigPool", "machineconfigpools", "Cluster"),
)
NAMESPACES: Final = (
    "assisted-installer",
    "openshift-config",
    "openshift-config-managed",
    "openshift-machine-api",
    "openshift-machine-config-operator",
)
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG: Final = "/apis/config.openshift.io/v1"
OLM: Final = "/apis/operators.coreos.com/v1alpha1"
BOOTSTRAPPER: Final = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"


def definition(group: str, version: str, kind: str, plural: str, scope: str) -> Json:
    open_object: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema: Json = {"type": "object", "properties": {"spec": open_object, "status": open_object}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


def furnish(admin: Api) -> None:
    """Kinds, namespaces, and the right of machines without a name to ask for one."""
    for kind in KINDS:
        document = definition(*kind)
        admin.apply(f"{DEFINITIONS}/{document['metadata']['name']}", document)
    for name in NAMESPACES:
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        admin.apply(f"/api/v1/namespaces/{name}", document)
    binding: Json = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "node-bootstrapper"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": BOOTSTRAPPER}],
    }
    admin.apply("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/node-bootstrapper", binding)
    wait_for(lambda: admin.get(f"{CONFIG}/clusteroperators"), what="the kinds of OpenShift")
    wait_for(lambda: admin.get(f"{OLM}/subscriptions"), what="the kinds of OLM")


def place(admin: Api, document: Json) -> None:
    """Apply an object of any kind, where the API server says that kind lives."""
    version = str(document["apiVersion"])
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    found = next(
        one for one in admin.get(root)["resources"] if one["kind"] == document["kind"] and "/" not in one["name"]
    )
    metadata = document["metadata"]
    space = f"/namespaces/{metadata['namespace']}" if found["namespaced"] else ""
    admin.apply(f"{root}{space}/{found['name']}/{metadata['name']}", document)


def put_status(admin: Api, path: str, *, api_version: str, kind: str, status: Json, **spec: object) -> None:
    """Make the object if it is missing, and write its status."""
    collection, _, name = path.rpartition("/")
    try:
        document: Json = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}
        admin.create(collection, {**document, "spec": spec})
    except Refusal as refusal:
        if refusal.status != 409:
            raise
    admin.patch(f"{path}/status", {"status": status})


def put_operator(admin: Api, name: str, **conditions: bool) -> None:
    """A ClusterOperator (or, as `version`, the ClusterVersion) with these conditions."""
    listed = [
        {"type": kind, "status": str(holds), "message": f"{name}: {kind} is {holds}"}
        for kind, holds in conditions.items()
    ]
    is_version = name == "version"
    kind, plural = ("ClusterVersion", "clusterversions") if is_version else ("ClusterOperator", "clusteroperators")
    status: Json = {"conditions": listed, "versions": [{"name": "operator", "version": "4.18.4"}]}
    put_status(admin, f"{CONFIG}/{plural}/{name}", api_version="config.openshift.io/v1", kind=kind, status=status)


def put_router_certificate(admin: Api, bundle: str) -> None:
    document: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "default-ingress-cert", "namespace": "openshift-config-managed"},
        "data": {"ca-bundle.crt": bundle},
    }
    place(admin, document)


def account_token(admin: Api, name: str, *, namespace: str) -> str:
    """A token of a service account, as its pods get it."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    request: Json = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(admin.create(path, request)["status"]["token"])
