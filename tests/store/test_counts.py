"""How much is kept, on both databases."""

import pytest

from firstlight.server.ports.counts import Counts
from firstlight.server.ports.database import Database
from firstlight.server.ports.writes import DeleteHost, PutCluster, PutHost, PutInfraEnv
from firstlight.server.store.sql_store import open_store
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_host
from tests.builders.moments import NOW

pytestmark = pytest.mark.anyio


async def test_what_exists_is_counted(database: Database) -> None:
    store = open_store(database)
    assert await store.counts() == Counts()
    await store.commit(
        PutInfraEnv(infra_env=an_infra_env(), expect_revision=None),
        PutCluster(cluster=a_cluster(), expect_revision=None),
        *(PutHost(host=a_host(number)) for number in (1, 2, 3)),
    )
    first = a_host(1)
    await store.commit(DeleteHost(key=(first.infra_env_id, first.id), at=NOW))
    assert await store.counts() == Counts(clusters=1, infra_envs=1, hosts=2)
    assert await store.database_bytes() > 10_000
