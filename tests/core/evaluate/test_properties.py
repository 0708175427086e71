"""What holds for every evaluation, whatever the state."""

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.decision import Decision, applied
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.policy import Policy
from tests.builders.clusters import cluster_state
from tests.builders.hosts import a_presence
from tests.builders.moments import NOW
from tests.core.evaluate.states import moments, policies, states

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


@given(state=states(), policy=policies(), later=moments(), infra_env=st.booleans())
def test_a_memo_notices_whatever_changed(state: ClusterState, policy: Policy, later: datetime, infra_env: bool) -> None:
    """Agents that call again, other settings of their infra-env, and decisions that were never written."""
    memo = Memo()
    first = evaluate_cluster(state, around(policy), memo=memo)
    assert evaluate_cluster(state, around(policy), memo=memo) == first
    settled = applied(state, first)
    evaluate_cluster(settled, around(policy), memo=memo)
    changed = replace(
        settled,
        hosts=tuple(replace(host, presence=replace(host.presence, checked_in_at=later)) for host in settled.hosts),
    )
    if infra_env:
        envs = {key: replace(env, additional_ntp_sources="ntp.other") for key, env in settled.infra_envs.items()}
        changed = replace(changed, infra_envs=envs)
    assert evaluate_cluster(changed, around(policy), memo=memo) == evaluate_cluster(changed, around(policy))


def test_a_host_heard_of_again_is_known_again_although_remembered_as_silent() -> None:
    memo, policy = Memo(), Policy()
    state = applied(cluster_state(), evaluate_cluster(cluster_state(), around(policy), memo=memo))
    later = Surroundings(policy=policy, now=NOW + timedelta(minutes=10))
    for _ in range(2):
        state = applied(state, evaluate_cluster(state, later, memo=memo))
    assert {host.host.status for host in state.hosts} == {HostStatus.DISCONNECTED}
    heard = replace(
        state, hosts=tuple(replace(host, presence=a_presence(checked_in_at=later.now)) for host in state.hosts)
    )
    after = applied(heard, evaluate_cluster(heard, later, memo=memo))
    assert {host.host.status for host in after.hosts} == {HostStatus.KNOWN}


@given(state=states(), policy=policies())
def test_nothing_moves_before_the_deadline(state: ClusterState, policy: Policy) -> None:
    """Time alone changes nothing until the moment the evaluation named."""
    first = evaluate_cluster(state, around(policy))
    if first.next_deadline is None:
        return
    assert first.next_deadline > NOW
    just_before = Surroundings(policy=policy, now=first.next_deadline - QUIET)
    assert replace(evaluate_cluster(applied(state, first), just_before), next_deadline=None) == Decision()
