"""A reset that a host's state forbids is told before it is refused."""

import pytest

from firstlight.core.errors import Conflict, NotFound
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.hosts import reset_host
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio


async def test_a_refused_reset_is_told(world: World) -> None:
    await put_cluster(world)
    with pytest.raises(Conflict, match="reset the cluster"):
        await reset_host(world, (INFRA_ENV_ID, host_id(1)), caller=Caller(name="somebody"))
    (event,) = await world.store.events_after(0, limit=10)
    assert event.name == "host_installation_reset_failed"
    assert (event.cluster_id, event.host_id, event.actor) == (CLUSTER_ID, host_id(1), "somebody")
    assert "reset the cluster" in event.message


async def test_nobody_is_told_of_a_host_that_is_not_there(world: World) -> None:
    with pytest.raises(NotFound):
        await reset_host(world, (INFRA_ENV_ID, host_id(1)), caller=Caller())
    assert not await world.store.events_after(0, limit=10)
