"""Hosts over HTTP: look, change, bind, unbind, delete, report progress, install later."""

import json
from datetime import timedelta
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, PlatformType
from firstlight.core.model.host import FencingCredentials, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, Stage
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.store import PutHost, host_subject
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, ready_cluster, reason
from tests.api.machines import BIG_DISK, SMALL_DISK, Site, a_document, a_site, told
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio

S = HostStatus
THREE = tuple(host_state(number, peers=(1, 2, 3)) for number in (1, 2, 3))


@pytest.fixture
async def site(call: Client, world: World) -> Site:
    return await a_site(call, world)


async def bound(call: Client, world: World, **changes: Any) -> Site:
    """A ready cluster of three, whose first host has these changes."""
    await ready_cluster(
        world, cluster_state(hosts=(replace(THREE[0], host=replace(THREE[0].host, **changes)), *THREE[1:]))
    )
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


async def pooled(call: Client, world: World) -> Site:
    """The same cluster, but its infra-env belongs to nobody: hosts can leave."""
    state = cluster_state(hosts=THREE)
    await ready_cluster(world, replace(state, infra_envs={INFRA_ENV_ID: an_infra_env(cluster_id=None)}))
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


# --- looking


async def test_list(call: Client, world: World) -> None:
    site = await bound(call, world)
    answer = await call("GET", f"{site.path}/hosts/")
    hosts = answer.json()
    assert answer.status == 200
    assert [host["requested_hostname"] for host in hosts] == ["host-1", "host-2", "host-3"]
    assert all(host["cluster_id"] == str(CLUSTER_ID) and host["progress_stages"] for host in hosts)
    again = await call("GET", f"{site.path}/hosts", if_none_match=answer.headers["etag"])
    assert again.status == 304


async def test_a_host_looks_the_same_alone_and_in_the_list(site: Site, call: Client) -> None:
    await site.known()
    listed = (await call("GET", f"{site.path}/hosts")).json()
    assert listed == [await site.shown()]
    assert "interfaces" in json.loads(listed[0]["inventory"])


async def test_a_single_node_has_its_own_stages_everywhere(call: Client, world: World) -> None:
    host = host_state(1, peers=(1,), role=HostRole.MASTER, bootstrap=True)
    await ready_cluster(world, cluster_state(hosts=[host], control_plane_count=1))
    site = Site(call, world, {"id": str(INFRA_ENV_ID)})
    stages = (await call("GET", f"{site.path}/hosts")).json()[0]["progress_stages"]
    assert stages == (await site.shown())["progress_stages"]
    assert "Waiting for bootkube" in stages
    assert "Waiting for controller" not in stages


async def test_nobody_there(call: Client, site: Site) -> None:
    assert "no infra-env" in reason(await call("GET", f"/infra-envs/{UNKNOWN}/hosts"), 404)
    assert (await call("GET", f"{site.path}/hosts")).json() == []


@pytest.mark.parametrize(
    ("method", "action", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"host_name": "a"}),
        ("DELETE", "", None),
        ("POST", "/actions/bind", {"cluster_id": str(CLUSTER_ID)}),
        ("POST", "/actions/unbind", None),
        ("POST", "/actions/reset", None),
        ("POST", "/actions/install", None),
        ("PATCH", "/actions/reset-validation/container-images-available", None),
        ("PATCH", "/installer-args", {"args": []}),
        ("PUT", "/progress", {"current_stage": "Installing"}),
    ],
)
async def test_unknown_hosts(call: Client, site: Site, method: str, action: str, body: object) -> None:
    assert "no host" in reason(await call(method, f"{site.host()}{action}", body), 404)
    assert (await call(method, f"{site.path}/hosts/x{action}", body)).status == 400


# --- changing


