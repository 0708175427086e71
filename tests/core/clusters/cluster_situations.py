"""Situations of a cluster in which nothing is wrong; a case names only what it changes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from firstlight.core.clusters.rules.blocking import INPUTS, REQUIRED, VIPS
from firstlight.core.clusters.situation import ClusterSituation
from firstlight.core.clusters.transitions import ClusterRow, ClusterTrigger
from firstlight.core.machine import NoTransition, step
from firstlight.core.model.cluster import ClusterProgress, Operator, Preparation
from firstlight.core.model.cluster_status import (
    ClusterStatus,
    FinalizingStage,
    OperatorKind,
    OperatorStatus,
    PreparationStatus,
)
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.policy import Policy, Timeouts
from tests.builders.clusters import a_cluster
from tests.builders.hosts import host_state
from tests.builders.moments import NOW

S = HostStatus
MINUTE = timedelta(minutes=1)
TICK = timedelta(milliseconds=1)
EVERY_CHECK = INPUTS | VIPS | REQUIRED
INSTALLED = (S.INSTALLED,) * 3
AT_WORK = (S.INSTALLING_IN_PROGRESS,) * 3


def an_operator(name: str = "console", **changes: Any) -> Operator:
    return Operator(**{"name": name, "kind": OperatorKind.BUILTIN, "status": OperatorStatus.AVAILABLE} | changes)


def a_cluster_situation(
    status: ClusterStatus,
    *,
    masters: Sequence[HostStatus] = (S.KNOWN,) * 3,
    workers: Sequence[HostStatus] = (),
    bootstrap: bool = False,
    grace: timedelta = timedelta(0),
    lacks: tuple[str, ...] = (),
    soft: bool = False,
    age: timedelta = MINUTE,
    started: timedelta | None = None,
    preparation: PreparationStatus = PreparationStatus.NOT_STARTED,
    stage: FinalizingStage | None = None,
    stage_age: timedelta = MINUTE,
    told_slow: bool = False,
    listening_since: datetime | None = None,
    **cluster: Any,
) -> ClusterSituation:
    """`age`: time spent in the status; `started`: time since the installation began; the last master may bootstrap."""
    hosts = [
        host_state(number, status=each, role=HostRole.MASTER, bootstrap=bootstrap and number == len(masters))
        for number, each in enumerate(masters, start=1)
    ]
    hosts += [host_state(number, status=each, role=HostRole.WORKER) for number, each in enumerate(workers, start=10)]
    progress = ClusterProgress(
        finalizing_stage=stage,
        finalizing_stage_started_at=None if stage is None else NOW - stage_age,
        finalizing_stage_timed_out=told_slow,
    )
    return ClusterSituation(
        cluster=a_cluster(
            **{
                "status": status,
                "status_updated_at": NOW - age,
                "soft_timeouts": soft,
                "install_started_at": None if started is None else NOW - started,
                "preparation": Preparation(status=preparation, attempt=4, reason="no space left"),
                "progress": progress,
            }
            | cluster
        ),
        hosts=hosts,
        policy=Policy(soft_timeouts=soft, timeouts=Timeouts(host_retry_grace=grace)),
        now=NOW,
        holds=EVERY_CHECK - set(lacks),
        required=REQUIRED,
        listening_since=listening_since,
    )


def taken(
    table: tuple[ClusterRow, ...], status: ClusterStatus, trigger: ClusterTrigger, facts: ClusterSituation
) -> str | None:
    try:
        return step(table, status, trigger, facts).id
    except NoTransition:
        return None
