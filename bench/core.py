"""The cost of thinking: one 500-host cluster with a full connectivity matrix."""

import gc
import statistics
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from firstlight.core.decision import applied
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster
from firstlight.core.model.cluster import ClusterState
from firstlight.server.main import spare_the_collector
from tests.builders.clusters import a_policy, cluster_state
from tests.builders.hosts import host_state, some_reports
from tests.builders.moments import NOW

CHANGES: Final = 5
"""Different hosts that change, one after the other; the median counts."""


def measure(hosts: int) -> dict[str, float]:
    """CPU milliseconds: cold, with warm facts, and after one host changed."""
    numbers = range(1, hosts + 1)
    members = tuple(host_state(number, reports=some_reports(number, peers=numbers)) for number in numbers)
    state = cluster_state(hosts=members)
    around = Surroundings(policy=a_policy(), now=NOW)
    with _collecting_as_the_service():
        cold = _milliseconds(lambda: evaluate_cluster(state, around, memo=Memo()))
        settled = applied(state, evaluate_cluster(state, around, memo=Memo()))
        memo = Memo()
        warm = _milliseconds(lambda: evaluate_cluster(settled, around, memo=memo))
        changed = [_with_one_changed(settled, place) for place in range(CHANGES)]
        each = [_milliseconds(lambda one=one: evaluate_cluster(one, around, memo=memo)) for one in changed]
    return {
        "cold_ms": round(cold, 1),
        "warm_facts_ms": round(warm, 1),
        "one_host_changed_ms": round(statistics.median(each), 1),
    }


def _with_one_changed(state: ClusterState, place: int) -> ClusterState:
    changed = replace(state.hosts[place], reports=replace(state.hosts[place].reports, ntp=()))
    return replace(state, hosts=(*state.hosts[:place], changed, *state.hosts[place + 1 :]))


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


@contextmanager
def _collecting_as_the_service() -> Generator[None]:
    usual = gc.get_threshold()
    spare_the_collector()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
