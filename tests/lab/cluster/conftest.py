"""One service and, per cluster that a test installs, a control plane made of that cluster's own bootstrap.ign."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.cluster.processes import NotBuilt, peer
from tests.conftest import missing
from tests.services import RunningService, run_service

PEERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with run_service(tmp_path_factory.mktemp("service"), FIRSTLIGHT_POLL_SECONDS="5") as running:
        yield running
        assert running.complaints() == ""


@pytest.fixture(scope="session")
def kubectl() -> Path:
    try:
        return [peer(name) for name in PEERS][-1]
    except NotBuilt as reason:
        missing(str(reason))
