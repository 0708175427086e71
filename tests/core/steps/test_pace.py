"""What failed is measured anew soon, by whom it concerns, and by no more hosts at once than a network bears."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.decision import applied
from firstlight.core.evaluate import Surroundings, evaluate_cluster
from firstlight.core.hosts.rules import IN_ORDER
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.plan import StepPlan, StepType
from firstlight.core.model.reports import NtpSource, Resolution
from firstlight.core.rules import Status
from firstlight.core.steps.due import DAY_ONE
from firstlight.core.steps.pace import (
    AGAIN_SECONDS,
    GRAIN_SECONDS,
    HOSTS_PER_SECOND,
    MEASURED_BY,
    PEERS_PER_SECOND,
    again_seconds,
    suspects_among,
)
from tests.builders.clusters import a_policy, cluster_state
from tests.builders.hosts import a_connectivity, host_state, some_domains
from tests.builders.moments import NOW, host_id

T = StepType


@pytest.mark.parametrize(
    ("step", "suspects", "hosts", "usual", "seconds"),
    [
        pytest.param(T.CONNECTIVITY_CHECK, 0, 5, 60, 0, id="nobody-in-a-hurry"),
        pytest.param(T.CONNECTIVITY_CHECK, 2, 5, 60, 15, id="a-pair-of-five"),
        pytest.param(T.CONNECTIVITY_CHECK, 2, 500, 60, 15, id="a-pair-of-five-hundred"),
        pytest.param(T.CONNECTIVITY_CHECK, 50, 60, 60, 15, id="exactly-what-is-bearable"),
        pytest.param(T.CONNECTIVITY_CHECK, 51, 60, 60, 20, id="one-more"),
        pytest.param(T.CONNECTIVITY_CHECK, 100, 100, 60, 50, id="a-hundred-that-see-nobody"),
        pytest.param(T.CONNECTIVITY_CHECK, 200, 200, 60, 0, id="two-hundred-do-not-storm"),
        pytest.param(T.CONNECTIVITY_CHECK, 2, 5, 15, 0, id="usual-is-soon-enough"),
        pytest.param(T.CONNECTIVITY_CHECK, 2, 5, 16, 15, id="a-second-sooner"),
        pytest.param(T.DOMAIN_RESOLUTION, 150, 150, 60, 15, id="names-cost-each-host-the-same"),
        pytest.param(T.DOMAIN_RESOLUTION, 151, 151, 60, 20, id="names-one-more"),
        pytest.param(T.NTP, 600, 600, 60, 0, id="all-of-six-hundred"),
    ],
)
def test_how_soon(step: StepType, suspects: int, hosts: int, usual: int, seconds: int) -> None:
    assert again_seconds(step, suspects=suspects, hosts=hosts, usual=usual) == seconds


@given(
    step=st.sampled_from(sorted(set(MEASURED_BY.values()))),
    hosts=st.integers(1, 5000),
    share=st.floats(0, 1),
    usual=st.integers(1, 600),
)
def test_together_they_never_ask_for_more_than_is_bearable(
    step: StepType, hosts: int, share: float, usual: int
) -> None:
    suspects = round(hosts * share)
    seconds = again_seconds(step, suspects=suspects, hosts=hosts, usual=usual)
    assert seconds == 0 or AGAIN_SECONDS <= seconds < usual
    if seconds:
        assert seconds % GRAIN_SECONDS == 0
        limit, each = (PEERS_PER_SECOND, hosts) if step is T.CONNECTIVITY_CHECK else (HOSTS_PER_SECOND, 1)
        assert suspects * each / seconds <= limit


def test_the_checks_exist_and_their_steps_are_asked_for() -> None:
    assert set(MEASURED_BY) <= {rule for rule, *_ in IN_ORDER}
    rows = {step for row in DAY_ONE.values() for step in row.steps}
    assert set(MEASURED_BY.values()) <= rows


# --- plans ------------------------------------------------------------------------------------------------------------


def settled(state: ClusterState, **policy: Any) -> ClusterState:
    return applied(state, evaluate_cluster(state, Surroundings(policy=a_policy(**policy), now=NOW)))


def with_reports(state: ClusterState, number: int, **reports: Any) -> ClusterState:
    hosts = tuple(
        replace(one, reports=replace(one.reports, **reports)) if one.host.id == host_id(number) else one
        for one in state.hosts
    )
    return replace(state, hosts=hosts)


def hurried(state: ClusterState) -> dict[int, tuple[dict[StepType, int], int]]:
    """By host, its steps that do not keep the usual interval, and after how long it calls again."""
    plans = {number: plan for number, plan in enumerate((one.plan for one in state.hosts), 1) if plan is not None}
    return {number: (_soon(plan), plan.next_instruction_seconds) for number, plan in plans.items() if _soon(plan)}


def _soon(plan: StepPlan) -> dict[StepType, int]:
    return {step.type: step.again_seconds for step in plan.steps if step.again_seconds}


SILENT = a_connectivity(1, layer2={}, layer3={})
WILDCARD = {"validateNoWildcardDNS.east.example.com": Resolution(addresses=("10.0.0.1",))}


def test_a_broken_link_is_looked_at_every_few_seconds_until_it_is_mended() -> None:
    whole = settled(cluster_state())
    assert hurried(whole) == {}
    broken = settled(with_reports(whole, 1, connectivity=SILENT))
    failing = {one.host.id for one in broken.hosts if any(it.status is Status.FAILURE for it in one.findings)}
    assert host_id(1) in failing
    assert hurried(broken) == {
        number: ({T.CONNECTIVITY_CHECK: 15}, 15) for number in (1, 2, 3) if host_id(number) in failing
    }
    assert settled(broken) == broken, "equal facts, equal plans"
    mended = settled(with_reports(broken, 1, connectivity=a_connectivity(1)))
    assert hurried(mended) == {}
    assert {one.plan.next_instruction_seconds for one in mended.hosts if one.plan is not None} == {60}


@pytest.mark.parametrize(
    ("reports", "step"),
    [
        ({"ntp": (NtpSource("ntp.example.com", "unreachable"),)}, T.NTP),
        (
            {
                "domains": some_domains()
                | {"validateNoWildcardDNS.east.example.com": Resolution(addresses=("10.0.0.1",))}
            },
            T.DOMAIN_RESOLUTION,
        ),
    ],
)
def test_time_and_names_too_on_the_host_concerned_alone(reports: dict[str, Any], step: StepType) -> None:
    state = settled(with_reports(settled(cluster_state()), 2, **reports))
    assert hurried(state) == {2: ({step: 15}, 15)}


def test_the_same_step_is_asked_for_whatever_its_interval() -> None:
    """Otherwise a host that begins to fail would be asked again at once, and the text of peers written anew."""
    whole = settled(cluster_state())
    broken = settled(with_reports(whole, 1, connectivity=SILENT))
    texts = [
        [(step.type, step.args, step.tries) for step in (one.plan or StepPlan()).steps if step.type is not T.INVENTORY]
        for one in (whole.hosts[1], broken.hosts[1])
    ]
    assert sorted(texts[0]) == sorted(texts[1])


def test_nobody_who_only_waits_is_a_suspect() -> None:
    assert suspects_among([host_state(1), host_state(2)]) == {}
