"""What pages draw: broken paths, addresses taken and free, stages over time."""

from datetime import timedelta
from typing import Any, Final

import pytest
from msgspec.structs import replace

from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import Recorded
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.core.model.reports import BrokenMtu, LossyPath, PartialPeer, SlowPath
from firstlight.core.network.free_addresses import bitmap_of
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.timeline import stage_in
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN
from tests.builders.clusters import cluster_state
from tests.builders.hosts import a_connectivity, packed
from tests.builders.inventories import NETWORK
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import ask
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

V1: Final = "/api/firstlight/v1/clusters"
ONLY_THIRD: Final = packed([host_id(3)])


async def got(world: World, path: str, *, query: str = "") -> Any:
    app = build_app(world, operations=operations_of(*v1.MODULES))
    answer = await ask(app, "GET", f"{V1}/{path}", query=query)
    assert answer.status == 200, answer.json()
    return answer.json()


async def measured(world: World, number: int, **changes: Any) -> dict[str, Any]:
    """The map when one host's view of its peers is different, or its other reports are."""
    state = cluster_state()
    hosts = [
        replace(host, reports=replace(host.reports, **changes)) if host.host.id == host_id(number) else host
        for host in state.hosts
    ]
    await put_cluster(world, replace(state, hosts=tuple(hosts)))
    return await got(world, f"{CLUSTER_ID}/connectivity")


async def test_hosts_that_reach_each_other_have_no_broken_path(world: World) -> None:
    await put_cluster(world)
    found = await got(world, f"{CLUSTER_ID}/connectivity")
    assert found["total"] == len(found["hosts"]) == 3
    assert found["broken"] == []
    assert all(host["reported_at"] for host in found["hosts"])


@pytest.mark.parametrize(
    ("view", "fault", "over"),
    [
        ({"layer2": {NETWORK: ONLY_THIRD}, "layer3": {4: ONLY_THIRD}}, "unreached", [NETWORK, "IPv4"]),
        ({"layer2": {NETWORK: ONLY_THIRD}}, "unreached", [NETWORK]),
        ({"layer3": {4: ONLY_THIRD}}, "unreached", ["IPv4"]),
        (
            {"layer3": {4: ONLY_THIRD}, "partial": (PartialPeer(host_id(2), 4, ("192.0.2.12",)),)},
            "partial",
            ["IPv4"],
        ),
        ({"broken_mtu": (BrokenMtu(host_id(2), "enp1s0", "192.0.2.12"),)}, "mtu", ["192.0.2.12"]),
        ({"lossy": (LossyPath(host_id(2), "192.0.2.12", 3.5),)}, "lossy", ["192.0.2.12"]),
        ({"slow": (SlowPath(host_id(2), "192.0.2.12", 1200.0),)}, "slow", ["192.0.2.12"]),
    ],
)
async def test_a_broken_path_is_told_with_what_broke(
    world: World, view: dict[str, Any], fault: str, over: list[str]
) -> None:
    found = await measured(world, 1, connectivity=a_connectivity(1, **view))
    (path,) = found["broken"]
    assert (path["source"], path["target"]) == (str(host_id(1)), str(host_id(2)))
    assert (path["fault"], path["over"]) == (fault, over)
    # The two it is about stand first.
    assert {host["id"] for host in found["hosts"][:2]} == {str(host_id(1)), str(host_id(2))}


async def test_a_silent_host_breaks_no_path_of_its_own(world: World) -> None:
    found = await measured(world, 1, connectivity=None)
    assert found["broken"] == []
    assert [host["reported_at"] is None for host in found["hosts"]].count(True) == 1


async def test_addresses_are_taken_or_free(world: World) -> None:
    bitmap = bitmap_of(("192.0.2.5", "192.0.2.11", "192.0.2.30", "192.0.2.31", "192.0.2.40"), cidr=NETWORK)
    found = await measured(world, 1, free_addresses={NETWORK: bitmap})
    (network,) = found["networks"]
    assert (network["cidr"], network["machine"], network["size"], network["scanned"]) == (NETWORK, True, 256, True)
    assert network["free"] == [[30, 31], [40, 40]], "what is taken is not free, whatever a scan says"
    taken = {(one["kind"], one["address"], one["offset"]) for one in network["taken"]}
    assert {("api", "192.0.2.5", 5), ("ingress", "192.0.2.6", 6), ("gateway", "192.0.2.1", 1)} < taken
    assert ("host", "192.0.2.11", 11) in taken


