"""Published events that no other suite is about: each is made to happen the way it happens in earnest."""

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.errors import Conflict
from firstlight.core.events.recorded import Recorded
from firstlight.core.model.cluster_status import ClusterStatus, FinalizingStage
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import ReportKind, Reports
from firstlight.core.steps.replies import Reply
from firstlight.server.usecases import agents, cluster_actions
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.inventories import a_disk, an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.store.stored import a_report
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio

ANN = Caller(name="ann")
AGENT = Caller(name="agent")
KEY = (INFRA_ENV_ID, host_id(1))


async def told(world: World, name: str) -> list[Recorded]:
    return [event for event in await world.store.events_after(0, limit=1000) if event.name == name]


async def replied(world: World, step: StepType, output: object, *, exit_code: int = 0) -> None:
    reply = Reply(step=step, output=json.dumps(output), exit_code=exit_code)
    await agents.take_reply(world, KEY, reply, caller=AGENT)


def in_status(cluster: ClusterStatus, host: HostStatus, **changes: Any) -> dict[str, Any]:
    hosts = tuple(host_state(number, peers=(1, 2, 3), status=host) for number in (1, 2, 3))
    return {"state": cluster_state(hosts=hosts, status=cluster, **changes)}


# --- what users do


async def test_a_cancel_that_is_refused(world: World) -> None:
    await put_cluster(world)
    with pytest.raises(Conflict):
        await cluster_actions.cancel(world, CLUSTER_ID, caller=ANN)
    (event,) = await told(world, "cancel_installation_failed")
    assert (event.cluster_id, event.actor, event.severity) == (CLUSTER_ID, "ann", "error")


async def test_a_reset_that_is_refused(world: World) -> None:
    await put_cluster(world, status=ClusterStatus.ADDING_HOSTS)
    with pytest.raises(Conflict):
        await cluster_actions.reset(world, CLUSTER_ID, caller=ANN)
    (event,) = await told(world, "reset_installation_failed")
    assert event.props["error"] in event.message


async def test_a_cancel_is_told_of_each_host(world: World) -> None:
    await put_cluster(world, **in_status(ClusterStatus.INSTALLING, HostStatus.INSTALLING_IN_PROGRESS))
    await cluster_actions.cancel(world, CLUSTER_ID, caller=ANN)
    assert {event.host_id for event in await told(world, "host_installation_cancelled")} == set(map(host_id, (1, 2, 3)))


async def test_a_reset_is_told_of_each_host(world: World) -> None:
    await put_cluster(world, **in_status(ClusterStatus.ERROR, HostStatus.ERROR))
    await cluster_actions.reset(world, CLUSTER_ID, caller=ANN)
    for name in ("host_installation_reset", "user_required_complete_installation_reset"):
        assert {event.host_id for event in await told(world, name)} == set(map(host_id, (1, 2, 3)))


async def test_an_installation_with_waived_checks(world: World) -> None:
    await put_cluster(world, ignored_host_validations=("ntp-synced",))
    await cluster_actions.install(world, CLUSTER_ID, caller=ANN)
    assert len(await told(world, "validations_ignored")) == 1


async def test_an_installation_without(world: World) -> None:
    await put_cluster(world)
    await cluster_actions.install(world, CLUSTER_ID, caller=ANN)
    assert await told(world, "validations_ignored") == []


# --- what the controller does


async def test_the_stages_of_finalizing(world: World) -> None:
    await put_cluster(world, **in_status(ClusterStatus.FINALIZING, HostStatus.INSTALLED))
    await cluster_actions.report_finalizing(
        world, CLUSTER_ID, stage=FinalizingStage.CLUSTER_OPERATORS, caller=Caller(name="controller")
    )
    (event,) = await told(world, "cluster_finalizing_stage_updated")
    assert (event.props["finalizing_stage"], event.actor) == ("Waiting for cluster operators", "controller")


# --- what follows from facts


async def test_roles_that_are_dealt(world: World) -> None:
    hosts = tuple(host_state(number, peers=(1, 2, 3), suggested_role=None) for number in (1, 2, 3))
    await put_cluster(world, cluster_state(hosts=hosts))
    await settle_cluster(world, CLUSTER_ID)
    dealt = await told(world, "host_role_updated")
    assert {event.props["suggested_role"] for event in dealt} == {"master"}
    assert {event.host_id for event in dealt} == set(map(host_id, (1, 2, 3)))


