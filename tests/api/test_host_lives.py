"""Hosts over HTTP: bind, unbind, delete, report progress, install later."""

from datetime import timedelta
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.model.host import FencingCredentials, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, Stage
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import PutHost
from firstlight.server.usecases.world import World
from tests.api.bound_hosts import THREE, S, bound, pooled
from tests.api.calling import UNKNOWN, Client, ready_cluster, reason
from tests.api.machines import Site, a_document, a_site, told
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio


@pytest.fixture
async def site(call: Client, world: World) -> Site:
    return await a_site(call, world)


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
