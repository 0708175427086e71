"""Every row of the host tables fires when it should, and only then."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.hosts import texts
from firstlight.core.hosts.moves import take
from firstlight.core.hosts.refresh import REFRESH_TABLE
from firstlight.core.hosts.transitions import TRANSITIONS
from firstlight.core.hosts.triggers import HostTrigger
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostStatus, LogsState, MediaStatus, Stage
from tests.builders.moments import NOW
from tests.core.hosts.refresh_cases import REFRESH_CASES
from tests.core.hosts.request_cases import REFUSED, REQUEST_CASES
from tests.core.hosts.situations import EVERY_CHECK, MINUTE, Case, a_situation, taken

ROWS = {row.id: row for row in REFRESH_TABLE + TRANSITIONS}
CASES = REFRESH_CASES + REQUEST_CASES
S, C = HostStatus, ClusterStatus


def table_of(row_id: str) -> tuple[Any, ...]:
    return REFRESH_TABLE if ROWS[row_id].on is HostTrigger.REFRESH else TRANSITIONS


def each_source(cases: tuple[Case, ...]) -> list[Any]:
    return [
        pytest.param(case, status, id=f"{case.row}-{status.value}-{number}")
        for number, case in enumerate(cases)
        for status in sorted(case.only or ROWS[case.row].source)
    ]


def test_every_row_has_a_case_and_every_case_a_row() -> None:
    assert {case.row for case in CASES} == set(ROWS)


def test_no_two_rows_share_an_id() -> None:
    assert max(Counter(row.id for row in REFRESH_TABLE + TRANSITIONS).values()) == 1


def test_rows_without_a_failing_case_have_no_guard() -> None:
    guarded = {case.row for case in CASES if case.fails is not None}
    assert {row_id for row_id, row in ROWS.items() if row.when.name != "always"} == guarded


@pytest.mark.parametrize(("case", "status"), each_source(CASES))
def test_the_row_fires(case: Case, status: HostStatus) -> None:
    row = ROWS[case.row]
    assert taken(table_of(case.row), status, row.on, a_situation(status, **case.fires)) == case.row


@pytest.mark.parametrize(("case", "status"), each_source(tuple(case for case in CASES if case.fails is not None)))
def test_only_its_guard_fails(case: Case, status: HostStatus) -> None:
    row = ROWS[case.row]
    facts = a_situation(status, **(case.fires | (case.fails or {})))
    assert not row.when(facts)
    assert taken(table_of(case.row), status, row.on, facts) == case.instead(status)


@pytest.mark.parametrize("row_id", sorted(ROWS))
def test_taking_a_row_leads_to_its_target(row_id: str) -> None:
    row = ROWS[row_id]
    case = next(case for case in CASES if case.row == row_id)
    for status in case.only or row.source:
        facts = a_situation(status, **case.fires)
        move = take(row, facts)
        assert move.host.status is (row.target or status)
        told = [change.event.name for change in move.changes]
        if move.host.status is status:
            assert move.host.status_updated_at == facts.host.status_updated_at
            assert "host_status_updated" not in told
        else:
            assert move.host.status_updated_at == move.host.updated_at == NOW
            assert told[0] == "host_status_updated"
            assert move.changes[0].before["status"] == status
            assert move.changes[0].after["status"] == move.host.status
        assert (move.taken.source, move.taken.target, move.taken.row) == (status, move.host.status, row_id)


@pytest.mark.parametrize("trigger", sorted(REFUSED))
def test_requests_are_refused_in_every_other_status(trigger: HostTrigger) -> None:
    refused = {
        status
        for status in HostStatus
        if taken(TRANSITIONS, status, trigger, a_situation(status, day_two=True)) is None
    }
    assert refused == REFUSED[trigger]


@given(
    status=st.sampled_from(HostStatus),
    cluster=st.sampled_from(ClusterStatus),
    lacks=st.sets(st.sampled_from(sorted(EVERY_CHECK)), max_size=4).map(tuple),
    failing=st.sets(st.sampled_from(["container-images-available", "sufficient-installation-disk-speed"])).map(tuple),
    silent=st.booleans(),
    media=st.sampled_from(MediaStatus),
    soft=st.booleans(),
    stage=st.one_of(st.none(), st.sampled_from(Stage)),
    paused=st.booleans(),
    age=st.integers(0, 300).map(lambda minutes: minutes * MINUTE),
    logs=st.sampled_from(LogsState),
)
def test_facts_and_time_always_find_a_row(status: HostStatus, **facts: Any) -> None:
    """No host is ever without an answer to what follows from its facts."""
    situation = a_situation(status, **facts)
    assert taken(REFRESH_TABLE, status, HostTrigger.REFRESH, situation) is not None


# --- what rows say and change besides the status ----------------------------------------------------------------------


def after(row_id: str, status: HostStatus, **facts: Any) -> Any:
    return take(ROWS[row_id], a_situation(status, **facts))


def test_entering_preparation_forgets_old_logs_and_says_what_begins() -> None:
    host = after("R2", S.KNOWN, logs=LogsState.COMPLETED, logs_started_at=NOW, logs_collected_at=NOW).host
    assert (host.logs, host.logs_started_at, host.logs_collected_at) == (LogsState.NONE, None, None)
    assert host.status_info == texts.PREPARING


@pytest.mark.parametrize(
    ("reports", "open_checks"),
    [
        ({}, "disk speed and container image availability"),
        ({"images": {"a": None}}, "disk speed"),
    ],
)
def test_a_preparation_that_takes_too_long_names_what_is_open(reports: dict[str, Any], open_checks: str) -> None:
    info = after("R8", S.PREPARING_FOR_INSTALLATION, reports=reports).host.status_info
    assert info.endswith(f"still open: {open_checks}")


def test_failing_checks_are_listed_in_order() -> None:
    info = after("R33", S.KNOWN, failing=("b", "a")).host.status_info
    assert info.endswith("a ; b")


def test_checks_without_an_answer_are_not_told_as_failures() -> None:
    assert after("R33", S.KNOWN).host.status_info == texts.UNANSWERED


def test_long_texts_are_cut() -> None:
    info = after("R33", S.KNOWN, failing=tuple(f"check {number} of many" for number in range(300))).host.status_info
    assert len(info) == texts.MAX_LENGTH


def test_a_lost_medium_is_told_apart_from_silence() -> None:
    assert after("R13", S.KNOWN, media=MediaStatus.DISCONNECTED).host.status_info == texts.MEDIA_GONE
    assert after("R13", S.KNOWN, silent=True).host.status_info == texts.SILENT
    assert after("P1", S.KNOWN_UNBOUND, media=MediaStatus.DISCONNECTED).host.status_info == texts.MEDIA_GONE
    assert after("P1", S.KNOWN_UNBOUND, silent=True).host.status_info == texts.SILENT


def test_the_timer_stands_still_and_goes_on_where_it_stood() -> None:
    paused = after("R20", S.INSTALLING_IN_PROGRESS, stage=Stage.REBOOTING, stage_age=5 * MINUTE).host
    assert paused.progress.paused_since == NOW
    resumed = after("R20b", S.INSTALLING_IN_PROGRESS, stage=Stage.REBOOTING, stage_age=5 * MINUTE, paused=True).host
    # Five minutes of standing still are added to the start of the limit.
    assert (resumed.progress.paused_since, resumed.progress.updated_at) == (None, NOW)


@pytest.mark.parametrize(("row", "stage"), [("R24", Stage.JOINED), ("R25", Stage.WRITING_IMAGE)])
def test_slowness_is_told_once(row: str, stage: Stage) -> None:
    move = after(row, S.INSTALLING_IN_PROGRESS, soft=True, stage=stage)
    assert move.host.progress.timed_out
    assert [change.event.name for change in move.changes] == ["host_stage_timed_out"]
    assert after(row, S.INSTALLING_IN_PROGRESS, soft=True).changes == ()


def test_silence_is_told_and_taken_back() -> None:
    assert after("R18", S.INSTALLING, silent=True, soft=True).host.connection_timed_out
    assert not after("R19", S.INSTALLING, soft=True, connection_timed_out=True).host.connection_timed_out


def test_logs_that_never_came_are_given_up() -> None:
    assert after("R36", S.ERROR).host.logs is LogsState.TIMEOUT


def test_time_limits_are_told_with_stage_disk_and_length() -> None:
    at = {"stage": Stage.WRITING_IMAGE, "installation_disk_path": "/dev/sda", "installation_disk_id": "wwn-1"}
    for row in ("R22", "R25"):
        info = after(row, S.INSTALLING_IN_PROGRESS, **at).host.status_info
        assert "'Writing image to disk'" in info
        assert "0:30:00" in info
        assert "(sda, wwn-1)" in info
    assert "1:00:00" in after("R21", S.INSTALLING_IN_PROGRESS, stage=Stage.JOINED).host.status_info
    assert "(sda, wwn-1)" in after("R27", S.INSTALLING_IN_PROGRESS, **at).host.status_info
    assert "limit of " in after("R21", S.INSTALLING_IN_PROGRESS).host.status_info


def test_a_second_loss_keeps_the_first_reason() -> None:
    info = after("M2", S.ERROR, status_info="the disk died").host.status_info
    assert info.startswith("Failed - ")
    assert "the disk died" in info
