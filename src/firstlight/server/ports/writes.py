"""What can be written to the store: values that happen together, wholly or not at all."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.events.recorded import Recorded
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepPlan, StepType
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Finding
from firstlight.server.ports.rows import OperationRow


class PutCluster(Struct, frozen=True, kw_only=True):
    """New (`expect_revision` None: must not exist) or changed. Every put raises the revision by one."""

    cluster: Cluster
    expect_revision: int | None


class TouchCluster(Struct, frozen=True, kw_only=True):
    """Hosts of this cluster change in the same commit: raise its revision so that decisions made meanwhile lose."""

    cluster_id: UUID
    expect_revision: int
    beside: InfraEnv | None = None
    """An infra-env of the cluster that must still be there, and as its owner left it here."""


class PutHost(Struct, frozen=True, kw_only=True):
    """`expect_revision` guards pool hosts; bound ones are guarded by their cluster (None: any; 0: must be new)."""

    host: Host
    expect_revision: int | None = None


class DeleteHost(Struct, frozen=True, kw_only=True):
    """Soft: the row keeps `deleted_at` for event filters; presence, reports, findings, plan and secrets go."""

    key: HostKey
    at: datetime


class PutInfraEnv(Struct, frozen=True, kw_only=True):
    infra_env: InfraEnv
    expect_revision: int | None


class DeleteInfraEnv(Struct, frozen=True, kw_only=True):
    infra_env_id: UUID
    at: datetime


class DeleteCluster(Struct, frozen=True, kw_only=True):
    """Soft."""

    cluster_id: UUID
    expect_revision: int
    at: datetime


class PurgeCluster(Struct, frozen=True, kw_only=True):
    """For good: rows, events, secrets, manifests index."""

    cluster_id: UUID


class PurgeHost(Struct, frozen=True, kw_only=True):
    """For good, with its events: a deleted host of no cluster. LostRace when it is back."""

    key: HostKey


class PurgeInfraEnv(Struct, frozen=True, kw_only=True):
    """For good, with its own events: a deleted infra-env. LostRace when it is back."""

    infra_env_id: UUID


class PutReport(Struct, frozen=True, kw_only=True):
    key: HostKey
    kind: ReportKind
    digest: str
    facts: bytes
    """msgspec JSON of the facts value."""
    raw: bytes
    """What clients of the original get to see."""
    measured_at: datetime


class DropReports(Struct, frozen=True, kw_only=True):
    key: HostKey
    kinds: frozenset[ReportKind]


class PutPresence(Struct, frozen=True, kw_only=True):
    """One check-in; the store keeps the newer of old and new. Also written in batches by `check_in`."""

    key: HostKey
    checked_in_at: datetime
    clock_offset_seconds: float | None
    agent_version: str


class PutIssued(Struct, frozen=True, kw_only=True):
    """The steps of a host that are on record as handed out: their fingerprint and when it was."""

    key: HostKey
    issued: Mapping[StepType, tuple[int, float]]


class PutFindings(Struct, frozen=True, kw_only=True):
    subject: str
    findings: tuple[Finding, ...]


class PutPlan(Struct, frozen=True, kw_only=True):
    key: HostKey
    plan: StepPlan


class AddEvents(Struct, frozen=True, kw_only=True):
    """Numbered in commit order: a reader never sees n before n-1."""

    events: tuple[Recorded, ...]


class MakeDue(Struct, frozen=True, kw_only=True):
    """Ask for the subject to be looked at: sets at = min(at, new) and raises the generation."""

    subject: str
    kind: str
    at: datetime


class Cancel(Struct, frozen=True, kw_only=True):
    """Nothing more is due for this subject."""

    subject: str


class PutSecret(Struct, frozen=True, kw_only=True):
    """None deletes."""

    subject: str
    name: str
    value: str | None
    only_if_missing: bool = False
    """Whoever comes first decides: the value that is there stays."""


class PutManifest(Struct, frozen=True, kw_only=True):
    cluster_id: UUID
    folder: str
    file_name: str
    source: str
    """user or system."""
    size: int
    at: datetime


class DeleteManifest(Struct, frozen=True, kw_only=True):
    cluster_id: UUID
    folder: str
    file_name: str


class PutOperation(Struct, frozen=True, kw_only=True):
    operation: "OperationRow"
    expect_epoch: int | None
    """None: must not exist for (subject, kind, attempt) yet; an equal one is left alone."""


Write = (
    PutCluster
    | TouchCluster
    | PutHost
    | DeleteHost
    | PutInfraEnv
    | DeleteInfraEnv
    | DeleteCluster
    | PurgeCluster
    | PurgeHost
    | PurgeInfraEnv
    | PutReport
    | DropReports
    | PutPresence
    | PutIssued
    | PutFindings
    | PutPlan
    | AddEvents
    | MakeDue
    | Cancel
    | PutSecret
    | PutManifest
    | DeleteManifest
    | PutOperation
)
