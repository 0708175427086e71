"""What a decision may change, as values. Whoever decided does not write; whoever writes does not decide."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.events.event import Event
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Finding
from firstlight.core.steps.plan import StepPlan

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
            or self.dropped_reports
            or self.cluster_findings is not None
            or self.host_findings
            or self.plans
            or self.changes
            or self.effects
        )
