"""What the store gives back, and what it is asked with."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import ReportKind


class PoolHost(Struct, frozen=True, kw_only=True):
    """A host that belongs to no cluster, with its own revision."""

    state: HostState
    infra_env: InfraEnv
    revision: int


class StoredInfraEnv(Struct, frozen=True, kw_only=True):
    infra_env: InfraEnv
    revision: int


class ManifestRow(Struct, frozen=True, kw_only=True):
    folder: str
    file_name: str
    source: str
    size: int


class OperationRow(Struct, frozen=True, kw_only=True):
    """Lasting work. Runs at least once; a result counts only with the current epoch."""

    id: UUID
    kind: str
    subject: str
    attempt: int
    state: str
    """waiting, running, done, failed."""
    progress: str = ""
    owner: str = ""
    epoch: int = 0
    heartbeat_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


class DueRow(Struct, frozen=True, kw_only=True):
    subject: str
    kind: str
    at: datetime
    generation: int
    attempts: int
    owner: str = ""
    lease_until: datetime | None = None
    """With `owner` the mark of this claim: after another claim, settling this one does nothing."""


class Listened(Struct, frozen=True, kw_only=True):
    """When some replica last gave a sign of life, and until when the silence of hosts is forgiven."""

    until: datetime | None = None
    forgiven_until: datetime | None = None


class ClusterQuery(Struct, frozen=True, kw_only=True):
    owner: str | None = None
    openshift_cluster_id: UUID | None = None
    ams_subscription_ids: tuple[str, ...] = ()
    with_deleted: bool = False
    with_hosts: bool = False


class PresenceRow(Struct, frozen=True, kw_only=True):
    """What the hot path needs to answer one agent without loading its cluster."""

    state: HostState
    revision: int
    digests: Mapping[ReportKind, str]
    issued: Mapping[StepType, tuple[int, float]] = {}
    """As last recorded by `PutIssued`."""
