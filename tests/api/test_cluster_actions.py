"""Installing, cancelling, resetting, growing; and what controllers report."""

import json
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState, Operator, Platform
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, OperatorKind, PlatformType
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.usecases.object_names import logs_object, manifest_object, object_name
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, event_names, ready_cluster, reason
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID

pytestmark = pytest.mark.anyio

CLUSTER = f"/clusters/{CLUSTER_ID}"
C, S = ClusterStatus, HostStatus


def at(status: ClusterStatus, hosts: HostStatus, **changes: Any) -> ClusterState:
    """Three masters somewhere on the way."""
    states = [host_state(number, status=hosts, role=HostRole.MASTER, bootstrap=number == 3) for number in (1, 2, 3)]
    return cluster_state(hosts=states, status=status, **changes)


# --- install


async def test_install(call: Client, world: World) -> None:
    await ready_cluster(world)
    await world.blobs.put(logs_object(CLUSTER_ID, "controller"), b"old")
    answer = await call("POST", f"{CLUSTER}/actions/install", {})
    cluster = answer.json()
    assert answer.status == 202
    assert cluster["status"] == "preparing-for-installation"
    assert {host["role"] for host in cluster["hosts"]} == {"master"}
    assert [host.get("bootstrap", False) for host in cluster["hosts"]].count(True) == 1
    assert {host["status"] for host in cluster["hosts"]} == {"preparing-for-installation"}
    (operation,) = await world.store.operations(cluster_subject(CLUSTER_ID))
    assert (operation.kind, operation.state) == ("prepare-installation", "waiting")
    assert await world.blobs.list_under(str(CLUSTER_ID)) == []
    assert "host_bootstrap_set" in await event_names(world, CLUSTER_ID)


async def test_installing_twice(call: Client, world: World) -> None:
    await ready_cluster(world)
    assert (await call("POST", f"{CLUSTER}/actions/install")).status == 202
    told = reason(await call("POST", f"{CLUSTER}/actions/install"), 409)
    assert told.startswith("Cluster is not ready for installation")


async def test_a_cluster_that_is_not_ready(call: Client, world: World) -> None:
    await ready_cluster(world, api_vips=(), ingress_vips=())
    told = reason(await call("POST", f"{CLUSTER}/actions/install"), 409)
    assert told.startswith("Cluster is not ready for installation")
    assert "User input is required" in told
    details = json.loads(told.partition("validation_info=")[2])
    assert "api-vips-defined" in {check["id"] for check in details["network"]}
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert {host.host.role for host in state.hosts} == {HostRole.AUTO_ASSIGN}, "a refused install changes nothing"


async def test_a_host_that_is_not_ready(call: Client, world: World) -> None:
    hosts = [host_state(number, peers=(1, 2, 3)) for number in (1, 2, 3)]
    hosts[2] = replace(hosts[2], host=replace(hosts[2].host, status=HostStatus.BINDING))
    await ready_cluster(world, hosts=hosts)
    told = reason(await call("POST", f"{CLUSTER}/actions/install"), 400)
    assert "Host host-3 is in status binding and not ready for install" in told


async def test_day_two_clusters_are_not_installed(call: Client, world: World) -> None:
    await ready_cluster(world, hosts=(), kind=ClusterKind.ADD_HOSTS, status=C.ADDING_HOSTS)
    assert "adding-hosts" in reason(await call("POST", f"{CLUSTER}/actions/install"), 409)


# --- cancel and reset


@pytest.mark.parametrize(
    ("status", "hosts", "result"),
    [
        (C.INSTALLING, S.INSTALLING_IN_PROGRESS, "cancelled"),
        (C.INSTALLING_PENDING_USER_ACTION, S.INSTALLING_PENDING_USER_ACTION, "cancelled"),
        (C.ERROR, S.ERROR, "cancelled"),
        (C.FINALIZING, S.INSTALLED, "cancelled"),
        (C.PREPARING_FOR_INSTALLATION, S.PREPARING_FOR_INSTALLATION, "ready"),
    ],
)
async def test_cancel(call: Client, world: World, status: ClusterStatus, hosts: HostStatus, result: str) -> None:
    await ready_cluster(world, at(status, hosts))
    answer = await call("POST", f"{CLUSTER}/actions/cancel", {})
    assert (answer.status, answer.json()["status"]) == (202, result)
    assert "cluster_installation_canceled" in await event_names(world, CLUSTER_ID)


