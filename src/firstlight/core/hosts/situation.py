"""What the guards of the host tables look at, and the guards themselves."""

from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec import Struct

from firstlight.core.hosts.rules.blocking import BINDABLE, MIN_HARDWARE, REQUIRED_INPUT, SEEN_BY_PEERS
from firstlight.core.hosts.stages import SLOW_DISK, WAITS_FOR_OTHERS, time_limit
from firstlight.core.machine import Guard, all_of, any_of, not_
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import HostStatus, LogsState, MediaStatus, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import Reports
from firstlight.core.rules import Finding, Status


class HostSituation(Struct, frozen=True, kw_only=True):
    """One host at one moment, with what its table may ask about."""

    host: Host
    reports: Reports
    cluster: Cluster | None
    policy: Policy
    now: datetime
    findings: tuple[Finding, ...] = ()
    holds: frozenset[str] = frozenset()
    """Ids of the checks that hold, waived ones included."""
    sufficient: frozenset[str] = frozenset()
    """Ids that must hold before the host is known."""
    silent_from: datetime | None = None
    """When silence counts, pauses of ours allowed for; None while it does not matter (or never heard of)."""
    listening_since: datetime | None = None
    """Nobody listened before: time limits cannot have passed earlier than this."""
    cluster_survives: bool = False
    """The cluster would still succeed with its installed hosts only."""
    may_go_on: bool = False
    """The cluster may still be saved by trying failed hosts again."""


HostGuard = Guard[HostSituation]


def _postponed(moment: datetime, facts: HostSituation) -> datetime:
    return moment if facts.listening_since is None else max(moment, facts.listening_since)


def passed_at(name: str, moment: Callable[[HostSituation], datetime | None]) -> HostGuard:
    """True from the given moment on; never when there is none."""

    def test(facts: HostSituation) -> bool:
        at = moment(facts)
        return at is not None and facts.now >= _postponed(at, facts)

    def moments(facts: HostSituation) -> tuple[datetime, ...]:
        at = moment(facts)
        return () if at is None else (_postponed(at, facts),)

    return Guard(name, test, moments)


def in_status_longer_than(limit: Callable[[Policy], timedelta]) -> HostGuard:
    return passed_at("too long in this status", lambda facts: facts.host.status_updated_at + limit(facts.policy))


silent: HostGuard = Guard(
    "silent",
    lambda facts: facts.silent_from is not None and facts.now >= facts.silent_from,
    lambda facts: () if facts.silent_from is None else (facts.silent_from,),
)
connected = not_(silent)
media_readable: HostGuard = Guard("media readable", lambda facts: facts.host.media is MediaStatus.CONNECTED)
reachable = all_of(connected, media_readable)
unreachable = any_of(silent, not_(media_readable))


def cluster_is(*statuses: ClusterStatus) -> HostGuard:
    wanted = frozenset(statuses)
    return Guard(
        "cluster " + " / ".join(status.value for status in statuses),
        lambda facts: facts.cluster is not None and facts.cluster.status in wanted,
    )


def holding(name: str, ids: frozenset[str]) -> HostGuard:
    return Guard(name, lambda facts: ids <= facts.holds)


preparing = cluster_is(ClusterStatus.PREPARING_FOR_INSTALLATION)
cluster_installing = cluster_is(ClusterStatus.INSTALLING)
cluster_failed = cluster_is(ClusterStatus.ERROR)
cluster_waits_for_user = cluster_is(ClusterStatus.INSTALLING_PENDING_USER_ACTION)
day_two: HostGuard = Guard("day 2", lambda facts: facts.host.is_day_two)
has_inventory = holding("has inventory", frozenset({"has-inventory"}))
valid_inventory = holding("valid inventory", frozenset({"has-inventory", "inventory-not-fully-truncated"}))
fully_truncated: HostGuard = Guard(
    "inventory fully truncated", lambda facts: "inventory-not-fully-truncated" not in facts.holds
)
minimum_hardware = holding("minimum hardware", MIN_HARDWARE)
bindable = holding("may be bound", BINDABLE)
machine_network_known = holding("machine network known", REQUIRED_INPUT)
disk_uuids_visible = holding("disk UUIDs visible", frozenset({"vsphere-disk-uuid-enabled"}))
sufficient: HostGuard = Guard("sufficient", lambda facts: facts.sufficient <= facts.holds)


def _status_of(facts: HostSituation, rule_id: str) -> Status | None:
    return next((finding.status for finding in facts.findings if finding.id == rule_id), None)


DISK_SPEED_RULE = "sufficient-installation-disk-speed"
IMAGES_RULE = "container-images-available"
KEEPS_PARTITIONS = ("--save-partlabel", "--save-partindex")


