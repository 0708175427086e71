"""What a poll tells must be looked at, also when the database was away the first time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import MakeDue, Write
from firstlight.server.usecases import agents
from firstlight.server.usecases.world import World
from tests.builders.moments import NOW
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio


class Away:
    """A store whose next commit fails; it keeps what was asked of it."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.away = True
        self.kept: list[Write] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        if self.away:
            self.away = False
            raise Unavailable("The database is away.")
        self.kept += writes
        await self._store.commit(*writes)


@pytest.mark.parametrize(("version", "ahead"), [("quay.io/agent:new", 0), ("", 7_200)], ids=["version", "clock"])
async def test_news_of_a_poll_that_was_not_kept_are_told_again(world: World, version: str, ahead: int) -> None:
    state = await put_cluster(world)
    host = state.hosts[0].host
    key = (host.infra_env_id, host.id)
    store: Any = Away(world.store)
    away = replace(world, store=store)
    when = int((NOW + timedelta(seconds=ahead)).timestamp())
    with pytest.raises(Unavailable):
        await agents.next_steps(away, key, agent_version=version, timestamp=when)
    await agents.next_steps(away, key, agent_version=version, timestamp=when)
    assert [write.subject for write in store.kept if isinstance(write, MakeDue)] == [cluster_subject(state.cluster.id)]
    await agents.next_steps(away, key, agent_version=version, timestamp=when)
    assert len([write for write in store.kept if isinstance(write, MakeDue)]) == 1
