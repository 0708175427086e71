"""Everything the controller does for a cluster of bare metal, and that its account can do exactly that."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.install.controller_rights import CLUSTER_RULES, FOREIGN_RULES, OWN_RULES
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.machines import Machine, Plan
from lab.cluster import audit
from lab.cluster.api import Api, Json, Refusal, wait_for
from lab.cluster.audit import Act
from lab.cluster.bootkube import ControlPlane
from lab.cluster.kubelet import Kubelet
from lab.cluster.objects import OLM, account_token, definition, place, put_operator, put_router_certificate
from tests.lab.cluster import furniture
from tests.lab.cluster.clusters import NAME, SPACE, furnished, join_all, joiners, running_controller, status_is
from tests.lab.cluster.fleets import reboot_all
from tests.lab.cluster.test_installation import job_for
from tests.lab.cluster.test_operators import put_csv
from tests.services import RunningService

pytestmark = pytest.mark.anyio
OPERATOR = "lso"
VOLUMES = ("local.storage.openshift.io", "v1alpha1", "LocalVolumeSet", "localvolumesets", "Namespaced")
MARKETPLACE = "openshift-marketplace"
LINE = 'I0102 03:04:05.6 1 api.go:109] Pool worker requested by address:"{}:38120" User-Agent:"Ignition/2.14.0"\n'

EDGE = """
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: edge}
spec:
  machineConfigSelector:
    matchExpressions: [{key: machineconfiguration.openshift.io/role, operator: In, values: [worker, edge]}]
  nodeSelector: {matchLabels: {example.com/site: north-3}}
