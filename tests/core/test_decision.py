"""Decisions as values: carrying out two is carrying out their combination."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.decision import Change, Decision, Effect, Taken, applied, combined, host_after, prepare, without
from firstlight.core.events.cluster import ClusterInstalled
from firstlight.core.model.cluster import Preparation
from firstlight.core.model.host import Presence
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Finding, Status
from tests.builders.clusters import a_cluster, cluster_state
from tests.builders.hosts import a_host, host_state, some_reports
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id

KNOWN = (1, 2, 3)
NEW = 4


def key(number: int) -> tuple[Any, Any]:
    return (INFRA_ENV_ID, host_id(number))


def findings(name: str) -> tuple[Finding, ...]:
    return (Finding(id=name, category="any", status=Status.FAILURE),)


def of_hosts(values: st.SearchStrategy[Any], numbers: tuple[int, ...] = KNOWN) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(numbers).map(key), values, max_size=2)


@st.composite
def decisions(draw: st.DrawFn, *, newcomer: bool = False) -> Decision:
    """Anything about known hosts; a newcomer comes with its record, as the only thing that makes it exist."""
    hosts = {
        key(number): a_host(number, status=draw(st.sampled_from(HostStatus)), role=draw(st.sampled_from(HostRole)))
        for number in draw(st.sets(st.sampled_from(KNOWN)))
    }
    if newcomer and draw(st.booleans()):
        hosts[key(NEW)] = a_host(NEW, status=HostStatus.DISCOVERING)
    return Decision(
        cluster=draw(st.sampled_from([None, a_cluster(name="one"), a_cluster(name="two")])),
        hosts=hosts,
        presences=draw(of_hosts(st.builds(Presence, agent_version=st.sampled_from(["a", "b"])))),
        dropped_reports=draw(of_hosts(st.frozensets(st.sampled_from(ReportKind), max_size=3))),
        cluster_findings=draw(st.sampled_from([None, (), findings("x"), findings("y")])),
        host_findings=draw(of_hosts(st.sampled_from([(), findings("x"), findings("y")]))),
        plans=draw(of_hosts(st.builds(StepPlan, next_instruction_seconds=st.sampled_from([60, 120])))),
    )


@given(first=decisions(newcomer=True), second=decisions(newcomer=True))
def test_two_in_a_row_are_their_combination(first: Decision, second: Decision) -> None:
    state = cluster_state()
    assert applied(applied(state, first), second) == applied(state, combined(first, second))


@given(decision=decisions(newcomer=True))
def test_nothing_changes_nothing(decision: Decision) -> None:
    state = cluster_state()
    assert applied(state, Decision()) == state
    assert applied(state, combined(Decision(), decision)) == applied(state, combined(decision, Decision()))
    assert Decision().empty


@given(first=decisions(), second=decisions(), third=decisions())
def test_combining_is_associative(first: Decision, second: Decision, third: Decision) -> None:
    assert combined(combined(first, second), third) == combined(first, combined(second, third))


def test_stories_are_told_in_order_and_the_last_deadline_counts() -> None:
    event = Change(event=ClusterInstalled(cluster_id=CLUSTER_ID))
    effect = Effect(kind="k", subject="s", attempt=1)
    taken = Taken(subject="s", row="R1", source="a", target="b", why="w")
    first = Decision(changes=(event,), effects=(effect,), taken=(taken,), next_deadline=NOW)
    second = Decision(changes=(event,), effects=(replace(effect, attempt=2),), next_deadline=NOW + timedelta(1))
    both = combined(first, second)
    assert both.changes == (event, event)
    assert [each.attempt for each in both.effects] == [1, 2]
    assert both.taken == (taken,)
    assert both.next_deadline == second.next_deadline


def test_a_story_without_a_change_is_nothing_to_write() -> None:
    taken = Taken(subject="s", row="R1", source="a", target="b", why="w")
    assert Decision(taken=(taken,), next_deadline=NOW).empty
    full = Decision(
        cluster=a_cluster(),
        hosts={key(1): a_host()},
        presences={key(1): Presence()},
        dropped_reports={key(1): frozenset({ReportKind.NTP})},
        cluster_findings=(),
        host_findings={key(1): ()},
        plans={key(1): StepPlan()},
        changes=(Change(event=ClusterInstalled(cluster_id=CLUSTER_ID)),),
        effects=(prepare(a_cluster()),),
    )
    story = {"taken", "next_deadline"}
    for name in set(Decision.__struct_fields__) - story:
        assert not replace(Decision(), **{name: getattr(full, name)}).empty, name


def test_hosts_that_leave_are_gone_and_newcomers_stand_last() -> None:
    state = cluster_state()
    gone = replace(state.hosts[0].host, cluster_id=None)
    after = applied(state, Decision(hosts={key(1): gone, key(NEW): a_host(NEW)}))
    assert [host.host.id for host in after.hosts] == [host_id(2), host_id(3), host_id(NEW)]


def test_an_untouched_host_is_the_very_same() -> None:
    state = host_state(1)
    assert host_after(state, Decision(hosts={key(2): a_host(2)})) is state


def test_dropped_reports_take_their_moments_along() -> None:
    reports = some_reports()
    left = without(reports, frozenset({ReportKind.NTP, ReportKind.DOMAINS}))
    assert (left.ntp, left.domains) == (None, None)
    assert left.inventory is reports.inventory
    assert set(left.measured_at) == set(ReportKind) - {ReportKind.NTP, ReportKind.DOMAINS}


def test_preparing_is_the_same_work_until_the_next_attempt() -> None:
    cluster = a_cluster(preparation=Preparation(attempt=7))
    assert prepare(cluster) == prepare(replace(cluster, name="other"))
    assert prepare(cluster).attempt == 7