async def test_checks_that_begin_to_fail_and_are_mended(world: World) -> None:
    state = await put_cluster(world)
    await settle_cluster(world, CLUSTER_ID)
    assert await told(world, "host_validation_failed") == await told(world, "cluster_validation_failed") == []
    good = state.hosts[0].reports
    small = replace(good, inventory=an_inventory(1, disks=(a_disk(size_bytes=1_000_000_000),)))
    await settled_with(world, small, digest="small")
    failed = {str(event.props["validation_id"]) for event in await told(world, "host_validation_failed")}
    assert "has-min-valid-disks" in failed
    of_cluster = {str(event.props["validation_id"]) for event in await told(world, "cluster_validation_failed")}
    assert "all-hosts-are-ready-to-install" in of_cluster
    assert await told(world, "host_validation_fixed") == await told(world, "cluster_validation_fixed") == []
    await settled_with(world, good, digest="good")
    fixed = {str(event.props["validation_id"]) for event in await told(world, "host_validation_fixed")}
    assert fixed == failed
    assert {str(event.props["validation_id"]) for event in await told(world, "cluster_validation_fixed")} == of_cluster


async def settled_with(world: World, reports: Reports, *, digest: str) -> None:
    report = a_report(KEY, ReportKind.INVENTORY, reports.inventory, digest=digest)
    await world.store.commit(report)
    await settle_cluster(world, CLUSTER_ID)


# --- what agents answer


async def test_leased_vips(world: World) -> None:
    await put_cluster(world, vip_dhcp_allocation=True, api_vips=(), ingress_vips=())
    lease = {"api_vip_address": "192.0.2.50", "ingress_vip_address": "192.0.2.51"}
    await replied(world, StepType.DHCP_LEASE, lease)
    (event,) = await told(world, "api_ingress_vip_updated")
    assert event.props == {"api_vip": "192.0.2.50", "ingress_vip": "192.0.2.51"}
    assert (event.before, event.after) == (
        {"api_vips": [], "ingress_vips": []},
        {"api_vips": ["192.0.2.50"], "ingress_vips": ["192.0.2.51"]},
    )


async def test_pulled_images(world: World) -> None:
    await put_cluster(
        world, **in_status(ClusterStatus.PREPARING_FOR_INSTALLATION, HostStatus.PREPARING_FOR_INSTALLATION)
    )
    images = [
        {"name": "a", "result": "success", "size_bytes": 7.0, "time": 1.5},
        {"name": "b", "result": "failure"},
    ]
    await replied(world, StepType.IMAGE_AVAILABILITY, {"images": images})
    found = {event.props["image_status"]: event.props["result"] for event in await told(world, "image_status_updated")}
    assert found == {"a": "success", "b": "failure"}


@pytest.mark.parametrize(("milliseconds", "count"), [(10, 0), (11, 1)])
async def test_slow_disks(world: World, milliseconds: int, count: int) -> None:
    await put_cluster(
        world, **in_status(ClusterStatus.PREPARING_FOR_INSTALLATION, HostStatus.PREPARING_FOR_INSTALLATION)
    )
    await replied(world, StepType.DISK_SPEED, {"path": a_disk().id, "io_sync_duration": milliseconds})
    found = await told(world, "disk_speed_slower_than_supported")
    assert [event.props for event in found] == [{"host_disk": a_disk().id, "fdatasync_duration": 11}] * count


@pytest.mark.parametrize(
    ("result", "name"), [("success", "upgrade_agent_finished"), ("failure", "upgrade_agent_failed")]
)
async def test_upgrades(world: World, clock: SetClock, result: str, name: str) -> None:
    await put_cluster(world)
    for wait, count in ((timedelta(0), 1), (timedelta(minutes=59), 1), (timedelta(minutes=2), 2)):
        clock.forward(wait)
        world.sessions.forget_all()
        await replied(world, StepType.UPGRADE_AGENT, {"agent_image": "agent:2", "result": result})
        assert len(await told(world, name)) == count