@pytest.mark.parametrize(
    ("status", "hosts"),
    [
        (C.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL),
        (C.INSTALLING, S.INSTALLING_IN_PROGRESS),
        (C.INSTALLING_PENDING_USER_ACTION, S.INSTALLING_PENDING_USER_ACTION),
        (C.ERROR, S.ERROR),
        (C.CANCELLED, S.CANCELLED),
        (C.FINALIZING, S.INSTALLED),
    ],
)
async def test_reset(call: Client, world: World, status: ClusterStatus, hosts: HostStatus) -> None:
    await ready_cluster(world, at(status, hosts, openshift_cluster_id=UNKNOWN))
    kept = {manifest_object(CLUSTER_ID, "manifests", "mine.yaml"), logs_object(CLUSTER_ID, "controller")}
    for key in (*kept, object_name(CLUSTER_ID, "kubeconfig"), object_name(CLUSTER_ID, "bootstrap.ign")):
        await world.blobs.put(key, b"x")
    answer = await call("POST", f"{CLUSTER}/actions/reset", {})
    cluster = answer.json()
    assert (answer.status, cluster["status"]) == (202, "insufficient")
    assert {host["status"] for host in cluster["hosts"]} == {"resetting-pending-user-action"}
    assert "openshift_cluster_id" not in cluster
    assert {blob.key for blob in await world.blobs.list_under(str(CLUSTER_ID))} == kept
    assert "cluster_installation_reset" in await event_names(world, CLUSTER_ID)


@pytest.mark.parametrize("action", ["cancel", "reset"])
@pytest.mark.parametrize("status", [C.READY, C.INSTALLED, C.ADDING_HOSTS])
async def test_states_without_an_installation(call: Client, world: World, action: str, status: ClusterStatus) -> None:
    await ready_cluster(world, hosts=(), status=status)
    assert str(status) in reason(await call("POST", f"{CLUSTER}/actions/{action}"), 409)
    assert f"{action}_installation_failed" in await event_names(world, CLUSTER_ID)


# --- day 2


@pytest.mark.parametrize("action", ["allow-add-hosts", "allow-add-workers"])
async def test_an_installed_cluster_may_grow(call: Client, world: World, action: str) -> None:
    await ready_cluster(world, at(C.INSTALLED, S.INSTALLED))
    answer = await call("POST", f"{CLUSTER}/actions/{action}", {})
    cluster = answer.json()
    assert answer.status == 202
    assert (cluster["kind"], cluster["status"]) == ("AddHostsCluster", "adding-hosts")
    assert cluster["api_vip_dns_name"] == "192.0.2.5"
    assert len(cluster["hosts"]) == 3
    assert "only an installed cluster" in reason(await call("POST", f"{CLUSTER}/actions/{action}"), 400)


async def test_where_the_user_keeps_the_network_the_name_counts(call: Client, world: World) -> None:
    own = at(C.INSTALLED, S.INSTALLED, user_managed_networking=True, platform=Platform(type=PlatformType.NONE))
    await ready_cluster(world, own)
    cluster = (await call("POST", f"{CLUSTER}/actions/allow-add-hosts")).json()
    assert cluster["api_vip_dns_name"] == "api.east.example.com"


# --- the controller


async def test_completion_changes_nothing_but_tells_failed_operators(call: Client, world: World) -> None:
    await ready_cluster(world, at(C.FINALIZING, S.INSTALLED))
    path = f"{CLUSTER}/actions/complete-installation"
    answer = await call("POST", path, {"is_success": True, "error_info": ""})
    assert (answer.status, answer.json()["status"]) == (202, "finalizing")
    assert "cluster_operator_report" not in await event_names(world, CLUSTER_ID)
    report = [{"name": "console", "status": "failed", "status_info": "no route"}]
    body = {"is_success": False, "error_info": "x", "data": {"CLUSTER_OPERATORS_REPORT": report}}
    assert (await call("POST", path, body)).json()["status"] == "finalizing"
    events = await world.store.events_after(0, limit=100, cluster_id=CLUSTER_ID)
    (told,) = (event for event in events if event.name == "cluster_operator_report")
    assert "console failed no route" in told.message


