"""From nothing to an installed cluster by commands and evaluations alone, and what may go wrong on the way."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.commands import actions
from firstlight.core.commands.cluster_records import Owner, imported_cluster
from firstlight.core.decision import Decision, applied
from firstlight.core.errors import Invalid
from firstlight.core.evaluate import Surroundings, evaluate_cluster
from firstlight.core.model.cluster_status import ClusterStatus, PreparationStatus
from firstlight.core.model.host_status import HostRole, HostStatus, LogsState, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ApiVipReply, DiskSpeed, ImageStatus
from tests.builders.inventories import NETWORK
from tests.builders.moments import CLUSTER_ID, NOW
from tests.core.evaluate.journeys import Journey, a_new_cluster

S, C = HostStatus, ClusterStatus


def a_ready_journey(hosts: int = 3, *, policy: Policy | None = None, **cluster: Any) -> Journey:
    journey = Journey(a_new_cluster(**cluster), policy=policy)
    journey.discover(range(1, hosts + 1))
    assert journey.cluster.status is C.READY
    return journey


def an_installing_journey(hosts: int = 3, **setup: Any) -> Journey:
    journey = a_ready_journey(hosts, **setup)
    journey.install()
    journey.prepare()
    assert journey.cluster.status is C.INSTALLING
    for number in range(1, hosts + 1):
        journey.reach(number, Stage.STARTING)
    return journey


def numbers_of(journey: Journey, role: HostRole) -> list[int]:
    return [int(host.host.id.hex[-12:], 16) for host in journey.state.hosts if host.host.effective_role is role]


def bootstrap_of(journey: Journey) -> int:
    (host,) = [host.host for host in journey.state.hosts if host.host.bootstrap]
    return int(host.id.hex[-12:], 16)


def test_one_evaluation_makes_hosts_known_and_the_cluster_ready() -> None:
    """Level, not edge: networks, groups, roles, hosts and cluster follow from the facts at once."""
    journey = Journey(a_new_cluster())
    for number in (1, 2, 3):
        journey.register(number)
    journey.report_all((1, 2, 3))
    assert journey.statuses == [S.DISCOVERING] * 3
    decision = evaluate_cluster(journey.state, Surroundings(policy=journey.policy, now=journey.now))
    after = applied(journey.state, decision)
    assert [host.host.status for host in after.hosts] == [S.KNOWN] * 3
    assert after.cluster.status is C.READY
    assert after.cluster.machine_networks == (NETWORK,)


@pytest.mark.parametrize(
    ("hosts", "workers"), [pytest.param(3, 0, id="compact"), pytest.param(5, 2, id="3+2"), pytest.param(4, 1, id="3+1")]
)
def test_from_nothing_to_installed(hosts: int, workers: int) -> None:
    journey = a_ready_journey(hosts)
    roles = Counter(host.host.effective_role for host in journey.state.hosts)
    assert roles == Counter({HostRole.MASTER: 3, HostRole.WORKER: workers})
    journey.install()
    assert journey.cluster.status is C.PREPARING_FOR_INSTALLATION
    assert set(journey.statuses) == {S.PREPARING_FOR_INSTALLATION}
    assert journey.effects == ["prepare-installation"]
    assert {host.host.role for host in journey.state.hosts} <= {HostRole.MASTER, HostRole.WORKER}
    journey.prepare()
    assert journey.cluster.status is C.INSTALLING
    assert set(journey.statuses) == {S.INSTALLING}
    assert journey.cluster.progress.total == 10
    bootstrap = bootstrap_of(journey)
    masters = [number for number in numbers_of(journey, HostRole.MASTER) if number != bootstrap]
    for number in masters:
        journey.run_stages(number)
    journey.run_stages(bootstrap)
    if workers > 1:
        assert journey.cluster.status is C.INSTALLING
    for number in numbers_of(journey, HostRole.WORKER):
        journey.run_stages(number)
    assert journey.cluster.status is C.FINALIZING
    assert journey.cluster.progress.installing == 100
    journey.finish()
    assert journey.cluster.status is C.INSTALLED
    assert journey.cluster.progress.total == 100
    assert journey.cluster.install_completed_at == journey.now
    assert set(journey.statuses) == {S.INSTALLED}
    assert "cluster_installation_completed" in journey.events
    assert journey.deadline is None


def test_a_single_node_answers_for_itself() -> None:
    journey = Journey(a_new_cluster(control_plane_count=1, user_managed_networking=True, api_vips=(), ingress_vips=()))
    journey.discover([1])
    assert (journey.cluster.status, journey.statuses) == (C.READY, [S.KNOWN])
    journey.install()
    journey.prepare()
    assert journey.cluster.api_vips == journey.cluster.ingress_vips == ("192.0.2.11",)
    journey.run_stages(1)
    assert journey.host(1).host.progress.percentage == 100
    journey.finish()
    assert journey.cluster.status is C.INSTALLED
    journey.do(actions.transform_to_adding_hosts(journey.cluster, now=journey.now, info="ready for more"))
    assert journey.cluster.api_vip_dns_name == "api.east.example.com"


def test_day_two_ends_with_the_reboot() -> None:
    owner = Owner()
    imported = imported_cluster(
        CLUSTER_ID, name="old", api_name="api.old.example.com", openshift_cluster_id=CLUSTER_ID, version="4.18.3",
        owner=owner, now=NOW,
    )  # fmt: skip
    journey = Journey(imported)
    journey.discover([1])
    assert journey.statuses == [S.INSUFFICIENT]
    journey.report(1, api_vip=ApiVipReply(success=True, ignition="{}"))
    journey.settle()
    assert journey.statuses == [S.KNOWN]
    assert journey.host(1).host.role is HostRole.WORKER
    journey.on_host(1, actions.install_day_two_host)
    assert journey.statuses == [S.INSTALLING]
    journey.run_stages(1, until=Stage.REBOOTING)
    assert journey.statuses == [S.ADDED_TO_EXISTING_CLUSTER]
    assert journey.host(1).host.progress.stage is Stage.DONE
    assert journey.cluster.status is C.ADDING_HOSTS
    # It comes back from the wrong medium: its user has to act, and a second time is refused.
    journey.register(1)
    assert journey.statuses == [S.INSTALLING_PENDING_USER_ACTION]
    with pytest.raises(Invalid, match="must boot from its installation disk"):
        journey.register(1)
    journey.on_host(1, actions.reset_day_two_host)
    journey.register(1)
    assert journey.statuses == [S.DISCOVERING]


def test_an_installed_cluster_grows() -> None:
    journey = an_installing_journey()
    for number in (1, 2, 3):
        journey.run_stages(number)
    journey.finish()
    journey.do(actions.transform_to_adding_hosts(journey.cluster, now=journey.now, info="ready for more"))
    assert journey.cluster.status is C.ADDING_HOSTS
    assert journey.cluster.api_vip_dns_name == "192.0.2.5"
    journey.discover([4])
    journey.report(4, api_vip=ApiVipReply(success=True, ignition="{}"))
    journey.settle()
    assert journey.statuses == [S.INSTALLED] * 3 + [S.KNOWN]


# --- what may go wrong ------------------------------------------------------------------------------------------------


def test_a_failed_pull_is_tried_again_with_the_next_install() -> None:
    journey = a_ready_journey()
    journey.install()
    journey.report(2, images={"release": ImageStatus(success=False)})
    journey.settle()
    assert journey.cluster.status is C.READY
    assert set(journey.statuses) == {S.KNOWN}
    assert journey.cluster.preparation.attempt == 1
    journey.install()
    assert set(journey.statuses) == {S.PREPARING_FOR_INSTALLATION}
    assert journey.host(2).reports.images is None
    journey.prepare()
    assert journey.cluster.status is C.INSTALLING


def test_a_slow_disk_stops_the_preparation() -> None:
    journey = a_ready_journey()
    journey.install()
    journey.report(1, disk_speeds={journey.host(1).host.installation_disk_path: DiskSpeed(exit_code=1)})
    journey.settle()
    assert journey.cluster.status is C.INSUFFICIENT
    assert journey.statuses == [S.INSUFFICIENT, S.KNOWN, S.KNOWN]


def test_files_that_cannot_be_made_bring_the_cluster_back() -> None:
    journey = a_ready_journey()
    journey.install()
    failed = replace(journey.cluster.preparation, status=PreparationStatus.FAILED, reason="no space")
    journey.do(Decision(cluster=replace(journey.cluster, preparation=failed)))
    assert (journey.cluster.status, set(journey.statuses)) == (C.READY, {S.KNOWN})
    assert journey.cluster.preparation.reason == "no space"


def test_a_host_that_restarts_while_it_is_prepared_begins_its_preparation_anew() -> None:
    journey = a_ready_journey()
    journey.install()
    journey.report(1, images={"release": ImageStatus(success=True)}, disk_speeds={"/dev/sda": DiskSpeed()})
    journey.settle()
    assert journey.host(1).host.status is S.PREPARING_SUCCESSFUL
    journey.register(1)
    host = journey.host(1)
    assert host.host.status is S.PREPARING_FOR_INSTALLATION
    assert (host.reports.images, host.reports.ntp) == (None, None)
    assert host.reports.inventory is not None
    assert journey.effects == ["prepare-installation"] * 2
    assert journey.cluster.preparation.attempt == 2
    journey.prepare()
    assert journey.cluster.status is C.INSTALLING


def test_the_wrong_boot_order_waits_for_its_user_and_recovers() -> None:
    journey = an_installing_journey()
    first, second = (number for number in (1, 2, 3) if number != bootstrap_of(journey))
    journey.run_stages(second)
    journey.run_stages(first, until=Stage.REBOOTING)
    journey.register(first)
    assert journey.host(first).host.status is S.INSTALLING_PENDING_USER_ACTION
    assert journey.cluster.status is C.INSTALLING_PENDING_USER_ACTION
    # The host next to it waits for the control plane meanwhile: its clock stands still.
    bootstrap = bootstrap_of(journey)
    journey.run_stages(bootstrap, until=Stage.WAITING_FOR_CONTROL_PLANE)
    for _ in range(30):
        journey.wait(minutes=10)
    assert journey.host(bootstrap).host.status is S.INSTALLING_IN_PROGRESS
    journey.reach(first, Stage.CONFIGURING)
    assert journey.host(first).host.status is S.INSTALLING_IN_PROGRESS
    assert journey.cluster.status is C.INSTALLING
    assert journey.host(bootstrap).host.progress.paused_since is None


def test_done_comes_straight_from_waiting_for_the_user() -> None:
    journey = an_installing_journey()
    journey.run_stages(1, until=Stage.REBOOTING)
    journey.register(1)
    journey.reach(1, Stage.DONE)
    assert journey.host(1).host.status is S.INSTALLED


def test_one_failed_master_fails_the_cluster_and_its_hosts() -> None:
    journey = an_installing_journey(5)
    journey.run_stages(1, until=Stage.WRITING_IMAGE)
    journey.reach(1, Stage.FAILED, "disk died")
    assert journey.cluster.status is C.ERROR
    assert set(journey.statuses) == {S.ERROR}
    assert journey.host(1).host.status_info == "Failed - disk died"
    assert "cluster_installation_failed" in journey.events
    assert journey.deadline == journey.now + journey.policy.timeouts.host_logs_pending
    journey.wait(minutes=2)
    assert {host.host.logs for host in journey.state.hosts} == {LogsState.TIMEOUT}
    journey.wait(minutes=8)
    assert journey.cluster.logs is LogsState.TIMEOUT


def test_a_lost_worker_does_not_stop_the_others() -> None:
    journey = an_installing_journey(6)
    workers = numbers_of(journey, HostRole.WORKER)
    assert len(workers) == 3
    journey.run_stages(workers[0], until=Stage.WRITING_IMAGE)
    journey.reach(workers[0], Stage.FAILED, "disk died")
    for number in range(1, 7):
        if number != workers[0]:
            journey.run_stages(number)
    journey.finish()
    assert journey.cluster.status is C.INSTALLED
    assert "1 of 3 workers did not join" in journey.cluster.status_info


def test_cancelled_and_reset_it_can_be_installed_again() -> None:
    journey = an_installing_journey()
    journey.run_stages(1, until=Stage.WRITING_IMAGE)
    journey.do(actions.cancel(journey.state, policy=journey.policy, now=journey.now))
    assert (journey.cluster.status, set(journey.statuses)) == (C.CANCELLED, {S.CANCELLED})
    journey.do(actions.reset(journey.state, policy=journey.policy, now=journey.now))
    assert set(journey.statuses) == {S.RESETTING_PENDING_USER_ACTION}
    assert journey.cluster.status is C.INSUFFICIENT
    assert not any(host.host.bootstrap for host in journey.state.hosts)
    journey.discover([1, 2, 3])
    assert (journey.cluster.status, set(journey.statuses)) == (C.READY, {S.KNOWN})
    assert journey.host(1).host.progress.stage is None
    journey.install()
    journey.prepare()
    for number in (1, 2, 3):
        journey.run_stages(number)
    journey.finish()
    assert journey.cluster.status is C.INSTALLED


def test_cancelling_a_preparation_keeps_the_cluster_ready() -> None:
    journey = a_ready_journey()
    journey.install()
    journey.do(actions.cancel(journey.state, policy=journey.policy, now=journey.now))
    assert (journey.cluster.status, set(journey.statuses)) == (C.READY, {S.KNOWN})


def test_silence_and_return_before_the_installation() -> None:
    journey = a_ready_journey()
    journey.now += timedelta(minutes=4)
    journey.settle()
    assert (journey.cluster.status, set(journey.statuses)) == (C.INSUFFICIENT, {S.DISCONNECTED})
    journey.wait(seconds=1)
    assert (journey.cluster.status, set(journey.statuses)) == (C.READY, {S.KNOWN})


def test_soft_limits_tell_and_go_on() -> None:
    journey = an_installing_journey(policy=Policy(soft_timeouts=True), soft_timeouts=True)
    journey.run_stages(1, until=Stage.WRITING_IMAGE)
    for number in (2, 3):
        journey.run_stages(number, until=Stage.INSTALLING)
    journey.wait(minutes=30)
    assert journey.host(1).host.progress.timed_out
    assert journey.host(1).host.status is S.INSTALLING_IN_PROGRESS
    assert "host_stage_timed_out" in journey.events
    journey.reach(1, Stage.COPYING_REGISTRY)
    assert not journey.host(1).host.progress.timed_out


def test_a_lost_medium_comes_back() -> None:
    journey = a_ready_journey()
    journey.on_host(1, actions.media_gone)
    assert journey.host(1).host.status is S.DISCONNECTED
    assert "host_media_disconnected" in journey.events
    journey.do(actions.media_back(journey.host(1), now=journey.now))
    assert journey.host(1).host.status is S.KNOWN
    assert journey.cluster.status is C.READY


def test_a_role_somebody_chose_is_respected() -> None:
    journey = a_ready_journey(4)
    chosen = replace(journey.host(1).host, role=HostRole.WORKER)
    journey.do(Decision(hosts={(chosen.infra_env_id, chosen.id): chosen}))
    assert numbers_of(journey, HostRole.MASTER) == [2, 3, 4]
    assert journey.cluster.status is C.READY
