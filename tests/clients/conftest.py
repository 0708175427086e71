"""A running service for each file of tests and the clients that call it; beside it the same API in-process."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from firstlight.server.usecases.world import World
from tests.api.calling import an_app
from tests.clients.command_line import Aicli
from tests.clients.sdk import Sdk
from tests.services import RunningService, run_service
from tests.worlds import a_world


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The service must not have met an error it did not foresee by the time the tests are through."""
    with run_service(tmp_path_factory.mktemp("service")) as running:
        yield running
        assert running.complaints() == ""


@pytest.fixture
def sdk(service: RunningService) -> Sdk:
    return Sdk(service.api)


@pytest.fixture(scope="module")
def aicli(service: RunningService, tmp_path_factory: pytest.TempPathFactory) -> Aicli:
    return Aicli(service.url, tmp_path_factory.mktemp("home"))


@pytest.fixture
async def world(tmp_path: Path, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return an_app(world)