async def test_everything_at_once(site: Site, call: Client, world: World, clock: SetClock) -> None:
    await site.known()
    clock.forward(timedelta(seconds=5))
    answer = await call(
        "PATCH",
        site.host(),
        {
            "host_role": "worker",
            "host_name": "node-a.example.com",
            "disks_selected_config": [{"id": "/dev/sda", "role": "install"}, {"id": SMALL_DISK, "role": "none"}],
            "disks_skip_formatting": [{"disk_id": BIG_DISK, "skip_formatting": True}],
            "machine_config_pool_name": "infra",
            "ignition_endpoint_token": "secret-word",
            "ignition_endpoint_http_headers": [{"key": "X-Site", "value": "lab"}],
            "node_labels": [{"key": "example.com/rack", "value": "7"}],
        },
    )
    host = answer.json()
    assert answer.status == 201
    assert (host["role"], host["requested_hostname"]) == ("worker", "node-a.example.com")
    assert (host["installation_disk_id"], host["installation_disk_path"]) == (BIG_DISK, "/dev/sda")
    assert (host["skip_formatting_disks"], host["disks_to_be_formatted"]) == (BIG_DISK, BIG_DISK)
    assert (host["machine_config_pool_name"], host["ignition_endpoint_token_set"]) == ("infra", True)
    assert json.loads(host["node_labels"]) == {"example.com/rack": "7"}
    assert host["updated_at"] == "2025-06-01T12:00:05.000000Z"
    assert b"secret-word" not in answer.body
    assert host == await site.shown()
    assert await world.store.secret(host_subject(site.key()), "ignition_endpoint_token") == "secret-word"
    (told_of,) = [event for event in await world.store.events_after(0, limit=100) if event.name == "host_updated"]
    assert told_of.actor == "admin"
    assert told_of.before is not None
    assert told_of.after is not None
    assert (told_of.before["role"], told_of.after["role"]) == ("auto-assign", "worker")
    assert "secret-word" not in str(told_of)


async def test_nothing_asked_is_nothing_done(site: Site, call: Client, world: World) -> None:
    await site.known()
    before, seq = await site.shown(), await world.store.last_event_seq()
    for body in ({}, {"host_role": None}, {"host_name": None}):
        answer = await call("PATCH", site.host(), body)
        assert (answer.status, answer.json()) == (201, before)
    assert await world.store.last_event_seq() == seq


async def test_the_same_again_tells_nothing(site: Site, call: Client, world: World) -> None:
    await site.known()
    await call("PATCH", site.host(), {"host_role": "worker"})
    seq = await world.store.last_event_seq()
    assert (await call("PATCH", site.host(), {"host_role": "worker"})).status == 201
    assert await world.store.last_event_seq() == seq


async def test_one_wrong_field_leaves_all_as_it_was(site: Site, call: Client) -> None:
    await site.known()
    before = await site.shown()
    answer = await call("PATCH", site.host(), {"host_role": "worker", "host_name": "localhost"})
    assert "forbidden" in reason(answer, 400)
    assert await site.shown() == before


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"host_name": "Upper"}, 400, "host name"),
        ({"host_name": ""}, 400, "host name"),
        ({"host_name": "a" * 64}, 400, "host name"),
        ({"disks_selected_config": [{"id": "/dev/sdz", "role": "install"}]}, 409, "no disk"),
        ({"disks_selected_config": [{"id": "/dev/sdb", "role": "install"}]}, 409, "too small"),
        (
            {
                "disks_selected_config": [
                    {"id": "/dev/sda", "role": "install"},
                    {"id": "/dev/sdb", "role": "install"},
                ]
            },
            409,
            "one disk",
        ),
        ({"disks_skip_formatting": [{"disk_id": "/dev/sdz", "skip_formatting": True}]}, 400, "no disk"),
        ({"node_labels": [{"key": "-", "value": ""}]}, 400, "label"),
        ({"node_labels": [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]}, 400, "twice"),
        ({"ignition_endpoint_http_headers": [{"key": "a b", "value": "1"}]}, 400, "header"),
        ({"ignition_endpoint_http_headers": [{"key": "a", "value": "1\n2"}]}, 400, "header"),
        ({"machine_config_pool_name": "a\n"}, 400, "machine config pool"),
        ({"fencing_credentials": {"address": "a", "username": "b", "password": "c"}}, 400, "fencing"),
    ],
)
async def test_wrong_values(site: Site, call: Client, body: dict[str, Any], status: int, words: str) -> None:
    await site.known()
    assert words in reason(await call("PATCH", site.host(), body), status)


@pytest.mark.parametrize(
    "body", [{"host_role": "king"}, {"host_role": "bootstrap"}, {"unknown": 1}, {"node_labels": [{"key": "a"}]}]
)
async def test_values_outside_of_the_schema(site: Site, call: Client, body: dict[str, Any]) -> None:
    await site.boot()
    answer = await call("PATCH", site.host(), body)
    assert (answer.status, answer.json()["code"]) == (400, 400)


@pytest.mark.parametrize("name", [BIG_DISK, "/dev/sda", "/dev/disk/by-path/pci-0000:00:01.0"])
async def test_a_disk_by_any_name(site: Site, call: Client, name: str) -> None:
    await site.known()
    body = {"disks_selected_config": [{"id": name, "role": "install"}]}
    answer = await call("PATCH", site.host(), body)
    assert answer.json()["installation_disk_id"] == BIG_DISK


