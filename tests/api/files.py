"""Clusters that have files, and ways to ask for them."""

from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState, Operator
from firstlight.core.model.cluster_status import ClusterStatus, OperatorKind, OperatorStatus
from firstlight.server.ports.writes import PutCluster
from firstlight.server.usecases.world import World
from tests.api.calling import Client
from tests.builders.moments import CLUSTER_ID
from tests.http.client import Answer
from tests.usecases.preparing import a_preparing_cluster, run

CLUSTER: Final = f"/clusters/{CLUSTER_ID}"
BASE: Final = "/api/assisted-install/v2"


async def a_prepared_cluster(world: World, **changes: Any) -> ClusterState:
    """Files are there; `changes` are made afterwards."""
    _, row = await a_preparing_cluster(world)
    await run(world, row)
    return await changed(world, **changes)


async def changed(world: World, **changes: Any) -> ClusterState:
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    if changes:
        cluster = replace(state.cluster, **changes)
        await world.store.commit(PutCluster(cluster=cluster, expect_revision=state.revision))
    found = await world.store.cluster_state(CLUSTER_ID)
    assert found is not None
    return found


def console(status: OperatorStatus | None) -> tuple[Operator, ...]:
    return (Operator(name="console", kind=OperatorKind.BUILTIN, status=status),)


async def follow(call: Client, url: str) -> Answer:
    """GET a link as it is."""
    parts = urlsplit(url)
    assert parts.path.startswith(BASE)
    return await call("GET", parts.path.removeprefix(BASE), query=parts.query)


WITH_FILES: Final = frozenset(
    {
        ClusterStatus.INSTALLING,
        ClusterStatus.FINALIZING,
        ClusterStatus.INSTALLED,
        ClusterStatus.ERROR,
        ClusterStatus.ADDING_HOSTS,
        ClusterStatus.CANCELLED,
        ClusterStatus.INSTALLING_PENDING_USER_ACTION,
    }
)