"""

BY_OTHER_WAYS = {
    # The API server asks for them inside another request: who approves for a signer, who makes a new object by apply.
    Act("", "certificates.k8s.io", "signers", "approve"),
    Act(SPACE, "", "configmaps", "create"),
    # What the pod is made of.
    Act("", "security.openshift.io", "securitycontextconstraints", "use"),
    # After a failure, and without a service: test_failure.py, test_without_service.py.
    Act("", "", "events", "list"),
    Act(SPACE, "", "configmaps", "get"),
}
NOBODYS = (
    Act("", "", "secrets", "get"),
    Act("kube-system", "", "secrets", "list"),
    Act(SPACE, "", "secrets", "get"),
    Act("", "", "nodes", "delete"),
    Act("", "", "nodes/proxy", "get"),
    Act(SPACE, "", "pods", "create"),
    Act(SPACE, "", "pods/exec", "create"),
    Act("", "", "services", "delete"),
    Act("openshift-dns-operator", "", "pods", "deletecollection"),
    Act("", "", "configmaps", "list"),
    Act("kube-system", "", "configmaps", "patch"),
    Act(MARKETPLACE, "batch", "jobs", "delete"),
    Act("", "operators.coreos.com", "installplans", "delete"),
    Act("", "rbac.authorization.k8s.io", "clusterroles", "escalate"),
    Act("", "certificates.k8s.io", "certificatesigningrequests", "delete"),
    Act("", "machineconfiguration.openshift.io", "machineconfigs", "patch"),
)


def roles_and_labels(machine: Machine) -> Json:
    wish: Json = {"host_role": "master" if machine.index < 3 else "worker"}
    if machine.index in (0, 3):
        wish["node_labels"] = [{"key": "example.com/site", "value": f"north-{machine.index}"}]
    if machine.index == 3:
        wish["machine_config_pool_name"] = "edge"
    return wish


async def test_bare_metal_cluster(live: RunningService, kubectl: Path, tmp_path: Path) -> None:
    async with connect(live.url) as service:
        plan, wanted = Plan(masters=3, workers=2), [{"name": OPERATOR}]
        cluster_id, machines = await reboot_all(
            service, "whole", plan, of_host=roles_and_labels, manifest=EDGE, olm_operators=wanted
        )
        bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
        job = job_for(live, cluster_id, count=3)
        with furnished(bootstrap, tmp_path, job) as plane:
            put_everything(plane.admin)
            with (
                running_controller(plane, job, tmp_path) as controller,
                joiners(plane, machines) as nodes,
            ):
                await asyncio.to_thread(nodes[0].join)
                kubelet = Kubelet(nodes[0])
                with kubelet.running():
                    await configuring_is_seen(service, cluster_id, plane, kubelet, machines)
                    # The worker's own pool waits until its node has the label that puts it there.
                    await holds(lambda: plane.admin.get(furniture.POOL)["spec"]["paused"], what="pausing the pool")
                    await asyncio.to_thread(join_all, nodes[1:])
                    await asyncio.to_thread(nodes[0].become_ready)
                    await labels_and_pool(plane, machines)
                    await dns_is_free(plane.admin)
                    await status_is(service, cluster_id, "finalizing")
                    await bare_metal_is_settled(plane.admin)
                    await finish(service, cluster_id, plane.admin)
                    await status_is(service, cluster_id, "installed")
                    assert await asyncio.to_thread(controller.end) == 0
            said = controller.said()
            assert "Traceback" not in said
            assert "The failed plan plan-1 is removed" in said
            with_least_rights(plane, tmp_path, said)


def put_everything(admin: Api) -> None:
    """What the operators of a new cluster have made by the time the controller starts."""
    furniture.put_install_config(admin)
    furniture.put_worker_pool(admin)
    furniture.put_proxy(admin)
    furniture.put_service(admin, "early-bird", "squatter")
    furniture.put_namespace(admin, "openshift-dns-operator")
    furniture.put_namespace(admin, MARKETPLACE)
    wait_for(lambda: admin.get("/api/v1/namespaces/openshift-dns-operator/serviceaccounts/default"), what="an account")
    furniture.put_pod(admin, "openshift-dns-operator", "dns-operator")
    furniture.put_machines(admin, "worker-a", "worker-b")
    for name in ("bmh-a", "bmh-b"):
        furniture.put_bare_metal_host(admin, name)


async def holds(check: Callable[[], Any], *, what: str) -> Any:
    return await asyncio.to_thread(wait_for, check, what=what)


async def configuring_is_seen(
    service: Service, cluster_id: UUID, plane: ControlPlane, kubelet: Kubelet, machines: tuple[Machine, ...]
) -> None:
    """By the log of a machine-config server that restarted: the line is in its life before."""
    container = "machine-config-server"
    kubelet.logs[f"previous/{furniture.MCS}/mcs-1/{container}"] = LINE.format(machines[4].address)
    kubelet.logs[f"{furniture.MCS}/mcs-1/{container}"] = LINE.format("203.0.113.7")
    labels = {"k8s-app": container}
    furniture.put_pod(plane.admin, furniture.MCS, "mcs-1", node=machines[0].name, container=container, **labels)
    furniture.put_pod_status(plane.admin, furniture.MCS, "mcs-1", container=container, restarts=1, ready=True)

    async def stage() -> bool:
        hosts = {host.id: host for host in await service.cluster_hosts(cluster_id)}
        return hosts[machines[4].id].reached.current_stage == "Configuring"

    async with asyncio.timeout(60):
        while not await stage():
            await asyncio.sleep(0.2)
    assert [host.reached.current_stage for host in await service.cluster_hosts(cluster_id)].count("Configuring") == 1


async def labels_and_pool(plane: ControlPlane, machines: tuple[Machine, ...]) -> None:
    wanted = {machine.name: f"north-{machine.index}" for machine in machines if machine.index in (0, 3)}

    def labelled() -> bool:
        nodes = [one["metadata"] for one in plane.admin.get("/api/v1/nodes")["items"]]
        found = {one["name"]: one.get("labels", {}).get("example.com/site") for one in nodes}
        return {name: value for name, value in found.items() if value} == wanted

    await holds(labelled, what="labelling")
    await holds(lambda: not plane.admin.get(furniture.POOL)["spec"]["paused"], what="the pool going on")


async def dns_is_free(admin: Api) -> None:
    def gone() -> bool:
        services = admin.get("/api/v1/services")["items"]
        pods = admin.get("/api/v1/namespaces/openshift-dns-operator/pods")["items"]
        return not any(one["metadata"]["name"] == "squatter" for one in services) and not pods

    await holds(gone, what="freeing the address of the DNS")
    furniture.put_service(admin, "openshift-dns", "dns-default")


async def bare_metal_is_settled(admin: Api) -> None:
    def settled(name: str) -> Json | None:
        host = furniture.bare_metal_host(admin, name)
        return host if furniture.STATUS not in host["metadata"].get("annotations", {}) else None

    found = [await holds(lambda name=name: settled(name), what=f"settling {name}") for name in ("bmh-a", "bmh-b")]
    assert [host["status"]["hardware"]["hostname"] for host in found] == ["bmh-a", "bmh-b"]
    assert all(host["status"]["poweredOn"] and host["status"]["lastUpdated"] for host in found)
    assert {host["spec"]["consumerRef"]["name"] for host in found} == {"worker-a", "worker-b"}
    # With an operator that provisions, hosts are told that they run already; this one has no Machine left.
    furniture.put_provisioning(admin)
    furniture.put_bare_metal_host(admin, "bmh-late")
    late = await holds(
        lambda: furniture.bare_metal_host(admin, "bmh-late")["spec"].get("externallyProvisioned"), what="bmh-late"
    )
    assert late is True
    assert furniture.PAUSED not in furniture.bare_metal_host(admin, "bmh-late")["metadata"].get("annotations", {})
    assert "consumerRef" not in furniture.bare_metal_host(admin, "bmh-late")["spec"]


async def finish(service: Service, cluster_id: UUID, admin: Api) -> None:
    """One operator is degraded at first, OLM has leftovers of a catalogue that was late, and the router comes last."""
    put_operator(admin, "version", Available=True)
    put_operator(admin, "console", Available=False, Degraded=True)
    path = f"/v2/clusters/{cluster_id}/monitored-operators"

    async def operator(name: str) -> Json:
        return next(one for one in json.loads(await service.ask("GET", path)) if one["name"] == name)

    async with asyncio.timeout(60):
        while (await operator("console")).get("status") != "failed":
            await asyncio.sleep(0.2)
    assert (await operator("console"))["status_info"] == "console: Degraded is True"
    listed = await operator(OPERATOR)
    furniture.put_failed_job(admin, MARKETPLACE, "unpack")
    plans = put_failed_plan(admin, listed)
    put_operator(admin, "console", Available=True)
    put_router_certificate(admin, ingress_certificate(str(cluster_id)))
    await holds(lambda: not admin.get(plans)["items"], what="removing the failed plan")
    jobs = f"/apis/batch/v1/namespaces/{MARKETPLACE}/jobs"
    await holds(lambda: not admin.get(jobs)["items"], what="removing the failed job")
    place(admin, definition(*VOLUMES))
    put_csv(admin, listed, phase="Succeeded", message="")


def put_failed_plan(admin: Api, operator: Json) -> str:
    """A subscription whose plan failed; where its plans are."""
    space, name = operator["namespace"], operator["subscription_name"]
    furniture.put_namespace(admin, space)
    version = "operators.coreos.com/v1alpha1"
    root = f"{OLM}/namespaces/{space}"
    subscription = admin.create(f"{root}/subscriptions", furniture.an_object(version, "Subscription", name, spec={}))
    owner = {"apiVersion": version, "kind": "Subscription", "name": name, "uid": subscription["metadata"]["uid"]}
    plan = furniture.an_object(version, "InstallPlan", "plan-1", metadata={"ownerReferences": [owner]})
    admin.create(f"{root}/installplans", plan)
    admin.patch(f"{root}/installplans/plan-1/status", {"status": {"phase": "Failed"}})
    return f"{root}/installplans"


def with_least_rights(plane: ControlPlane, folder: Path, said: str) -> None:
    """Nothing was refused, everything that is granted was needed, and what would be handy for others is not granted."""
    done = audit.acts(folder)
    assert {act for act, codes in done.items() if 403 in codes} == set()
    assert "forbidden" not in said
    spaces = {SPACE: list(OWN_RULES), **{space: list(rules) for space, rules in FOREIGN_RULES}}
    given = audit.granted(list(CLUSTER_RULES), spaces)
    used = {act for act, codes in done.items() if min(codes) < 400}
    # Cluster-wide rules are used in some namespace or in none.
    everywhere = {act._replace(namespace="") for act in used}
    unused = {act for act in given if act not in (used if act.namespace else everywhere)}
    assert unused == BY_OTHER_WAYS
    account = plane.with_token(account_token(plane.admin, NAME, namespace=SPACE))
    try:
        assert [act for act in NOBODYS if may(account, act)] == []
    finally:
        account.close()


def may(account: Api, act: Act) -> bool:
    resource, _, part = act.resource.partition("/")
    attributes = {"namespace": act.namespace, "group": act.group, "resource": resource, "verb": act.verb}
    review: Json = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {**attributes, "subresource": part}},
    }
    try:
        return bool(
            account.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)["status"]["allowed"]
        )
    except Refusal as refusal:
        raise AssertionError(f"{act} could not be reviewed") from refusal
