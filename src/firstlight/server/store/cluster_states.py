"""Whole clusters: the cluster, its hosts, its findings and the infra-envs it has to do with.

All versions of one cluster come from one read, its revision too: a decision made on newer parts loses its race.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import Database, Row
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.ports.writes import PutCluster, PutInfraEnv, TouchCluster
from firstlight.server.store import clusters, hosts, infra_envs
from firstlight.server.store.cache import Cache
from firstlight.server.store.documents import CLUSTER, INFRA_ENV, as_bytes, optional_moment
from firstlight.server.store.host_states import DOCUMENT_BYTES, HostStates, LoadedHost
from firstlight.server.store.kept import MANY_ROWS, Kept
from firstlight.server.store.sealing import CLUSTER_PLACE, INFRA_ENV_PLACE, Sealing
from firstlight.server.store.writes import Made

SIZES: Final = 10_000
"""Clusters whose number of hosts is remembered: large ones are read apart from the loop."""


class Head(Struct, frozen=True):
    """The narrow columns of a cluster."""

    id: str
    revision: int
    deleted_at: int | None
    findings: str | None
    """Their version."""


class ClusterStates:
    def __init__(self, database: Database, host_states: HostStates, sealing: Sealing) -> None:
        self._database = database
        self._hosts = host_states
        self._clusters: Kept[Cluster] = Kept(
            clusters.DOCUMENTS,
            {"id": "ids"},
            sealing.opening(CLUSTER.decode, place=CLUSTER_PLACE),
            limit=DOCUMENT_BYTES,
        )
        self._infra_envs: Kept[InfraEnv] = Kept(
            infra_envs.DOCUMENTS,
            {"id": "ids"},
            sealing.opening(INFRA_ENV.decode, place=INFRA_ENV_PLACE),
            limit=DOCUMENT_BYTES,
        )
        self._sizes: Cache[int] = Cache(limit=SIZES)

    async def cluster_state(self, cluster_id: UUID) -> ClusterState | None:
        text = str(cluster_id)
        size = self._sizes.get(text, None)
        large = size is None or size > MANY_ROWS
        rows = await self._database.fetch(clusters.WITH_HOSTS, large=large, id=text)
        if not rows or rows[0]["deleted_at"] is not None:
            return None
        first = rows[0]
        placed = rows if first["id"] is not None else ()
        self._sizes.put(text, None, len(placed), size=1)
        loaded = await self._hosts.load_rows(placed)
        around = links_of(first["own_infra_envs"])
        around.update({row["infra_env_id"]: row["around_revision"] for row in placed if row["around_revision"]})
        head = Head(text, first["cluster_revision"], first["deleted_at"], first["cluster_findings"])
        states = await self._states([head], {text: loaded}, {text: around})
        return states[0] if states else None

    def remember(self, made: Made) -> None:
        """A cluster written once in a commit has the revision after the one it was decided on."""
        touched = Counter(
            write.cluster.id if isinstance(write, PutCluster) else write.cluster_id
            for write, _ in made
            if isinstance(write, PutCluster | TouchCluster)
        )
        for write, statements in made:
            if isinstance(write, PutCluster) and write.expect_revision is not None and touched[write.cluster.id] == 1:
                document = as_bytes(statements[0].params["doc"])
                self._clusters.remember((str(write.cluster.id),), write.expect_revision + 1, write.cluster, document)
            elif isinstance(write, TouchCluster) and touched[write.cluster_id] == 1:
                revision = write.expect_revision
                self._clusters.renumber((str(write.cluster_id),), revision, later=revision + 1)
            elif isinstance(write, PutInfraEnv):
                stored = statements[0].params
                document = as_bytes(stored["doc"])
                self._infra_envs.remember((str(write.infra_env.id),), stored["revision"], write.infra_env, document)

    def recalled_infra_env(self, infra_env_id: UUID) -> InfraEnv | None:
        return self._infra_envs.recalled((str(infra_env_id),))

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
        heads = [Head(row["id"], row["revision"], row["deleted_at"], row["findings"]) for row in rows]
        around: defaultdict[str, dict[str, int]] = defaultdict(dict)
        large = len(ids) > MANY_ROWS
        for link in await self._database.fetch(infra_envs.OF_CLUSTERS, large=large, cluster_ids=ids):
            around[link["wanted_by"]][link["id"]] = link["revision"]
        return await self._states(heads, by_cluster, around)

    async def documents(self, rows: Sequence[Row]) -> list[Cluster]:
        """The clusters themselves, in the order of the rows (which need id and revision)."""
        loaded = await self._clusters.load(self._database, {(row["id"],): row["revision"] for row in rows})
        found = ((loaded.get((row["id"],)), row["deleted_at"]) for row in rows)
        return [deleted_then(cluster, deleted_at) for cluster, deleted_at in found if cluster is not None]

    async def infra_env_documents(self, rows: Iterable[Row]) -> dict[str, InfraEnv]:
        """By id, in the order of the rows (which need id and revision)."""
        return await self._infra_envs_of({str(row["id"]): row["revision"] for row in rows})

    async def _infra_envs_of(self, revisions: Mapping[str, int]) -> dict[str, InfraEnv]:
        loaded = await self._infra_envs.load(self._database, {(each,): version for each, version in revisions.items()})
        return {each: found for each in revisions if (found := loaded.get((each,))) is not None}

    async def _states(
        self,
        heads: Sequence[Head],
        by_cluster: Mapping[str | None, Sequence[LoadedHost]],
        around: Mapping[str, Mapping[str, int]],
    ) -> list[ClusterState]:
        """`around`: the infra-envs of each cluster, with their revisions."""
        judged = {(f"cluster:{head.id}",): head.findings for head in heads if head.findings is not None}
        loaded = await self._clusters.load(self._database, {(head.id,): head.revision for head in heads})
        findings = await self._hosts.findings.load(self._database, judged)
        environments = await self._infra_envs_of(
            {each: version for links in around.values() for each, version in links.items()}
        )
        return [
            ClusterState(
                cluster=deleted_then(cluster, head.deleted_at),
                hosts=in_order(by_cluster.get(head.id, ())),
                infra_envs={
                    found.id: found for each in around.get(head.id, ()) if (found := environments.get(each)) is not None
                },
                findings=findings.get((f"cluster:{head.id}",)) or (),
                revision=head.revision,
            )
            for head in heads
            if (cluster := loaded.get((head.id,))) is not None
        ]


def links_of(lines: str | None) -> dict[str, int]:
    """From lines `id revision`."""
    pairs = (line.split(" ") for line in (lines or "").split("\n") if line)
    return {each: int(revision) for each, revision in pairs}


def deleted_then(cluster: Cluster, deleted_at: int | None) -> Cluster:
    """The column counts, not the document."""
    return replace(cluster, deleted_at=optional_moment(deleted_at)) if deleted_at is not None else cluster


def in_order(loaded: Iterable[LoadedHost]) -> tuple[HostState, ...]:
    """By registration, then id."""
    return tuple(sorted((each.state for each in loaded), key=lambda state: (state.host.registered_at, state.host.id)))
