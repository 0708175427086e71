"""Clusters over HTTP: register, list, show, change, give up."""

import json
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.reports import ReportKind
from firstlight.core.roles import key_of
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, UNKNOWN, Client, an_app, event_names, ready_cluster, reason
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio

NEVER: Final = "0001-01-01T00:00:00.000Z"
AICLI: Final = {
    "name": "east",
    "openshift_version": "4.18",
    "base_dns_domain": "example.com",
    "pull_secret": PULL_SECRET,
    "ssh_public_key": "",
    "high_availability_mode": "Full",
    "cluster_network_cidr": "10.128.0.0/14",
    "service_network_cidr": "172.30.0.0/16",
    "vip_dhcp_allocation": False,
    "user_managed_networking": False,
    "hyperthreading": "all",
    "schedulable_masters": False,
    "cpu_architecture": "x86_64",
}
"""What aicli always sends."""


async def registered(call: Client, **changes: Any) -> dict[str, Any]:
    answer = await call("POST", "/clusters", AICLI | changes)
    assert answer.status == 201, answer.body
    return answer.json()


# --- register


async def test_register_as_aicli_does(call: Client, world: World) -> None:
    cluster = await registered(call)
    assert (cluster["status"], cluster["status_info"]) == ("insufficient", "Cluster is not ready for install")
    assert (cluster["openshift_version"], cluster["high_availability_mode"]) == ("4.18.30", "Full")
    assert cluster["install_completed_at"] == NEVER
    assert cluster["pull_secret_set"] is True
    assert cluster["href"] == f"/api/assisted-install/v2/clusters/{cluster['id']}"
    assert (cluster["user_name"], cluster["email_domain"]) == ("admin", "Unknown")
    assert PULL_SECRET not in json.dumps(cluster)
    subject = cluster_subject(UUID(cluster["id"]))
    assert await world.store.secret(subject, "pull_secret") == PULL_SECRET
    assert await event_names(world, UUID(cluster["id"])) == ["cluster_registration_succeeded"]


async def test_a_new_cluster_is_looked_at_at_once(call: Client, world: World, clock: SetClock) -> None:
    cluster = await registered(call)
    assert await world.store.next_due_at() == clock.now()
    await settle_cluster(world, UUID(cluster["id"]))
    assert (await call("GET", f"/clusters/{cluster['id']}")).json()["status"] == "pending-for-input"


async def test_a_single_node(call: Client) -> None:
    cluster = await registered(call, high_availability_mode="None", user_managed_networking=True)
    assert (cluster["high_availability_mode"], cluster["control_plane_count"]) == ("None", 1)
    assert (cluster["platform"], cluster["user_managed_networking"]) == ({"type": "none"}, True)


async def test_operators_and_bundles(call: Client) -> None:
    cluster = await registered(
        call, olm_operators=[{"name": "lvm"}], operator_bundles=[{"id": "virtualization"}], openshift_version="4.20"
    )
    operators = {operator["name"]: operator for operator in cluster["monitored_operators"]}
    assert operators["lvm"]["operator_type"] == "olm"
    assert operators["cnv"]["source_bundles"] == ["virtualization"]
    assert cluster["operator_bundles"] == [{"id": "virtualization"}]


async def test_a_refused_registration_leaves_nothing(call: Client, world: World) -> None:
    assert "cluster name" in reason(await call("POST", "/clusters", AICLI | {"name": "UPPER"}), 400)
    assert (await call("GET", "/clusters")).json() == []
    assert await world.store.last_event_seq() == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "name in body is required"),
        ({"nmae": "x"}, 'json: unknown field "nmae"'),
        ({"high_availability_mode": "Some"}, "high_availability_mode in body"),
        ({"cluster_network_cidr": "10.128.0.0"}, "cluster_network_cidr in body"),
    ],
)
async def test_requests_that_do_not_fit_the_schema(call: Client, changes: dict[str, Any], message: str) -> None:
    answer = await call("POST", "/clusters", AICLI | changes)
    assert answer.status == 400
    assert answer.json()["code"] == 400
    assert message in answer.json()["message"]


