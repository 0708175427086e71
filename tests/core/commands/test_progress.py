"""Progress reports: stages forward only, news, failures, finalizing and operators."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.commands.progress import report_finalizing, report_host_progress, report_operator
from firstlight.core.decision import Decision
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.hosts import texts
from firstlight.core.hosts.stages import BOOTSTRAP, MASTER, SINGLE_NODE, WORKER, percentage, stages_of
from firstlight.core.model.cluster import ClusterProgress, Operator
from firstlight.core.model.cluster_status import ClusterStatus, FinalizingStage, OperatorKind, OperatorStatus
from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, Stage
from firstlight.core.model.policy import Policy
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, host_state
from tests.builders.moments import EARLIER, INFRA_ENV_ID, NOW, host_id

S, C = HostStatus, ClusterStatus
KEY = (INFRA_ENV_ID, host_id(1))
REPORTING = {S.INSTALLING, S.INSTALLING_IN_PROGRESS, S.INSTALLING_PENDING_USER_ACTION}


def report(
    stage: Stage,
    info: str = "",
    *,
    status: HostStatus = S.INSTALLING_IN_PROGRESS,
    at: Stage | None = Stage.INSTALLING,
    kube_api: bool = False,
    **host: Any,
) -> Decision:
    progress = Progress(stage=at, info="half way", started_at=EARLIER, updated_at=EARLIER, timed_out=True)
    known = host_state(1, **{"status": status, "progress": progress, "role": HostRole.MASTER} | host)
    return report_host_progress(
        known, stage=stage, info=info, cluster=a_cluster(), policy=Policy(kube_api=kube_api), now=NOW
    )


@pytest.mark.parametrize("status", sorted(REPORTING))
def test_a_further_stage_is_taken(status: HostStatus) -> None:
    decision = report(Stage.WRITING_IMAGE, "12%", status=status, connection_timed_out=True)
    host = decision.hosts[KEY]
    assert (host.status, host.status_info) == (S.INSTALLING_IN_PROGRESS, Stage.WRITING_IMAGE)
    assert host.progress == Progress(
        stage=Stage.WRITING_IMAGE, info="12%", percentage=37, started_at=NOW, updated_at=NOW, timed_out=False
    )
    assert not host.connection_timed_out
    event = decision.changes[0]
    assert event.event.name == "host_install_progress_updated"
    assert event.before == {"stage": "Installing", "info": "half way"}


@pytest.mark.parametrize("status", sorted(set(S) - REPORTING))
def test_elsewhere_a_new_stage_is_a_conflict(status: HostStatus) -> None:
    with pytest.raises(Conflict, match="only while it installs"):
        report(Stage.WRITING_IMAGE, status=status)


@pytest.mark.parametrize("status", sorted(S))
def test_news_inside_a_stage_are_taken_in_every_status(status: HostStatus) -> None:
    decision = report(Stage.INSTALLING, "nearly", status=status)
    host = decision.hosts[KEY]
    assert host.status is status
    assert (host.progress.info, host.progress.started_at, host.progress.updated_at) == ("nearly", EARLIER, NOW)


def test_the_same_again_is_nothing() -> None:
    assert report(Stage.INSTALLING, "half way") == Decision()


@pytest.mark.parametrize("at", MASTER[1:])
def test_backward_is_refused(at: Stage) -> None:
    before = MASTER[MASTER.index(at) - 1]
    with pytest.raises(Conflict, match="lies before") as refusal:
        report(before, at=at)
    assert refusal.value.code == "backward"


@pytest.mark.parametrize("at", [None, Stage.STARTING])
def test_a_stage_of_another_role_is_refused(at: Stage | None) -> None:
    with pytest.raises(Conflict, match="not one of the stages of a master"):
        report(Stage.WAITING_FOR_IGNITION, at=at)


def test_stages_may_be_skipped() -> None:
    assert report(Stage.JOINED, at=None).hosts[KEY].progress.percentage == 87


@pytest.mark.parametrize("status", sorted(REPORTING))
def test_failed_keeps_the_last_stage_and_tells(status: HostStatus) -> None:
    decision = report(Stage.FAILED, "disk died", status=status)
    host = decision.hosts[KEY]
    assert (host.status, host.status_info) == (S.ERROR, "Failed - disk died")
    assert host.progress.stage is Stage.INSTALLING
    assert host.status_updated_at == NOW
    assert [change.event.name for change in decision.changes] == [
        "host_install_progress_updated",
        "host_status_updated",
    ]


@pytest.mark.parametrize("status", sorted(REPORTING))
def test_done_is_installed(status: HostStatus) -> None:
    host = report(Stage.DONE, status=status).hosts[KEY]
    assert (host.status, host.progress.percentage) == (S.INSTALLED, 100)


@pytest.mark.parametrize("stage", [Stage.REBOOTING, Stage.DONE])
@pytest.mark.parametrize("role", [HostRole.MASTER, HostRole.WORKER])
def test_day_two_ends_with_the_reboot(stage: Stage, role: HostRole) -> None:
    host = report(stage, kind=HostKind.DAY_TWO, role=role).hosts[KEY]
    assert (host.status, host.progress.stage, host.progress.percentage) == (
        S.ADDED_TO_EXISTING_CLUSTER,
        Stage.DONE,
        100,
    )
    assert host.status_info == texts.DAY_TWO_REBOOTED


def test_with_a_reporter_in_the_cluster_day_two_goes_on_after_the_reboot() -> None:
    day_two = {"kind": HostKind.DAY_TWO, "role": HostRole.WORKER, "kube_api": True}
    rebooting = report(Stage.REBOOTING, **day_two).hosts[KEY]
    assert (rebooting.status, rebooting.progress.stage) == (S.INSTALLING_IN_PROGRESS, Stage.REBOOTING)
    done = report(Stage.DONE, status=S.INSTALLING_PENDING_USER_ACTION, at=Stage.REBOOTING, **day_two).hosts[KEY]
    assert (done.status, done.status_info) == (S.ADDED_TO_EXISTING_CLUSTER, "Done")


def test_a_host_of_the_pool_reports_nothing() -> None:
    with pytest.raises(Invalid, match="belongs to no cluster"):
        report(Stage.INSTALLING, cluster_id=None)


def test_news_wind_a_paused_timer_up() -> None:
    progress = Progress(stage=Stage.REBOOTING, started_at=EARLIER, updated_at=EARLIER, paused_since=EARLIER)
    host = report(Stage.REBOOTING, "news", progress=progress).hosts[KEY]
    assert (host.progress.paused_since, host.progress.updated_at) == (None, NOW)


# --- stages -----------------------------------------------------------------------------------------------------------

PERCENTAGES = [
    pytest.param(BOOTSTRAP, {"bootstrap": True}, 3, [9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 100], id="bootstrap"),
    pytest.param(BOOTSTRAP, {"role": HostRole.BOOTSTRAP}, 3, [9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 100], id="role"),
    pytest.param(MASTER, {"role": HostRole.MASTER}, 3, [12, 25, 37, 50, 62, 75, 87, 100], id="master"),
    pytest.param(MASTER, {"role": HostRole.ARBITER}, 2, [12, 25, 37, 50, 62, 75, 87, 100], id="arbiter"),
    pytest.param(WORKER, {"role": HostRole.WORKER}, 3, [11, 22, 33, 44, 55, 66, 77, 88, 100], id="worker"),
    pytest.param(SINGLE_NODE, {"bootstrap": True}, 1, [12, 25, 37, 50, 62, 75, 87, 100], id="single-node"),
]


@pytest.mark.parametrize(("stages", "host", "masters", "expected"), PERCENTAGES)
def test_stages_and_percentages_per_role(
    stages: tuple[Stage, ...], host: dict[str, Any], masters: int, expected: list[int]
) -> None:
    found = stages_of(a_host(**host), a_cluster(control_plane_count=masters), Policy())
    assert found == stages
    assert [percentage(stage, found) for stage in found] == expected
    assert percentage(None, found) == 0
    assert percentage(Stage.FAILED, found) == 0


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (HostRole.WORKER, [20, 40, 60, 80, 100]),
        (HostRole.MASTER, [20, 40, 60, 80, 100]),
    ],
)
def test_day_two_stages_are_cut_after_the_reboot(role: HostRole, expected: list[int]) -> None:
    host = a_host(role=role, kind=HostKind.DAY_TWO)
    stages = stages_of(host, a_cluster(), Policy())
    assert stages[-1] is Stage.REBOOTING
    assert [percentage(stage, stages) for stage in stages] == expected
    assert stages_of(host, a_cluster(), Policy(kube_api=True))[-1] is Stage.DONE


# --- the cluster ------------------------------------------------------------------------------------------------------

FINALIZING_TAKEN = {C.INSTALLING, C.FINALIZING, C.INSTALLING_PENDING_USER_ACTION}


@pytest.mark.parametrize("status", sorted(C))
def test_finalizing_stages_are_taken_while_installing(status: ClusterStatus) -> None:
    old = ClusterProgress(
        finalizing_stage=FinalizingStage.ROUTER_CA,
        finalizing_stage_started_at=EARLIER,
        finalizing_stage_timed_out=True,
    )
    cluster = a_cluster(status=status, progress=old)
    if status not in FINALIZING_TAKEN:
        with pytest.raises(Invalid, match="only while installing"):
            report_finalizing(cluster, stage=FinalizingStage.ROUTER_CA, now=NOW)
        return
    decision = report_finalizing(cluster, stage=FinalizingStage.DONE, now=NOW)
    assert decision.cluster is not None
    assert decision.cluster.progress == ClusterProgress(
        finalizing_stage=FinalizingStage.DONE, finalizing_stage_started_at=NOW
    )
    assert [change.event.name for change in decision.changes] == ["cluster_finalizing_stage_updated"]
    assert report_finalizing(cluster, stage=FinalizingStage.ROUTER_CA, now=NOW) == Decision()
    first = report_finalizing(replace(cluster, progress=ClusterProgress()), stage=FinalizingStage.DONE, now=NOW)
    assert first.changes[0].before == {"finalizing_stage": ""}


def test_the_last_word_of_the_controller_may_come_late() -> None:
    cluster = a_cluster(status=C.INSTALLED)
    late = report_finalizing(cluster, stage=FinalizingStage.DONE, now=NOW).cluster
    assert late is not None
    assert late.progress.finalizing_stage is FinalizingStage.DONE, "what is acknowledged is kept"
    assert report_finalizing(late, stage=FinalizingStage.DONE, now=NOW) == Decision()


def operator(name: str = "console", status: OperatorStatus | None = OperatorStatus.AVAILABLE) -> Decision:
    known = Operator(name="console", kind=OperatorKind.BUILTIN, version="4.18.0")
    cluster = a_cluster(operators=(known, Operator(name="lso", kind=OperatorKind.OLM)))
    return report_operator(cluster, name=name, status=status, info="up", version="", now=NOW)


def test_an_operator_report_changes_that_operator_alone() -> None:
    decision = operator()
    assert decision.cluster is not None
    console, lso = decision.cluster.operators
    assert (console.status, console.status_info, console.version) == (OperatorStatus.AVAILABLE, "up", "4.18.0")
    assert console.status_updated_at == NOW
    assert lso == Operator(name="lso", kind=OperatorKind.OLM)
    assert [change.event.name for change in decision.changes] == ["cluster_operator_status"]
    again = report_operator(
        decision.cluster,
        name="console",
        status=OperatorStatus.AVAILABLE,
        info="up",
        version="4.18.0",
        now=NOW + timedelta(minutes=1),
    )
    assert again == Decision()


def test_reports_about_other_operators_are_refused() -> None:
    with pytest.raises(NotFound, match="called odf"):
        operator("odf")
    with pytest.raises(Invalid, match="has no status"):
        operator(status=None)
