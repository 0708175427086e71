"""Where requests, facts and time take a cluster. The first line that fits wins; the order is the meaning."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters import situation as on
from firstlight.core.clusters import texts
from firstlight.core.clusters.situation import ClusterSituation, failed_operators
from firstlight.core.events.cluster import (
    ClusterDegraded,
    ClusterInstallationCanceled,
    ClusterInstallationFailed,
    ClusterInstallationReset,
    ClusterInstalled,
    FinalizingStageTimedOut,
    PreparationTimedOut,
)
from firstlight.core.events.event import Event
from firstlight.core.events.own import ClusterInstallationResumed
from firstlight.core.machine import Transition, all_of, any_of, not_
from firstlight.core.model.cluster import Cluster, ClusterProgress, Preparation
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION, ClusterStatus, PreparationStatus
from firstlight.core.model.host_status import HostStatus, LogsState

C, S = ClusterStatus, HostStatus


class ClusterTrigger(StrEnum):
    REFRESH = "refresh"
    PREPARE = "prepare"
    CANCEL = "cancel"
    RESET = "reset"
    RETRY = "retry"


T = ClusterTrigger
ClusterRow = Transition[ClusterStatus, ClusterTrigger, ClusterSituation, Cluster, Event]


def _text(sentence: str) -> Callable[[ClusterSituation], str]:
    return lambda _: sentence


def _next_attempt(cluster: Cluster, *, status: PreparationStatus, reason: str = "") -> Preparation:
    return Preparation(status=status, reason=reason, attempt=cluster.preparation.attempt + 1)


def _fresh_start(facts: ClusterSituation) -> Cluster:
    return replace(
        facts.cluster,
        install_started_at=facts.now,
        install_completed_at=None,
        retry_until=None,
        preparation=_next_attempt(facts.cluster, status=PreparationStatus.NOT_STARTED),
        progress=ClusterProgress(),
        kubeconfig_complete=False,
        logs=LogsState.NONE,
        controller_logs_started_at=None,
        controller_logs_collected_at=None,
    )


def _stopped(facts: ClusterSituation) -> Cluster:
    return replace(facts.cluster, preparation=_next_attempt(facts.cluster, status=PreparationStatus.NOT_STARTED))


def _cleared(facts: ClusterSituation) -> Cluster:
    cluster = facts.cluster
    return replace(
        _fresh_start(facts),
        install_started_at=None,
        openshift_cluster_id=None,
        api_vips=() if cluster.is_single_node else cluster.api_vips,
        ingress_vips=() if cluster.is_single_node else cluster.ingress_vips,
        operators=tuple(
            replace(operator, status=None, status_info="", version="", status_updated_at=None)
            for operator in cluster.operators
        ),
    )


def _patient(facts: ClusterSituation) -> Cluster:
    return replace(facts.cluster, retry_until=facts.now + facts.policy.timeouts.host_retry, install_completed_at=None)


def _preparation_given_up(facts: ClusterSituation) -> Cluster:
    preparation = _next_attempt(facts.cluster, status=PreparationStatus.FAILED, reason=texts.PREPARATION_TIMEOUT)
    return replace(facts.cluster, preparation=preparation)


def _installing(facts: ClusterSituation) -> Cluster:
    progress = replace(facts.cluster.progress, preparing=100, total=10)
    return replace(facts.cluster, progress=progress)


def _stage_timer_restarted(facts: ClusterSituation) -> Cluster:
    progress = facts.cluster.progress
    started = facts.now if progress.finalizing_stage is not None else None
    return replace(
        facts.cluster,
        progress=replace(progress, finalizing_stage_started_at=started, finalizing_stage_timed_out=False),
    )


def _slowness_told(facts: ClusterSituation) -> Cluster:
    return replace(facts.cluster, progress=replace(facts.cluster.progress, finalizing_stage_timed_out=True))


def _logs_given_up(facts: ClusterSituation) -> Cluster:
    return replace(facts.cluster, logs=LogsState.TIMEOUT)


def _failed_with(info: Callable[[ClusterSituation], str]) -> Callable[[ClusterSituation], tuple[Event, ...]]:
    return lambda facts: (ClusterInstallationFailed(cluster_id=facts.cluster.id, failure_reason=info(facts)),)


def _canceled(facts: ClusterSituation) -> tuple[Event, ...]:
    return (ClusterInstallationCanceled(cluster_id=facts.cluster.id),)


def _reset(facts: ClusterSituation) -> tuple[Event, ...]:
    return (ClusterInstallationReset(cluster_id=facts.cluster.id),)


def _resumed(facts: ClusterSituation) -> tuple[Event, ...]:
    return (ClusterInstallationResumed(cluster_id=facts.cluster.id),)


def _preparation_timed_out(facts: ClusterSituation) -> tuple[Event, ...]:
    return (PreparationTimedOut(cluster_id=facts.cluster.id, reason=texts.PREPARATION_TIMEOUT),)


def _stage_slow(facts: ClusterSituation) -> tuple[Event, ...]:
    stage = facts.cluster.progress.finalizing_stage
    return (
        FinalizingStageTimedOut(
            cluster_id=facts.cluster.id, stage="" if stage is None else stage.value, minutes=texts.stage_minutes(facts)
        ),
    )


def _completed(facts: ClusterSituation) -> tuple[Event, ...]:
    failed = failed_operators(facts.cluster)
    done: tuple[Event, ...] = (ClusterInstalled(cluster_id=facts.cluster.id),)
    if failed:
        done += (ClusterDegraded(cluster_id=facts.cluster.id, failed_operators=", ".join(failed)),)
    return done


REQUESTS: Final[tuple[ClusterRow, ...]] = (
    ClusterRow("X1", T.CANCEL, frozenset({C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.ERROR, C.FINALIZING}),
               C.CANCELLED, "cancelled by the user", info=_text(texts.CANCELLED), apply=_stopped, tell=_canceled),
    ClusterRow("X2", T.CANCEL, frozenset({C.PREPARING_FOR_INSTALLATION}), C.READY, "cancelled by the user",
               info=_text(texts.CANCELLED), apply=_stopped, tell=_canceled),
    ClusterRow("Z1", T.RESET, frozenset({C.PREPARING_FOR_INSTALLATION, C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION,
                                         C.ERROR, C.CANCELLED, C.FINALIZING}),
               C.INSUFFICIENT, "reset by the user", info=_text(texts.RESET), apply=_cleared, tell=_reset),
    ClusterRow("I1", T.PREPARE, frozenset({C.READY}), C.PREPARING_FOR_INSTALLATION, "the user installs",
               info=_text(texts.PREPARING), apply=_fresh_start),
    ClusterRow("K1", T.RETRY, frozenset({C.ERROR}), C.INSTALLING, "a failed host is tried again",
               info=_text(texts.INSTALLING), apply=_patient, tell=_resumed),
    ClusterRow("K2", T.RETRY, frozenset({C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.FINALIZING}), None,
               "a failed host is tried again", apply=_patient),
)  # fmt: skip

PREPARED_OR_ON_THE_WAY: Final = (
    S.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL, S.PREPARING_FAILED, S.KNOWN
)  # fmt: skip
hard = not_(on.soft_timeouts)

BEFORE: Final[tuple[ClusterRow, ...]] = (
    ClusterRow("C1", T.REFRESH, BEFORE_INSTALLATION, C.PENDING_FOR_INPUT, "the user owes an answer",
               all_of(not_(on.dhcp), not_(all_of(on.vips_defined, on.inputs_given))), _text(texts.INPUT_NEEDED)),
    ClusterRow("C2", T.REFRESH, BEFORE_INSTALLATION, C.INSUFFICIENT, "a blocking check fails",
               all_of(not_(on.dhcp), on.vips_defined, on.inputs_given, not_(on.required)), _text(texts.NOT_READY)),
    ClusterRow("C3", T.REFRESH, BEFORE_INSTALLATION, C.PENDING_FOR_INPUT, "the user owes an answer",
               all_of(on.dhcp, not_(on.inputs_given)), _text(texts.INPUT_NEEDED)),
    ClusterRow("C4", T.REFRESH, BEFORE_INSTALLATION, C.INSUFFICIENT, "a blocking check fails, or VIPs have no lease",
               all_of(on.dhcp, on.inputs_given, not_(all_of(on.required, on.vips_defined))), _text(texts.NOT_READY)),
    ClusterRow("C5", T.REFRESH, BEFORE_INSTALLATION, C.READY, "everything holds",
               all_of(on.inputs_given, on.vips_defined, on.required), _text(texts.READY)),
)  # fmt: skip

PREPARATION: Final[tuple[ClusterRow, ...]] = (
    ClusterRow("C7", T.REFRESH, frozenset({C.PREPARING_FOR_INSTALLATION}), C.INSTALLING, "hosts and files are ready",
               all_of(on.every_host(S.PREPARING_SUCCESSFUL), on.some_host(S.PREPARING_SUCCESSFUL),
                      on.preparation_is(PreparationStatus.SUCCESS)),
               _text(texts.INSTALLING), _installing),
    ClusterRow("C6", T.REFRESH, frozenset({C.PREPARING_FOR_INSTALLATION}), C.READY, "preparation took too long",
               all_of(not_(on.some_host(S.PREPARING_FAILED)),
                      on.in_status_longer_than(lambda policy: policy.timeouts.cluster_preparation)),
               _text(texts.PREPARATION_TIMEOUT), _preparation_given_up, _preparation_timed_out),
    ClusterRow("C8", T.REFRESH, frozenset({C.PREPARING_FOR_INSTALLATION}), C.INSUFFICIENT, "a host stopped preparing",
               not_(on.every_host(*PREPARED_OR_ON_THE_WAY)), _text(texts.HOST_STOPPED_PREPARING), _stopped),
    ClusterRow("C9", T.REFRESH, frozenset({C.PREPARING_FOR_INSTALLATION}), C.READY, "a host or a file failed",
               any_of(on.some_host(S.PREPARING_FAILED), on.preparation_is(PreparationStatus.FAILED)),
               texts.preparation_failed),
)  # fmt: skip

INSTALLATION: Final[tuple[ClusterRow, ...]] = (
    ClusterRow("C10", T.REFRESH, frozenset({C.INSTALLING_PENDING_USER_ACTION}), C.ERROR, "too many hosts failed",
               not_(on.hopeful_or_patient), texts.hosts_failed, tell=_failed_with(texts.hosts_failed)),
    ClusterRow("C11", T.REFRESH, frozenset({C.INSTALLING_PENDING_USER_ACTION}), C.ERROR, "nobody acted in time",
               on.installation_overdue, _text(texts.USER_TOO_LATE), tell=_failed_with(_text(texts.USER_TOO_LATE))),
    ClusterRow("C12", T.REFRESH, frozenset({C.INSTALLING, C.FINALIZING}), C.ERROR, "the installation took too long",
               all_of(on.soft_timeouts, on.installation_overdue), texts.installation_timeout,
               tell=_failed_with(texts.installation_timeout)),
    ClusterRow("C13", T.REFRESH, frozenset({C.FINALIZING}), C.ERROR, "finalizing took too long",
               all_of(hard, on.in_status_longer_than(lambda policy: policy.timeouts.finalizing)),
               _text(texts.FINALIZING_TIMEOUT), tell=_failed_with(_text(texts.FINALIZING_TIMEOUT))),
    ClusterRow("C14", T.REFRESH, frozenset({C.FINALIZING}), C.ERROR, "a finalizing stage took too long",
               all_of(hard, on.stage_may_fail, on.stage_overdue), texts.stage_timeout,
               tell=_failed_with(texts.stage_timeout)),
    ClusterRow("C15", T.REFRESH, frozenset({C.FINALIZING}), None, "a finalizing stage is slow; the user is told",
               all_of(not_(on.slowness_told), any_of(on.soft_timeouts, not_(on.stage_may_fail)), on.stage_overdue),
               texts.stage_slow, _slowness_told, _stage_slow),
    ClusterRow("C16", T.REFRESH, frozenset({C.INSTALLING_PENDING_USER_ACTION}), None, "a host waits for its user",
               all_of(on.host_waits_for_user, on.hopeful_or_patient)),
    ClusterRow("C18", T.REFRESH, frozenset({C.INSTALLING_PENDING_USER_ACTION}), C.FINALIZING,
               "enough hosts are installed", all_of(not_(on.host_waits_for_user), on.finalizing_ok),
               _text(texts.FINALIZING), _stage_timer_restarted),
    ClusterRow("C17", T.REFRESH, frozenset({C.INSTALLING_PENDING_USER_ACTION}), C.INSTALLING, "no host waits any more",
               all_of(not_(on.host_waits_for_user), any_of(on.installing_ok, on.patient)), _text(texts.INSTALLING)),
    ClusterRow("C19", T.REFRESH, frozenset({C.INSTALLING, C.FINALIZING}), C.INSTALLING_PENDING_USER_ACTION,
               "a host waits for its user", all_of(on.hopeful, on.host_waits_for_user), texts.hosts_wait),
    ClusterRow("C20", T.REFRESH, frozenset({C.INSTALLING}), C.FINALIZING, "enough hosts are installed",
               all_of(on.finalizing_ok, not_(on.host_waits_for_user)), _text(texts.FINALIZING)),
    ClusterRow("C21", T.REFRESH, frozenset({C.INSTALLING}), C.INSTALLING, "hosts are installing",
               on.installing_ok, _text(texts.INSTALLING)),
    ClusterRow("C23", T.REFRESH, frozenset({C.FINALIZING}), C.INSTALLED, "everything reported done",
               all_of(on.every_host(S.INSTALLED, S.ERROR), on.complete), texts.installed, None, _completed),
    ClusterRow("C27", T.REFRESH, frozenset({C.INSTALLING}), None, "failed hosts may be tried again",
               all_of(not_(on.hopeful), on.patient), texts.waits_for_retry),
    ClusterRow("C24", T.REFRESH, frozenset({C.INSTALLING}), C.ERROR, "too many hosts failed",
               not_(on.hopeful_or_patient), texts.hosts_failed, tell=_failed_with(texts.hosts_failed)),
    ClusterRow("C25", T.REFRESH, frozenset({C.ERROR, C.CANCELLED}), None, "its logs never came",
               on.logs_overdue, None, _logs_given_up),
    ClusterRow("C26", T.REFRESH, frozenset({C.PREPARING_FOR_INSTALLATION, C.FINALIZING, C.INSTALLED, C.ERROR,
                                            C.CANCELLED, C.ADDING_HOSTS, C.UNMONITORED}), None, "nothing to do"),
)  # fmt: skip

REFRESH_TABLE: Final[tuple[ClusterRow, ...]] = BEFORE + PREPARATION + INSTALLATION
TRANSITIONS: Final[tuple[ClusterRow, ...]] = REQUESTS
ENDED: Final = frozenset({C.INSTALLED, C.ERROR, C.CANCELLED})
"""Statuses whose entry is the end of an installation."""