async def test_finalizing_stages(call: Client, world: World) -> None:
    await ready_cluster(world, at(C.FINALIZING, S.INSTALLED))
    path = f"{CLUSTER}/progress"
    answer = await call("PUT", path, {"finalizing_stage": "Adding router ca"})
    assert (answer.status, answer.body) == (200, b"")
    progress = (await call("GET", CLUSTER)).json()["progress"]
    assert progress["finalizing_stage"] == "Adding router ca"
    assert (await call("PUT", path, {"finalizing_stage": "Resting"})).status == 400
    assert reason(await call("PUT", path, {}), 400)


async def test_finalizing_stages_outside_an_installation(call: Client, world: World) -> None:
    await ready_cluster(world)
    assert reason(await call("PUT", f"{CLUSTER}/progress", {"finalizing_stage": "Done"}), 400)


async def test_logs_progress(call: Client, world: World) -> None:
    await ready_cluster(world, at(C.ERROR, S.ERROR))
    assert (await call("PUT", f"{CLUSTER}/logs-progress", {"logs_state": "requested"})).status == 204
    cluster = (await call("GET", CLUSTER)).json()
    assert cluster["logs_info"] == "requested"
    assert not cluster["controller_logs_started_at"].startswith("0001")
    assert (await call("PUT", f"{CLUSTER}/logs-progress", {"logs_state": "lost"})).status == 400


async def test_operators(call: Client, world: World) -> None:
    operators = (
        Operator(name="console", kind=OperatorKind.BUILTIN),
        Operator(name="lvm", kind=OperatorKind.OLM, namespace="openshift-storage"),
    )
    await ready_cluster(world, at(C.FINALIZING, S.INSTALLED, operators=operators))
    path = f"{CLUSTER}/monitored-operators"
    assert [operator["name"] for operator in (await call("GET", path)).json()] == ["console", "lvm"]
    (lvm,) = (await call("GET", path, query="operator_name=lvm")).json()
    assert lvm["bundles"] == ["openshift-ai"]
    report = {"name": "lvm", "status": "available", "status_info": "up", "version": "4.18.1"}
    answer = await call("PUT", path, report)
    assert (answer.status, answer.body) == (200, b"")
    (lvm,) = (await call("GET", path, query="operator_name=lvm")).json()
    assert (lvm["status"], lvm["status_info"], lvm["version"]) == ("available", "up", "4.18.1")
    assert "cluster_operator_status" in await event_names(world, CLUSTER_ID)
    assert (await call("GET", CLUSTER)).json()["progress"]["finalizing_stage_percentage"] == 50
    assert reason(await call("GET", path, query="operator_name=odf"), 404)
    assert reason(await call("PUT", path, report | {"name": "odf"}), 404)
    assert reason(await call("PUT", path, {"name": "lvm"}), 400)
    assert (await call("PUT", path, report | {"status": "tired"})).status == 400


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/actions/install", None),
        ("POST", "/actions/cancel", None),
        ("POST", "/actions/reset", None),
        ("POST", "/actions/allow-add-hosts", None),
        ("POST", "/actions/allow-add-workers", None),
        ("POST", "/actions/complete-installation", {"is_success": True}),
        ("PUT", "/progress", {"finalizing_stage": "Done"}),
        ("PUT", "/logs-progress", {"logs_state": "requested"}),
        ("GET", "/monitored-operators", None),
        ("PUT", "/monitored-operators", {"name": "lvm", "status": "available"}),
    ],
)
async def test_unknown_clusters(call: Client, method: str, path: str, body: object) -> None:
    unknown: UUID = UNKNOWN
    assert str(unknown) in reason(await call(method, f"/clusters/{unknown}{path}", body), 404)