async def test_skip_formatting_is_incremental(site: Site, call: Client) -> None:
    await site.known()

    async def keep(disk: str, *, skip: bool) -> str:
        body = {"disks_skip_formatting": [{"disk_id": disk, "skip_formatting": skip}]}
        return (await call("PATCH", site.host(), body)).json().get("skip_formatting_disks", "")

    assert await keep(BIG_DISK, skip=True) == BIG_DISK
    assert await keep(SMALL_DISK, skip=True) == f"{BIG_DISK},{SMALL_DISK}"
    assert await keep(BIG_DISK, skip=False) == SMALL_DISK


async def test_a_token_can_be_taken_back(site: Site, call: Client, world: World) -> None:
    await site.known()
    await call("PATCH", site.host(), {"ignition_endpoint_token": "word"})
    answer = await call("PATCH", site.host(), {"ignition_endpoint_token": ""})
    assert "ignition_endpoint_token_set" not in answer.json()
    assert await world.store.secret(host_subject(site.key()), "ignition_endpoint_token") is None


@pytest.mark.parametrize(
    "status",
    [
        S.PREPARING_FOR_INSTALLATION,
        S.INSTALLING,
        S.INSTALLING_IN_PROGRESS,
        S.INSTALLED,
        S.ERROR,
        S.CANCELLED,
        S.RESETTING_PENDING_USER_ACTION,
    ],
)
@pytest.mark.parametrize(
    ("action", "body"), [("", {"host_role": "worker"}), ("", {"node_labels": []}), ("/installer-args", {"args": []})]
)
async def test_too_late(call: Client, world: World, status: HostStatus, action: str, body: Any) -> None:
    site = await bound(call, world, status=status)
    assert status.value in reason(await call("PATCH", site.host() + action, body), 409)


async def test_a_role_is_dealt_with_in_the_same_answer(call: Client, world: World) -> None:
    """Three masters are needed: making one a worker leaves the cluster insufficient, at once."""
    site = await bound(call, world)
    answer = await call("PATCH", site.host(), {"host_role": "worker"})
    assert answer.json()["role"] == "worker"
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert state.cluster.status is ClusterStatus.INSUFFICIENT


async def test_a_worker_is_no_bootstrap(call: Client, world: World) -> None:
    site = await bound(call, world, bootstrap=True)
    assert "bootstrap" in (await site.shown())
    assert "bootstrap" not in (await call("PATCH", site.host(), {"host_role": "worker"})).json()


@pytest.mark.parametrize(
    ("version", "platform", "status"),
    [("4.18.3", "baremetal", 400), ("4.19.0", "baremetal", 201), ("4.21.0", "none", 400), ("4.22.0", "none", 201)],
)
async def test_arbiters_need_the_right_cluster(
    call: Client, world: World, version: str, platform: str, status: int
) -> None:
    state = cluster_state(hosts=THREE, openshift_version=version, platform=Platform(type=PlatformType(platform)))
    await ready_cluster(world, state)
    site = Site(call, world, {"id": str(INFRA_ENV_ID)})
    assert (await call("PATCH", site.host(), {"host_role": "arbiter"})).status == status


# --- installer arguments


async def test_installer_arguments(site: Site, call: Client, world: World) -> None:
    await site.known()
    args = ["--append-karg", "ip=dhcp", "-n"]
    answer = await call("PATCH", f"{site.host()}/installer-args", {"args": args})
    assert answer.status == 201
    assert json.loads(answer.json()["installer_args"]) == args
    assert "host_installer_args_applied" in await told(world, site.key()[0])
    cleared = await call("PATCH", f"{site.host()}/installer-args", {"args": []})
    assert "installer_args" not in cleared.json()


@pytest.mark.parametrize("args", [["--firstboot-args"], ["a b"], ["--append-karg", "a\nb"], [""]])
async def test_installer_arguments_that_are_not_allowed(site: Site, call: Client, args: list[str]) -> None:
    await site.known()
    assert "not allowed" in reason(await call("PATCH", f"{site.host()}/installer-args", {"args": args}), 400)


