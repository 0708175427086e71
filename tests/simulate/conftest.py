"""One real service for all tests of the fleet: quick to notice silence, otherwise as delivered."""

from collections.abc import Iterator

import pytest

from tests.services import RunningService, run_service


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    settings = {"FIRSTLIGHT_POLL_SECONDS": "5", "FIRSTLIGHT_HOST_MAX_DISCONNECTION_TIME": "8s"}
    with run_service(tmp_path_factory.mktemp("service"), **settings) as running:
        yield running
        assert running.complaints() == ""
