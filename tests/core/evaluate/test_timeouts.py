"""Every time limit passes at its moment and not a millisecond earlier, and the evaluation names that moment.

Each case sets its own limit to an odd length, so that no other limit can take its place.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterProgress, ClusterState, Preparation
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, FinalizingStage, PreparationStatus
from firstlight.core.model.host import HostState, Progress
from firstlight.core.model.host_status import AFTER_REBOOT, HostKind, HostRole, HostStatus, LogsState, Stage
from firstlight.core.model.policy import FinalizingLimit, Policy, Timeouts
from tests.builders.hosts import a_pool_host, a_presence, host_state
from tests.builders.moments import NOW
from tests.core.evaluate.virtual_time import FAR, a_cluster_of, around, evaluated

S, C = HostStatus, ClusterStatus
TICK = timedelta(milliseconds=1)
ODD = timedelta(minutes=7, seconds=13, milliseconds=7)
LONG = timedelta(days=300)
Subject = ClusterState | HostState


@dataclass(frozen=True)
class Limit:
    setting: str
    """The field of Timeouts; with a dot, the entry of a mapping and which of its limits."""
    subject: Subject
    fires: str
    """The row taken at the moment, or the name of an event told."""
    soft: bool = False
    after: timedelta = timedelta(0)
    """What the service adds to the setting."""

    @property
    def policy(self) -> Policy:
        field, _, entry = self.setting.partition(".")
        limits: Any = ODD
        if field == "stages":
            limits = dict.fromkeys(Stage, LONG) | {Stage(entry): ODD}
        elif field == "finalizing_stages":
            name, _, kind = entry.rpartition(".")
            known = Timeouts().finalizing_stages
            other = {stage: replace(limit, hard=LONG, soft=LONG) for stage, limit in known.items()}
            limits = other | {FinalizingStage(name): replace(other[FinalizingStage(name)], **{kind: ODD})}
        return Policy(soft_timeouts=self.soft, timeouts=replace(patient(), **{field: limits}))


def patient() -> Timeouts:
    """Limits that never pass in a test that is not about them."""
    plain = {name: LONG for name in Timeouts.__struct_fields__ if isinstance(getattr(Timeouts(), name), timedelta)} | {
        "silence_grace": Timeouts().silence_grace
    }
    return Timeouts(
        **plain,
        stages=dict.fromkeys(Stage, LONG),
        finalizing_stages={
            stage: FinalizingLimit(hard=LONG, soft=LONG, fails=limit.fails)
            for stage, limit in Timeouts().finalizing_stages.items()
        },
    )


def of(*statuses: HostStatus, cluster: ClusterStatus = C.INSTALLING, soft: bool = False, **host: Any) -> ClusterState:
    return a_cluster_of(statuses, cluster={"status": cluster, "soft_timeouts": soft}, host=host)


def with_cluster(*statuses: HostStatus, **cluster: Any) -> ClusterState:
    return a_cluster_of(statuses, cluster=cluster, host={})


def at_stage(stage: Stage, *, soft: bool = False, **cluster: Any) -> ClusterState:
    host = {"status": S.INSTALLING_IN_PROGRESS, "progress": Progress(stage=stage, started_at=NOW, updated_at=NOW)}
    others = () if cluster.get("control_plane_count") == 1 else (S.INSTALLED, S.INSTALLED)
    return a_cluster_of(
        (*others, S.INSTALLING_IN_PROGRESS),
        cluster={"status": C.INSTALLING, "soft_timeouts": soft} | cluster,
        host=host,
    )


def finalizing(stage: FinalizingStage, *, soft: bool = False) -> ClusterState:
    progress = ClusterProgress(finalizing_stage=stage, finalizing_stage_started_at=NOW)
    return with_cluster(*[S.INSTALLED] * 3, status=C.FINALIZING, soft_timeouts=soft, progress=progress)


def pool_host(status: HostStatus, **host: Any) -> HostState:
    changes = {"status": status, "status_updated_at": NOW, "registered_at": NOW} | host
    return host_state(1, host=a_pool_host(), presence=a_presence(checked_in_at=FAR), **changes)


HEARD = a_presence(checked_in_at=NOW)
GRACE = Timeouts().silence_grace
DAY_TWO = {"status": C.ADDING_HOSTS, "kind": ClusterKind.ADD_HOSTS}
FAILED = (S.ERROR, S.ERROR, S.ERROR)

HOST_LIMITS = [
    Limit("silence", of(S.KNOWN, S.KNOWN, S.KNOWN, cluster=C.READY, presence=HEARD), "R13", after=GRACE),
    Limit("silence", of(S.INSTALLED, S.INSTALLED, S.INSTALLING, presence=HEARD), "R17", after=GRACE),
    Limit(
        "silence",
        of(S.INSTALLED, S.INSTALLED, S.INSTALLING, soft=True, presence=HEARD),
        "R18",
        soft=True,
        after=GRACE,
    ),
    Limit("silence", replace(pool_host(S.KNOWN_UNBOUND), presence=HEARD), "P1", after=GRACE),
    # An agent that registered and was never heard of again is as silent as any.
    Limit("silence", of(S.KNOWN, S.KNOWN, S.KNOWN, cluster=C.READY, presence=a_presence(checked_in_at=None)), "R13",
          after=GRACE),
    Limit(
        "silence_bootstrap",
        of(S.INSTALLED, S.INSTALLED, S.INSTALLING_IN_PROGRESS, presence=HEARD, bootstrap=True),
        "R17",
        after=GRACE,
    ),
    Limit(
        "host_preparation",
        of(*[S.PREPARING_FOR_INSTALLATION] * 3, cluster=C.PREPARING_FOR_INSTALLATION),
        "R8",
    ),
    Limit("host_installing", of(*[S.INSTALLING] * 3), "R15"),
    Limit(
        "host_pending_user_action",
        a_cluster_of(
            [S.INSTALLED] * 4,
            cluster={"status": C.INSTALLING_PENDING_USER_ACTION},
            host={"status": S.INSTALLING_PENDING_USER_ACTION, "role": HostRole.WORKER},
        ),
        "R28",
    ),
    Limit(
        "host_retry",
        of(*FAILED, cluster=C.ERROR, bootstrap=True, kept_status=S.INSTALLING_IN_PROGRESS),
        "R44",
    ),
    Limit("reclaim", pool_host(S.RECLAIMING), "R1"),
    Limit("reclaim", pool_host(S.RECLAIMING_REBOOTING), "R1"),
    Limit("resetting", of(S.RESETTING, S.RESETTING, S.RESETTING, cluster=C.INSUFFICIENT), "R41"),
    Limit("single_node_reboot", at_stage(Stage.REBOOTING, control_plane_count=1), "R27"),
    Limit("host_logs_pending", of(*FAILED, cluster=C.ERROR), "R36"),
    Limit(
        "host_logs_pending",
        of(*FAILED, cluster=C.ERROR, logs=LogsState.COLLECTING, logs_collected_at=NOW),
        "R36",
    ),
    Limit(
        "host_logs_collection",
        of(*FAILED, cluster=C.ERROR, logs=LogsState.REQUESTED, logs_started_at=NOW),
        "R36",
    ),
]  # fmt: skip

_SLOW_DISK = {Stage.WRITING_IMAGE, Stage.COPYING_REGISTRY}
STAGE_LIMITS = [
    Limit(
        f"stages.{stage.value}",
        at_stage(stage, soft=soft),
        "R27" if stage is Stage.REBOOTING else plain if stage not in _SLOW_DISK else disk,
        soft=soft,
    )
    for stage in Stage
    for soft, plain, disk in ((False, "R21", "R22"), (True, "R24", "R25"))
]

CLUSTER_LIMITS = [
    Limit(
        "cluster_preparation",
        of(*[S.PREPARING_FOR_INSTALLATION] * 3, cluster=C.PREPARING_FOR_INSTALLATION),
        "C6",
    ),
    Limit(
        "installation",
        with_cluster(
            S.INSTALLING_PENDING_USER_ACTION,
            S.INSTALLED,
            S.INSTALLED,
            status=C.INSTALLING_PENDING_USER_ACTION,
            install_started_at=NOW,
        ),
        "C11",
    ),
    Limit(
        "installation",
        with_cluster(*[S.INSTALLING] * 3, status=C.INSTALLING, install_started_at=NOW, soft_timeouts=True),
        "C12",
        soft=True,
    ),
    Limit(
        "installation",
        with_cluster(*[S.INSTALLED] * 3, status=C.FINALIZING, install_started_at=NOW, soft_timeouts=True),
        "C12",
        soft=True,
    ),
    Limit("finalizing", with_cluster(*[S.INSTALLED] * 3, status=C.FINALIZING), "C13"),
    Limit("host_retry_grace", of(S.ERROR, *[S.INSTALLING_IN_PROGRESS] * 2, bootstrap=True), "C24"),
    Limit("cluster_logs_pending", with_cluster(*FAILED, status=C.ERROR), "C25"),
    Limit(
        "cluster_logs_collection",
        with_cluster(*FAILED, status=C.ERROR, logs=LogsState.REQUESTED, controller_logs_started_at=NOW),
        "C25",
    ),
    Limit(
        "cluster_logs_collection",
        with_cluster(*FAILED, status=C.CANCELLED, logs=LogsState.COLLECTING, controller_logs_collected_at=NOW),
        "C25",
    ),
    Limit(
        "dhcp_lease",
        with_cluster(
            *[S.KNOWN] * 3,
            status=C.INSUFFICIENT,
            vip_dhcp_allocation=True,
            dhcp_since=NOW,
            api_vips=(),
            ingress_vips=(),
        ),
        "api_ingress_vip_timed_out",
    ),
]

FINALIZING_LIMITS = [
    Limit(
        f"finalizing_stages.{stage.value}.{kind}",
        finalizing(stage, soft=kind == "soft"),
        "C14" if kind == "hard" and limit.fails else "C15",
        soft=kind == "soft",
    )
    for stage, limit in Timeouts().finalizing_stages.items()
    for kind in ("hard", "soft")
]

LIMITS = HOST_LIMITS + STAGE_LIMITS + CLUSTER_LIMITS + FINALIZING_LIMITS
ELSEWHERE = {
    "silence_grace": "part of every silence above",
    "disk_check": "an argument of the agent's disk step",
    "image_availability": "an argument of the agent's image step",
    "inactive_cluster": "housekeeping",
    "inactive_infra_env": "housekeeping",
    "purge_deleted": "housekeeping",
}
"""Settings no evaluation waits for."""


def test_every_setting_has_a_case() -> None:
    wanted = {name for name in Timeouts.__struct_fields__ if name not in ("stages", "finalizing_stages", *ELSEWHERE)}
    wanted |= {f"stages.{stage.value}" for stage in Timeouts().stages}
    wanted |= {f"finalizing_stages.{stage.value}.{kind}" for stage in FinalizingStage for kind in ("hard", "soft")}
    assert {limit.setting for limit in LIMITS} == wanted


def test_every_stage_has_a_limit() -> None:
    assert set(Timeouts().stages) == set(Stage)
    assert set(Timeouts().finalizing_stages) == set(FinalizingStage)


each_limit = pytest.mark.parametrize(
    "limit", [pytest.param(limit, id=f"{limit.setting}-{limit.fires}-{number}") for number, limit in enumerate(LIMITS)]
)


def rows_and_events(decision: Any) -> set[str]:
    return {each.row for each in decision.taken} | {change.event.name for change in decision.changes}


@each_limit
def test_it_passes_at_its_moment_and_not_before(limit: Limit) -> None:
    moment = NOW + ODD + limit.after
    settled, begun = evaluated(limit.subject, around(NOW, limit.policy))
    assert begun.next_deadline == moment
    quiet, before = evaluated(settled, around(moment - TICK, limit.policy))
    assert limit.fires not in rows_and_events(before)
    assert before.next_deadline == moment
    _, after = evaluated(quiet, around(moment, limit.policy))
    assert limit.fires in rows_and_events(after)
    assert after.next_deadline is None or after.next_deadline > moment


@each_limit
def test_it_waits_until_somebody_has_listened(limit: Limit) -> None:
    """A limit that passed while the service was down does not strike at its start."""
    moment = NOW + ODD + limit.after
    listening = moment + timedelta(minutes=2)
    settled, _ = evaluated(limit.subject, around(NOW, limit.policy))
    early, at_start = evaluated(settled, around(listening - TICK, limit.policy, listening_since=listening))
    assert limit.fires not in rows_and_events(at_start)
    assert at_start.next_deadline == listening
    _, later = evaluated(early, around(listening, limit.policy, listening_since=listening))
    assert limit.fires in rows_and_events(later)


# --- what stops the clock ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", sorted(AFTER_REBOOT))
def test_nobody_is_silent_after_the_reboot(stage: Stage) -> None:
    state = of(
        S.INSTALLED,
        S.INSTALLED,
        S.INSTALLING_IN_PROGRESS,
        presence=a_presence(checked_in_at=NOW),
        progress=Progress(stage=stage, started_at=NOW, updated_at=NOW),
    )
    later = around(NOW + timedelta(days=2), Policy(timeouts=patient()))
    _, decision = evaluated(state, later)
    assert "R17" not in rows_and_events(decision)


def test_the_stage_timer_stands_still_while_the_cluster_waits_for_its_user() -> None:
    limits = replace(patient(), stages=dict.fromkeys(Stage, LONG) | {Stage.WAITING_FOR_CONTROL_PLANE: ODD})
    policy = Policy(timeouts=limits)
    state = at_stage(Stage.WAITING_FOR_CONTROL_PLANE)
    first = replace(state.hosts[0].host, status=S.INSTALLING_PENDING_USER_ACTION)
    waiting = replace(state, hosts=(replace(state.hosts[0], host=first), *state.hosts[1:]))
    settled, paused = evaluated(waiting, around(NOW + timedelta(minutes=5), policy))
    assert {"C19", "R20"} <= rows_and_events(paused)
    assert paused.next_deadline is None or paused.next_deadline > NOW + timedelta(days=1)
    assert isinstance(settled, ClusterState)
    done = replace(settled.hosts[0].host, status=S.INSTALLED)
    back = replace(settled, hosts=(replace(settled.hosts[0], host=done), *settled.hosts[1:]))
    _, resumed = evaluated(back, around(NOW + timedelta(hours=9), policy))
    assert {"C17", "R20b"} <= rows_and_events(resumed)
    # Five of its minutes had gone by before the wait; the rest is still there.
    assert resumed.next_deadline == NOW + timedelta(hours=9) - timedelta(minutes=5) + ODD


@pytest.mark.parametrize("kind", [pytest.param(C.ADDING_HOSTS, id="day-2"), pytest.param(C.INSTALLED, id="installed")])
def test_a_host_that_waits_for_its_user_may_wait_once_the_cluster_is_done(kind: ClusterStatus) -> None:
    state = a_cluster_of(
        [S.INSTALLED] * 3 + [S.INSTALLING_PENDING_USER_ACTION],
        cluster=DAY_TWO if kind is C.ADDING_HOSTS else {"status": kind},
        host={"kind": HostKind.DAY_TWO, "role": HostRole.WORKER},
    )
    _, decision = evaluated(state, around(NOW + timedelta(days=30), Policy()))
    assert "R28" not in rows_and_events(decision)


def test_a_preparation_that_failed_does_not_wait_for_its_limit() -> None:
    state = with_cluster(
        *[S.PREPARING_FOR_INSTALLATION] * 3,
        status=C.PREPARING_FOR_INSTALLATION,
        preparation=Preparation(status=PreparationStatus.FAILED, reason="no space", attempt=1),
    )
    settled, decision = evaluated(state, around(NOW, Policy()))
    assert isinstance(settled, ClusterState)
    assert next(each.row for each in decision.taken if each.row.startswith("C")) == "C9"
    assert settled.cluster.status is C.READY


def test_the_lease_timer_starts_with_the_wait() -> None:
    state = with_cluster(*[S.KNOWN] * 3, vip_dhcp_allocation=True, api_vips=(), ingress_vips=())
    settled, decision = evaluated(state, around(NOW, Policy(timeouts=replace(patient(), dhcp_lease=ODD))))
    assert isinstance(settled, ClusterState)
    assert settled.cluster.dhcp_since == NOW
    assert decision.next_deadline == NOW + ODD
