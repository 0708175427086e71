"""What is kept in mind about an agent goes when somebody else changes it, and stays when the agent itself did."""

import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from firstlight.core.model.plan import Step, StepPlan, StepType
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.usecases.sessions import Issued, Session, Sessions
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID

KEY = (host_state(1).host.infra_env_id, host_state(1).host.id)


def a_session(sessions: Sessions, *, bound: bool = True) -> Session:
    state = host_state(1)
    if not bound:
        state = replace(state, host=replace(state.host, cluster_id=None))
    session = Session(state, {}, sessions.issued(KEY, since=0))
    sessions.put(session)
    return session


@pytest.mark.parametrize("bound", [True, False])
@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (lambda sessions: sessions.forget(host_subject(KEY)), False),
        (lambda sessions: sessions.forget("cluster:other"), True),
        (lambda sessions: sessions.forget_all(), False),
        (lambda sessions: sessions.restart(KEY), False),
    ],
)
def test_what_makes_a_session_forgotten(bound: bool, told: Callable[[Sessions], None], kept: bool) -> None:
    sessions = Sessions()
    session = a_session(sessions, bound=bound)
    told(sessions)
    assert (sessions.get(KEY) is session) is kept


def test_a_change_of_the_cluster_forgets_its_hosts() -> None:
    sessions = Sessions()
    a_session(sessions)
    sessions.forget(cluster_subject(CLUSTER_ID))
    assert sessions.get(KEY) is None


@pytest.mark.parametrize("bound", [True, False])
def test_a_session_outlives_the_notice_of_its_own_report_only(bound: bool) -> None:
    sessions = Sessions()
    session = a_session(sessions, bound=bound)
    session.own_notices = 1
    sessions.forget(host_subject(KEY))
    assert sessions.get(KEY) is session
    sessions.forget(host_subject(KEY))
    assert sessions.get(KEY) is None, "the second notice was somebody else's"


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        pytest.param(0, 0, True, id="not-yet"),
        pytest.param(1, 0, True, id="before-the-session"),
        pytest.param(0, 1, True, id="after-it"),
        pytest.param(2, 0, False, id="two-before"),
        pytest.param(1, 1, False, id="one-each"),
        pytest.param(0, 2, False, id="two-after"),
    ],
)
def test_a_session_that_begins_with_a_commit_expects_its_one_notice(before: int, after: int, kept: bool) -> None:
    sessions = Sessions()
    with sessions.opening(KEY, own_notices=1) as opening:
        for _ in range(before):
            sessions.forget(host_subject(KEY))
        sessions.begin(host_state(1), opening)
    for _ in range(after):
        sessions.forget(host_subject(KEY))
    assert (sessions.get(KEY) is not None) is kept


@pytest.mark.parametrize(
    "told",
    [
        lambda sessions: sessions.forget(cluster_subject(CLUSTER_ID)),
        lambda sessions: sessions.forget_all(),
        lambda sessions: sessions.restart(KEY),
    ],
)
def test_no_session_begins_when_anything_else_happened_meanwhile(told: Callable[[Sessions], None]) -> None:
    sessions = Sessions()
    with sessions.opening(KEY, own_notices=1) as opening:
        told(sessions)
        sessions.begin(host_state(1), opening)
    assert sessions.get(KEY) is None


def test_a_dropped_session_leaves_a_newer_one_alone() -> None:
    sessions = Sessions()
    old, new = a_session(sessions), a_session(sessions)
    sessions.drop(old)
    assert sessions.get(KEY) is new
    sessions.drop(new)
    assert sessions.get(KEY) is None


def test_what_was_asked_before_the_registration_is_void() -> None:
    sessions = Sessions()
    asked = sessions.issued(KEY, since=100.0)
    asked[StepType.INVENTORY], asked[StepType.CONNECTIVITY_CHECK] = Issued(1, 99.9), Issued(2, 100.0)
    assert [*sessions.issued(KEY, since=100.0)] == [StepType.CONNECTIVITY_CHECK]


def test_the_oldest_sessions_make_room() -> None:
    sessions = Sessions(most=1)
    first = a_session(sessions)
    other = host_state(2)
    sessions.put(Session(other, {}, {}))
    assert sessions.get(first.key) is None
    sessions.forget(host_subject((other.host.infra_env_id, other.host.id)))
    assert sessions.get((other.host.infra_env_id, other.host.id)) is None


def test_a_step_in_a_hurry_is_handed_out_again_sooner_than_the_others() -> None:
    """In virtual time, for agents that ask at intervals and for those that wait."""
    steps = (Step(StepType.CONNECTIVITY_CHECK, ("[]",), again_seconds=15), Step(StepType.NTP, ("{}",)))
    state = replace(host_state(1), plan=StepPlan(steps=steps, next_instruction_seconds=15))
    session = Session(state, {ReportKind.CONNECTIVITY: "a", ReportKind.NTP: "b"}, {})

    def handed_out(now: float) -> list[str]:
        answer = json.loads(session.instructions(now, repeat_after=48.0))
        return [step["step_type"] for step in answer["instructions"]]

    assert handed_out(0) == ["connectivity-check", "ntp-synchronizer"]
    assert session.due_at(repeat_after=60.0) == 15
    assert [handed_out(at) for at in (14.9, 15, 29.9, 30, 45, 48)] == [
        [],
        ["connectivity-check"],
        [],
        ["connectivity-check"],
        ["connectivity-check"],
        ["ntp-synchronizer"],
    ]
    assert session.due_at(repeat_after=60.0) == 60
