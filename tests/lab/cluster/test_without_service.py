"""The agent-based installer's clusters, whose service goes away, and our controller under the original's role."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from firstlight.core.install.controller_rights import OPERATORS_CONFIG_MAP
from firstlight.simulate.calls import connect
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.machines import Plan
from lab.cluster import audit
from lab.cluster.api import Api, Json, wait_for
from lab.cluster.audit import Act
from lab.cluster.bootkube import ControlPlane
from lab.cluster.objects import definition, place, put_operator, put_router_certificate
from tests.lab.cluster import furniture
from tests.lab.cluster.clusters import (
    NAME,
    SPACE,
    ControllerProcess,
    furnished,
    join_all,
    joiners,
    running_controller,
    status_is,
)
from tests.lab.cluster.fleets import reboot_all
from tests.lab.cluster.test_installation import job_for
from tests.lab.cluster.test_operators import CLUSTERS, put_csv
from tests.services import RunningService, run_service

pytestmark = pytest.mark.anyio


def put_operators(plane: ControlPlane) -> Json:
    """The ConfigMap as our service wrote it among the manifests of this cluster; the operator it is about."""
    files = [*(plane.home / "manifests").glob("*.yaml"), *(plane.home / "openshift").glob("*.yaml")]
    documents: list[Any] = [one for file in files for one in yaml.safe_load_all(file.read_text()) if one]
    found = next(one for one in documents if one["metadata"]["name"] == OPERATORS_CONFIG_MAP)
    place(plane.admin, found)
    about = json.loads(found["data"]["lvm.metadata.yaml"])
    return {"namespace": about["namespace"], "subscription_name": about["subscriptionName"]}


def lvm_clusters(admin: Api) -> list[Json]:
    return admin.get("/apis/lvm.topolvm.io/v1alpha1/lvmclusters")["items"]


async def operator_comes(admin: Api, operator: Json) -> None:
    """Its subscription is fulfilled, then its kind is there, and then its objects."""
    await asyncio.to_thread(put_csv, admin, operator, phase="Succeeded", message="")
    place(admin, definition(*CLUSTERS))
    await asyncio.to_thread(wait_for, lambda: lvm_clusters(admin), what="the operator's objects")


async def ended(controller: ControllerProcess) -> str:
    assert await asyncio.to_thread(controller.end) == 0
    said = controller.said()
    assert "Traceback" not in said
    return said


async def test_a_single_node_never_asks_a_service(live: RunningService, kubectl: Path, tmp_path: Path) -> None:
    async with connect(live.url) as service:
        wanted = [{"name": "lvm"}]
        cluster_id, _ = await reboot_all(service, "agent-alone", Plan(masters=1), olm_operators=wanted)
        bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
    job = msgspec.structs.replace(job_for(live, cluster_id, count=1), service_url="http://127.0.0.1:1")
    with furnished(bootstrap, tmp_path, job) as plane:
        furniture.put_install_config(plane.admin, invoker="agent-installer")
        operator = put_operators(plane)
        # As the job mounts it on a single node: the account of the bootstrap, which may do everything.
        secrets = tmp_path / "tmp/bootstrap-secrets"
        secrets.mkdir(parents=True)
        (secrets / "kubeconfig").write_text(plane.kubeconfig("admin-kubeconfig-client"))
        with running_controller(plane, job, tmp_path) as controller:
            put_operator(plane.admin, "version", Available=False, Progressing=True)
            await operator_comes(plane.admin, operator)
            assert controller.process.poll() is None
            put_operator(plane.admin, "version", Available=True)
            said = await ended(controller)
    assert "service" not in said


async def test_the_service_goes_and_so_does_the_controller_for_a_moment(kubectl: Path, tmp_path: Path) -> None:
    with run_service(tmp_path, FIRSTLIGHT_POLL_SECONDS="5") as live:
        async with connect(live.url) as service:
            wanted = [{"name": "lvm"}]
            cluster_id, machines = await reboot_all(service, "agent-three", Plan(masters=3), olm_operators=wanted)
            bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
        job = job_for(live, cluster_id, count=3)
        label = {"node-role.kubernetes.io/master": ""}
        with furnished(bootstrap, tmp_path, job) as plane, joiners(plane, machines) as nodes:
            furniture.put_install_config(plane.admin, invoker="agent-installer")
            ready = f"/api/v1/namespaces/{SPACE}/events/AssistedControllerIsReady"
            with running_controller(plane, job, tmp_path):
                await asyncio.to_thread(wait_for, lambda: plane.admin.get(ready), what="the controller's readiness")
                os.kill(live.pid, signal.SIGKILL)
                operator = put_operators(plane)
                await asyncio.to_thread(join_all, nodes[:2])
                await operator_comes(plane.admin, operator)
            # A new life, which cannot ask anybody who the third host is.
            with running_controller(plane, job, tmp_path) as controller:
                put_operator(plane.admin, "version", Available=True)
                for node in nodes[:2]:
                    plane.admin.patch(f"/api/v1/nodes/{node.name}", {"metadata": {"labels": label}})
                await asyncio.to_thread(join_all, nodes[2:])
                assert controller.process.poll() is None
                plane.admin.patch(f"/api/v1/nodes/{nodes[2].name}", {"metadata": {"labels": label}})
                said = await ended(controller)
            assert "The service has gone already" in said
            done = audit.acts(tmp_path)
            refused = {act for act, codes in done.items() if 403 in codes}
            assert refused == set()
            assert 200 in done[Act(SPACE, "", "configmaps", "get")]


async def test_under_the_role_that_the_originals_installer_makes(
    live: RunningService, kubectl: Path, tmp_path: Path
) -> None:
    """It may not watch everything nor leave a lasting sign: we look more often instead, and all ends well."""
    async with connect(live.url) as service:
        cluster_id, machines = await reboot_all(service, "foreign", Plan(masters=1))
        bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
        job, router = job_for(live, cluster_id, count=1), ingress_certificate(str(cluster_id))
        with furnished(bootstrap, tmp_path, job) as plane:
            as_the_original_grants(plane.admin)
            with running_controller(plane, job, tmp_path) as controller, joiners(plane, machines) as nodes:
                put_router_certificate(plane.admin, router)
                await asyncio.to_thread(join_all, nodes)
                await status_is(service, cluster_id, "finalizing")
                put_operator(plane.admin, "console", Available=True)
                put_operator(plane.admin, "version", Available=True)
                await status_is(service, cluster_id, "installed", seconds=90)
                said = await ended(controller)
            assert "Only the Event says that the controller is ready" in said
            assert 403 in audit.acts(tmp_path)[Act("", "config.openshift.io", "clusterversions", "watch")]


def as_the_original_grants(admin: Api) -> None:
    """What of its rights ours needs; it has no Roles in namespaces, and some kinds may only be listed."""

    def rule(group: str, resources: tuple[str, ...], *verbs: str, **names: list[str]) -> Json:
        return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs), **names}

    look = ("get", "list", "watch")
    signers = ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"]
    rules = [
        rule("", ("pods", "configmaps", "pods/log"), *look),
        rule("", ("nodes",), *look, "patch"),
        rule("", ("events",), "create"),
        rule("", ("services",), "list", "delete"),
        rule("certificates.k8s.io", ("certificatesigningrequests",), *look),
        rule("certificates.k8s.io", ("certificatesigningrequests/approval",), "update"),
        rule("certificates.k8s.io", ("signers",), "approve", resourceNames=signers),
        rule("config.openshift.io", ("clusteroperators",), *look),
        rule("config.openshift.io", ("proxies", "clusterversions"), "get", "list"),
        rule("metal3.io", ("baremetalhosts",), *look, "update", "patch"),
        rule("machine.openshift.io", ("machines",), *look),
        rule("operators.coreos.com", ("clusterserviceversions", "subscriptions"), "get", "list"),
    ]
    role = "/apis/rbac.authorization.k8s.io/v1"
    admin.patch(f"{role}/clusterroles/{NAME}", {"rules": rules})
    for one in admin.get(f"{role}/rolebindings")["items"]:
        if one["metadata"]["name"] == NAME:
            admin.ask("DELETE", f"{role}/namespaces/{one['metadata']['namespace']}/rolebindings/{NAME}")
