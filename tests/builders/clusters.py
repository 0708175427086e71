"""Clusters that pass every check: three control-plane nodes on 192.0.2.0/24, VIPs set, everybody reaches everybody."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from firstlight.core.model.cluster import Cluster, ClusterNetwork, ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from tests.builders.hosts import host_state
from tests.builders.inventories import NETWORK
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID


def a_policy(**changes: Any) -> Policy:
    return replace(Policy(), **changes)


def an_infra_env(**changes: Any) -> InfraEnv:
    infra_env = InfraEnv(
        id=INFRA_ENV_ID,
        name="east_infra-env",
        cluster_id=CLUSTER_ID,
        created_at=EARLIER,
        updated_at=EARLIER,
        openshift_version="4.18",
        pull_secret_set=True,
    )
    return replace(infra_env, **changes)


def a_cluster(**changes: Any) -> Cluster:
    cluster = Cluster(
        id=CLUSTER_ID,
        name="east",
        status=ClusterStatus.READY,
        status_updated_at=EARLIER,
        created_at=EARLIER,
        updated_at=EARLIER,
        openshift_version="4.18.3",
        release_image="quay.io/openshift-release-dev/ocp-release:4.18.3-x86_64",
        release_architectures=("x86_64",),
        base_dns_domain="example.com",
        cluster_networks=(ClusterNetwork(cidr="10.128.0.0/14", host_prefix=23),),
        service_networks=("172.30.0.0/16",),
        machine_networks=(NETWORK,),
        api_vips=("192.0.2.5",),
        ingress_vips=("192.0.2.6",),
        pull_secret_set=True,
    )
    return replace(cluster, **changes)


def connected(cluster: Cluster, hosts: Sequence[HostState]) -> Cluster:
    """The cluster as it looks once all its hosts reach each other."""
    ids = tuple(sorted(state.host.id for state in hosts))
    addresses = {
        state.host.id: tuple(
            sorted(
                address.split("/")[0]
                for interface in state.reports.inventory.interfaces
                for address in interface.addresses
            )
        )
        for state in hosts
        if state.reports.inventory is not None
    }
    groups = dict.fromkeys((*cluster.machine_networks, "IPv4"), ids)
    return replace(cluster, majority_groups=groups, connected_addresses=addresses)


def cluster_state(
    *, hosts: Sequence[HostState] | None = None, cluster: Cluster | None = None, **changes: Any
) -> ClusterState:
    """A cluster ready to be installed; `changes` go to the cluster."""
    if hosts is None:
        hosts = tuple(host_state(number, peers=(1, 2, 3)) for number in (1, 2, 3))
    base = connected(a_cluster(), hosts) if cluster is None else cluster
    return ClusterState(
        cluster=replace(base, **changes),
        hosts=tuple(hosts),
        infra_envs={INFRA_ENV_ID: an_infra_env()},
        revision=1,
    )
