"""install-config and its overrides: JSON inside a JSON string."""

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import ClusterStatus, PlatformType
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, event_names, ready_cluster, reason
from tests.builders.clusters import cluster_state
from tests.builders.moments import CLUSTER_ID
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio

PATH: Final = f"/clusters/{CLUSTER_ID}/install-config"


async def shown(call: Client) -> dict[str, Any]:
    answer = await call("GET", PATH)
    assert answer.status == 200
    text = answer.json()
    assert isinstance(text, str)
    return json.loads(text)


async def cluster_document(call: Client) -> dict[str, Any]:
    return (await call("GET", f"/clusters/{CLUSTER_ID}")).json()


async def test_it_says_what_the_cluster_is(call: Client, world: World) -> None:
    await ready_cluster(world)
    document = await shown(call)
    assert document["metadata"] == {"name": "east"}
    assert document["controlPlane"]["replicas"] == 3
    assert document["pullSecret"] == PULL_SECRET
    assert document["platform"]["baremetal"]["apiVIPs"] == ["192.0.2.5"]


@pytest.mark.parametrize(
    ("override", "place", "value"),
    [
        ({"fips": True}, ("fips",), True),
        ({"FIPS": True}, ("fips",), True),
        ({"BootstrapInPlace": {"InstallationDisk": "/dev/vda"}}, ("bootstrapInPlace", "installationDisk"), "/dev/vda"),
        ({"networking": {"networkType": "Cilium"}}, ("networking", "networkType"), "Cilium"),
        ({"controlPlane": {"hyperthreading": "Disabled"}}, ("controlPlane", "hyperthreading"), "Disabled"),
        ({"fips": None}, ("fips",), False),
    ],
)
async def test_an_override_shows(
    call: Client, world: World, override: object, place: tuple[str, ...], value: object
) -> None:
    await ready_cluster(world)
    answer = await call("PATCH", PATH, json.dumps(override))
    assert (answer.status, answer.body) == (201, b"")
    found: Any = await shown(call)
    for key in place:
        found = found[key]
    assert found == value
    assert (await cluster_document(call))["install_config_overrides"] == json.dumps(override)
    assert "install_config_applied" in await event_names(world, CLUSTER_ID)


async def test_an_empty_text_takes_it_back(call: Client, world: World) -> None:
    await ready_cluster(world)
    before = await shown(call)
    await call("PATCH", PATH, '{"fips": true}')
    assert set(json.loads((await cluster_document(call))["feature_usage"])) >= {"FIPS", "Install Config Overrides"}
    assert (await call("PATCH", PATH, "")).status == 201
    assert await shown(call) == before
    assert "FIPS" not in json.loads((await cluster_document(call)).get("feature_usage") or "{}")


async def test_a_cluster_without_console_does_not_wait_for_it(call: Client, world: World) -> None:
    async def awaited() -> set[str]:
        return {operator["name"] for operator in (await cluster_document(call))["monitored_operators"] or ()}

    await ready_cluster(world)
    await call("PATCH", PATH, '{"fips": false}')
    assert "console" in await awaited()
    await call("PATCH", PATH, '{"capabilities": {"baselineCapabilitySet": "None"}}')
    assert "console" not in await awaited()
    await call("PATCH", PATH, "")
    assert "console" in await awaited()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not valid JSON"),
        ("[]", "object"),
        ('{"unknown": 1}', "unknown"),
        ('{"networking": {"nope": 1}}', "networking.nope"),
        ('{"fips": "yes"}', "fips"),
        ('{"networking": {"networkType": "Carrier pigeon"}}', "networkType"),
        ('{"additionalTrustBundle": "not a certificate"}', "trust bundle"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
async def test_refused(call: Client, world: World, text: str, why: str) -> None:
    await ready_cluster(world)
    assert why in reason(await call("PATCH", PATH, text), 400)
    assert "install_config_overrides" not in await cluster_document(call)


async def test_secrets_in_an_override_are_in_no_event(call: Client, world: World) -> None:
    await ready_cluster(world)
    await call("PATCH", PATH, '{"pullSecret": "top-secret-value"}')
    told = await world.store.events_after(0, limit=100, cluster_id=CLUSTER_ID)
    assert "top-secret-value" not in repr(told)
    change = next(event for event in told if event.name == "install_config_applied")
    assert change.after == {"keys": ["pullSecret"]}


async def test_no_state_forbids_it(call: Client, world: World) -> None:
    await ready_cluster(world, status=ClusterStatus.INSTALLED)
    assert (await call("PATCH", PATH, '{"fips": true}')).status == 201


async def test_a_single_node_without_disk_cannot_be_described(call: Client, world: World) -> None:
    state = cluster_state(
        control_plane_count=1,
        platform=Platform(type=PlatformType.NONE),
        user_managed_networking=True,
        api_vips=(),
        ingress_vips=(),
    )
    alone = replace(
        state.hosts[0], host=replace(state.hosts[0].host, installation_disk_id="", installation_disk_path="")
    )
    await ready_cluster(world, replace(state, hosts=(alone,)))
    assert "installation disk" in reason(await call("GET", PATH), 400)


async def test_an_unknown_cluster(call: Client) -> None:
    assert reason(await call("GET", f"/clusters/{UNKNOWN}/install-config"), 404)
    assert reason(await call("PATCH", f"/clusters/{UNKNOWN}/install-config", "{}"), 404)


async def test_a_body_that_is_no_string(call: Client, world: World) -> None:
    await ready_cluster(world)
    assert (await call("PATCH", PATH, {"fips": True})).status == 400
