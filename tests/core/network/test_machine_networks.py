"""Automatic machine networks: from VIPs, with DHCP, on a single node, with a network the user keeps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.model.cluster_status import ClusterKind, LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network.machine_networks import (
    derive_machine_networks,
    is_dual_stack_cluster,
    machine_networks_required,
)
from tests.builders.clusters import a_cluster
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK, a_route, an_interface, an_inventory

V6, OTHER = "2001:db8::/64", "198.51.100.0/24"
BOTH_SERVICES = {
    "service_networks": ("172.30.0.0/16", "fd02::/112"),
    "cluster_networks": (ClusterNetwork(cidr="10.128.0.0/14"), ClusterNetwork(cidr="fd01::/48")),
}
SIX_SERVICES = {"service_networks": ("fd02::/112",), "cluster_networks": (ClusterNetwork(cidr="fd01::/48"),)}


def having(number: int, *addresses: str, routes: tuple[Any, ...] = (), bootstrap: bool = False) -> HostState:
    four, six = [tuple(a for a in addresses if (":" in a) is wanted) for wanted in (False, True)]
    inventory = an_inventory(number, interfaces=(an_interface(number, ipv4=four, ipv6=six),), routes=routes)
    return host_state(number, reports=some_reports(number, inventory=inventory), bootstrap=bootstrap)


SILENT = host_state(9, reports=some_reports(9, inventory=None))
DUAL = having(1, "192.0.2.11/24", "2001:db8::11/64")


@pytest.mark.parametrize(
    ("changes", "hosts", "networks"),
    [
        pytest.param({}, [DUAL], (NETWORK,), id="from-the-api-vip"),
        pytest.param({"api_vips": ()}, [SILENT, DUAL], (NETWORK,), id="from-the-ingress-vip"),
        pytest.param({"api_vips": ("203.0.113.5",)}, [DUAL], (NETWORK,), id="api-vip-nowhere-but-ingress-vip"),
        pytest.param({"api_vips": (), "ingress_vips": ()}, [DUAL], (), id="no-vips"),
        pytest.param({}, [SILENT], (), id="no-inventory"),
        pytest.param({}, [], (), id="no-hosts"),
        pytest.param({"machine_networks": (OTHER,)}, [DUAL], (NETWORK,), id="replaces-the-old-one"),
        pytest.param({"machine_networks": (OTHER,)}, [SILENT], (OTHER,), id="nothing-found-stays"),
        pytest.param({"machine_networks": (OTHER, V6)}, [DUAL], (NETWORK, V6), id="second-manual-network-stays"),
        pytest.param({"machine_networks": (V6,)}, [DUAL], (NETWORK,), id="single-stack-changes-version"),
        pytest.param({"machine_networks": (V6,), **BOTH_SERVICES}, [DUAL], (V6, NETWORK), id="dual-stack-adds"),
        pytest.param(
            {"machine_networks": (V6,), "primary_ip_stack": 4, **BOTH_SERVICES},
            [DUAL],
            (NETWORK, V6),
            id="primary-first",
        ),
        pytest.param(
            {"api_vips": ("192.0.2.5", "2001:db8::5"), "ingress_vips": ("192.0.2.6", "2001:db8::6"), **BOTH_SERVICES},
            [DUAL],
            (NETWORK, V6),
            id="two-vips",
        ),
        pytest.param({"load_balancer": LoadBalancer.USER_MANAGED}, [DUAL], (), id="user-managed-load-balancer"),
        pytest.param({"kind": ClusterKind.ADD_HOSTS}, [DUAL], (), id="day-two"),
    ],
)
def test_from_vips(changes: dict[str, Any], hosts: list[HostState], networks: tuple[str, ...]) -> None:
    cluster = a_cluster(**{"machine_networks": ()} | changes)
    assert derive_machine_networks(cluster, hosts) == networks


@pytest.mark.parametrize(
    ("machine", "hosts", "networks"),
    [
        pytest.param((), [having(1, "192.0.2.11/24"), having(2, "192.0.2.12/24")], (NETWORK,), id="one-network"),
        pytest.param((), [having(1, "192.0.2.11/24"), having(2, "198.51.100.2/24")], (), id="two-networks"),
        pytest.param((), [having(1, "2001:db8::1/64")], (V6,), id="any-version"),
        pytest.param((), [SILENT], (), id="nobody"),
        pytest.param((OTHER,), [having(1, "192.0.2.11/24")], (OTHER,), id="the-user-s-choice-stays"),
    ],
)
def test_with_dhcp(machine: tuple[str, ...], hosts: list[HostState], networks: tuple[str, ...]) -> None:
    cluster = a_cluster(vip_dhcp_allocation=True, api_vips=(), ingress_vips=(), machine_networks=machine)
    assert derive_machine_networks(cluster, hosts) == networks


TWO = ("192.0.2.11/24", "198.51.100.11/24")


@pytest.mark.parametrize(
    ("changes", "hosts", "networks"),
    [
        pytest.param({}, [having(1, "192.0.2.11/24")], (NETWORK,), id="only-network"),
        pytest.param({}, [having(1, *TWO, routes=(a_route(),))], (NETWORK,), id="default-gateway"),
        pytest.param({}, [having(1, *TWO)], (), id="ambiguous"),
        pytest.param({}, [SILENT], (), id="waits"),
        pytest.param({}, [having(1, "192.0.2.11/24"), having(2, "198.51.100.2/24")], (), id="two-hosts-disagree"),
        pytest.param({"machine_networks": (OTHER,)}, [DUAL], (OTHER,), id="set-already"),
        pytest.param(BOTH_SERVICES, [DUAL], (NETWORK, V6), id="dual-stack"),
        pytest.param(BOTH_SERVICES | {"primary_ip_stack": 6}, [DUAL], (V6, NETWORK), id="dual-stack-primary-6"),
        pytest.param(BOTH_SERVICES, [having(1, "192.0.2.11/24")], (), id="dual-stack-half-found"),
        pytest.param({"service_networks": ("fd02::/112",)}, [DUAL], (), id="families-differ"),
        pytest.param({"service_networks": (), "cluster_networks": ()}, [DUAL], (), id="nothing-set"),
    ],
)
def test_single_node(changes: dict[str, Any], hosts: list[HostState], networks: tuple[str, ...]) -> None:
    alone: dict[str, Any] = {"control_plane_count": 1, "user_managed_networking": True, "machine_networks": ()}
    assert derive_machine_networks(a_cluster(**alone | changes), hosts) == networks


@pytest.mark.parametrize(
    ("changes", "host", "networks"),
    [
        pytest.param({}, having(1, *TWO, bootstrap=False), (), id="no-bootstrap-yet"),
        pytest.param({}, having(1, *TWO[::-1], bootstrap=True), (NETWORK,), id="lowest-network"),
        pytest.param(
            {}, having(1, *TWO, routes=(a_route(gateway="198.51.100.1"),), bootstrap=True), (OTHER,), id="route"
        ),
        pytest.param({}, having(1, "2001:db8::1/64", bootstrap=True), (V6,), id="other-version-if-need-be"),
        pytest.param(
            SIX_SERVICES, having(1, "192.0.2.1/24", "2001:db8::1/64", bootstrap=True), (V6,), id="ipv6-cluster"
        ),
        pytest.param(
            BOTH_SERVICES | {"primary_ip_stack": 6},
            having(1, "192.0.2.1/24", "2001:db8::1/64", bootstrap=True),
            (V6, NETWORK),
            id="dual-stack",
        ),
        pytest.param(
            {"service_networks": ()}, having(1, "192.0.2.1/24", bootstrap=True), (NETWORK,), id="ipv4-default"
        ),
        pytest.param({}, having(1, bootstrap=True), (), id="no-addresses"),
        pytest.param({"machine_networks": (OTHER,)}, having(1, "192.0.2.1/24", bootstrap=True), (OTHER,), id="set"),
    ],
)
def test_network_kept_by_the_user(changes: dict[str, Any], host: HostState, networks: tuple[str, ...]) -> None:
    cluster = a_cluster(**{"user_managed_networking": True, "machine_networks": ()} | changes)
    assert derive_machine_networks(cluster, [having(5, "203.0.113.5/24"), host]) == networks


@pytest.mark.parametrize(("count", "user_managed", "required"), [(3, False, True), (3, True, False), (1, True, True)])
def test_when_machine_networks_are_required(count: int, user_managed: bool, required: bool) -> None:
    cluster = a_cluster(control_plane_count=count, user_managed_networking=user_managed)
    assert machine_networks_required(cluster) is required


def test_dual_stack_is_seen_in_any_list() -> None:
    assert not is_dual_stack_cluster(a_cluster())
    assert not is_dual_stack_cluster(a_cluster(machine_networks=(V6,)))
    assert is_dual_stack_cluster(a_cluster(machine_networks=(V6, NETWORK)))
    assert is_dual_stack_cluster(a_cluster(service_networks=BOTH_SERVICES["service_networks"]))
    assert is_dual_stack_cluster(a_cluster(cluster_networks=BOTH_SERVICES["cluster_networks"]))


texts = st.sampled_from(["192.0.2.5", "2001:db8::5", "198.51.100.9", "x", "", NETWORK, V6, OTHER])
lists = st.lists(texts, max_size=3).map(tuple)


@given(lists, lists, lists, lists, st.integers(1, 3), st.booleans(), st.booleans(), st.sampled_from([0, 4, 6]))
def test_deriving_settles(
    api: tuple[str, ...],
    ingress: tuple[str, ...],
    machine: tuple[str, ...],
    service: tuple[str, ...],
    count: int,
    user_managed: bool,
    dhcp: bool,
    primary: int,
) -> None:
    """What was derived, given back, gives itself: an evaluation never moves twice."""
    hosts = [DUAL, SILENT, having(2, *TWO, "garbage", bootstrap=True)]
    cluster = a_cluster(
        api_vips=api,
        ingress_vips=ingress,
        machine_networks=machine,
        service_networks=service,
        control_plane_count=count,
        user_managed_networking=user_managed,
        vip_dhcp_allocation=dhcp,
        primary_ip_stack=primary,
    )
    once = derive_machine_networks(cluster, hosts)
    again = derive_machine_networks(
        a_cluster(
            api_vips=api,
            ingress_vips=ingress,
            machine_networks=once,
            service_networks=service,
            control_plane_count=count,
            user_managed_networking=user_managed,
            vip_dhcp_allocation=dhcp,
            primary_ip_stack=primary,
        ),
        hosts,
    )
    assert again == once
