"""The store port on a database. Each table has its module; this one only hands on."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
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
from firstlight.server.ports.database import Database, Notices
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
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import PutPresence, PutReport, Write
from firstlight.server.sealing.seal import Seal
from firstlight.server.store import (
    clusters,
    counts,
    due,
    event_pages,
    events,
    findings,
    hosts,
    infra_envs,
    listening,
    manifests,
    operations,
    plans,
    presence,
    reports,
    secrets,
)
from firstlight.server.store.cluster_states import ClusterStates, in_order
from firstlight.server.store.documents import key_params, micros, text_or_none
from firstlight.server.store.gathering import Gathering, may_go_along
from firstlight.server.store.host_states import HostStates
from firstlight.server.store.listed_hosts import ListedHosts
from firstlight.server.store.postgres import PostgresDatabase
from firstlight.server.store.schema import VERSION, check_known
from firstlight.server.store.sealing import Sealing
from firstlight.server.store.writes import Made, made_of, work


class SqlStore(Store):
    def __init__(self, database: Database, *, seal: Seal | None = None) -> None:
        self._database = database
        self._sealing = Sealing(seal)
        self._hosts = HostStates(database, self._sealing)
        self._clusters = ClusterStates(database, self._hosts, self._sealing)
        self._listed = ListedHosts(database, self._hosts)
        # SQLite's one writer lets commits that wait go together itself.
        self._gathering = Gathering(self._send) if isinstance(database, PostgresDatabase) else None

    # clusters

    async def cluster_state(self, cluster_id: UUID) -> ClusterState | None:
        return await self._clusters.cluster_state(cluster_id)

    async def cluster(self, cluster_id: UUID, *, with_deleted: bool = False) -> Cluster | None:
        return await self._clusters.cluster(cluster_id, with_deleted=with_deleted)

    async def clusters(self, query: ClusterQuery) -> Sequence[ClusterState]:
        return await self._clusters.clusters(query)

    async def deleted_clusters_before(self, moment: datetime) -> Sequence[UUID]:
        rows = await self._database.fetch(clusters.DELETED_BEFORE, moment=micros(moment))
        return [UUID(row["id"]) for row in rows]

    async def inactive_clusters_before(self, moment: datetime, *, limit: int) -> Sequence[Cluster]:
        rows = await self._database.fetch(clusters.INACTIVE_BEFORE, moment=micros(moment), limit=limit)
        found = [await self._clusters.cluster(UUID(row["id"]), with_deleted=False) for row in rows]
        return [cluster for cluster in found if cluster is not None]

    # infra-envs

    async def infra_env(self, infra_env_id: UUID) -> StoredInfraEnv | None:
        row = await self._database.fetch_one(infra_envs.ONE, id=str(infra_env_id))
        if row is None or row["deleted_at"] is not None:
            return None
        found = await self._clusters.infra_env_documents([row])
        return StoredInfraEnv(infra_env=found[row["id"]], revision=row["revision"]) if found else None

    def recalled_infra_env(self, infra_env_id: UUID) -> InfraEnv | None:
        return self._clusters.recalled_infra_env(infra_env_id)

    async def infra_envs(self, *, cluster_id: UUID | None = None, owner: str | None = None) -> Sequence[InfraEnv]:
        rows = await self._database.fetch(infra_envs.LIST, cluster_id=text_or_none(cluster_id), owner=owner)
        return list((await self._clusters.infra_env_documents(rows)).values())

    async def inactive_infra_envs_before(self, moment: datetime, *, limit: int) -> Sequence[InfraEnv]:
        rows = await self._database.fetch(infra_envs.INACTIVE_BEFORE, moment=micros(moment), limit=limit)
        return list((await self._clusters.infra_env_documents(rows)).values())

    async def deleted_infra_envs_before(self, moment: datetime, *, limit: int) -> Sequence[UUID]:
        rows = await self._database.fetch(infra_envs.DELETED_BEFORE, moment=micros(moment), limit=limit)
        return [UUID(row["id"]) for row in rows]

    # hosts

    async def deleted_pool_hosts_before(self, moment: datetime, *, limit: int) -> Sequence[HostKey]:
        rows = await self._database.fetch(hosts.DELETED_BEFORE, moment=micros(moment), limit=limit)
        return [(UUID(row["infra_env_id"]), UUID(row["id"])) for row in rows]

    async def host(self, key: HostKey) -> HostState | None:
        found = await self._hosts.load(hosts.ONE, key_params(key))
        return found[0].state if found else None

    async def pool_host(self, key: HostKey) -> PoolHost | None:
        found = await self._hosts.load(hosts.ONE, key_params(key))
        row = await self._database.fetch_one(infra_envs.ONE, id=str(key[0]))
        if not found or found[0].cluster_id is not None or row is None:
            return None
        around = await self._clusters.infra_env_documents([row])
        return PoolHost(state=found[0].state, infra_env=around[row["id"]], revision=found[0].revision)

    async def hosts_of_infra_env(self, infra_env_id: UUID) -> Sequence[HostState]:
        return in_order(await self._hosts.load(hosts.OF_INFRA_ENV, {"infra_env_id": str(infra_env_id)}, large=True))

    async def listed_hosts(self, place: HostsOf) -> Sequence[ListedHost]:
        return await self._listed.load(place)

    async def hosts_by_id(self, host_id: UUID) -> Sequence[Host]:
        return await self._hosts.documents(await self._database.fetch(hosts.BY_ID, host_id=str(host_id)))

    async def raw_reports(
        self, keys: Sequence[HostKey], *, kinds: Sequence[ReportKind] | None = None
    ) -> Mapping[HostKey, Mapping[ReportKind, bytes]]:
        return await reports.raw_reports(self._database, keys, kinds)

    async def presence(self, key: HostKey) -> PresenceRow | None:
        return await self._hosts.presence(key)

    async def plan(self, key: HostKey) -> StepPlan | None:
        row = await self._database.fetch_one(plans.VERSION, **key_params(key))
        if row is None:
            return None
        identity = (str(key[0]), str(key[1]))
        return (await self._hosts.plans.load(self._database, {identity: row["digest"]})).get(identity)

    async def check_in(self, batch: Sequence[PutPresence]) -> None:
        if batch:
            await self._database.commit(presence.batch(batch), relaxed=True)

    async def measure(self, batch: Sequence[PutReport]) -> None:
        if batch:
            await self._database.commit(reports.measured(batch), relaxed=True)

    # what belongs to a subject

    async def findings(self, subject: str) -> tuple[Finding, ...]:
        row = await self._database.fetch_one(findings.VERSION, subject=subject)
        if row is None:
            return ()
        loaded = await self._hosts.findings.load(self._database, {(subject,): row["digest"]})
        return loaded.get((subject,)) or ()

    async def secret(self, subject: str, name: str) -> str | None:
        kept = await secrets.secret(self._database, subject, name)
        return None if kept is None else self._sealing.secret(kept, subject=subject, name=name).decode()

    async def manifests(self, cluster_id: UUID) -> Sequence[ManifestRow]:
        return await manifests.manifests(self._database, cluster_id)

    # events

    async def events(self, query: EventQuery) -> EventPage:
        return await event_pages.page(self._database, query)

    async def events_after(
        self,
        seq: int,
        *,
        limit: int,
        cluster_id: UUID | None = None,
        infra_env_id: UUID | None = None,
        about: Sequence[About] = (),
    ) -> Sequence[Recorded]:
        return await events.after(
            self._database, seq, limit=limit, cluster_id=cluster_id, infra_env_id=infra_env_id, about=about
        )

    async def last_event_seq(self) -> int:
        return await events.last_seq(self._database)

    async def recent_event(self, name: str, *, subject: Mapping[str, UUID | None], since: datetime) -> bool:
        return await events.recent(self._database, name, subject=subject, since=since)

    # writing

    async def commit(self, *writes: Write) -> None:
        if writes:
            made = self._sealing.made(made_of(writes))
            if self._gathering is not None and may_go_along(writes):
                await self._gathering.commit(writes, made)
            else:
                await self._database.commit(*work(writes, made))
            self._hosts.remember(made)
            self._clusters.remember(made)

    async def _send(self, writes: Sequence[Write], made: Made) -> None:
        # One text for one commit as for many: each connection plans it once.
        await self._database.commit(*work(writes, made, in_rows=True))

    def listen(self, channel: str) -> Notices:
        return self._database.subscribe(channel)

    # the due queue

    async def claim_due(self, *, owner: str, now: datetime, lease: timedelta, limit: int) -> Sequence[DueRow]:
        return await due.claim(self._database, owner=owner, now=now, lease=lease, limit=limit)

    async def settle_due(self, row: DueRow, *, next_at: datetime | None) -> None:
        await due.settle(self._database, row, next_at=next_at)

    async def retry_due(self, row: DueRow, *, at: datetime) -> None:
        await due.retry(self._database, row, at=at)

    async def claim_owners(self) -> Sequence[str]:
        return await due.owners(self._database)

    async def free_claims(self, owners: Sequence[str]) -> None:
        await due.free(self._database, owners)

    async def next_due_at(self) -> datetime | None:
        return await due.next_at(self._database)

    async def oldest_overdue(self, now: datetime) -> timedelta | None:
        return await due.oldest_overdue(self._database, now)

    # lasting operations

    async def operations(self, subject: str) -> Sequence[OperationRow]:
        return await operations.of_subject(self._database, subject)

    async def claim_operations(
        self, *, owner: str, now: datetime, stale_before: datetime, limit: int
    ) -> Sequence[OperationRow]:
        return await operations.claim(self._database, owner=owner, now=now, stale_before=stale_before, limit=limit)

    async def heartbeat_operation(self, operation_id: UUID, *, epoch: int, now: datetime, progress: str) -> bool:
        return await operations.heartbeat(self._database, operation_id, epoch=epoch, now=now, progress=progress)

    # who listens

    async def renew_listening(self, replica: str, now: datetime, *, forgiven_until: datetime | None) -> None:
        await listening.renew(self._database, replica, now, forgiven_until=forgiven_until)

    async def listened(self) -> Listened:
        return await listening.listened(self._database)

    async def check(self) -> None:
        row = await self._database.fetch_one(VERSION)
        check_known(str(row["version_num"]) if row else None, "in use")

    async def counts(self) -> Counts:
        return await counts.counts(self._database)

    async def database_bytes(self) -> int:
        return await counts.database_bytes(self._database)


def open_store(database: Database, *, seal: Seal | None = None) -> SqlStore:
    """The caches belong to the store: open one per process. Without a seal, secrets are kept in plain text."""
    return SqlStore(database, seal=seal)
