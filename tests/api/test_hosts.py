"""Hosts over HTTP: look at them, change them, measure again."""

import json
from datetime import timedelta
from typing import Any

import pytest

from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import ClusterStatus, PlatformType
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.subjects import host_subject
from firstlight.server.usecases.world import World
from tests.api.bound_hosts import THREE, S, bound
from tests.api.calling import UNKNOWN, Client, ready_cluster, reason
from tests.api.machines import BIG_DISK, SMALL_DISK, Site, a_site, told
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio


@pytest.fixture
async def site(call: Client, world: World) -> Site:
    return await a_site(call, world)


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
