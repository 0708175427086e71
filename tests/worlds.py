"""A whole world for tests of use cases and of the API: a real SQLite file, a folder for blobs, a clock that is set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.policy import Policy
from firstlight.core.versions.configured import configured_catalogue
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.nmstate.nmstatectl import Nmstatectl
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import PutReport, PutSecret, Write
from firstlight.server.store.connect import open_database
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.world import ServiceFacts, World
from tests.builders.clusters import cluster_state
from tests.builders.moments import NOW
from tests.databases import fresh_sqlite
from tests.store.stored import cluster_writes, reports_given

PULL_SECRET = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'


class SetClock:
    """Stands still until it is moved."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment

    def forward(self, by: timedelta) -> None:
        self.moment += by


class Ids:
    """Ids in order: 1, 2, 3 …"""

    def __init__(self) -> None:
        self.last = 0

    def __call__(self) -> UUID:
        self.last += 1
        return UUID(f"10000000-0000-4000-8000-{self.last:012x}")


@asynccontextmanager
async def a_world(
    folder: Path,
    *,
    clock: SetClock | None = None,
    policy: Policy | None = None,
    nmstatectl: Path = Path("/nowhere"),
    **service: Any,
) -> AsyncIterator[World]:
    """`service` are changes to the service's facts; without a path, nmstatectl is missing."""
    policy = policy or Policy()
    evaluator = Evaluator(policy)
    database = await open_database(fresh_sqlite(folder))
    blobs = FolderBlobs(folder / "blobs")
    store = open_store(database)
    try:
        yield World(
            store=store,
            blobs=blobs,
            clock=clock or SetClock(),
            policy=policy,
            catalogue=configured_catalogue(),
            service=replace(ServiceFacts(link_key=b"k" * 32), **service),
            nmstate=Nmstatectl(nmstatectl),
            new_id=Ids(),
            random_bytes=lambda count: b"r" * count,
            evaluate_cluster=evaluator.cluster,
            evaluate_pool_host=evaluator.pool_host,
            sessions=Sessions(),
            check_ins=CheckIns(store),
        )
    finally:
        await blobs.close()
        await database.close()


async def put_cluster(world: World, state: ClusterState | None = None, **changes: Any) -> ClusterState:
    """Store a cluster with hosts, reports and pull secret, as it is: nothing is evaluated. Answers as read back."""
    state = state or cluster_state(**changes)
    hosts = tuple(
        replace(
            host,
            reports=replace(
                host.reports,
                measured_at={kind: host.reports.measured_at[kind] for kind in reports_given(host.reports)},
            ),
        )
        for host in state.hosts
    )
    secret = PutSecret(subject=cluster_subject(state.cluster.id), name="pull_secret", value=PULL_SECRET)
    writes = (_shown(write) for write in cluster_writes(replace(state, hosts=hosts)))
    await world.store.commit(*writes, secret)
    found = await world.store.cluster_state(state.cluster.id)
    assert found is not None
    return found


def _shown(write: Write) -> Write:
    """Answers show what agents sent, so it must be a document."""
    return replace(write, raw=b"{}") if isinstance(write, PutReport) else write
