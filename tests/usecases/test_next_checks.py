"""When a host measures again, as far as its last call tells."""

from datetime import timedelta
from pathlib import Path

import pytest

import firstlight.core.hosts.rules
from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.plan import StepPlan
from firstlight.core.rules import Finding, Status
from firstlight.server.usecases.next_checks import AWAITED, NextCheck, next_check
from tests.builders.hosts import a_host
from tests.builders.moments import NOW

MEASURED = Finding(id="ntp-synced", category="network", status=Status.FAILURE, measured_at=NOW)


def heard(seconds_ago: float | None, *, every: int | None = 60) -> HostState:
    at = None if seconds_ago is None else NOW - timedelta(seconds=seconds_ago)
    plan = None if every is None else StepPlan(next_instruction_seconds=every)
    return HostState(host=a_host(1), presence=Presence(checked_in_at=at), plan=plan)


@pytest.mark.parametrize(
    ("seconds_ago", "after"),
    [(0, 60), (59, 1), (60, 60), (61, 59), (120, 60), (120.1, None), (-5, 60), (None, None)],
)
def test_it_is_the_next_call(seconds_ago: float | None, after: int | None) -> None:
    expected = None if after is None else NextCheck(after=after, every=60)
    assert next_check(heard(seconds_ago), MEASURED, now=NOW) == expected


@pytest.mark.parametrize("every", [None, 0])
def test_a_host_that_is_asked_nothing_is_not_awaited(every: int | None) -> None:
    assert next_check(heard(0, every=every), MEASURED, now=NOW) is None


@pytest.mark.parametrize(
    ("finding", "awaited"),
    [
        (Finding(id="x", category="network", status=Status.PENDING, cause="no-ntp-report"), True),
        (Finding(id="x", category="network", status=Status.PENDING, cause="no-machine-network"), False),
        (Finding(id="x", category="network", status=Status.FAILURE), False),
        (Finding(id="x", category="network", status=Status.ERROR, measured_at=NOW), True),
        (Finding(id="x", category="network", status=Status.SUCCESS, measured_at=NOW), False),
    ],
)
def test_only_what_is_measured_is_awaited(finding: Finding, *, awaited: bool) -> None:
    assert (next_check(heard(0), finding, now=NOW) is not None) == awaited


def test_every_awaited_cause_is_one_of_a_rule() -> None:
    rules = Path(firstlight.core.hosts.rules.__path__[0])
    text = "\n".join(path.read_text() for path in rules.glob("*.py"))
    assert {cause for cause in AWAITED if f'"{cause}"' not in text} == set()
