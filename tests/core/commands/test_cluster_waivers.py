"""Why a check may fail is kept for clusters and hosts alike; operators name one check for both."""

from firstlight.core.commands.cluster_waivers import waive_one
from firstlight.core.decision import applied
from firstlight.core.model.cluster import ClusterState
from tests.builders.clusters import cluster_state
from tests.builders.moments import NOW

SHARED = "lso-requirements-satisfied"


def waived(state: ClusterState, *, of_hosts: bool, reason: str | None) -> ClusterState:
    return applied(state, waive_one(state, of_hosts=of_hosts, check=SHARED, reason=reason, now=NOW))


def test_a_reason_stays_while_the_check_may_fail_anywhere() -> None:
    state = waived(cluster_state(), of_hosts=True, reason="disks come tomorrow")
    state = waived(state, of_hosts=False, reason="disks come tomorrow")
    state = waived(state, of_hosts=True, reason=None)
    assert state.cluster.ignored_cluster_validations == (SHARED,)
    assert state.cluster.waiver_reasons == {SHARED: "disks come tomorrow"}
    assert waived(state, of_hosts=False, reason=None).cluster.waiver_reasons == {}
