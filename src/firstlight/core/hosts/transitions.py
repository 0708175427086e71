"""Where requests take a host: registration, progress, install, cancel, reset, bind, unbind, reclaim."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from firstlight.core.events.event import Event
from firstlight.core.events.host import HostInstallationCancelled, HostInstallationReset, HostMediaDisconnected
from firstlight.core.events.own import HostInstallationRetried
from firstlight.core.hosts import situation as on
from firstlight.core.hosts import texts
from firstlight.core.hosts.resets import registered_again, resumed, tried_again, unbound
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.tellings import disk_formats, must_boot_again
from firstlight.core.hosts.triggers import HostRow, HostTrigger, Identity
from firstlight.core.machine import Guard, all_of, any_of
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import UNBOUND, HostKind, HostStatus, MediaStatus, Stage

S, T = HostStatus, HostTrigger
BEFORE: Final = frozenset({S.KNOWN, S.DISCOVERING, S.DISCONNECTED, S.INSUFFICIENT, S.PENDING_FOR_INPUT})
PREPARED: Final = frozenset({S.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL})
RUNNING: Final = frozenset({S.INSTALLING, S.INSTALLING_IN_PROGRESS})
WAITING: Final = frozenset({S.INSTALLING_PENDING_USER_ACTION})
AFTER: Final = frozenset({S.INSTALLED, S.ADDED_TO_EXISTING_CLUSTER})
IN_A_CLUSTER: Final = frozenset(S) - UNBOUND - {
    S.DISABLED_UNBOUND, S.UNBINDING, S.UNBINDING_PENDING_USER_ACTION, S.RECLAIMING, S.RECLAIMING_REBOOTING
}  # fmt: skip
"""Every status a host of a cluster can have: none of them may stop its user from cancelling or resetting."""
NOT_YET_RUNNING: Final = PREPARED | {S.PREPARING_FAILED}
CANCELLABLE: Final = NOT_YET_RUNNING | WAITING | RUNNING | {S.INSTALLED, S.ERROR}
NEVER_STARTED: Final = frozenset({S.BINDING, S.DISABLED})


def _text(sentence: str) -> Callable[[HostSituation], str]:
    return lambda _: sentence


def _kind(facts: HostSituation) -> HostKind:
    day_two = facts.cluster is not None and facts.cluster.is_day_two
    return HostKind.DAY_TWO if day_two else HostKind.HOST


def _anew(facts: HostSituation) -> Host:
    return replace(registered_again(facts.host, kind=_kind(facts), now=facts.now), media=MediaStatus.CONNECTED)


def _keeps_preparation(facts: HostSituation) -> Host:
    return registered_again(facts.host, kind=_kind(facts), now=facts.now, keep_bootstrap=True)


def _pooled(facts: HostSituation) -> Host:
    return unbound(facts.host)


def _media_lost(facts: HostSituation) -> Host:
    return replace(facts.host, media=MediaStatus.DISCONNECTED)


def _media_lost_again(facts: HostSituation) -> str:
    return texts.cut(f"Failed - {texts.MEDIA_GONE}. Earlier: {facts.host.status_info}")


def _wrong_boot_order(facts: HostSituation) -> str:
    return texts.wrong_boot_order(facts.host, facts.reports)


def _media_event(facts: HostSituation) -> tuple[Event, ...]:
    host = facts.host
    return (HostMediaDisconnected(host_id=host.id, infra_env_id=host.infra_env_id, cluster_id=host.cluster_id),)


def _cancelled(facts: HostSituation) -> tuple[Event, ...]:
    who = Identity(facts.host, facts.reports)
    return (
        HostInstallationCancelled(
            host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
        ),
    )


def _reset(facts: HostSituation) -> tuple[Event, ...]:
    who = Identity(facts.host, facts.reports)
    return (
        HostInstallationReset(
            host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
        ),
        *must_boot_again(facts),
    )


def _no_longer_kept(facts: HostSituation) -> Host:
    """What went on beneath the failure of its cluster is over."""
    return replace(facts.host, kept_status=None)


def _goes_on_beneath(facts: HostSituation) -> Host:
    beneath = S.INSTALLED if facts.host.progress.stage is Stage.DONE else S.INSTALLING_IN_PROGRESS
    return replace(facts.host, kept_status=beneath)


def _once_more(facts: HostSituation) -> Host:
    return tried_again(facts.host)


def _resumed(facts: HostSituation) -> Host:
    return resumed(facts.host, now=facts.now)


def _retried(facts: HostSituation) -> tuple[Event, ...]:
    who = Identity(facts.host, facts.reports)
    return (
        HostInstallationRetried(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            tries=facts.host.tries + 1,
        ),
        *disk_formats(facts),
    )


def _stage_name(facts: HostSituation) -> str:
    return facts.host.progress.stage or ""


rebooted = on.stage_in(Stage.REBOOTING)
done = on.stage_in(Stage.DONE)
came_back_from_disk = any_of(rebooted, all_of(on.day_two, done))
unstarted: Guard[HostSituation] = Guard("no stage", lambda facts: facts.host.progress.stage is None)
speaks_kube: Guard[HostSituation] = Guard("reports go on after the reboot", lambda facts: facts.policy.kube_api)

REGISTER: Final[tuple[HostRow, ...]] = (
    HostRow("G2", T.REGISTER, PREPARED, S.KNOWN, "restarted during preparation", info=_text(texts.READY),
            apply=_keeps_preparation),
    HostRow("G3", T.REGISTER, BEFORE | {S.RESETTING_PENDING_USER_ACTION, S.BINDING}, S.DISCOVERING,
            "may be other hardware now", info=_text(texts.WAITING_FOR_HARDWARE), apply=_anew),
    HostRow("G4", T.REGISTER, frozenset({S.RESETTING}), None, "still rebooting", rebooted),
    HostRow("G5", T.REGISTER, frozenset({S.RESETTING}), S.DISCOVERING, "booted the discovery image again",
            info=_text(texts.WAITING_FOR_HARDWARE), apply=_anew),
    HostRow("G6", T.REGISTER, WAITING | {S.INSTALLING_IN_PROGRESS, S.ADDED_TO_EXISTING_CLUSTER},
            S.INSTALLING_PENDING_USER_ACTION, "booted the discovery image instead of its disk", came_back_from_disk,
            _wrong_boot_order),
    HostRow("G7b", T.REGISTER, frozenset({S.INSTALLING}), S.DISCOVERING, "booted again to be tried again",
            all_of(on.tried_again, unstarted), _text(texts.WAITING_FOR_HARDWARE), _anew),
    HostRow("G7", T.REGISTER, RUNNING, S.ERROR, "restarted during its installation", info=_text(texts.RESTARTED)),
    HostRow("G8", T.REGISTER, frozenset({S.ERROR}), None, "stays failed", apply=_no_longer_kept),
    HostRow("G11", T.REGISTER, UNBOUND | {S.UNBINDING, S.UNBINDING_PENDING_USER_ACTION, S.RECLAIMING_REBOOTING},
            S.DISCOVERING_UNBOUND, "may be other hardware now", info=_text(texts.WAITING_FOR_HARDWARE), apply=_anew),
)  # fmt: skip

PROGRESS: Final[tuple[HostRow, ...]] = (
    HostRow("H1", T.PROGRESS, RUNNING, S.INSTALLING_IN_PROGRESS, "day 2: rebooting",
            all_of(rebooted, on.day_two, speaks_kube), _stage_name),
    HostRow("H2", T.PROGRESS, RUNNING | WAITING, S.ADDED_TO_EXISTING_CLUSTER, "day 2: done",
            all_of(done, on.day_two),
            lambda facts: Stage.DONE.value if facts.policy.kube_api else texts.DAY_TWO_REBOOTED),
    HostRow("H3", T.PROGRESS, RUNNING | WAITING, S.INSTALLED, "done", done, _stage_name),
    HostRow("H4", T.PROGRESS, RUNNING | WAITING, S.INSTALLING_IN_PROGRESS, "a further stage", info=_stage_name),
    HostRow("H6", T.PROGRESS, frozenset({S.ERROR}), None, "goes on beneath the failure of its cluster", on.kept,
            apply=_goes_on_beneath),
    HostRow("H5", T.PROGRESS, frozenset({S.INSTALLED, S.RESETTING_PENDING_USER_ACTION}), None, "a late report"),
)  # fmt: skip

REQUESTS: Final[tuple[HostRow, ...]] = (
    HostRow("I1", T.INSTALL, frozenset({S.KNOWN}), S.INSTALLING, "day 2: the user installs this host", on.day_two,
            _text(texts.INSTALLING), tell=disk_formats),
    HostRow("F1", T.INSTALL_FAILED, RUNNING, S.ERROR, "the installer failed",
            info=_text(texts.INSTALL_COMMAND_FAILED)),
    HostRow("M1", T.MEDIA_GONE, BEFORE | {S.BINDING}, S.DISCONNECTED, "its medium is gone",
            info=_text(texts.MEDIA_GONE), apply=_media_lost, tell=_media_event),
    HostRow("M2", T.MEDIA_GONE, frozenset({S.ERROR}), S.ERROR, "its medium is gone as well", info=_media_lost_again,
            apply=_media_lost, tell=_media_event),
    HostRow("M3", T.MEDIA_GONE, PREPARED | RUNNING | {S.PREPARING_FAILED}, S.ERROR, "its medium is gone",
            info=_text(texts.MEDIA_GONE), apply=_media_lost, tell=_media_event),
    HostRow("M4", T.MEDIA_GONE, UNBOUND | {S.UNBINDING}, S.DISCONNECTED_UNBOUND, "its medium is gone",
            info=_text(texts.MEDIA_GONE), apply=_media_lost, tell=_media_event),
    HostRow("X1", T.CANCEL, CANCELLABLE - NOT_YET_RUNNING, S.CANCELLED, "cancelled by the user",
            info=_text(texts.CANCELLED), apply=_no_longer_kept, tell=_cancelled),
    HostRow("X2", T.CANCEL, NOT_YET_RUNNING, S.KNOWN, "cancelled by the user",
            info=_text(texts.CANCELLED), tell=_cancelled),
    HostRow("X3", T.CANCEL, IN_A_CLUSTER - CANCELLABLE, None, "was not installing"),
    HostRow("Z1", T.RESET, IN_A_CLUSTER - NEVER_STARTED, S.RESETTING_PENDING_USER_ACTION,
            "must boot the discovery image again", info=_text(texts.BOOT_TO_RESET), apply=_no_longer_kept,
            tell=_reset),
    HostRow("Z2", T.RESET, NEVER_STARTED, None, "has nothing to reset"),
    HostRow("B1", T.BIND, frozenset({S.KNOWN_UNBOUND}), S.BINDING, "the user bound it", info=_text(texts.BINDING)),
    HostRow("U1", T.UNBIND, BEFORE, S.UNBINDING, "the user took it back", info=_text(texts.UNBINDING), apply=_pooled),
    HostRow("U2", T.UNBIND, PREPARED | RUNNING | WAITING | AFTER | {S.PREPARING_FAILED, S.ERROR, S.CANCELLED,
                                                                    S.RESETTING_PENDING_USER_ACTION},
            S.UNBINDING_PENDING_USER_ACTION, "the user took it back", info=_text(texts.BOOT_TO_UNBIND),
            apply=_pooled),
    HostRow("L1", T.RECLAIM, AFTER, S.RECLAIMING, "its node left the cluster", info=_text(texts.RECLAIMING),
            apply=_pooled),
    HostRow("L2", T.RECLAIM, BEFORE, S.UNBINDING, "never installed", info=_text(texts.UNBINDING), apply=_pooled),
    HostRow("L3", T.RECLAIM, frozenset({S.ERROR, S.CANCELLED}), S.UNBINDING_PENDING_USER_ACTION,
            "nothing runs on it that could reboot it", info=_text(texts.BOOT_TO_UNBIND), apply=_pooled),
    HostRow("L4", T.REBOOT_FOR_RECLAIM, frozenset({S.RECLAIMING}), S.RECLAIMING_REBOOTING, "boot artifacts arrived",
            info=_text(texts.RECLAIM_REBOOTING)),
    HostRow("L5", T.RECLAIM_FAILED, frozenset({S.RECLAIMING, S.RECLAIMING_REBOOTING}),
            S.UNBINDING_PENDING_USER_ACTION, "boot artifacts did not arrive", info=_text(texts.BOOT_TO_UNBIND)),
    HostRow("Y1", T.RETRY, frozenset({S.ERROR}), S.INSTALLING, "its agent installs once more", on.connected,
            _text(texts.INSTALLING), _once_more, _retried),
    HostRow("Y2", T.RETRY, frozenset({S.ERROR}), S.RESETTING_PENDING_USER_ACTION,
            "installs once more when it boots the discovery image", on.silent, _text(texts.BOOT_TO_RETRY),
            _once_more, _retried),
    HostRow("V1", T.RESUME, frozenset({S.ERROR}), S.INSTALLING, "its cluster goes on", on.kept_as(S.INSTALLING),
            _text(texts.INSTALLING), _resumed),
    HostRow("V2", T.RESUME, frozenset({S.ERROR}), S.INSTALLING_IN_PROGRESS, "its cluster goes on",
            on.kept_as(S.INSTALLING_IN_PROGRESS), _stage_name, _resumed),
    HostRow("V3", T.RESUME, frozenset({S.ERROR}), S.INSTALLING_PENDING_USER_ACTION, "its cluster goes on",
            on.kept_as(S.INSTALLING_PENDING_USER_ACTION), _wrong_boot_order, _resumed),
    HostRow("V4", T.RESUME, frozenset({S.ERROR}), S.INSTALLED, "its cluster goes on", on.kept_as(S.INSTALLED),
            _stage_name, _resumed),
    HostRow("V5", T.RESUME, frozenset({S.ERROR}), S.RESETTING_PENDING_USER_ACTION, "its cluster goes on",
            on.kept_as(S.RESETTING_PENDING_USER_ACTION), _text(texts.BOOT_TO_RETRY), _resumed),
)  # fmt: skip

TRANSITIONS: Final[tuple[HostRow, ...]] = REGISTER + PROGRESS + REQUESTS
WRONG_BOOT_ORDER: Final = "G6"
"""The row a host takes that booted the discovery image after its reboot; a second time is refused."""
