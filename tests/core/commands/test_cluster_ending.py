"""Whose hosts go with a cluster and whose return."""

import pytest

from firstlight.core.commands.cluster_ending import end_cluster
from firstlight.core.errors import Conflict
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.policy import Policy
from firstlight.core.roles import key_of
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import INFRA_ENV_ID, NOW

VISITING = {INFRA_ENV_ID: an_infra_env(cluster_id=None)}


@pytest.mark.parametrize("status", sorted(ClusterStatus))
def test_only_a_running_installation_is_protected(status: ClusterStatus) -> None:
    state = cluster_state(status=status)
    if status is ClusterStatus.INSTALLING:
        with pytest.raises(Conflict, match="Cancel or reset"):
            end_cluster(state, policy=Policy(), now=NOW)
    else:
        assert len(end_cluster(state, policy=Policy(), now=NOW).deleted) == 3


@pytest.mark.parametrize("status", sorted(HostStatus))
def test_visitors_return_from_every_state_that_has_a_way_back(status: HostStatus) -> None:
    state = cluster_state(hosts=[host_state(1, status=status)])
    state = type(state)(cluster=state.cluster, hosts=state.hosts, infra_envs=VISITING)
    ending = end_cluster(state, policy=Policy(), now=NOW)
    key = key_of(state.hosts[0])
    assert (key in ending.deleted) is not (key in ending.returned.hosts)
    for host in ending.returned.hosts.values():
        assert host.cluster_id is None
        assert host.status in (HostStatus.UNBINDING, HostStatus.UNBINDING_PENDING_USER_ACTION)


def test_visitors_of_a_ready_cluster_all_return() -> None:
    state = cluster_state()
    state = type(state)(cluster=state.cluster, hosts=state.hosts, infra_envs=VISITING)
    ending = end_cluster(state, policy=Policy(), now=NOW)
    assert len(ending.returned.hosts) == 3
    assert [change.event.name for change in ending.returned.changes].count("host_unbind_succeeded") == 3
    assert ending.deleted == ()