# --- measuring again


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        ("sufficient-installation-disk-speed", ReportKind.DISK_SPEEDS),
        ("container-images-available", ReportKind.IMAGES),
    ],
)
async def test_measure_again(call: Client, world: World, check: str, kind: ReportKind) -> None:
    site = await bound(call, world)
    images = {"images": [{"name": "a", "result": "failure"}]}
    speed = {"io_sync_duration": 5, "path": "/dev/sda"}
    await site.reply("container-image-availability", images)
    await site.reply("installation-disk-speed-check", speed)
    assert kind in (await site.state()).reports.measured_at
    answer = await call("PATCH", f"{site.host()}/actions/reset-validation/{check}")
    assert answer.status == 200
    assert kind not in (await site.state()).reports.measured_at


async def test_other_checks_cannot_be_measured_again(call: Client, world: World, site: Site) -> None:
    await site.boot()
    path = f"{site.host()}/actions/reset-validation"
    assert "cannot be reset" in reason(await call("PATCH", f"{path}/has-min-memory"), 400)
    assert "no cluster" in reason(await call("PATCH", f"{path}/container-images-available"), 409)


# --- bind and unbind


async def test_bind(site: Site, call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    await site.known()
    answer = await call("POST", f"{site.host()}/actions/bind", {"cluster_id": str(CLUSTER_ID)})
    host = answer.json()
    assert answer.status == 200
    assert (host["status"], host["cluster_id"]) == ("binding", str(CLUSTER_ID))
    assert (await site.shown())["cluster_id"] == str(CLUSTER_ID)
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert [one.host.id for one in state.hosts] == [host_id(1)]
    assert "host_bind_succeeded" in await told(world, site.key()[0])
    world.sessions.forget_all()
    steps = (await site.poll()).json()
    assert (steps["instructions"], steps["post_step_action"]) == ([], "exit")
    assert (await site.boot()).json()["status"] == "discovering"


async def test_a_bound_host_is_due_with_its_cluster_only(site: Site, call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    await site.known()
    await call("POST", f"{site.host()}/actions/bind", {"cluster_id": str(CLUSTER_ID)})
    far = world.clock.now() + timedelta(days=9)
    rows = await world.store.claim_due(owner="t", now=far, lease=timedelta(seconds=1), limit=100)
    assert host_subject(site.key()) not in {row.subject for row in rows}


async def test_refused_bindings(site: Site, call: Client, world: World) -> None:
    path = f"{site.host()}/actions/bind"
    await put_cluster(world, cluster_state(hosts=()))
    await site.boot()
    assert "discovering-unbound" in reason(await call("POST", path, {"cluster_id": str(CLUSTER_ID)}), 409)
    await site.known(1)
    assert "no cluster" in reason(await call("POST", path, {"cluster_id": str(UNKNOWN)}), 400)
    assert (await call("POST", path, {})).status == 400
    await call("POST", path, {"cluster_id": str(CLUSTER_ID)})
    assert "already" in reason(await call("POST", path, {"cluster_id": str(CLUSTER_ID)}), 409)
    assert (await told(world, site.key()[0])).count("host_bind_failed") == 3


async def test_a_cluster_that_installs_takes_nobody(site: Site, call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=THREE, status=ClusterStatus.INSTALLING))
    await site.known(9)
    path = f"{site.host(9)}/actions/bind"
    assert "installing" in reason(await call("POST", path, {"cluster_id": str(CLUSTER_ID)}), 409)


async def test_another_architecture_is_not_bound(site: Site, call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    await site.boot()
    arm = a_document(cpu={"architecture": "aarch64", "count": 8})
    await site.reply("inventory", arm)
    await site.reply("ntp-synchronizer", {"ntp_sources": [{"source_name": "a", "source_state": "synced"}]})
    await site.settle()
    path = f"{site.host()}/actions/bind"
    assert "arm64" in reason(await call("POST", path, {"cluster_id": str(CLUSTER_ID)}), 400)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"role": HostRole.ARBITER}, "4.19"),
        ({"fencing": FencingCredentials(address="a", username="b", password="c")}, "4.20"),
    ],
)
async def test_what_the_cluster_cannot_have_is_not_bound(
    site: Site, call: Client, world: World, changes: dict[str, Any], words: str
) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    state = await site.known()
    await world.store.commit(PutHost(host=replace(state.host, **changes)))
    path = f"{site.host()}/actions/bind"
    assert words in reason(await call("POST", path, {"cluster_id": str(CLUSTER_ID)}), 400)


