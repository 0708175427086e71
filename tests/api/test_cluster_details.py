"""Small questions around a cluster."""

import pytest

from firstlight.core.model.cluster import DiskEncryption
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, ready_cluster, reason
from tests.builders.moments import CLUSTER_ID

pytestmark = pytest.mark.anyio

CLUSTER = f"/clusters/{CLUSTER_ID}"


async def test_default_config(call: Client) -> None:
    answer = await call("GET", "/clusters//default-config")
    assert answer.status == 200
    assert answer.json() == {
        "cluster_network_cidr": "10.128.0.0/14",
        "cluster_network_host_prefix": 23,
        "service_network_cidr": "172.30.0.0/16",
        "ntp_source": "",
        "inactive_deletion_hours": 480,
        "cluster_networks_ipv4": [{"cidr": "10.128.0.0/14", "host_prefix": 23}],
        "cluster_networks_dualstack": [
            {"cidr": "10.128.0.0/14", "host_prefix": 23},
            {"cidr": "fd01::/48", "host_prefix": 64},
        ],
        "service_networks_ipv4": [{"cidr": "172.30.0.0/16"}],
        "service_networks_dualstack": [{"cidr": "172.30.0.0/16"}, {"cidr": "fd02::/112"}],
        "forbidden_hostnames": [
            "localhost",
            "localhost.localdomain",
            "localhost4",
            "localhost4.localdomain4",
            "localhost6",
            "localhost6.localdomain6",
        ],
    }


async def test_preflight_requirements(call: Client, world: World) -> None:
    await ready_cluster(world, disk_encryption=DiskEncryption(enable_on="masters"))
    answer = (await call("GET", f"{CLUSTER}/preflight-requirements")).json()
    master = answer["ocp"]["master"]["quantitative"]
    assert (master["cpu_cores"], master["ram_mib"], master["disk_size_gb"]) == (4, 16384, 100)
    assert master["tpm_enabled_in_bios"] is True
    assert "tpm_enabled_in_bios" not in answer["ocp"]["worker"]["quantitative"]
    odf = next(operator for operator in answer["operators"] if operator["operator_name"] == "odf")
    assert odf["dependencies"] == ["lso"]
    assert odf["requirements"]["master"]["qualitative"]


async def test_supported_platforms(call: Client, world: World) -> None:
    await ready_cluster(world)
    platforms = (await call("GET", f"{CLUSTER}/supported-platforms")).json()
    assert {"baremetal", "none"} <= set(platforms)
    assert {"vsphere", "nutanix"}.isdisjoint(platforms)


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "list"])
async def test_ignored_validations(call: Client, world: World, as_text: bool) -> None:
    await ready_cluster(world, status=ClusterStatus.INSUFFICIENT)
    path = f"{CLUSTER}/ignored-validations"
    assert (await call("GET", path)).json() == {}
    answer = await call("PUT", path, {"cluster-validation-ids": '["all"]' if as_text else ["all"]})
    assert (answer.status, answer.json()) == (201, {"cluster-validation-ids": '["all"]'})
    assert (await call("GET", path)).json() == {"cluster-validation-ids": '["all"]'}
    both = await call("PUT", path, {"cluster-validation-ids": "", "host-validation-ids": '["has-min-memory"]'})
    assert both.json() == {"host-validation-ids": '["has-min-memory"]'}
    assert (await call("GET", CLUSTER)).json()["ignored_host_validations"] == '["has-min-memory"]'


@pytest.mark.parametrize(
    "body",
    [
        {"cluster-validation-ids": '["pull-secret-set"]'},
        {"host-validation-ids": ["connected"]},
        {"host-validation-ids": "connected"},
        {"host-validation-ids": '{"a": 1}'},
        {"host-validation-ids": "[" * 10_000},
    ],
)
async def test_ignored_validations_that_cannot_be(call: Client, world: World, body: dict[str, object]) -> None:
    await ready_cluster(world)
    assert reason(await call("PUT", f"{CLUSTER}/ignored-validations", body), 400)


async def test_an_ignored_check_lets_a_cluster_become_ready(call: Client, world: World) -> None:
    await ready_cluster(world, service_networks=("192.0.2.0/24",))
    path = f"{CLUSTER}/ignored-validations"
    await call("PUT", path, {"cluster-validation-ids": ["network-type-valid"]})
    assert (await call("GET", CLUSTER)).json()["status"] == "insufficient"
    await call("PUT", path, {"cluster-validation-ids": ["all"]})
    assert (await call("GET", CLUSTER)).json()["status"] == "ready"


async def test_ui_settings(call: Client, world: World) -> None:
    await ready_cluster(world)
    path = f"{CLUSTER}/ui-settings"
    assert (await call("GET", path)).body == b'""'
    answer = await call("PUT", path, 'AI_UI:{"a":1}')
    assert (answer.status, answer.json()) == (200, 'AI_UI:{"a":1}')
    assert (await call("GET", path)).json() == 'AI_UI:{"a":1}'
    assert (await call("PUT", path, {"a": 1})).status == 400


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/preflight-requirements", None),
        ("GET", "/supported-platforms", None),
        ("GET", "/ignored-validations", None),
        ("PUT", "/ignored-validations", {"host-validation-ids": "[]"}),
        ("GET", "/ui-settings", None),
        ("PUT", "/ui-settings", "x"),
    ],
)
async def test_unknown_clusters(call: Client, method: str, path: str, body: object) -> None:
    assert str(UNKNOWN) in reason(await call(method, f"/clusters/{UNKNOWN}{path}", body), 404)
