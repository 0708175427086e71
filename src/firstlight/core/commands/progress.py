"""Installers and the in-cluster controller report how far they are."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.events.cluster import FinalizingStageUpdated, OperatorStatusChanged
from firstlight.core.events.host import HostProgressUpdated
from firstlight.core.hosts.moves import HostMove, request, status_change
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.stages import percentage, stages_of
from firstlight.core.hosts.texts import cut
from firstlight.core.hosts.triggers import HostTrigger, Identity
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterStatus, FinalizingStage, OperatorStatus
from firstlight.core.model.host import Host, HostState, Progress
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.core.model.policy import Policy

REPORTING = frozenset(
    {HostStatus.INSTALLING, HostStatus.INSTALLING_IN_PROGRESS, HostStatus.INSTALLING_PENDING_USER_ACTION}
)
FINALIZING_ALLOWED = frozenset(
    {ClusterStatus.INSTALLING, ClusterStatus.FINALIZING, ClusterStatus.INSTALLING_PENDING_USER_ACTION}
)


def report_host_progress(
    state: HostState, *, stage: Stage, info: str, cluster: Cluster | None, policy: Policy, now: datetime
) -> Decision:
    """One stage reached, or news inside a stage."""
    host = state.host
    if host.cluster_id is None or cluster is None:
        raise Invalid(f"Host {host.id} belongs to no cluster, so it cannot report installation progress.")
    if stage is Stage.REBOOTING and host.is_day_two and not policy.kube_api:
        stage = Stage.DONE
    progress = host.progress
    if stage is progress.stage:
        return _news(state, info, now) if info != progress.info else Decision()
    if host.status not in REPORTING and host.kept_status is None:
        raise Conflict(
            f"Host {host.id} is {host.status}; progress is taken only while it installs.", code="wrong-state"
        )
    if stage is Stage.FAILED:
        return _failed(state, info, now)
    stages = stages_of(host, cluster, policy)
    _refuse_backward(host, stage, stages)
    reached = replace(
        host,
        progress=Progress(stage=stage, info=info, percentage=percentage(stage, stages), started_at=now, updated_at=now),
        connection_timed_out=False,
        updated_at=now,
    )
    situation = HostSituation(host=reached, reports=state.reports, cluster=cluster, policy=policy, now=now)
    return _decided(state, request(HostTrigger.PROGRESS, situation), f"{stage} {info}".strip())


def _refuse_backward(host: Host, stage: Stage, stages: Sequence[Stage]) -> None:
    # A day-2 host's list ends with its reboot, which is stored as Done.
    allowed = (*stages, Stage.DONE)
    if stage not in allowed:
        raise Conflict(f"Stage '{stage}' is not one of the stages of a {host.effective_role}.", code="unknown-stage")
    current = host.progress.stage
    if current in allowed and allowed.index(stage) < allowed.index(current):
        raise Conflict(f"Stage '{stage}' lies before '{current}', which was reached already.", code="backward")


def _news(state: HostState, info: str, now: datetime) -> Decision:
    host = state.host
    progress = replace(host.progress, info=info, updated_at=now, paused_since=None)
    stage = "" if progress.stage is None else progress.stage.value
    return Decision(
        hosts={(host.infra_env_id, host.id): replace(host, progress=progress, updated_at=now)},
        changes=(_progress_event(state, f"{stage} {info}".strip()),),
    )


def _failed(state: HostState, info: str, now: datetime) -> Decision:
    host = state.host
    failed = replace(
        host,
        status=HostStatus.ERROR,
        kept_status=None,
        status_info=cut(f"Failed - {info}"),
        status_updated_at=now,
        updated_at=now,
    )
    return Decision(
        hosts={(host.infra_env_id, host.id): failed},
        changes=(_progress_event(state, f"Failed {info}".strip()), status_change(host, failed, state.reports)),
    )


def _decided(state: HostState, move: HostMove, told: str) -> Decision:
    host = state.host
    return Decision(
        hosts={(host.infra_env_id, host.id): move.host},
        changes=(_progress_event(state, told), *move.changes),
        taken=(move.taken,),
    )


def _progress_event(state: HostState, told: str) -> Change:
    who = Identity(state.host, state.reports)
    return Change(
        event=HostProgressUpdated(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            event=told,
        ),
        before={"stage": state.host.progress.stage or "", "info": state.host.progress.info},
    )


def report_finalizing(cluster: Cluster, *, stage: FinalizingStage, now: datetime) -> Decision:
    # The controller's last word may come after its own work has already made the cluster installed.
    is_last_word = cluster.status is ClusterStatus.INSTALLED and stage is FinalizingStage.DONE
    if cluster.status not in FINALIZING_ALLOWED and not is_last_word:
        raise Invalid(f"Cluster {cluster.name} is {cluster.status}; finalizing stages are taken only while installing.")
    if cluster.progress.finalizing_stage is stage:
        return Decision()
    progress = replace(
        cluster.progress,
        finalizing_stage=stage,
        finalizing_stage_started_at=now,
        finalizing_stage_timed_out=False,
    )
    return Decision(
        cluster=replace(cluster, progress=progress, updated_at=now),
        changes=(
            Change(
                event=FinalizingStageUpdated(cluster_id=cluster.id, finalizing_stage=stage.value),
                before={"finalizing_stage": cluster.progress.finalizing_stage or ""},
                after={"finalizing_stage": stage.value},
            ),
        ),
    )


def report_operator(
    cluster: Cluster, *, name: str, status: OperatorStatus | None, info: str, version: str, now: datetime
) -> Decision:
    known = next((operator for operator in cluster.operators if operator.name == name), None)
    if known is None:
        raise NotFound(f"Cluster {cluster.name} does not wait for an operator called {name}.")
    if status is None:
        raise Invalid(f"The report about operator {name} has no status. Send available, progressing or failed.")
    changed = replace(known, status=status, status_info=info, version=version or known.version)
    if changed == known:
        return Decision()
    changed = replace(changed, status_updated_at=now)
    operators = tuple(changed if operator.name == name else operator for operator in cluster.operators)
    event = OperatorStatusChanged(cluster_id=cluster.id, operator_name=name, status=status.value, status_info=info)
    return Decision(
        cluster=replace(cluster, operators=operators, updated_at=now),
        changes=(
            Change(
                event=event,
                before={"status": known.status or "", "status_info": known.status_info},
                after={"status": status.value, "status_info": info},
            ),
        ),
    )
