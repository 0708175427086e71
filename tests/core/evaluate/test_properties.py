"""What holds for every evaluation, whatever the state."""

from datetime import timedelta

from hypothesis import given, settings
from msgspec.structs import replace

from firstlight.core.decision import Decision, applied
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.policy import Policy
from tests.builders.moments import NOW
from tests.core.evaluate.states import policies, states

QUIET = timedelta(milliseconds=1)


def around(policy: Policy) -> Surroundings:
    return Surroundings(policy=policy, now=NOW)


@given(state=states(), policy=policies())
@settings(max_examples=400)
def test_its_own_result_as_input_gives_nothing(state: ClusterState, policy: Policy) -> None:
    """Every cluster comes to rest, and stays there."""
    first = evaluate_cluster(state, around(policy))
    again = evaluate_cluster(applied(state, first), around(policy))
    assert replace(again, next_deadline=None) == Decision()
    assert again.next_deadline == first.next_deadline


@given(state=states(), policy=policies())
def test_the_same_input_gives_the_same_decision(state: ClusterState, policy: Policy) -> None:
    assert evaluate_cluster(state, around(policy)) == evaluate_cluster(state, around(policy))


@given(state=states(), policy=policies())
def test_a_memo_never_changes_the_answer(state: ClusterState, policy: Policy) -> None:
    memo = Memo()
    first = evaluate_cluster(state, around(policy), memo=memo)
    assert first == evaluate_cluster(state, around(policy))
    settled = applied(state, first)
    evaluate_cluster(settled, around(policy), memo=memo)
    later = Surroundings(policy=policy, now=NOW + timedelta(minutes=7))
    assert evaluate_cluster(settled, later, memo=memo) == evaluate_cluster(settled, later)


@given(state=states(), policy=policies())
def test_nothing_moves_before_the_deadline(state: ClusterState, policy: Policy) -> None:
    """Time alone changes nothing until the moment the evaluation named."""
    first = evaluate_cluster(state, around(policy))
    if first.next_deadline is None:
        return
    assert first.next_deadline > NOW
    just_before = Surroundings(policy=policy, now=first.next_deadline - QUIET)
    assert replace(evaluate_cluster(applied(state, first), just_before), next_deadline=None) == Decision()
