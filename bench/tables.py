"""What one answer of a table of thousands of hosts costs, in process: read, filter, sort, cut, as JSON."""

import statistics
import tempfile
import time
from pathlib import Path

import msgspec

from firstlight.server.ports.writes import PutCluster, PutInfraEnv
from firstlight.server.usecases.host_table import HostFilter, hosts_of_cluster
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID
from tests.crowds import crowd
from tests.worlds import a_world

TURNS = 15
FILTERS = {
    "first_page": HostFilter(),
    "text": HostFilter(text="machine-49"),
    "by_check_sorted_by_cpus": HostFilter(check="ntp-synced", sort="cpus", descending=True),
}


async def host_table_ms(hosts: int) -> dict[str, float]:
    """The median of warm answers, in milliseconds of wall clock, after one that fills the caches."""
    with tempfile.TemporaryDirectory() as folder:
        async with a_world(Path(folder)) as world:
            await world.store.commit(
                PutCluster(cluster=a_cluster(), expect_revision=None),
                PutInfraEnv(infra_env=an_infra_env(), expect_revision=None),
            )
            await crowd(world.store, hosts, infra_env_id=INFRA_ENV_ID, cluster_id=CLUSTER_ID)
            await hosts_of_cluster(world, CLUSTER_ID, HostFilter())
            medians: dict[str, float] = {}
            for name, wanted in FILTERS.items():
                taken: list[float] = []
                for _ in range(TURNS):
                    started = time.perf_counter()
                    msgspec.json.encode(await hosts_of_cluster(world, CLUSTER_ID, wanted))
                    taken.append((time.perf_counter() - started) * 1000)
                medians[name] = round(statistics.median(taken), 1)
            return medians
