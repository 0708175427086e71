"""A running service for each file of tests, and the clients that call it."""

from collections.abc import Iterator

import pytest

from tests.clients.command_line import Aicli
from tests.clients.sdk import Sdk
from tests.services import RunningService, run_service


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
