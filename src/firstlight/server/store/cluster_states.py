"""Whole clusters: the cluster, its hosts, its findings and the infra-envs it has to do with.

The revision is read before everything else, so a decision made on parts that are newer loses its race.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import Database, Row
from firstlight.server.ports.store import ClusterQuery, PutCluster, TouchCluster, Write
from firstlight.server.store import clusters, hosts, infra_envs
from firstlight.server.store.cache import Cache
from firstlight.server.store.documents import CLUSTER, ENCODER, INFRA_ENV, optional_moment
from firstlight.server.store.host_states import DOCUMENT_BYTES, HostStates, LoadedHost
from firstlight.server.store.kept import MANY_ROWS, Kept, decoding

SIZES: Final = 10_000
"""Clusters whose number of hosts is remembered: large ones are read apart from the loop."""


class ClusterStates:
    def __init__(self, database: Database, host_states: HostStates) -> None:
        self._database = database
        self._hosts = host_states
        self._clusters: Kept[Cluster] = Kept(
            clusters.DOCUMENTS, {"id": "ids"}, decoding(CLUSTER.decode), limit=DOCUMENT_BYTES
        )
        self._infra_envs: Kept[InfraEnv] = Kept(
            infra_envs.DOCUMENTS, {"id": "ids"}, decoding(INFRA_ENV.decode), limit=DOCUMENT_BYTES
        )
        self._sizes: Cache[int] = Cache(limit=SIZES)

    async def cluster_state(self, cluster_id: UUID) -> ClusterState | None:
        text = str(cluster_id)
        row = await self._database.fetch_one(clusters.ONE, id=text)
        if row is None or row["deleted_at"] is not None:
            return None
        size = self._sizes.get(text, None)
        large = size is None or size > MANY_ROWS
        loaded = await self._hosts.load(hosts.OF_CLUSTER, {"cluster_id": text}, large=large)
        self._sizes.put(text, None, len(loaded), size=1)
        states = await self._states([row], {text: loaded})
        return states[0] if states else None

    def remember(self, writes: Sequence[Write]) -> None:
        """A cluster written once in a commit has the revision after the one it was decided on."""
        touched = Counter(
            write.cluster.id if isinstance(write, PutCluster) else write.cluster_id
            for write in writes
            if isinstance(write, PutCluster | TouchCluster)
        )
        for write in writes:
            if isinstance(write, PutCluster) and write.expect_revision is not None and touched[write.cluster.id] == 1:
                document = ENCODER.encode(write.cluster)
                self._clusters.remember((str(write.cluster.id),), write.expect_revision + 1, write.cluster, document)
            elif isinstance(write, TouchCluster) and touched[write.cluster_id] == 1:
                revision = write.expect_revision
                self._clusters.renumber((str(write.cluster_id),), revision, later=revision + 1)

    async def cluster(self, cluster_id: UUID, *, with_deleted: bool) -> Cluster | None:
        row = await self._database.fetch_one(clusters.ONE, id=str(cluster_id))
        if row is None or (row["deleted_at"] is not None and not with_deleted):
            return None
        found = await self.documents([row])
        return found[0] if found else None

    async def clusters(self, query: ClusterQuery) -> Sequence[ClusterState]:
        rows = await self._database.fetch(clusters.LIST, large=True, **clusters.list_params(query))
        if not rows:
            return []
        which = hosts.OF_CLUSTERS if query.with_hosts else hosts.BRIEF_OF_CLUSTERS
        ids = [row["id"] for row in rows]
        loaded = await self._hosts.load(which, {"cluster_ids": ids}, large=True, brief=not query.with_hosts)
        by_cluster: defaultdict[str | None, list[LoadedHost]] = defaultdict(list)
        for host in loaded:
            by_cluster[host.cluster_id].append(host)
        return await self._states(rows, by_cluster)

    async def documents(self, rows: Sequence[Row]) -> list[Cluster]:
        """The clusters themselves, in the order of the rows (which need id and revision)."""
        loaded = await self._clusters.load(self._database, {(row["id"],): row["revision"] for row in rows})
        return [with_deletion(cluster, row) for row in rows if (cluster := loaded.get((row["id"],))) is not None]

    async def infra_env_documents(self, rows: Iterable[Row]) -> dict[str, InfraEnv]:
        """By id, in the order of the rows (which need id and revision)."""
        wanted = {(str(row["id"]),): row["revision"] for row in rows}
        loaded = await self._infra_envs.load(self._database, wanted)
        return {key[0]: found for key in wanted if (found := loaded.get(key)) is not None}

    async def _states(
        self, rows: Sequence[Row], by_cluster: Mapping[str | None, list[LoadedHost]]
    ) -> list[ClusterState]:
        ids = [row["id"] for row in rows]
        judged = {(f"cluster:{row['id']}",): row["findings"] for row in rows if row["findings"] is not None}
        loaded = await self._clusters.load(self._database, {(row["id"],): row["revision"] for row in rows})
        findings = await self._hosts.findings.load(self._database, judged)
        links = await self._database.fetch(infra_envs.OF_CLUSTERS, large=len(ids) > MANY_ROWS, cluster_ids=ids)
        environments = await self.infra_env_documents(links)
        around: defaultdict[str, dict[UUID, InfraEnv]] = defaultdict(dict)
        for link in links:
            environment = environments.get(link["id"])
            if environment is not None:
                around[link["wanted_by"]][environment.id] = environment
        return [
            ClusterState(
                cluster=with_deletion(cluster, row),
                hosts=in_order(by_cluster.get(row["id"], ())),
                infra_envs=around[row["id"]],
                findings=findings.get((f"cluster:{row['id']}",)) or (),
                revision=row["revision"],
            )
            for row in rows
            if (cluster := loaded.get((row["id"],))) is not None
        ]


def with_deletion(cluster: Cluster, row: Row) -> Cluster:
    """The column counts, not the document."""
    return replace(cluster, deleted_at=optional_moment(row["deleted_at"])) if row["deleted_at"] is not None else cluster


def in_order(loaded: Iterable[LoadedHost]) -> tuple[HostState, ...]:
    """By registration, then id."""
    return tuple(sorted((each.state for each in loaded), key=lambda state: (state.host.registered_at, state.host.id)))
