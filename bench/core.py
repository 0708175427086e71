"""The cost of thinking: one 500-host cluster with a full connectivity matrix."""

import time

from msgspec.structs import replace

from firstlight.core.decision import applied
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster
from tests.builders.clusters import a_policy, cluster_state
from tests.builders.hosts import host_state, some_reports
from tests.builders.moments import NOW


def measure(hosts: int) -> dict[str, float]:
    """CPU milliseconds: cold, with warm facts, and after one host changed."""
    numbers = range(1, hosts + 1)
    members = tuple(host_state(number, reports=some_reports(number, peers=numbers)) for number in numbers)
    state = cluster_state(hosts=members)
    around = Surroundings(policy=a_policy(), now=NOW)
    memo = Memo()
    started = time.process_time()
    first = evaluate_cluster(state, around, memo=memo)
    cold = time.process_time() - started
    settled = applied(state, first)
    fresh = Memo()
    started = time.process_time()
    evaluate_cluster(settled, around, memo=fresh)
    warm = time.process_time() - started
    changed = settled.hosts[3]
    changed = replace(changed, reports=replace(changed.reports, ntp=()))
    one = replace(settled, hosts=(*settled.hosts[:3], changed, *settled.hosts[4:]))
    started = time.process_time()
    evaluate_cluster(one, around, memo=fresh)
    return {
        "cold_ms": round(cold * 1000, 1),
        "warm_facts_ms": round(warm * 1000, 1),
        "one_host_changed_ms": round((time.process_time() - started) * 1000, 1),
    }