async def test_import(call: Client, world: World) -> None:
    answer = await call(
        "POST",
        "/clusters/import",
        {"name": "x-day2", "api_vip_dnsname": "api.west.example.com", "openshift_cluster_id": str(UNKNOWN)},
    )
    cluster = answer.json()
    assert answer.status == 201
    assert (cluster["kind"], cluster["status"], cluster["imported"]) == ("AddHostsCluster", "adding-hosts", True)
    assert (cluster["name"], cluster["base_dns_domain"]) == ("west", "example.com")
    assert cluster["openshift_cluster_id"] == str(UNKNOWN)
    changed = await call("PATCH", f"/clusters/{cluster['id']}", {"pull_secret": PULL_SECRET, "ssh_public_key": ""})
    assert (changed.status, changed.json()["pull_secret_set"]) == (201, True)
    await settle_cluster(world, UUID(cluster["id"]))
    assert (await call("GET", f"/clusters/{cluster['id']}")).json()["status"] == "adding-hosts"
    assert (await call("POST", "/clusters/import", {"name": "x"})).status == 400


async def test_disconnected(call: Client, world: World) -> None:
    answer = await call("POST", "/clusters/disconnected", {"name": "far", "openshift_version": "4.18"})
    cluster = answer.json()
    assert answer.status == 201
    assert (cluster["kind"], cluster["status"]) == ("DisconnectedCluster", "unmonitored")
    await settle_cluster(world, UUID(cluster["id"]))
    assert (await call("GET", f"/clusters/{cluster['id']}")).json()["status"] == "unmonitored"
    assert "version" in reason(
        await call("POST", "/clusters/disconnected", {"name": "far", "openshift_version": ""}), 400
    )


# --- list and show


async def test_list(call: Client, clock: SetClock) -> None:
    first = await registered(call)
    clock.forward(timedelta(seconds=1))
    second = await registered(call, name="west")
    listed = (await call("GET", "/clusters/")).json()
    assert [cluster["id"] for cluster in listed] == [second["id"], first["id"]]
    assert (await call("GET", "/clusters", query="owner=nobody")).json() == []
    assert len((await call("GET", "/clusters", query="owner=admin")).json()) == 2
    assert (await call("GET", "/clusters", query=f"openshift_cluster_id={UNKNOWN}")).json() == []
    assert (await call("GET", "/clusters", query="openshift_cluster_id=x")).status == 400


async def test_hosts_are_listed_on_request(call: Client, world: World) -> None:
    await ready_cluster(world)
    (plain,) = (await call("GET", "/clusters")).json()
    (whole,) = (await call("GET", "/clusters", query="with_hosts=true")).json()
    assert (plain["total_host_count"], plain["hosts"]) == (3, [])
    assert [json.loads(host["inventory"])["hostname"] for host in whole["hosts"]] == ["host-1", "host-2", "host-3"]


async def test_show(call: Client, world: World) -> None:
    await ready_cluster(world)
    path = f"/clusters/{CLUSTER_ID}"
    whole = await call("GET", path)
    assert [host["requested_hostname"] for host in whole.json()["hosts"]] == ["host-1", "host-2", "host-3"]
    assert (await call("GET", path, query="exclude-hosts=true")).json()["hosts"] == []
    assert (await call("GET", path, if_none_match=whole.headers["etag"])).status == 304
    assert str(UNKNOWN) in reason(await call("GET", f"/clusters/{UNKNOWN}"), 404)
    bad = await call("GET", "/clusters/nonsense")
    assert (bad.status, bad.json()["code"]) == (400, 400)


async def test_clusters_given_up_are_shown_to_administrators(call: Client, world: World) -> None:
    cluster = await registered(call)
    path = f"/clusters/{cluster['id']}"
    assert (await call("DELETE", path, {})).status == 204
    assert (await call("GET", path)).status == 404
    gone = await call("GET", path, get_unregistered_clusters="true")
    assert gone.json()["deleted_at"] is not None
    assert (await call("GET", "/clusters")).json() == []
    assert len((await call("GET", "/clusters", get_unregistered_clusters="true")).json()) == 1
    user = Client(an_app(world, caller=Caller(name="jane", is_admin=False)))
    refused = await user("GET", "/clusters", get_unregistered_clusters="true")
    assert (refused.status, refused.json()["code"]) == (403, 403)
    assert (await user("GET", path, get_unregistered_clusters="true")).status == 404