def disk_check_needed(host: Host, reports: Reports) -> bool:
    """Measuring overwrites the disk: never where partitions are to survive or the system runs from a real disk."""
    if any(argument.startswith(KEEPS_PARTITIONS) for argument in host.installer_args):
        return False
    return reports.inventory is None or reports.inventory.boot.device_type != "persistent"


def _disk_speed_known(facts: HostSituation) -> bool:
    if not disk_check_needed(facts.host, facts.reports):
        return True
    disk = facts.host
    speeds = facts.reports.disk_speeds or {}
    speed = speeds.get(disk.installation_disk_id) or speeds.get(disk.installation_disk_path)
    return speed is not None and speed.exit_code == 0


def _images_known(facts: HostSituation) -> bool:
    return bool(facts.reports.images) and _status_of(facts, IMAGES_RULE) is not Status.FAILURE


disk_speed_good: HostGuard = Guard("disk speed good", _disk_speed_known)
disk_speed_bad: HostGuard = Guard(
    "disk speed check failed", lambda facts: _status_of(facts, DISK_SPEED_RULE) is Status.FAILURE
)
images_good: HostGuard = Guard("images available", _images_known)
images_bad: HostGuard = Guard(
    "image availability failed", lambda facts: _status_of(facts, IMAGES_RULE) is Status.FAILURE
)
preparation_failed = any_of(disk_speed_bad, images_bad)
preparation_unknown = not_(all_of(disk_speed_good, images_good))

soft_timeouts: HostGuard = Guard(
    "soft time limits",
    lambda facts: facts.policy.soft_timeouts and facts.cluster is not None and facts.cluster.soft_timeouts,
)
silence_told: HostGuard = Guard("silence told", lambda facts: facts.host.connection_timed_out)
slowness_told: HostGuard = Guard("slowness told", lambda facts: facts.host.progress.timed_out)


def stage_in(*stages: Stage) -> HostGuard:
    wanted = frozenset(stages)
    names = " / ".join(stage.value for stage in Stage if stage in wanted)
    return Guard(f"stage {names}", lambda facts: facts.host.progress.stage in wanted)


def _stage_limit_at(facts: HostSituation) -> datetime | None:
    progress = facts.host.progress
    if progress.stage is None or progress.updated_at is None or progress.paused_since is not None:
        return None
    return progress.updated_at + time_limit(progress.stage, facts.cluster, facts.policy)


stage_overdue = passed_at("stage overdue", _stage_limit_at)
on_slow_disk = stage_in(*SLOW_DISK)
rebooting = stage_in(Stage.REBOOTING)
waits_for_others = all_of(stage_in(*WAITS_FOR_OTHERS), cluster_waits_for_user)
timer_paused: HostGuard = Guard("stage timer paused", lambda facts: facts.host.progress.paused_since is not None)
cluster_survives: HostGuard = Guard("cluster survives without", lambda facts: facts.cluster_survives)
cluster_done = cluster_is(ClusterStatus.INSTALLED, ClusterStatus.ADDING_HOSTS)


tried_again: HostGuard = Guard("tried again", lambda facts: facts.host.tries > 0)
cluster_under_way = cluster_is(
    ClusterStatus.INSTALLING, ClusterStatus.INSTALLING_PENDING_USER_ACTION, ClusterStatus.FINALIZING
)
sufficient_but_for_peers: HostGuard = Guard(
    "sufficient but for what its peers measure", lambda facts: facts.sufficient - SEEN_BY_PEERS <= facts.holds
)
retry_overdue = passed_at(
    "retry overdue", lambda facts: facts.cluster.retry_until if facts.cluster is not None else None
)
kept: HostGuard = Guard("kept going", lambda facts: facts.host.kept_status is not None)
may_go_on: HostGuard = Guard("a retry is possible", lambda facts: facts.may_go_on)


def kept_as(status: HostStatus) -> HostGuard:
    return Guard(f"was {status.value}", lambda facts: facts.host.kept_status is status)


def _logs_limit_at(facts: HostSituation) -> datetime | None:
    host, limits = facts.host, facts.policy.timeouts
    if host.logs is LogsState.NONE:
        return None if host.logs_collected_at else host.status_updated_at + limits.host_logs_pending
    if host.logs is LogsState.REQUESTED:
        since = host.logs_collected_at or host.logs_started_at or host.status_updated_at
        return since + limits.host_logs_collection
    if host.logs is LogsState.COLLECTING:
        return (host.logs_collected_at or host.status_updated_at) + limits.host_logs_pending
    return None


logs_overdue = passed_at("logs overdue", _logs_limit_at)


def failures(findings: tuple[Finding, ...]) -> str:
    """Every failing check in one line, for status_info."""
    return " ; ".join(sorted(finding.message for finding in findings if finding.status is Status.FAILURE))
