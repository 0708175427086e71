"""Scenarios by name: what they break, and what they refuse to."""

import pytest

from firstlight.simulate.ends import Snapshot, scenario_shows
from firstlight.simulate.machines import Plan, make_machines
from firstlight.simulate.scenarios import FAULTS, UnknownFault, parse_scenario

MACHINES = make_machines(Plan(masters=3, workers=2), seed=1)


@pytest.mark.parametrize("text", ["", "healthy", " , "])
def test_a_healthy_scenario_breaks_nothing(text: str) -> None:
    scenario = parse_scenario(text, MACHINES)
    assert scenario.hits == ()
    assert scenario.applied(MACHINES).machines == MACHINES


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_every_fault_changes_something_and_expects_something(name: str) -> None:
    scenario = parse_scenario(name, MACHINES, seed=5)
    site = scenario.applied(MACHINES)
    untouched = parse_scenario("", MACHINES).applied(MACHINES)
    differs = {key: value for key, value in vars(site).items() if value != vars(untouched).get(key)}
    assert {*differs} - {"chance", "by_id", "by_address", "network"}
    assert not scenario_shows(scenario, site.machines)(Snapshot(hosts={}, wanted=5))


def test_the_seed_chooses_the_machines_and_the_user_may() -> None:
    by_seed = {parse_scenario("small-disk", MACHINES, seed=seed).hits[0].indexes for seed in range(50)}
    assert len(by_seed) == 5
    assert parse_scenario("small-disk", MACHINES, seed=4) == parse_scenario("small-disk", MACHINES, seed=4)
    assert parse_scenario("small-disk@worker-1", MACHINES).hits[0].indexes == (4,)
    assert parse_scenario("lost-link@0+worker-0", MACHINES).hits[0].indexes == (0, 3)


def test_faults_on_one_machine_add_up() -> None:
    site = parse_scenario("small-disk@master-0,clock-skew@master-0", MACHINES).applied(MACHINES)
    assert site.machines[0].clock_offset_seconds > 0
    assert site.machines[0].disks[0].size_bytes < MACHINES[0].disks[0].size_bytes
    assert site.machines[1:] == MACHINES[1:]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smal-disk", "no fault 'smal-disk'"),
        ("small-disk@master-9", "no machine 'master-9'"),
        ("lost-link@master-0", "hits 2 machines"),
        ("lost-link@master-0+master-0", "hits 2 machines"),
        ("vip-taken@master-0", "hits 0 machines"),
    ],
)
def test_what_cannot_be_broken_is_said(text: str, said: str) -> None:
    with pytest.raises(UnknownFault, match=said):
        parse_scenario(text, MACHINES)


def test_a_fault_needs_enough_machines() -> None:
    with pytest.raises(UnknownFault, match="needs 2 machines; there are 1"):
        parse_scenario("duplicate-hostname", MACHINES[:1])
