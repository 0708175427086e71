"""From the user's "install" to an installing cluster, as a client sees it."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from firstlight.core.model.host_status import HostStatus
from firstlight.server.ports.writes import PutHost, TouchCluster
from firstlight.server.usecases.preparation import prepare_installation
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import Client, event_names, ready_cluster
from tests.builders.moments import CLUSTER_ID
from tests.usecases.preparing import QuickPki, claimed_again, put_manifest, run

pytestmark = pytest.mark.anyio

CLUSTER: Final = f"/clusters/{CLUSTER_ID}"


async def shown(call: Client) -> dict[str, Any]:
    return (await call("GET", CLUSTER)).json()


async def hosts_are_prepared(world: World) -> None:
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    done = (replace(one.host, status=HostStatus.PREPARING_SUCCESSFUL) for one in state.hosts)
    touch = TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision)
    await world.store.commit(touch, *(PutHost(host=host) for host in done))


async def test_install_prepares_and_then_installs(call: Client, world: World) -> None:
    await ready_cluster(world)
    answer = await call("POST", f"{CLUSTER}/actions/install", {})
    assert answer.status == 202, answer.body
    assert answer.json()["status"] == "preparing-for-installation"
    await run(world, await claimed_again(world))
    cluster = await shown(call)
    assert cluster["last-installation-preparation"]["status"] == "success"
    assert cluster["status"] == "preparing-for-installation", "hosts have not answered yet"
    assert cluster["openshift_cluster_id"]
    await hosts_are_prepared(world)
    await settle_cluster(world, CLUSTER_ID)
    assert (await shown(call))["status"] == "installing"
    assert (await call("GET", f"{CLUSTER}/downloads/files", query="file_name=bootstrap.ign")).status == 200
    assert "cluster_prepare_installation_started" in await event_names(world, CLUSTER_ID)


async def test_a_failure_gives_the_cluster_back_with_the_reason(call: Client, world: World) -> None:
    await ready_cluster(world)
    await put_manifest(world, CLUSTER_ID, "x.yaml.patch_1", b"- {op: remove, path: /a}")
    await call("POST", f"{CLUSTER}/actions/install", {})
    await run(world, await claimed_again(world))
    cluster = await shown(call)
    assert cluster["status"] == "ready"
    assert cluster["last-installation-preparation"]["status"] == "failed"
    assert "x.yaml" in cluster["last-installation-preparation"]["reason"]
    assert "prepare_installation_failed" in await event_names(world, CLUSTER_ID)
    await call("DELETE", f"{CLUSTER}/manifests", query="file_name=x.yaml.patch_1")
    assert (await call("POST", f"{CLUSTER}/actions/install", {})).status == 202
    await run(world, await claimed_again(world))
    assert (await shown(call))["last-installation-preparation"]["status"] == "success"


@pytest.mark.parametrize("at", ["making certificates and files", "storing files"])
async def test_it_can_be_cancelled_while_it_runs(call: Client, world: World, at: str) -> None:
    await ready_cluster(world)
    await call("POST", f"{CLUSTER}/actions/install", {})
    cancelled: list[int] = []

    async def cancelling(progress: str) -> None:
        if progress == at and not cancelled:
            cancelled.append((await call("POST", f"{CLUSTER}/actions/cancel", {})).status)

    await prepare_installation(world, await claimed_again(world), cancelling, pki=QuickPki())
    assert cancelled == [202]
    cluster = await shown(call)
    assert (cluster["status"], cluster["last-installation-preparation"]["status"]) == ("ready", "not_started")
    assert await world.blobs.list_under(str(CLUSTER_ID)) == []
    assert [row.state for row in await world.store.operations(f"cluster:{CLUSTER_ID}")] == ["done"]
    assert (await call("POST", f"{CLUSTER}/actions/install", {})).status == 202
    await run(world, await claimed_again(world))
    assert (await shown(call))["last-installation-preparation"]["status"] == "success"


async def test_a_reset_takes_the_files_away(call: Client, world: World) -> None:
    await ready_cluster(world)
    await put_manifest(world, CLUSTER_ID, "mine.yaml", b"kind: A\nmetadata: {name: a}")
    await call("POST", f"{CLUSTER}/actions/install", {})
    await run(world, await claimed_again(world))
    assert (await call("POST", f"{CLUSTER}/actions/reset", {})).status == 202
    kept = [info.key for info in await world.blobs.list_under(str(CLUSTER_ID))]
    assert kept == [f"{CLUSTER_ID}/manifests/manifests/mine.yaml"]
    listed = (await call("GET", f"{CLUSTER}/manifests", query="include_system_generated=true")).json()
    assert [one["file_name"] for one in listed] == ["mine.yaml"]
