"""What the service remembers, in domain words. SQL lives behind this port and nowhere else.

Reading gives whole values; writing takes a list of `Write`s that happens wholly or not at all. A write that names the
revision it was decided on fails with `LostRace` when somebody else was faster.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from firstlight.core.decision import HostKey
from firstlight.core.events.recorded import About, Recorded
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Finding
from firstlight.server.ports.counts import Counts
from firstlight.server.ports.database import Notices
from firstlight.server.ports.event_pages import EventPage, EventQuery
from firstlight.server.ports.listed_hosts import HostsOf, ListedHost
from firstlight.server.ports.rows import (
    ClusterQuery,
    DueRow,
    Listened,
    ManifestRow,
    OperationRow,
    PoolHost,
    PresenceRow,
    StoredInfraEnv,
)
from firstlight.server.ports.writes import PutPresence, PutReport, Write


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
