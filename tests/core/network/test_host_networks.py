"""Which networks hosts share and which one carries the default route."""

import pytest
from msgspec.structs import replace

from firstlight.core.network.host_networks import (
    all_networks,
    default_network,
    default_routes,
    host_networks,
    in_order,
    network_with,
)
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK, a_route, an_interface, an_inventory
from tests.builders.moments import host_id

SECOND = an_interface(1, name="enp2s0", ipv4=("198.51.100.7/24",), ipv6=("2001:db8::7/64",))


def test_only_networks_of_every_host_are_shared() -> None:
    rich = host_state(1, reports=some_reports(1, inventory=an_inventory(1, interfaces=(SECOND, an_interface(1)))))
    silent = host_state(3, reports=replace(some_reports(3), inventory=None))
    shared = host_networks([rich, host_state(2), silent])
    assert [(network.cidr, network.host_ids) for network in shared] == [(NETWORK, (host_id(1), host_id(2)))]
    assert [network.cidr for network in host_networks([rich])] == [NETWORK, "198.51.100.0/24", "2001:db8::/64"]
    assert host_networks([silent]) == ()
    assert all_networks([host_state(2), silent, rich]) == [NETWORK, "198.51.100.0/24", "2001:db8::/64"]


def test_networks_sort_by_version_address_and_size() -> None:
    texts = ["2001:db8::/64", "10.0.0.0/24", "9.0.0.0/8", "x", "10.0.0.0/8", "192.0.2.0/24"]
    assert in_order(texts) == ["9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/24", "192.0.2.0/24", "2001:db8::/64"]


def test_the_first_host_with_the_network_is_asked() -> None:
    wide = an_inventory(2, interfaces=(an_interface(2, ipv4=("192.0.2.9/16",)),))
    hosts = [
        host_state(3, reports=replace(some_reports(3), inventory=None)),
        host_state(2, reports=some_reports(2, inventory=wide)),
        host_state(1),
    ]
    assert network_with("192.0.2.77", hosts) == "192.0.0.0/16"
    assert network_with("192.0.2.77", hosts[::-1]) == NETWORK
    assert network_with("203.0.113.1", hosts) is None


@pytest.mark.parametrize(
    ("routes", "network"),
    [
        pytest.param((a_route(), a_route(gateway="198.51.100.1", metric=50)), "198.51.100.0/24", id="lowest-metric"),
        pytest.param((a_route(gateway="203.0.113.1"), a_route()), NETWORK, id="foreign-gateway-is-skipped"),
        pytest.param((), None, id="two-networks-no-route"),
        pytest.param((a_route(destination="198.51.100.0"),), None, id="not-a-default-route"),
        pytest.param(
            (a_route(gateway=""), a_route(gateway="0.0.0.0"), a_route(destination="x")), None, id="no-gateway"
        ),
        pytest.param((a_route(family=10),), None, id="other-family"),
        pytest.param((a_route(family=0),), NETWORK, id="unknown-family-number"),
    ],
)
def test_default_network_of_two(routes: tuple[object, ...], network: str | None) -> None:
    inventory = an_inventory(1, interfaces=(an_interface(1), SECOND), routes=routes)
    assert default_network(inventory, version=4) == network


def test_a_lone_network_needs_no_route() -> None:
    inventory = an_inventory(1, interfaces=(an_interface(1), SECOND), routes=())
    assert default_network(inventory, version=6) == "2001:db8::/64"
    assert default_network(an_inventory(1, interfaces=()), version=4) is None


def test_routes_of_equal_metric_have_an_order() -> None:
    routes = (a_route(gateway="192.0.2.3"), a_route(gateway="192.0.2.2"), a_route(metric=1))
    found = default_routes(an_inventory(1, routes=routes), version=4)
    assert [route.gateway for route in found] == ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
