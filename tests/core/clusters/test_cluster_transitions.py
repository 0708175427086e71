"""Every row of the cluster tables fires when it should, and only then."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.clusters import texts
from firstlight.core.clusters.moves import ClusterMove, request, take
from firstlight.core.clusters.transitions import ENDED, REFRESH_TABLE, TRANSITIONS, ClusterTrigger
from firstlight.core.errors import Conflict
from firstlight.core.model.cluster import ClusterProgress, Operator
from firstlight.core.model.cluster_status import (
    ClusterStatus,
    FinalizingStage,
    OperatorKind,
    OperatorStatus,
    PreparationStatus,
)
from firstlight.core.model.host_status import HostStatus, LogsState
from tests.builders.moments import CLUSTER_ID, NOW
from tests.core.clusters.cluster_cases import REFRESH_CASES, REQUEST_CASES, Case
from tests.core.clusters.cluster_situations import (
    EVERY_CHECK,
    INSTALLED,
    MINUTE,
    a_cluster_situation,
    an_operator,
    taken,
)

C, S, T = ClusterStatus, HostStatus, ClusterTrigger
ROWS = {row.id: row for row in REFRESH_TABLE + TRANSITIONS}
CASES = REFRESH_CASES + REQUEST_CASES


def table_of(row_id: str) -> tuple[Any, ...]:
    return REFRESH_TABLE if ROWS[row_id].on is T.REFRESH else TRANSITIONS


def each_source(cases: tuple[Case, ...]) -> list[Any]:
    return [
        pytest.param(case, status, id=f"{case.row}-{status.value}-{number}")
        for number, case in enumerate(cases)
        for status in sorted(case.only or ROWS[case.row].source)
    ]


def test_every_row_has_a_case_and_every_case_a_row() -> None:
    assert {case.row for case in CASES} == set(ROWS)
    assert len(ROWS) == len(REFRESH_TABLE) + len(TRANSITIONS)


def test_rows_without_a_failing_case_have_no_guard() -> None:
    guarded = {case.row for case in CASES if case.fails is not None}
    assert {row_id for row_id, row in ROWS.items() if row.when.name != "always"} == guarded


@pytest.mark.parametrize(("case", "status"), each_source(CASES))
def test_the_row_fires(case: Case, status: ClusterStatus) -> None:
    row = ROWS[case.row]
    assert taken(table_of(case.row), status, row.on, a_cluster_situation(status, **case.fires)) == case.row


@pytest.mark.parametrize(("case", "status"), each_source(tuple(case for case in CASES if case.fails is not None)))
def test_only_its_guard_fails(case: Case, status: ClusterStatus) -> None:
    row = ROWS[case.row]
    facts = a_cluster_situation(status, **(case.fires | (case.fails or {})))
    assert not row.when(facts)
    assert taken(table_of(case.row), status, row.on, facts) == case.instead(status)


@pytest.mark.parametrize(("case", "status"), each_source(CASES))
def test_taking_a_row_leads_to_its_target(case: Case, status: ClusterStatus) -> None:
    row = ROWS[case.row]
    facts = a_cluster_situation(status, **case.fires)
    move = take(row, facts)
    assert move.cluster.status is (row.target or status)
    told = [change.event.name for change in move.changes]
    if move.cluster.status is status:
        assert "cluster_status_updated" not in told
        assert move.cluster.status_updated_at == facts.cluster.status_updated_at
    else:
        assert told[0] == "cluster_status_updated"
        assert (move.changes[0].before["status"], move.changes[0].after["status"]) == (status, move.cluster.status)
        assert move.cluster.status_updated_at == NOW
        assert (move.cluster.install_completed_at == NOW) == (move.cluster.status in ENDED)
    assert (move.taken.source, move.taken.target, move.taken.row) == (status, move.cluster.status, case.row)


FAILING_ROWS = {"C10", "C11", "C12", "C13", "C14", "C24"}


def test_every_way_into_error_tells_that_the_installation_failed() -> None:
    assert {row.id for row in REFRESH_TABLE if row.target is C.ERROR} == FAILING_ROWS
    for row_id in FAILING_ROWS:
        facts = a_cluster_situation(C.FINALIZING, stage=FinalizingStage.DONE)
        assert "cluster_installation_failed" in told_by(take(ROWS[row_id], facts))


@given(
    status=st.sampled_from(ClusterStatus),
    masters=st.lists(st.sampled_from(HostStatus), max_size=4),
    workers=st.lists(st.sampled_from(HostStatus), max_size=3),
    lacks=st.sets(st.sampled_from(sorted(EVERY_CHECK)), max_size=3).map(tuple),
    soft=st.booleans(),
    age=st.integers(0, 2000).map(lambda minutes: minutes * MINUTE),
    started=st.one_of(st.none(), st.integers(0, 2000).map(lambda minutes: minutes * MINUTE)),
    preparation=st.sampled_from(PreparationStatus),
    stage=st.one_of(st.none(), st.sampled_from(FinalizingStage)),
    vip_dhcp_allocation=st.booleans(),
    control_plane_count=st.sampled_from([1, 2, 3, 5]),
)
def test_facts_and_time_always_find_a_row(status: ClusterStatus, **facts: Any) -> None:
    """No cluster is ever without an answer to what follows from its facts."""
    assert taken(REFRESH_TABLE, status, T.REFRESH, a_cluster_situation(status, **facts)) is not None


REFUSED = {
    T.PREPARE: set(C) - {C.READY},
    T.CANCEL: {C.INSUFFICIENT, C.PENDING_FOR_INPUT, C.READY, C.INSTALLED, C.CANCELLED, C.ADDING_HOSTS, C.UNMONITORED},
    T.RESET: {C.INSUFFICIENT, C.PENDING_FOR_INPUT, C.READY, C.INSTALLED, C.ADDING_HOSTS, C.UNMONITORED},
}


@pytest.mark.parametrize("trigger", sorted(REFUSED))
def test_requests_are_refused_in_every_other_status(trigger: ClusterTrigger) -> None:
    refused = {status for status in C if taken(TRANSITIONS, status, trigger, a_cluster_situation(status)) is None}
    assert refused == REFUSED[trigger]
    with pytest.raises(Conflict, match=f"cannot {trigger}"):
        request(trigger, a_cluster_situation(C.INSTALLED))


# --- what rows say and change besides the status ----------------------------------------------------------------------


def after(row_id: str, status: ClusterStatus, **facts: Any) -> ClusterMove:
    return take(ROWS[row_id], a_cluster_situation(status, **facts))


def told_by(move: ClusterMove) -> list[str]:
    return [change.event.name for change in move.changes]


def test_installing_begins_with_a_clean_slate() -> None:
    old = {
        "logs": LogsState.COMPLETED,
        "controller_logs_started_at": NOW,
        "controller_logs_collected_at": NOW,
        "kubeconfig_complete": True,
        "install_completed_at": NOW,
        "progress": ClusterProgress(total=40, installing=50),
    }
    cluster = after("I1", C.READY, **old).cluster
    assert cluster.install_started_at == NOW
    assert cluster.install_completed_at is None
    assert cluster.progress == ClusterProgress()
    assert not cluster.kubeconfig_complete
    assert (cluster.logs, cluster.controller_logs_started_at) == (LogsState.NONE, None)
    assert cluster.preparation.status is PreparationStatus.NOT_STARTED
    assert cluster.preparation.attempt == 5


@pytest.mark.parametrize("row", ["X1", "X2", "Z1", "C6", "C8"])
def test_results_of_a_given_up_preparation_are_void(row: str) -> None:
    assert after(row, C.PREPARING_FOR_INSTALLATION).cluster.preparation.attempt == 5


def test_a_preparation_that_takes_too_long_says_so() -> None:
    move = after("C6", C.PREPARING_FOR_INSTALLATION)
    assert move.cluster.preparation.status is PreparationStatus.FAILED
    assert move.cluster.preparation.reason == texts.PREPARATION_TIMEOUT
    assert "installation_preparing_timed_out" in told_by(move)


def test_the_reason_of_a_failed_preparation_is_told() -> None:
    facts = {"masters": (S.PREPARING_FAILED,)}
    assert "Preparation failed on host-1." in after("C9", C.PREPARING_FOR_INSTALLATION, **facts).cluster.status_info
    failed = after("C9", C.PREPARING_FOR_INSTALLATION, preparation=PreparationStatus.FAILED)
    assert "no space left" in failed.cluster.status_info


def test_reset_forgets_what_the_installation_made() -> None:
    operator = an_operator(version="4.18.3", status_info="up", status_updated_at=NOW)
    move = after("Z1", C.ERROR, operators=(operator,), openshift_cluster_id=CLUSTER_ID, started=MINUTE)
    cluster = move.cluster
    assert cluster.openshift_cluster_id is None
    assert cluster.install_started_at is None
    assert cluster.operators == (Operator(name="console", kind=OperatorKind.BUILTIN),)
    assert cluster.api_vips == ("192.0.2.5",)
    assert "cluster_installation_reset" in told_by(move)


def test_a_single_node_loses_its_derived_vips_on_reset() -> None:
    cluster = after("Z1", C.ERROR, control_plane_count=1).cluster
    assert (cluster.api_vips, cluster.ingress_vips) == ((), ())


def test_preparation_counts_ten_percent() -> None:
    progress = after("C7", C.PREPARING_FOR_INSTALLATION).cluster.progress
    assert (progress.preparing, progress.installing, progress.total) == (100, 0, 10)


def test_the_finalizing_timer_starts_again_after_the_wait_for_the_user() -> None:
    facts = {"stage": FinalizingStage.OLM_CSV, "stage_age": 50 * MINUTE, "told_slow": True}
    progress = after("C18", C.INSTALLING_PENDING_USER_ACTION, **facts).cluster.progress
    assert (progress.finalizing_stage_started_at, progress.finalizing_stage_timed_out) == (NOW, False)
    none = after("C18", C.INSTALLING_PENDING_USER_ACTION).cluster.progress
    assert none.finalizing_stage_started_at is None


def test_a_slow_stage_is_told_with_its_minutes() -> None:
    move = after("C15", C.FINALIZING, stage=FinalizingStage.OLM_CSV, soft=True)
    assert move.cluster.progress.finalizing_stage_timed_out
    assert told_by(move) == ["finalizing_stage_timed_out"]
    assert "70 minutes" in move.cluster.status_info
    assert "600 minutes" in after("C14", C.FINALIZING, stage=FinalizingStage.CLUSTER_OPERATORS).cluster.status_info
    assert "0 minutes" in after("C14", C.FINALIZING).cluster.status_info


@pytest.mark.parametrize(
    ("stage", "seconds", "minutes"),
    [
        (FinalizingStage.OLM_CSV_INITIALIZATION, 70 * 60 - 60, 70),
        (FinalizingStage.OLM_CSV_INITIALIZATION, 70 * 60 + 60, 71),
        (FinalizingStage.OLM_CSV, 90 * 60, 90),
        (FinalizingStage.OLM_SETUP_JOBS, 11 * 60, 11),
        (FinalizingStage.OLM_MANIFESTS, 90 * 60, 10),
        (FinalizingStage.ROUTER_CA, 90 * 60, 70),
    ],
)
def test_the_slowest_olm_operator_stretches_the_stages_that_wait_for_it(
    stage: FinalizingStage, seconds: int, minutes: int
) -> None:
    operators = (
        an_operator("lso", kind=OperatorKind.OLM, timeout_seconds=seconds),
        an_operator("odf", kind=OperatorKind.OLM, timeout_seconds=60),
        an_operator(timeout_seconds=20 * 60 * 60),
    )
    limit = a_cluster_situation(C.FINALIZING, stage=stage, operators=operators).finalizing_limit
    assert limit is not None
    assert (limit.hard, limit.soft) == (minutes * MINUTE, minutes * MINUTE)


def test_logs_that_never_came_are_given_up() -> None:
    assert after("C25", C.ERROR).cluster.logs is LogsState.TIMEOUT


def test_installed_says_what_is_missing() -> None:
    move = after("C23", C.FINALIZING, masters=INSTALLED)
    assert (move.cluster.status_info, told_by(move)[1:]) == (texts.INSTALLED, ["cluster_installation_completed"])
    lame = after("C23", C.FINALIZING, workers=(S.INSTALLED, S.ERROR, S.INSTALLED))
    assert "1 of 3 workers did not join" in lame.cluster.status_info
    failed = an_operator("odf", kind=OperatorKind.OLM, status=OperatorStatus.FAILED)
    degraded = after("C23", C.FINALIZING, operators=(failed, replace(failed, name="lso")))
    assert degraded.cluster.status_info.endswith("lso, odf")
    assert "cluster_degraded_OLM_operators_failed" in told_by(degraded)


def test_hosts_that_hold_up_the_cluster_are_named() -> None:
    waiting = after("C19", C.INSTALLING, masters=(S.INSTALLING_PENDING_USER_ACTION, S.INSTALLED))
    assert waiting.cluster.status_info.endswith("attend to host-1")
    failed = after("C24", C.INSTALLING, masters=(S.INSTALLED, S.ERROR, S.ERROR))
    assert failed.cluster.status_info == "Too many hosts failed: host-2, host-3"
    assert after("C24", C.INSTALLING, masters=()).cluster.status_info.endswith("none")
    assert "1440 minutes" in after("C12", C.INSTALLING).cluster.status_info
