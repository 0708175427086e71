"""A world of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firstlight.server.usecases.world import World
from tests.worlds import SetClock, a_world


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def world(tmp_path: Path, clock: SetClock, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, clock=clock) as made:
        yield made
