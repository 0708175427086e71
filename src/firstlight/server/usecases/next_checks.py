"""When a host measures again: with its next call, as far as its last one tells."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from firstlight.core.model.host import HostState
from firstlight.core.rules import Finding, Status

MISSED_CALLS: Final = 2
"""A host that missed so many calls is not expected at any moment."""
AWAITED: Final = frozenset(
    {
        "no-clock",
        "no-connectivity-report",
        "no-disks",
        "no-dns-report",
        "no-groups",
        "no-ignition",
        "no-inventory",
        "no-ntp-report",
        "no-tang-report",
        "no-wildcard-probe",
    }
)
"""Causes that a measurement takes away; others wait for people."""


class NextCheck(Struct, frozen=True, kw_only=True):
    """Both in seconds: the clocks of browsers may differ from ours."""

    after: int
    every: int


def next_check(state: HostState, finding: Finding, *, now: datetime) -> NextCheck | None:
    heard, plan = state.presence.checked_in_at, state.plan
    if heard is None or plan is None or not _is_measured(finding):
        return None
    every = plan.next_instruction_seconds
    silent = (now - heard).total_seconds()
    if every <= 0 or silent > MISSED_CALLS * every:
        return None
    return NextCheck(after=round(every - max(silent, 0) % every), every=every)


def _is_measured(finding: Finding) -> bool:
    if finding.status is Status.PENDING:
        return finding.cause in AWAITED
    return finding.measured_at is not None and not finding.holds