async def test_a_network_nobody_looked_at_has_no_free_addresses(world: World) -> None:
    await put_cluster(world)
    (network,) = (await got(world, f"{CLUSTER_ID}/connectivity"))["networks"]
    assert (network["scanned"], network["free"]) == (False, [])


# --- the course of an installation


def progress(number: int, told: str, minute: float) -> Recorded:
    return Recorded(
        event_time=NOW + timedelta(minutes=minute),
        name="host_install_progress_updated",
        severity=Severity.INFO,
        message=told,
        props={"event": told},
        cluster_id=CLUSTER_ID,
        host_id=host_id(number),
        infra_env_id=INFRA_ENV_ID,
    )


async def lanes(world: World, *events: Recorded, query: str = "") -> dict[str, Any]:
    await world.store.commit(AddEvents(events=events))
    return await got(world, f"{CLUSTER_ID}/timeline", query=query)


def spans_of(found: dict[str, Any], number: int) -> list[tuple[str, int, int | None, bool]]:
    def minute(text: str | None) -> int | None:
        return None if text is None else int(text[14:16])

    (lane,) = (lane for lane in found["lanes"] if lane["id"] == str(host_id(number)))
    return [(one["stage"], minute(one["began"]) or 0, minute(one["ended"]), one["failed"]) for one in lane["spans"]]


async def test_stages_follow_each_other(world: World) -> None:
    await put_cluster(world)
    found = await lanes(
        world,
        progress(1, "Starting installation worker", 1),
        progress(1, "Writing image to disk 5%", 2),
        progress(1, "Writing image to disk 50%", 3),
        progress(1, "Rebooting", 5),
        progress(1, "Done", 9),
        progress(2, "Starting installation", 1),
        progress(2, "Failed no disk", 4),
        progress(3, "Installing", 2),
    )
    assert spans_of(found, 1) == [
        ("Starting installation", 1, 2, False),
        ("Writing image to disk", 2, 5, False),
        ("Rebooting", 5, 9, False),
        ("Done", 9, 9, False),
    ]
    assert spans_of(found, 2) == [("Starting installation", 1, 4, True)]
    assert spans_of(found, 3) == [("Installing", 2, None, False)]


async def test_a_second_attempt_hides_the_first(world: World) -> None:
    await put_cluster(world)
    first = [progress(1, "Starting installation", 1), progress(1, "Rebooting", 2)]
    found = await lanes(world, *first, progress(1, "Starting installation", 7))
    assert spans_of(found, 1) == [("Starting installation", 7, None, False)]


async def test_a_host_in_error_ends_its_stage(world: World) -> None:
    state = cluster_state()
    failed = replace(state.hosts[0].host, status=HostStatus.ERROR, status_updated_at=NOW + timedelta(minutes=6))
    await put_cluster(world, replace(state, hosts=(replace(state.hosts[0], host=failed), *state.hosts[1:])))
    found = await lanes(world, progress(1, "Rebooting", 3))
    assert spans_of(found, 1) == [("Rebooting", 3, 6, True)]


async def test_lanes_are_paged(world: World) -> None:
    await put_cluster(world)
    names = [lane["name"] for lane in (await lanes(world))["lanes"]]
    assert len(names) == 3
    found = await lanes(world, query="offset=1&limit=1")
    assert (found["total"], [lane["name"] for lane in found["lanes"]]) == (3, names[1:2])


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_is_recognised(stage: Stage) -> None:
    assert stage_in({"event": stage.value}) is stage
    assert stage_in({"event": f"{stage.value} 50%"}) is stage
    assert stage_in({"event": f"{stage.value}s"}) is not stage


async def test_unknown_clusters(world: World) -> None:
    app = build_app(world, operations=operations_of(*v1.MODULES))
    for part in ("connectivity", "timeline"):
        assert (await ask(app, "GET", f"{V1}/{UNKNOWN}/{part}")).status == 404
