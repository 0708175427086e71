"""Where facts and time alone take a host. The first line that fits wins; the order is the meaning."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from firstlight.core.events.event import Event
from firstlight.core.events.host import HostStageTimedOut
from firstlight.core.hosts import situation as on
from firstlight.core.hosts import texts
from firstlight.core.hosts.resets import unbound, without_logs
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.stages import time_limit
from firstlight.core.hosts.tellings import disk_formats, must_boot_again
from firstlight.core.hosts.triggers import HostRow, HostTrigger, Identity
from firstlight.core.machine import Guard, all_of, any_of, not_
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import UNBOUND, HostRole, HostStatus, LogsState

S = HostStatus
REFRESH: Final = HostTrigger.REFRESH

DISCOVERED: Final = frozenset({S.DISCONNECTED, S.DISCOVERING, S.INSUFFICIENT, S.KNOWN, S.PENDING_FOR_INPUT})
IN_INSTALLATION: Final = frozenset({S.INSTALLING, S.INSTALLING_IN_PROGRESS})
BOUND_TO_FATE: Final = IN_INSTALLATION | {
    S.INSTALLED,
    S.INSTALLING_PENDING_USER_ACTION,
    S.RESETTING_PENDING_USER_ACTION,
}
COMING_AGAIN: Final = DISCOVERED | {S.RESETTING_PENDING_USER_ACTION, S.BINDING}
RECLAIMING: Final = frozenset({S.RECLAIMING, S.RECLAIMING_REBOOTING})


def _text(sentence: str) -> Callable[[HostSituation], str]:
    return lambda _: sentence


def _has_real_role(facts: HostSituation) -> bool:
    return facts.host.effective_role is not HostRole.AUTO_ASSIGN


real_role: Guard[HostSituation] = Guard("role decided", _has_real_role)
starts_preparing = all_of(real_role, on.preparing)


def _told_slow(facts: HostSituation) -> Host:
    return replace(facts.host, progress=replace(facts.host.progress, timed_out=True))


def _slow_event(facts: HostSituation) -> tuple[Event, ...]:
    stage = facts.host.progress.stage
    if stage is None:
        return ()
    who = Identity(facts.host, facts.reports)
    limit = time_limit(stage, facts.cluster, facts.policy)
    return (
        HostStageTimedOut(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            stage=stage.value,
            minutes=int(limit.total_seconds() // 60),
        ),
    )


def _paused(facts: HostSituation) -> Host:
    return replace(facts.host, progress=replace(facts.host.progress, paused_since=facts.now))


def _resumed(facts: HostSituation) -> Host:
    """The timer goes on where it stood."""
    progress = facts.host.progress
    assert progress.paused_since is not None
    updated_at = progress.updated_at and progress.updated_at + (facts.now - progress.paused_since)
    return replace(facts.host, progress=replace(progress, paused_since=None, updated_at=updated_at))


def _silence_flag(*, told: bool) -> Callable[[HostSituation], Host]:
    return lambda facts: replace(facts.host, connection_timed_out=told)


def _logs_given_up(facts: HostSituation) -> Host:
    return replace(facts.host, logs=LogsState.TIMEOUT)


def _back_to_pool(facts: HostSituation) -> Host:
    return unbound(facts.host)


def _kept(facts: HostSituation) -> Host:
    """While its cluster may still be saved it goes on with what it does."""
    return replace(facts.host, kept_status=facts.host.status if facts.may_go_on else None)


def _no_longer_kept(facts: HostSituation) -> Host:
    return replace(facts.host, kept_status=None)


def _fresh_logs(facts: HostSituation) -> Host:
    return without_logs(facts.host)


hard = not_(on.soft_timeouts)
overdue = all_of(on.stage_overdue, not_(on.waits_for_others))
plain_stage = not_(any_of(on.on_slow_disk, on.rebooting))
installable = all_of(
    on.reachable,
    on.valid_inventory,
    on.minimum_hardware,
    on.machine_network_known,
    on.sufficient,
    on.disk_uuids_visible,
)

PREPARATION: Final[tuple[HostRow, ...]] = (
    HostRow("R1", REFRESH, RECLAIMING, S.UNBINDING_PENDING_USER_ACTION, "reclaiming took too long",
            on.in_status_longer_than(lambda policy: policy.timeouts.reclaim), _text(texts.BOOT_TO_UNBIND),
            _back_to_pool),
    HostRow("R43", REFRESH, COMING_AGAIN, S.ERROR, "was to be tried again and did not come back in time",
            all_of(on.tried_again, on.cluster_under_way, on.retry_overdue), _text(texts.RETRY_TIMEOUT)),
    HostRow("R42", REFRESH, frozenset({S.KNOWN, S.INSUFFICIENT}), S.INSTALLING, "joins the installation under way",
            all_of(on.tried_again, on.cluster_under_way, on.reachable, on.valid_inventory, on.minimum_hardware,
                   on.sufficient_but_for_peers),
            _text(texts.INSTALLING), tell=disk_formats),
    HostRow("R2", REFRESH, frozenset({S.KNOWN}), S.PREPARING_FOR_INSTALLATION, "the cluster prepares",
            all_of(real_role, on.reachable, on.preparing), _text(texts.PREPARING), _fresh_logs),
    HostRow("R3", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION}), S.PREPARING_SUCCESSFUL, "every check passed",
            all_of(on.reachable, on.disk_speed_good, on.images_good, not_(on.preparation_failed), on.preparing),
            _text(texts.PREPARED)),
    HostRow("R4", REFRESH, frozenset({S.PREPARING_SUCCESSFUL}), None, "waits for the cluster",
            all_of(on.reachable, on.preparing)),
    HostRow("R5", REFRESH, frozenset({S.PREPARING_SUCCESSFUL}), S.INSTALLING, "the cluster installs",
            all_of(on.reachable, on.cluster_installing), _text(texts.INSTALLING), tell=disk_formats),
    HostRow("R6", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION}), S.KNOWN, "the cluster stopped preparing",
            all_of(on.reachable, not_(on.preparation_failed), not_(on.preparing)), _text(texts.READY)),
    HostRow("R7", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION, S.PREPARING_FAILED, S.KNOWN}), S.INSUFFICIENT,
            "the disk speed check failed", all_of(on.reachable, on.disk_speed_bad), texts.cannot_be_installed),
    HostRow("R8", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION}), S.PREPARING_FAILED, "preparation took too long",
            all_of(on.reachable, on.preparation_unknown, not_(on.preparation_failed),
                   on.in_status_longer_than(lambda policy: policy.timeouts.host_preparation)),
            texts.preparation_timeout),
    HostRow("R9", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION}), S.PREPARING_FAILED, "an image cannot be pulled",
            all_of(on.reachable, on.images_bad), texts.preparation_failed),
    HostRow("R10", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION}), None, "checks are running",
            all_of(on.reachable, on.preparation_unknown, not_(on.preparation_failed), on.preparing)),
    HostRow("R11", REFRESH, frozenset({S.PREPARING_FAILED}), S.KNOWN, "the cluster stopped preparing",
            all_of(on.reachable, not_(on.preparing)), _text(texts.READY)),
    HostRow("R11b", REFRESH, frozenset({S.PREPARING_FAILED}), None, "waits until the cluster stops preparing",
            all_of(on.reachable, on.preparing)),
    HostRow("R12", REFRESH, frozenset({S.PREPARING_SUCCESSFUL}), S.KNOWN, "the cluster neither prepares nor installs",
            all_of(on.reachable, not_(on.preparing), not_(on.cluster_installing)), _text(texts.READY)),
    HostRow("R13", REFRESH, DISCOVERED | {S.PREPARING_FAILED}, S.DISCONNECTED, "silent, or its medium is gone",
            on.unreachable, lambda facts: texts.MEDIA_GONE if not on.media_readable(facts) else texts.SILENT),
)  # fmt: skip

INSTALLATION: Final[tuple[HostRow, ...]] = (
    HostRow("R14", REFRESH, BOUND_TO_FATE, S.ERROR, "the cluster failed",
            all_of(on.cluster_failed, not_(on.day_two)), _text(texts.CLUSTER_FAILED), _kept),
    HostRow("R15", REFRESH, frozenset({S.INSTALLING}), S.ERROR, "no stage was ever reported",
            on.in_status_longer_than(lambda policy: policy.timeouts.host_installing), _text(texts.START_TIMEOUT)),
    HostRow("R16", REFRESH, frozenset({S.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL}), S.DISCONNECTED,
            "silent during preparation", on.unreachable, _text(texts.SILENT_PREPARING)),
    HostRow("R17", REFRESH, IN_INSTALLATION, S.ERROR, "silent during installation",
            all_of(on.silent, hard), _text(texts.SILENT_INSTALLING)),
    HostRow("R18", REFRESH, IN_INSTALLATION, None, "silent during installation; the user is told",
            all_of(on.silent, on.soft_timeouts, not_(on.silence_told)), _text(texts.SILENT_TOLD),
            _silence_flag(told=True)),
    HostRow("R19", REFRESH, IN_INSTALLATION, None, "heard of again",
            all_of(on.connected, on.soft_timeouts, on.silence_told), _text(texts.HEARD_AGAIN),
            _silence_flag(told=False)),
    HostRow("R20", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), None, "the stage timer stands still",
            all_of(on.waits_for_others, not_(on.timer_paused)), None, _paused),
    HostRow("R20b", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), None, "the stage timer runs again",
            all_of(on.timer_paused, not_(on.waits_for_others)), None, _resumed),
    HostRow("R21", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), S.ERROR, "the stage took too long",
            all_of(hard, plain_stage, overdue), texts.stage_overdue),
    HostRow("R22", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), S.ERROR, "the disk makes no progress",
            all_of(hard, on.on_slow_disk, overdue), texts.disk_overdue),
    HostRow("R24", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), None, "the stage is slow; the user is told",
            all_of(on.soft_timeouts, not_(on.slowness_told), plain_stage, overdue), texts.stage_slow,
            _told_slow, _slow_event),
    HostRow("R25", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), None, "the disk is slow; the user is told",
            all_of(on.soft_timeouts, not_(on.slowness_told), on.on_slow_disk, overdue), texts.disk_slow,
            _told_slow, _slow_event),
    HostRow("R27", REFRESH, frozenset({S.INSTALLING_IN_PROGRESS}), S.INSTALLING_PENDING_USER_ACTION,
            "does not come back from its reboot", all_of(on.rebooting, overdue), texts.reboot_overdue),
    HostRow("R28", REFRESH, frozenset({S.INSTALLING_PENDING_USER_ACTION}), S.ERROR,
            "did not boot from disk in time, and the cluster can do without it",
            all_of(on.cluster_survives, not_(on.cluster_done),
                   on.in_status_longer_than(lambda policy: policy.timeouts.host_pending_user_action)),
            _text(texts.BOOT_TIMEOUT)),
    HostRow("R29", REFRESH, BOUND_TO_FATE, None, "the installation goes on", not_(on.cluster_failed)),
)  # fmt: skip

DISCOVERY: Final[tuple[HostRow, ...]] = (
    HostRow("R30", REFRESH, DISCOVERED, S.DISCOVERING, "no usable inventory yet",
            all_of(on.reachable, not_(on.has_inventory)), _text(texts.WAITING_FOR_HARDWARE)),
    HostRow("R31", REFRESH, DISCOVERED, S.INSUFFICIENT, "below the minimum hardware",
            all_of(on.reachable, on.valid_inventory, not_(on.minimum_hardware)), texts.below_minimum),
    HostRow("R32", REFRESH, DISCOVERED, S.PENDING_FOR_INPUT, "the machine network is not known",
            all_of(on.reachable, on.valid_inventory, on.disk_uuids_visible, on.minimum_hardware,
                   not_(on.machine_network_known)), texts.waiting_for_input),
    HostRow("R33", REFRESH, DISCOVERED, S.INSUFFICIENT, "a blocking check fails",
            all_of(on.reachable, on.has_inventory, any_of(on.minimum_hardware, on.fully_truncated),
                   any_of(on.fully_truncated, not_(on.disk_uuids_visible),
                          all_of(on.machine_network_known, not_(on.sufficient)))),
            texts.cannot_be_installed),
    HostRow("R34", REFRESH, DISCOVERED - {S.KNOWN}, S.KNOWN, "every blocking check passes", installable,
            _text(texts.READY)),
    HostRow("R35", REFRESH, frozenset({S.KNOWN}), S.KNOWN, "every blocking check still passes",
            all_of(installable, not_(starts_preparing)), _text(texts.READY)),
    HostRow("R44", REFRESH, frozenset({S.ERROR}), None, "nobody tried again: it is stopped",
            all_of(on.kept, any_of(not_(on.may_go_on),
                                   on.in_status_longer_than(lambda policy: policy.timeouts.host_retry))), None,
            _no_longer_kept),
    HostRow("R36", REFRESH, frozenset({S.ERROR, S.CANCELLED}), None, "its logs never came", on.logs_overdue, None,
            _logs_given_up),
    HostRow("R41", REFRESH, frozenset({S.RESETTING}), S.RESETTING_PENDING_USER_ACTION, "the reset took too long",
            on.in_status_longer_than(lambda policy: policy.timeouts.resetting), _text(texts.BOOT_TO_RESET),
            tell=must_boot_again),
    HostRow("R37", REFRESH, frozenset({S.ERROR, S.CANCELLED, S.RESETTING}), None, "nothing to do"),
    HostRow("R38", REFRESH, frozenset({S.ADDED_TO_EXISTING_CLUSTER}), None, "day 2 is done"),
    HostRow("R39", REFRESH, RECLAIMING, None, "being reclaimed"),
    HostRow("R40", REFRESH, frozenset({S.DISABLED, S.DISABLED_UNBOUND, S.UNBINDING_PENDING_USER_ACTION}), None,
            "waits for its user"),
)  # fmt: skip

POOL: Final[tuple[HostRow, ...]] = (
    HostRow("P1", REFRESH, UNBOUND | {S.UNBINDING}, S.DISCONNECTED_UNBOUND, "silent, or its medium is gone",
            on.unreachable, lambda facts: texts.MEDIA_GONE if not on.media_readable(facts) else texts.SILENT),
    HostRow("P2", REFRESH, UNBOUND, S.DISCOVERING_UNBOUND, "no usable inventory yet",
            all_of(on.reachable, not_(on.valid_inventory)), _text(texts.WAITING_FOR_HARDWARE)),
    HostRow("P3", REFRESH, UNBOUND, S.INSUFFICIENT_UNBOUND, "below the minimum hardware",
            all_of(on.reachable, on.valid_inventory, not_(on.bindable)), texts.below_minimum),
    HostRow("P4", REFRESH, frozenset({S.BINDING, S.UNBINDING}), None, "the agent is about to register anew"),
    HostRow("P5", REFRESH, UNBOUND, S.KNOWN_UNBOUND, "may be bound to a cluster",
            all_of(on.reachable, on.valid_inventory, on.bindable), _text(texts.READY_TO_BIND)),
)  # fmt: skip

REFRESH_TABLE: Final[tuple[HostRow, ...]] = PREPARATION + INSTALLATION + DISCOVERY + POOL