async def test_unbind(call: Client, world: World) -> None:
    site = await pooled(call, world)
    answer = await call("POST", f"{site.host()}/actions/unbind", {})
    host = answer.json()
    assert answer.status == 200
    assert host["status"] == "unbinding"
    assert "cluster_id" not in host
    assert "inventory" not in host
    assert host == await site.shown()
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert [one.host.id for one in state.hosts] == [host_id(2), host_id(3)]
    assert state.cluster.status is ClusterStatus.INSUFFICIENT
    assert "host_unbind_succeeded" in await told(world, INFRA_ENV_ID)
    world.sessions.forget_all()
    assert (await site.poll()).json()["post_step_action"] == "exit"
    assert (await site.boot()).json()["status"] == "discovering-unbound"


async def test_there_and_back(call: Client, world: World) -> None:
    site = await pooled(call, world)
    await call("POST", f"{site.host()}/actions/unbind")
    await site.known()
    assert (await call("POST", f"{site.host()}/actions/bind", {"cluster_id": str(CLUSTER_ID)})).status == 200
    assert (await site.known()).host.status is not S.DISCOVERING
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert len(state.hosts) == 3


@pytest.mark.parametrize("status", [S.INSTALLED, S.ERROR, S.CANCELLED])
async def test_unbind_after_installation_needs_the_user(call: Client, world: World, status: HostStatus) -> None:
    site = await pooled(call, world)
    state = await site.state()
    await world.store.commit(PutHost(host=replace(state.host, status=status)))
    answer = await call("POST", f"{site.host()}/actions/unbind")
    assert answer.json()["status"] == "unbinding-pending-user-action"


async def test_refused_unbindings(call: Client, world: World, site: Site) -> None:
    await site.boot()
    assert "no cluster" in reason(await call("POST", f"{site.host()}/actions/unbind"), 409)
    own = await bound(call, world)
    assert "Delete the host" in reason(await call("POST", f"{own.host()}/actions/unbind"), 409)
    assert "host_unbind_failed" in await told(world, INFRA_ENV_ID)


async def test_an_installing_host_is_not_unbound(call: Client, world: World) -> None:
    site = await pooled(call, world)
    state = await site.state()
    await world.store.commit(PutHost(host=replace(state.host, status=S.INSTALLING_IN_PROGRESS)))
    assert "Cancel or reset" in reason(await call("POST", f"{site.host()}/actions/unbind"), 409)


# --- deleting


async def test_delete_from_the_pool(site: Site, call: Client, world: World) -> None:
    await site.known()
    answer = await call("DELETE", site.host(), {})
    assert (answer.status, answer.body) == (204, b"")
    assert (await call("GET", site.host())).status == 404
    assert (await told(world, site.key()[0]))[-1] == "host_deregistered"
    world.sessions.forget_all()
    assert (await site.poll()).status == 404
    assert (await call("DELETE", site.host())).status == 404


async def test_a_deleted_host_starts_over(site: Site, call: Client) -> None:
    await site.known()
    await call("PATCH", site.host(), {"host_name": "named"})
    await call("DELETE", site.host())
    again = (await site.boot()).json()
    assert (again["status"], again["requested_hostname"]) == ("discovering-unbound", str(host_id(1)))
    assert "inventory" not in again


async def test_delete_from_a_cluster(call: Client, world: World) -> None:
    site = await bound(call, world)
    assert (await call("DELETE", site.host(2))).status == 204
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert [one.host.id for one in state.hosts] == [host_id(1), host_id(3)]
    assert state.cluster.status is ClusterStatus.INSUFFICIENT


# --- progress


async def installing(call: Client, world: World, **changes: Any) -> Site:
    hosts = [replace(state, host=replace(state.host, status=S.INSTALLING, role=HostRole.MASTER)) for state in THREE]
    hosts[0] = replace(hosts[0], host=replace(hosts[0].host, **changes))
    await ready_cluster(world, cluster_state(hosts=hosts, status=ClusterStatus.INSTALLING))
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


async def report(site: Site, stage: str, info: str | None = None, *, number: int = 1) -> Any:
    body = {"current_stage": stage} if info is None else {"current_stage": stage, "progress_info": info}
    return await site.call("PUT", f"{site.host(number)}/progress", body)


async def test_progress_in_order(call: Client, world: World) -> None:
    site = await installing(call, world)
    for stage in ("Starting installation", "Installing", "Writing image to disk"):
        answer = await report(site, stage)
        assert (answer.status, answer.body) == (200, b"")
    assert (await report(site, "Writing image to disk", "45%")).status == 200
    shown = await site.shown()
    assert shown["status"] == "installing-in-progress"
    assert shown["progress"]["current_stage"] == "Writing image to disk"
    assert shown["progress"]["progress_info"] == "45%"
    assert (await told(world, INFRA_ENV_ID)).count("host_install_progress_updated") == 4
    assert await world.store.next_due_at() == world.clock.now()