async def test_users_list_their_own(call: Client, world: World) -> None:
    await registered(call)
    jane = Client(an_app(world, caller=Caller(name="jane", org_id="1", is_admin=False)))
    mate = Client(an_app(world, caller=Caller(name="joe", org_id="1", is_admin=False)))
    other = Client(an_app(world, caller=Caller(name="jim", org_id="2", is_admin=False)))
    await registered(jane, name="janes")
    assert [cluster["name"] for cluster in (await jane("GET", "/clusters")).json()] == ["janes"]
    assert [cluster["name"] for cluster in (await mate("GET", "/clusters")).json()] == ["janes"]
    assert (await other("GET", "/clusters")).json() == []
    assert len((await call("GET", "/clusters")).json()) == 2


async def test_hosts_of_a_cluster(call: Client, world: World) -> None:
    await ready_cluster(
        world, hosts=[host_state(1, role=HostRole.MASTER), host_state(2, status=HostStatus.INSUFFICIENT)]
    )
    path = f"/clusters/{CLUSTER_ID}/hosts"
    plain = (await call("GET", path)).json()
    assert len(plain) == 2
    assert not any("inventory" in host or "connectivity" in host for host in plain)
    assert all("progress_stages" in host and host["requested_hostname"] for host in plain)
    full = (await call("GET", path, query="with-inventory=true&with-connectivity=true")).json()
    assert all("inventory" in host and "connectivity" in host for host in full)
    assert [host["role"] for host in (await call("GET", path, query="role=master")).json()] == ["master"]
    assert len((await call("GET", path, query="status=insufficient")).json()) == 1
    assert (await call("GET", f"/clusters/{UNKNOWN}/hosts")).json() == []
    assert (await call("GET", path, query="role=king")).status == 400


# --- change


async def test_vips_before_any_host(call: Client) -> None:
    cluster = await registered(call)
    answer = await call(
        "PATCH",
        f"/clusters/{cluster['id']}",
        {"api_vips": [{"ip": "192.0.2.5"}], "ingress_vips": [{"ip": "192.0.2.6"}], "schedulable_masters": False},
    )
    changed = answer.json()
    assert answer.status == 201
    assert [vip["ip"] for vip in changed["api_vips"]] == ["192.0.2.5"]
    assert changed["status"] == "pending-for-input"
    assert json.loads(changed["validations_info"])["network"]


async def test_networks_as_aicli_sends_them(call: Client) -> None:
    cluster = await registered(call)
    own = {"cluster_id": cluster["id"]}
    answer = await call(
        "PATCH",
        f"/clusters/{cluster['id']}",
        {
            "cluster_networks": [own | {"cidr": "10.132.0.0/14", "host_prefix": 24}],
            "service_networks": [own | {"cidr": "172.31.0.0/16"}],
            "machine_network_cidr": "192.0.2.0/24",
        },
    )
    assert answer.status == 201
    assert answer.json()["cluster_networks"] == [own | {"cidr": "10.132.0.0/14", "host_prefix": 24}]
    assert answer.json()["service_networks"] == [own | {"cidr": "172.31.0.0/16"}]
    assert answer.json()["machine_networks"] == []


async def test_a_change_is_recorded_with_its_caller(call: Client, world: World) -> None:
    cluster = await registered(call)
    await call("PATCH", f"/clusters/{cluster['id']}", {"http_proxy": "http://proxy:3128"})
    events = await world.store.events_after(0, limit=100, cluster_id=UUID(cluster["id"]))
    (changed,) = (event for event in events if event.name == "cluster_updated")
    assert changed.actor == "admin"
    assert changed.before == {"proxy": {}}
    assert changed.after == {"proxy": {"http": "http://proxy:3128"}}
    listed = (await call("GET", "/events", query=f"cluster_id={cluster['id']}")).json()
    assert "proxy_settings_changed" in {event["name"] for event in listed}
    assert "cluster_updated" not in {event["name"] for event in listed}


