"""Hosts of a ready cluster, for tests of what can be done with them."""

from typing import Any

from msgspec.structs import replace

from firstlight.core.model.host_status import HostStatus
from firstlight.server.usecases.world import World
from tests.api.calling import Client, ready_cluster
from tests.api.machines import Site
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import INFRA_ENV_ID

S = HostStatus
THREE = tuple(host_state(number, peers=(1, 2, 3)) for number in (1, 2, 3))


async def bound(call: Client, world: World, **changes: Any) -> Site:
    """A ready cluster of three, whose first host has these changes."""
    await ready_cluster(
        world, cluster_state(hosts=(replace(THREE[0], host=replace(THREE[0].host, **changes)), *THREE[1:]))
    )
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


async def pooled(call: Client, world: World) -> Site:
    """The same cluster, but its infra-env belongs to nobody: hosts can leave."""
    state = cluster_state(hosts=THREE)
    await ready_cluster(world, replace(state, infra_envs={INFRA_ENV_ID: an_infra_env(cluster_id=None)}))
    return Site(call, world, {"id": str(INFRA_ENV_ID)})
