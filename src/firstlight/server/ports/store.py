"""What the service remembers, in domain words. SQL lives behind this port and nowhere else.

Reading gives whole values; writing takes a list of `Write`s that happens wholly or not at all. A write that names the
revision it was decided on fails with `LostRace` when somebody else was faster.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.events.recorded import About, Recorded
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepPlan, StepType
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Finding
from firstlight.server.ports.counts import Counts
from firstlight.server.ports.database import Notices
from firstlight.server.ports.event_pages import EventPage, EventQuery
from firstlight.server.ports.listed_hosts import HostsOf, ListedHost

# --- subjects ---------------------------------------------------------------------------------------------------------


def cluster_subject(cluster_id: UUID) -> str:
    return f"cluster:{cluster_id}"


def host_subject(key: HostKey) -> str:
    """A pool host; bound hosts belong to their cluster's subject."""
    return f"host:{key[0]}/{key[1]}"


def infra_env_subject(infra_env_id: UUID) -> str:
    return f"infra-env:{infra_env_id}"


SERVICE_SUBJECT = "service"

# --- channels ---------------------------------------------------------------------------------------------------------

CHANGES = "changes"
"""Subjects that changed, with spaces between; empty: look for yourself."""
EVENTS = "events"
"""Events were added: what kinds of things they are about, then the clusters and infra-envs they are for, with spaces
between. Empty: about anything, for any."""
FINDINGS = "findings"
"""Subjects of which something else is found now, with the clusters they belong to; empty: look for yourself."""
DUE = "due"
"""Something was asked for; the payload is its earliest time, in microseconds since 1970."""


# --- writes -----------------------------------------------------------------------------------------------------------


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


# --- what comes back --------------------------------------------------------------------------------------------------


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


# --- the port ---------------------------------------------------------------------------------------------------------


class Store(Protocol):
    async def cluster_state(self, cluster_id: UUID) -> ClusterState | None:
        """The cluster with all its hosts, reports and findings; None when unknown or deleted."""
        ...

    async def cluster(self, cluster_id: UUID, *, with_deleted: bool = False) -> Cluster | None: ...

    async def clusters(self, query: ClusterQuery) -> Sequence[ClusterState]:
        """Newest first. Hosts carry no reports and findings unless `with_hosts`."""
        ...

    async def infra_env(self, infra_env_id: UUID) -> StoredInfraEnv | None: ...

    def recalled_infra_env(self, infra_env_id: UUID) -> InfraEnv | None:
        """As it was when it was last met here, without asking: it may have changed or gone. Check before you trust."""
        ...

    async def infra_envs(self, *, cluster_id: UUID | None = None, owner: str | None = None) -> Sequence[InfraEnv]: ...

    async def host(self, key: HostKey) -> HostState | None:
        """Bound or not; None when unknown or deleted."""
        ...

    async def pool_host(self, key: HostKey) -> PoolHost | None: ...

    async def hosts_of_infra_env(self, infra_env_id: UUID) -> Sequence[HostState]: ...

    async def listed_hosts(self, place: HostsOf) -> Sequence[ListedHost]: ...

    async def hosts_by_id(self, host_id: UUID) -> Sequence[Host]:
        """Every infra-env's record of this machine."""
        ...

    async def raw_reports(
        self, keys: Sequence[HostKey], *, kinds: Sequence[ReportKind] | None = None
    ) -> Mapping[HostKey, Mapping[ReportKind, bytes]]: ...

    async def presence(self, key: HostKey) -> PresenceRow | None: ...

    async def plan(self, key: HostKey) -> StepPlan | None: ...

    async def findings(self, subject: str) -> tuple[Finding, ...]: ...

    async def secret(self, subject: str, name: str) -> str | None: ...

    async def manifests(self, cluster_id: UUID) -> Sequence[ManifestRow]: ...

    async def operations(self, subject: str) -> Sequence[OperationRow]: ...

    async def events(self, query: EventQuery) -> EventPage: ...

    async def events_after(
        self,
        seq: int,
        *,
        limit: int,
        cluster_id: UUID | None = None,
        infra_env_id: UUID | None = None,
        about: Sequence[About] = (),
    ) -> Sequence[Recorded]:
        """In order of their numbers, every category; about whatever unless kinds are named."""
        ...

    async def last_event_seq(self) -> int: ...

    async def recent_event(self, name: str, *, subject: Mapping[str, UUID | None], since: datetime) -> bool:
        """Whether an event of this name was recorded for the same ids since then (rate limits)."""
        ...

    async def commit(self, *writes: Write) -> None:
        """All or nothing; raises LostRace. Listeners of the change stream are told after it is durable."""
        ...

    def listen(self, channel: str) -> Notices:
        """Hear of commits of every replica on one of the channels above."""
        ...

    async def check_in(self, batch: Sequence[PutPresence]) -> None:
        """Many check-ins at once, the only acknowledged thing a power cut may lose."""
        ...

    async def measure(self, batch: Sequence[PutReport]) -> None:
        """Newer raw values of reports whose facts stayed what they were: news to nobody, so nobody is told.

        A report that was dropped, or has other facts by now, stays as it is.
        """
        ...

    # the due queue

    async def claim_due(self, *, owner: str, now: datetime, lease: timedelta, limit: int) -> Sequence[DueRow]: ...

    async def settle_due(self, row: DueRow, *, next_at: datetime | None) -> None:
        """Done with a claimed row: it moves to `next_at`, or goes. Asked for again meanwhile: it stays due now."""
        ...

    async def retry_due(self, row: DueRow, *, at: datetime) -> None:
        """Failed: try again later and count the attempt."""
        ...

    async def claim_owners(self) -> Sequence[str]:
        """Who has claimed something that is not settled, or runs an operation."""
        ...

    async def free_claims(self, owners: Sequence[str]) -> None:
        """What these had claimed, or ran, is anybody's at once."""
        ...

    async def next_due_at(self) -> datetime | None: ...

    async def oldest_overdue(self, now: datetime) -> timedelta | None:
        """How long the oldest due and unclaimed row has waited; None when nothing is."""
        ...

    # lasting operations

    async def claim_operations(
        self, *, owner: str, now: datetime, stale_before: datetime, limit: int
    ) -> Sequence[OperationRow]:
        """Waiting ones, and running ones whose owner went silent; each claim raises the epoch."""
        ...

    async def heartbeat_operation(self, operation_id: UUID, *, epoch: int, now: datetime, progress: str) -> bool:
        """False: somebody else took over, stop."""
        ...

    # who listens

    async def renew_listening(self, replica: str, now: datetime, *, forgiven_until: datetime | None) -> None: ...

    async def listened(self) -> Listened:
        """The newest signs of all replicas."""
        ...

    async def deleted_clusters_before(self, moment: datetime) -> Sequence[UUID]: ...

    async def deleted_pool_hosts_before(self, moment: datetime, *, limit: int) -> Sequence[HostKey]:
        """Hosts of clusters go with their cluster."""
        ...

    async def deleted_infra_envs_before(self, moment: datetime, *, limit: int) -> Sequence[UUID]:
        """Those that no host is left of, deleted or not."""
        ...

    async def inactive_clusters_before(self, moment: datetime, *, limit: int) -> Sequence[Cluster]: ...

    async def inactive_infra_envs_before(self, moment: datetime, *, limit: int) -> Sequence[InfraEnv]: ...

    async def check(self) -> None:
        """Raises Unavailable when the database does not answer, or a newer Firstlight has taken it over."""
        ...

    async def counts(self) -> Counts: ...

    async def database_bytes(self) -> int: ...
