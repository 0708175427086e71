"""Every fault, put to the real service, ends the way it should."""

import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import connect
from firstlight.simulate.course import install_new_cluster
from firstlight.simulate.ends import Snapshot, all_known, cluster_is, failing
from firstlight.simulate.machines import Plan, make_machines
from firstlight.simulate.scenarios import FAULTS, Stops
from tests.services import RunningService
from tests.simulate.courses import LIMIT, fleet_for, install
from tests.simulate.test_installations import told_in_full

pytestmark = pytest.mark.anyio

THREE_TWO = Plan(masters=3, workers=2)
ENDS = {Stops.START: {"insufficient"}, Stops.NOTHING: {"installed"}}


@pytest.mark.parametrize("name", sorted(name for name, fault in FAULTS.items() if fault.stops in ENDS))
async def test_a_fault_shows_and_stops_what_it_should(live: RunningService, name: str) -> None:
    course = await install(live.url, name, THREE_TWO, scenario=name)
    assert course.result.reached, told_in_full(course)
    assert course.result.snapshot.cluster_status in ENDS[FAULTS[name].stops], told_in_full(course)


async def test_only_the_machines_that_were_hit_are_blamed(live: RunningService) -> None:
    course = await install(live.url, "two-faults", THREE_TWO, scenario="small-disk@worker-0,clock-skew@master-1")
    assert course.result.reached, told_in_full(course)
    blamed = {
        host.requested_hostname: set(failing(host.validations_info)) for host in course.result.snapshot.hosts.values()
    }
    assert blamed["worker-0"] >= {"has-min-valid-disks"}
    assert blamed["master-1"] == {"time-synced-between-host-and-service"}
    assert not blamed["master-0"] | blamed["master-2"] | blamed["worker-1"]


async def test_a_machine_that_starts_the_wrong_medium_goes_on_after_somebody_mends_it(live: RunningService) -> None:
    async with connect(live.url) as service:
        new = user.NewCluster(name="wrong-boot")
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(THREE_TWO, seed=7, salt=str(infra_env_id))
        fleet = fleet_for(service, infra_env_id, machines, scenario="wrong-boot-order@worker-0")
        async with fleet.powered():
            result = await install_new_cluster(
                fleet, cluster_id, control_plane_count=3, limit=LIMIT, say=lambda _: None
            )
            assert result.reached, result.snapshot
            assert result.snapshot.cluster_status == "installing-pending-user-action"
            fleet.fix_boot_order()
            result = await fleet.wait(cluster_is("installed"), limit=LIMIT)
        assert result.reached, result.snapshot


async def test_a_disk_that_cannot_be_written_ends_in_error_with_logs(live: RunningService) -> None:
    async with connect(live.url) as service:
        new = user.NewCluster(name="failed-write")
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(THREE_TWO, seed=7, salt=str(infra_env_id))
        fleet = fleet_for(service, infra_env_id, machines, scenario="failed-write@master-0")
        async with fleet.powered():
            result = await install_new_cluster(
                fleet, cluster_id, control_plane_count=3, limit=LIMIT, say=lambda _: None
            )
            assert result.reached, result.snapshot
            failed = result.snapshot.hosts[machines[0].id]
            assert "I/O error" in failed.status_info
            result = await fleet.wait(cluster_is("error"), limit=LIMIT)
            assert result.reached, result.snapshot
            # The service asks the agents of a failed installation for their logs.
            result = await fleet.wait(_logs_are_in, limit=LIMIT, despite_failure=True)
            assert result.reached, result.snapshot


def _logs_are_in(snapshot: Snapshot) -> bool:
    return all(host.logs_info == "completed" for host in snapshot.hosts.values())


async def test_a_failed_worker_does_not_stop_the_others(live: RunningService) -> None:
    plan = Plan(masters=3, workers=3)
    course = await install(live.url, "failed-worker", plan, scenario="failed-write@worker-0")
    assert course.result.reached, told_in_full(course)


async def test_a_failed_host_is_tried_again_and_the_cluster_gets_installed(live: RunningService) -> None:
    course = await install(live.url, "tried-again", THREE_TWO, scenario="failed-write-once")
    assert course.result.reached, told_in_full(course)
    assert course.result.snapshot.cluster_status == "installed", told_in_full(course)
    assert {host.status for host in course.result.snapshot.hosts.values()} == {"installed"}


async def test_another_machine_takes_the_place_of_a_failed_one(live: RunningService) -> None:
    async with connect(live.url) as service:
        cluster_id, infra_env_id = await user.create_cluster(service, user.NewCluster(name="replaced"))
        machines = make_machines(Plan(masters=4), seed=7, salt=str(infra_env_id))
        fleet = fleet_for(service, infra_env_id, machines[:3], scenario="failed-write@master-0")
        spare = fleet_for(service, infra_env_id, machines[3:])
        async with fleet.powered():
            result = await install_new_cluster(
                fleet, cluster_id, control_plane_count=3, limit=LIMIT, say=lambda _: None
            )
            assert result.reached, result.snapshot
            spare.join(fleet)
            async with spare.powered():
                result = await spare.wait(all_known, limit=LIMIT, despite_failure=True)
                assert result.reached, result.snapshot
                await user.replace_host(service, infra_env_id, machines[0].id, by=machines[3].id)
                result = await spare.wait(cluster_is("installed"), limit=LIMIT, despite_failure=True)
                assert result.reached, result.snapshot
        (newcomer,) = result.snapshot.hosts.values()
        assert (newcomer.status, newcomer.requested_hostname) == ("installed", "master-0")
        replaced = (await fleet.look()).hosts[machines[0].id]
        assert (replaced.status, replaced.cluster_id) == ("unbinding-pending-user-action", None)
