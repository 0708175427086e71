"""Judging one host and moving it where its facts and the time take it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.decision import Change, Taken
from firstlight.core.evaluate.context import facts_of, silent_from
from firstlight.core.evaluate.surroundings import Surroundings
from firstlight.core.events.host import HostValidationFailed, HostValidationFixed
from firstlight.core.hosts.disks import choose_installation_disk, disks_to_be_formatted
from firstlight.core.hosts.facts import HostContext, HostFacts
from firstlight.core.hosts.moves import take
from firstlight.core.hosts.refresh import REFRESH_TABLE
from firstlight.core.hosts.rules import host_rules
from firstlight.core.hosts.rules.blocking import SUFFICIENT, conditions
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.triggers import HostTrigger, Identity
from firstlight.core.machine import NoTransition, moments, step
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import BEFORE_INSTALLATION, UNBOUND, HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.operators.rules import operator_host_findings
from firstlight.core.rules import Finding, Status

DISK_CHOICE: Final = BEFORE_INSTALLATION | UNBOUND
"""Statuses in which the service chooses the installation disk anew when facts change."""
MAX_MOVES: Final = 8
DISCONNECTED: Final = frozenset({HostStatus.DISCONNECTED, HostStatus.DISCONNECTED_UNBOUND})


class JudgedHost(Struct, frozen=True, kw_only=True):
    host: Host
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...] = ()
    taken: tuple[Taken, ...] = ()
    deadline: datetime | None = None
    """When time alone changes something about it, silence apart: that moment shifts with every check-in."""


def silence_of(state: HostState, around: Surroundings) -> datetime | None:
    """When this host's silence counts; None in stages where nobody speaks."""
    silent = silent_from(state, around.policy)
    if silent is None or around.listening_since is None or state.host.status in DISCONNECTED:
        # A host that was given up earlier stays so until it speaks: a pause of ours tells nothing new about it.
        return silent
    return max(silent, around.listening_since)


def is_heard(silent: datetime | None, now: datetime) -> bool:
    return silent is None or now < silent


def sooner(deadline: datetime | None, silent: datetime | None, *, now: datetime) -> datetime | None:
    """The deadline of a host once its coming silence counts as well."""
    moments = [at for at in (deadline, silent) if at is not None and at > now]
    return min(moments, default=None)


def judge_host(
    state: HostState,
    *,
    cluster: Cluster | None,
    context: HostContext,
    infra_env: InfraEnv | None,
    around: Surroundings,
    cluster_survives: bool = False,
    may_go_on: bool = False,
    findings: tuple[Finding, ...] | None = None,
) -> JudgedHost:
    """Findings, and where they take the host: no rule reads its status, so one judgement serves all its moves.

    `findings` are those made of the same facts before.
    """
    silent = silence_of(state, around)
    facts = facts_of(state, context=context, infra_env=infra_env, connected=is_heard(silent, around.now))
    chosen = with_disks(state.host, facts)
    if chosen is not state.host:
        state = replace(state, host=chosen)
        facts = replace(facts, host=chosen)
        findings = None
    if findings is None:
        disabled = _disabled(cluster, around)
        findings = host_rules.judge(facts, disabled=disabled) + operator_host_findings(facts, disabled=disabled)
    return _moved(
        HostSituation(
            host=state.host,
            reports=state.reports,
            cluster=cluster,
            policy=around.policy,
            now=around.now,
            findings=findings,
            holds=conditions(findings, ignored=cluster.ignored_host_validations if cluster is not None else ()),
            sufficient=SUFFICIENT | _operator_ids(findings),
            silent_from=silent,
            listening_since=around.listening_since,
            cluster_survives=cluster_survives,
            may_go_on=may_go_on,
        )
    )


def _moved(situation: HostSituation) -> JudgedHost:
    """Where the table takes the host, as many rows as it needs until it stays."""
    changes: list[Change] = []
    taken: list[Taken] = []
    for _ in range(MAX_MOVES):
        try:
            row = step(REFRESH_TABLE, situation.host.status, HostTrigger.REFRESH, situation)
        except NoTransition:
            break
        move = take(row, situation)
        if move.host == situation.host:
            break
        changes.extend(move.changes)
        taken.append(move.taken)
        situation = replace(situation, host=move.host)
    else:
        raise RuntimeError(f"host {situation.host.id} does not come to rest")
    return JudgedHost(
        host=situation.host,
        findings=situation.findings,
        changes=tuple(changes),
        taken=tuple(taken),
        deadline=_next(situation),
    )


def _disabled(cluster: Cluster | None, around: Surroundings) -> frozenset[str]:
    """A cluster that waives checks of its own is judged by all of them."""
    if cluster is not None and cluster.ignored_host_validations:
        return frozenset()
    return around.policy.disabled_host_validations


def _operator_ids(findings: Iterable[Finding]) -> frozenset[str]:
    return frozenset(finding.id for finding in findings if finding.category == "operators")


def _next(situation: HostSituation) -> datetime | None:
    """When time alone changes the status of a host that stays as heard, or as silent, as it is now."""
    if is_heard(situation.silent_from, situation.now):
        situation = replace(situation, silent_from=None)
    upcoming = moments(REFRESH_TABLE, situation.host.status, HostTrigger.REFRESH, situation)
    return min((moment for moment in upcoming if moment > situation.now), default=None)


def with_disks(host: Host, facts: HostFacts) -> Host:
    """The host with its installation disk chosen and the reasons against the others; itself when nothing changes."""
    inventory = facts.reports.inventory
    if inventory is None or host.status not in DISK_CHOICE:
        return host
    disk = choose_installation_disk(
        inventory.disks, facts.disks, current_id=host.installation_disk_id, current_path=host.installation_disk_path
    )
    after = replace(
        host,
        installation_disk_id="" if disk is None else disk.id,
        installation_disk_path="" if disk is None else disk.path or f"/dev/{disk.name}",
        disks_to_be_formatted=disks_to_be_formatted(inventory.disks),
        disk_problems={verdict.id: verdict.problems for verdict in facts.disks if verdict.problems},
    )
    return host if after == host else after


def finding_changes(state: HostState, host: Host, findings: Iterable[Finding]) -> tuple[Change, ...]:
    """Edges worth an event: a check that begins to fail, or that is mended."""
    before = {finding.id: finding for finding in state.findings}
    who = Identity(host, state.reports)
    changes: list[Change] = []
    for finding in findings:
        old = before.get(finding.id)
        if old is None or (old.status is Status.FAILURE) == (finding.status is Status.FAILURE):
            continue
        if finding.status is Status.FAILURE:
            event = HostValidationFailed(
                host_id=who.host_id,
                infra_env_id=who.infra_env_id,
                cluster_id=who.cluster_id,
                host_name=who.host_name,
                validation_id=finding.id,
                failure_message=finding.message,
            )
        elif finding.status is Status.SUCCESS:
            event = HostValidationFixed(
                host_id=who.host_id,
                infra_env_id=who.infra_env_id,
                cluster_id=who.cluster_id,
                host_name=who.host_name,
                validation_id=finding.id,
            )
        else:
            continue
        changes.append(
            Change(
                event=event,
                before={"status": old.status.value, "message": old.message},
                after={"status": finding.status.value, "message": finding.message},
            )
        )
    return tuple(changes)
