"""Situations of a host in which nothing is wrong; a case names only what it changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from firstlight.core.hosts.rules import host_rules
from firstlight.core.hosts.rules.blocking import SUFFICIENT
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.triggers import HostRow, HostTrigger
from firstlight.core.machine import NoTransition, step
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostKind, HostStatus, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import DiskSpeed, ImageStatus
from firstlight.core.rules import Finding, Status
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, some_reports
from tests.builders.moments import NOW

MINUTE = timedelta(minutes=1)
TICK = timedelta(milliseconds=1)
EVERY_CHECK = host_rules.ids()
PREPARED = {"images": {"release": ImageStatus(success=True)}, "disk_speeds": {"/dev/sda": DiskSpeed()}}
"""Reports of a host whose preparation is done."""


def a_situation(
    status: HostStatus,
    *,
    cluster: ClusterStatus | None = ClusterStatus.READY,
    single_node: bool = False,
    soft: bool = False,
    kube_api: bool = False,
    silent: bool = False,
    lacks: tuple[str, ...] = (),
    failing: tuple[str, ...] = (),
    age: timedelta = MINUTE,
    stage: Stage | None = None,
    stage_age: timedelta = MINUTE,
    paused: bool = False,
    told_slow: bool = False,
    day_two: bool = False,
    survives: bool = False,
    may_go_on: bool = False,
    retry_until: datetime | None = None,
    reports: dict[str, Any] | None = None,
    listening_since: datetime | None = None,
    **host: Any,
) -> HostSituation:
    """`lacks`: checks that do not hold; `failing`: checks found to fail; `age`: time spent in the status."""
    progress = Progress()
    if stage is not None:
        at = NOW - stage_age
        progress = Progress(
            stage=stage, started_at=at, updated_at=at, timed_out=told_slow, paused_since=at if paused else None
        )
    kind = HostKind.DAY_TWO if day_two else HostKind.HOST
    return HostSituation(
        host=a_host(**{"status": status, "status_updated_at": NOW - age, "progress": progress, "kind": kind} | host),
        reports=some_reports(**(reports or {})),
        cluster=None
        if cluster is None
        else a_cluster(
            status=cluster,
            soft_timeouts=soft,
            control_plane_count=1 if single_node else 3,
            retry_until=retry_until,
        ),
        policy=Policy(soft_timeouts=soft, kube_api=kube_api),
        now=NOW,
        findings=tuple(Finding(id=name, category="any", status=Status.FAILURE, message=name) for name in failing),
        holds=EVERY_CHECK - set(lacks) - set(failing),
        sufficient=SUFFICIENT,
        silent_from=NOW if silent else NOW + MINUTE,
        listening_since=listening_since,
        cluster_survives=survives,
        may_go_on=may_go_on,
    )


@dataclass(frozen=True)
class Case:
    """One row of a table: what makes it fire, and what keeps just it from firing."""

    row: str
    fires: dict[str, Any] = field(default_factory=dict)
    fails: dict[str, Any] | None = None
    """Changes on top of `fires`; None for rows without a guard."""
    then: str | Mapping[str, str] | None = None
    """The row taken instead; None when nothing fits. "*" in a mapping: every other status."""
    only: tuple[HostStatus, ...] = ()
    """Sources the case speaks of; all of the row's when empty."""

    def instead(self, status: HostStatus) -> str | None:
        if self.then is None or isinstance(self.then, str):
            return self.then
        return self.then.get(status) or self.then.get("*")


def taken(table: tuple[HostRow, ...], status: HostStatus, trigger: HostTrigger, facts: HostSituation) -> str | None:
    try:
        return step(table, status, trigger, facts).id
    except NoTransition:
        return None