async def test_the_pull_secret_changes_with_the_cluster(call: Client, world: World) -> None:
    cluster = await registered(call)
    path, subject = f"/clusters/{cluster['id']}", cluster_subject(UUID(cluster["id"]))
    other = PULL_SECRET.replace("}}}", '},"example.com":{}}}')
    assert (await call("PATCH", path, {"pull_secret": other})).status == 201
    assert await world.store.secret(subject, "pull_secret") == other
    cleared = (await call("PATCH", path, {"pull_secret": ""})).json()
    assert "pull_secret_set" not in cleared
    assert await world.store.secret(subject, "pull_secret") is None
    assert "pull secret" in reason(await call("PATCH", path, {"pull_secret": "x"}), 400)


async def test_bad_values_come_before_wrong_states(call: Client, world: World) -> None:
    await ready_cluster(world, status=ClusterStatus.INSTALLED)
    path = f"/clusters/{CLUSTER_ID}"
    assert "cluster name" in reason(await call("PATCH", path, {"name": "UPPER"}), 400)
    assert "installed" in reason(await call("PATCH", path, {"name": "west"}), 409)
    assert reason(await call("PATCH", f"/clusters/{UNKNOWN}", {"name": "UPPER"}), 404)
    assert (await call("PATCH", path, {"unheard": 1})).json()["code"] == 400


async def test_changing_operators_keeps_a_ready_cluster_going(call: Client, world: World) -> None:
    await ready_cluster(world)
    answer = await call("PATCH", f"/clusters/{CLUSTER_ID}", {"olm_operators": [{"name": "oadp"}]})
    assert answer.status == 201
    assert {operator["name"] for operator in answer.json()["monitored_operators"]} == {"console", "oadp"}
    assert {host["suggested_role"] for host in answer.json()["hosts"]} == {"master"}
    emptied = await call("PATCH", f"/clusters/{CLUSTER_ID}", {"olm_operators": []})
    assert {operator["name"] for operator in emptied.json()["monitored_operators"]} == {"console"}


# --- give up


async def test_own_hosts_go_with_their_cluster(call: Client, world: World) -> None:
    state = await ready_cluster(world)
    assert (await call("DELETE", f"/clusters/{CLUSTER_ID}")).status == 204
    for host in state.hosts:
        assert await world.store.host(key_of(host)) is None
    assert await world.store.infra_env(INFRA_ENV_ID) is not None
    assert await event_names(world, CLUSTER_ID) == ["cluster_deregistered"]
    assert await world.store.next_due_at() is None
    assert reason(await call("DELETE", f"/clusters/{CLUSTER_ID}"), 404)


async def test_visiting_hosts_return(call: Client, world: World, clock: SetClock) -> None:
    base = cluster_state()
    visiting = type(base)(
        cluster=base.cluster, hosts=base.hosts, infra_envs={INFRA_ENV_ID: an_infra_env(cluster_id=None)}
    )
    state = await ready_cluster(world, visiting)
    assert (await call("DELETE", f"/clusters/{CLUSTER_ID}")).status == 204
    for host in state.hosts:
        pool = await world.store.pool_host(key_of(host))
        assert pool is not None
        assert pool.state.host.status is HostStatus.UNBINDING
        assert pool.state.reports.inventory is None
        assert ReportKind.INVENTORY not in await _kinds(world, key_of(host))
    assert await world.store.next_due_at() == clock.now()


async def _kinds(world: World, key: tuple[UUID, UUID]) -> set[ReportKind]:
    return set((await world.store.raw_reports([key])).get(key, {}))


async def test_a_running_installation_cannot_be_given_up(call: Client, world: World) -> None:
    await ready_cluster(world, status=ClusterStatus.INSTALLING)
    assert "Cancel or reset" in reason(await call("DELETE", f"/clusters/{CLUSTER_ID}", {}), 409)
    assert await event_names(world, CLUSTER_ID) == ["cluster_deregister_failed"]
    assert await world.store.cluster(CLUSTER_ID) is not None
