"""Five machines become a cluster by themselves; then one fault after the other, each found by name and forgotten."""

import pytest

from tests.lab.agents.laboratory import READY, Laboratory
from tests.lab.agents.servers import until
from tests.lab.agents.watching import wait_for

pytestmark = pytest.mark.timeout(900)


def test_the_cluster_becomes_ready_by_itself(laboratory: Laboratory) -> None:
    watcher = laboratory.watcher
    try:
        until(lambda: watcher.statuses()[""] == "ready", what="ready", seconds=120)
    except AssertionError:
        print(watcher.statuses(), *watcher.problems(), sep="\n")
        raise
    wait_for(watcher, set(), seconds=30)
    print(watcher.statuses())
    assert list(watcher.statuses().values()).count("known") == 5
