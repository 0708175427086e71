"""What a decision may change, as values. Whoever decided does not write; whoever writes does not decide."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.events.event import Event
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import Host, HostState, Presence
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import REPORT_FIELDS, ReportKind, Reports
from firstlight.core.rules import Finding

HostKey = tuple[UUID, UUID]
"""(infra_env_id, host_id): the same machine may be known to two infra-envs."""


class Change(Struct, frozen=True, kw_only=True):
    """One event with what was before and after, for the audit and the stream."""

    event: Event
    before: Mapping[str, object] = {}
    after: Mapping[str, object] = {}


class Effect(Struct, frozen=True, kw_only=True):
    """Lasting work a decision asks for; idempotent by (subject, kind, attempt)."""

    kind: str
    """prepare-installation, collect-garbage …: a name the engine knows."""
    subject: str
    attempt: int


PREPARE_INSTALLATION: Final = "prepare-installation"
"""Make install-config, Ignition and credentials of a cluster."""


def prepare(cluster: Cluster) -> Effect:
    return Effect(kind=PREPARE_INSTALLATION, subject=f"cluster:{cluster.id}", attempt=cluster.preparation.attempt)


class Taken(Struct, frozen=True, kw_only=True):
    """A transition that fired, for logs and the debugging page."""

    subject: str
    row: str
    source: str
    target: str
    why: str


class Decision(Struct, frozen=True, kw_only=True):
    """The outcome of thinking about one subject. Empty means: nothing to write."""

    cluster: Cluster | None = None
    """New value; None when unchanged."""
    hosts: Mapping[HostKey, Host] = {}
    """Changed hosts only."""
    presences: Mapping[HostKey, Presence] = {}
    """Agents heard of in this very request."""
    dropped_reports: Mapping[HostKey, frozenset[ReportKind]] = {}
    """Reports that no longer count (the machine may be another one now)."""
    cluster_findings: tuple[Finding, ...] | None = None
    host_findings: Mapping[HostKey, tuple[Finding, ...]] = {}
    plans: Mapping[HostKey, StepPlan] = {}
    changes: tuple[Change, ...] = ()
    effects: tuple[Effect, ...] = ()
    taken: tuple[Taken, ...] = ()
    next_deadline: datetime | None = None

    @property
    def empty(self) -> bool:
        return not (
            self.cluster is not None
            or self.hosts
            or self.presences
            or self.dropped_reports
            or self.cluster_findings is not None
            or self.host_findings
            or self.plans
            or self.changes
            or self.effects
        )


def without(reports: Reports, kinds: frozenset[ReportKind]) -> Reports:
    """The reports left when some no longer count."""
    measured = {kind: moment for kind, moment in reports.measured_at.items() if kind not in kinds}
    return replace(reports, measured_at=measured, **{REPORT_FIELDS[kind]: None for kind in kinds})


def applied(state: ClusterState, decision: Decision) -> ClusterState:
    """The state as it is once the decision is carried out. Hosts that are new to the cluster join at the end."""
    hosts = [host_after(host, decision) for host in state.hosts]
    known = {(host.host.infra_env_id, host.host.id) for host in state.hosts}
    hosts.extend(new_host(key, decision) for key in decision.hosts if key not in known)
    return replace(
        state,
        cluster=decision.cluster or state.cluster,
        hosts=tuple(host for host in hosts if host.host.cluster_id == state.cluster.id),
        findings=state.findings if decision.cluster_findings is None else decision.cluster_findings,
    )


def new_host(key: HostKey, decision: Decision) -> HostState:
    """A host that did not exist before the decision."""
    return HostState(
        host=decision.hosts[key],
        presence=decision.presences.get(key, Presence()),
        findings=decision.host_findings.get(key, ()),
        plan=decision.plans.get(key),
    )


def host_after(state: HostState, decision: Decision) -> HostState:
    """One host as it is once the decision is carried out."""
    key = (state.host.infra_env_id, state.host.id)
    dropped = decision.dropped_reports.get(key)
    if dropped is None and not any(key in part for part in _parts(decision)):
        return state
    return replace(
        state,
        host=decision.hosts.get(key, state.host),
        presence=decision.presences.get(key, state.presence),
        reports=state.reports if dropped is None else without(state.reports, dropped),
        findings=decision.host_findings.get(key, state.findings),
        plan=decision.plans.get(key, state.plan),
    )


def _parts(decision: Decision) -> tuple[Mapping[HostKey, object], ...]:
    return (decision.hosts, decision.presences, decision.host_findings, decision.plans)


def combined(first: Decision, second: Decision) -> Decision:
    """Both, one after the other, as one thing to write."""
    return Decision(
        cluster=second.cluster or first.cluster,
        hosts={**first.hosts, **second.hosts},
        presences={**first.presences, **second.presences},
        dropped_reports={
            key: first.dropped_reports.get(key, frozenset()) | second.dropped_reports.get(key, frozenset())
            for key in (*first.dropped_reports, *second.dropped_reports)
        },
        cluster_findings=first.cluster_findings if second.cluster_findings is None else second.cluster_findings,
        host_findings={**first.host_findings, **second.host_findings},
        plans={**first.plans, **second.plans},
        changes=first.changes + second.changes,
        effects=first.effects + second.effects,
        taken=first.taken + second.taken,
        next_deadline=second.next_deadline,
    )
