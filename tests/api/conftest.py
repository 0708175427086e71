"""A world of its own for each test, and somebody who calls it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firstlight.server.usecases.world import World
from tests.api.calling import Client, an_app
from tests.worlds import SetClock, a_world


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def world(tmp_path: Path, clock: SetClock, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, clock=clock) as made:
        yield made


@pytest.fixture
def call(world: World) -> Client:
    return Client(an_app(world))
