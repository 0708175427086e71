"""The examples other tests start from are consistent."""

from msgspec import json

from tests.builders.clusters import cluster_state
from tests.builders.facts import host_facts, pool_facts
from tests.builders.moments import CLUSTER_ID


def test_hosts_of_a_cluster_differ_where_machines_must() -> None:
    state = cluster_state()
    inventories = [host.reports.inventory for host in state.hosts]
    assert len({inventory.hostname for inventory in inventories if inventory}) == 3
    assert len({inventory.interfaces for inventory in inventories if inventory}) == 3
    assert {host.host.cluster_id for host in state.hosts} == {CLUSTER_ID}
    assert set(state.cluster.majority_groups) == {"192.0.2.0/24", "IPv4"}


def test_examples_can_be_stored() -> None:
    state = cluster_state()
    assert json.decode(json.encode(state.cluster), type=type(state.cluster)) == state.cluster


def test_a_pool_host_has_no_cluster() -> None:
    assert host_facts().context.cluster is not None
    assert pool_facts().context.cluster is None
    assert pool_facts().host.cluster_id is None
