"""Objects that operators of a real cluster would have made, and what the controller should make of them."""

import json
from typing import Any

from lab.cluster.api import Api, Json
from lab.cluster.objects import place

MACHINES = "openshift-machine-api"
MCS = "openshift-machine-config-operator"
BARE_METAL = f"/apis/metal3.io/v1alpha1/namespaces/{MACHINES}/baremetalhosts"
POOL = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker"
STATUS = "baremetalhost.metal3.io/status"
PAUSED = "baremetalhost.metal3.io/paused"
INSTALL_CONFIG = "networking:\n  serviceNetwork:\n  - 172.30.0.0/16\nplatform:\n  baremetal: {}\n"
DNS_ADDRESS = "172.30.0.10"


def an_object(
    api_version: str, kind: str, name: str, *, space: str = "", metadata: Json | None = None, **parts: Any
) -> Json:
    located: Json = {"namespace": space} if space else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **located, **(metadata or {})}, **parts}


def put_namespace(admin: Api, name: str) -> None:
    place(admin, an_object("v1", "Namespace", name))


def put_worker_pool(admin: Api) -> None:
    pool = an_object("machineconfiguration.openshift.io/v1", "MachineConfigPool", "worker", spec={"paused": False})
    place(admin, pool)


def put_machines(admin: Api, *names: str) -> None:
    labels = {"machine.openshift.io/cluster-api-machine-role": "worker"}
    for name in names:
        place(
            admin,
            an_object(
                "machine.openshift.io/v1beta1", "Machine", name, space=MACHINES, metadata={"labels": labels}, spec={}
            ),
        )


def put_bare_metal_host(admin: Api, name: str) -> None:
    """As our own manifests make it: paused, with its status waiting in an annotation."""
    status = {"poweredOn": True, "hardware": {"hostname": name}}
    annotations = {STATUS: json.dumps(status), PAUSED: ""}
    place(
        admin,
        an_object(
            "metal3.io/v1alpha1", "BareMetalHost", name, space=MACHINES, metadata={"annotations": annotations}, spec={}
        ),
    )


def put_provisioning(admin: Api) -> None:
    place(admin, an_object("metal3.io/v1alpha1", "Provisioning", "provisioning-configuration", spec={}))


def bare_metal_host(admin: Api, name: str) -> Json:
    return admin.get(f"{BARE_METAL}/{name}")


def put_install_config(admin: Api, *, invoker: str = "assisted-installer") -> None:
    place(
        admin,
        an_object("v1", "ConfigMap", "cluster-config-v1", space="kube-system", data={"install-config": INSTALL_CONFIG}),
    )
    origin = {"invoker": invoker, "version": "4.18.4"}
    place(admin, an_object("v1", "ConfigMap", "openshift-install-manifests", space="openshift-config", data=origin))


def put_proxy(admin: Api) -> None:
    """As the cluster keeps it: nothing goes through a proxy, least of all what is near."""
    config = "/apis/config.openshift.io/v1/proxies"
    admin.create(config, an_object("config.openshift.io/v1", "Proxy", "cluster", spec={}))
    admin.patch(f"{config}/cluster/status", {"status": {"noProxy": ".svc,127.0.0.1"}})


def put_service(admin: Api, space: str, name: str) -> None:
    """With the address that the cluster's DNS needs."""
    put_namespace(admin, space)
    spec: Json = {"clusterIP": DNS_ADDRESS, "ports": [{"port": 53, "protocol": "UDP"}]}
    place(admin, an_object("v1", "Service", name, space=space, spec=spec))


def put_pod(admin: Api, space: str, name: str, *, node: str = "", container: str = "main", **labels: str) -> None:
    spec: Json = {"containers": [{"name": container, "image": "registry.example.com/image:1"}]}
    if node:
        spec["nodeName"] = node
    pod = an_object("v1", "Pod", name, space=space, metadata={"labels": labels}, spec=spec)
    admin.create(f"/api/v1/namespaces/{space}/pods", pod)


def put_pod_status(admin: Api, space: str, name: str, *, container: str, restarts: int, ready: bool) -> None:
    listed = [{"name": container, "restartCount": restarts, "ready": ready, "image": "i", "imageID": "i", "state": {}}]
    status: Json = {"phase": "Running", "containerStatuses": listed}
    admin.patch(f"/api/v1/namespaces/{space}/pods/{name}/status", {"status": status})


def put_failed_job(admin: Api, space: str, name: str) -> None:
    """As OLM's unpacking leaves behind when its catalogue was not there yet."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}
    admin.create(
        f"/apis/batch/v1/namespaces/{space}/jobs",
        an_object("batch/v1", "Job", name, space=space, spec={"template": template}),
    )
    now = "2026-01-02T03:04:05Z"
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in ("FailureTarget", "Failed")]
    status: Json = {"startTime": now, "failed": 1, "conditions": conditions}
    admin.patch(f"/apis/batch/v1/namespaces/{space}/jobs/{name}/status", {"status": status})