async def test_progress_to_the_end(call: Client, world: World) -> None:
    site = await installing(call, world)
    for stage in ("Rebooting", "Configuring", "Joined", "Done"):
        await report(site, stage)
    assert (await site.shown())["status"] == "installed"


async def test_failed(call: Client, world: World) -> None:
    site = await installing(call, world)
    assert (await report(site, "Failed", "the disk is broken")).status == 200
    shown = await site.shown()
    assert shown["status"] == "error"
    assert "the disk is broken" in shown["status_info"]


async def test_refused_progress(call: Client, world: World, site: Site) -> None:
    own = await installing(call, world)
    await report(own, "Rebooting")
    assert "lies before" in reason(await report(own, "Installing"), 409)
    assert "not one of the stages" in reason(await report(own, "Waiting for ignition"), 409)
    assert (await report(own, "Dreaming")).status == 400
    assert (await call("PUT", f"{own.host()}/progress", {})).status == 400
    await site.boot()
    assert "no cluster" in reason(await report(site, "Installing"), 400)


async def test_progress_only_while_installing(call: Client, world: World) -> None:
    site = await bound(call, world)
    assert "known" in reason(await report(site, "Installing"), 409)


async def test_news_inside_a_stage_are_taken_in_any_status(call: Client, world: World) -> None:
    progress = Progress(stage=Stage.REBOOTING)
    site = await bound(call, world, status=S.INSTALLING_PENDING_USER_ACTION, progress=progress)
    assert (await report(site, "Rebooting", "again")).status == 200
    assert (await site.shown())["progress"]["progress_info"] == "again"


async def test_everybody_reports_at_once(call: Client, world: World) -> None:
    """Installers do not repeat what is answered 409."""
    site = await installing(call, world)
    codes: list[int] = []

    async def one(number: int, percent: int) -> None:
        codes.append((await report(site, "Writing image to disk", f"{percent}%", number=number)).status)

    for number in (1, 2, 3):
        await report(site, "Writing image to disk", number=number)
    async with anyio.create_task_group() as group:
        for percent in range(10):
            for number in (1, 2, 3):
                group.start_soon(one, number, percent)
    assert codes == [200] * 30


# --- day 2


async def day_two(call: Client, world: World, **changes: Any) -> Site:
    added = host_state(
        1, peers=(1,), **({"kind": HostKind.DAY_TWO, "role": HostRole.WORKER, "status": S.KNOWN} | changes)
    )
    state = cluster_state(
        hosts=[added],
        kind=ClusterKind.ADD_HOSTS,
        status=ClusterStatus.ADDING_HOSTS,
        api_vip_dns_name="api.east.example.com",
    )
    await ready_cluster(world, state)
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


async def test_install_a_host_later(call: Client, world: World) -> None:
    site = await day_two(call, world)
    answer = await call("POST", f"{site.host()}/actions/install", {})
    assert answer.status == 202, answer.body
    assert answer.json()["status"] == "installing"
    assert "host_installation_started" in await told(world, INFRA_ENV_ID)
    assert "known" not in reason(await call("POST", f"{site.host()}/actions/install"), 409)


async def test_install_needs_a_day_two_host(call: Client, world: World, site: Site) -> None:
    await site.known()
    assert "no cluster" in reason(await call("POST", f"{site.host()}/actions/install"), 404)
    own = await bound(call, world)
    assert "install the cluster" in reason(await call("POST", f"{own.host()}/actions/install"), 409)


async def test_the_reboot_ends_a_day_two_installation(call: Client, world: World) -> None:
    site = await day_two(call, world, status=S.INSTALLING_IN_PROGRESS)
    assert (await report(site, "Rebooting")).status == 200
    assert (await site.shown())["status"] == "added-to-existing-cluster"


async def test_reset_a_day_two_host(call: Client, world: World) -> None:
    site = await day_two(call, world, status=S.INSTALLING_IN_PROGRESS)
    answer = await call("POST", f"{site.host()}/actions/reset")
    assert (answer.status, answer.json()["status"]) == (200, "resetting-pending-user-action")


async def test_reset_is_for_day_two_hosts(call: Client, world: World) -> None:
    site = await bound(call, world)
    assert "reset the cluster" in reason(await call("POST", f"{site.host()}/actions/reset"), 409)
