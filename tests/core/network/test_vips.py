"""VIPs in requests, and whether an address is free."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network.free_addresses import bitmap_of
from firstlight.core.network.vips import (
    Availability,
    availability,
    check_vips,
    is_broadcast,
    is_too_small,
    machine_network_of,
    range_problems,
)
from tests.builders.clusters import a_cluster
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK

V6 = "2001:db8::/64"
USUAL: dict[str, Any] = {
    "user_managed_networking": False,
    "dhcp": False,
    "load_balancer": LoadBalancer.CLUSTER_MANAGED,
    "two_allowed": True,
}
OWN_BALANCER = {"load_balancer": LoadBalancer.USER_MANAGED}


@pytest.mark.parametrize(
    ("api", "ingress", "flags"),
    [
        pytest.param([], [], {"user_managed_networking": True, "dhcp": True}, id="none"),
        pytest.param(["192.0.2.5"], ["192.0.2.6"], {}, id="one"),
        pytest.param(["192.0.2.5"], ["192.0.2.6"], {"machine_networks": [NETWORK]}, id="in-network"),
        pytest.param(["192.0.2.5", "2001:db8::5"], ["192.0.2.6", "2001:db8::6"], {}, id="dual"),
        pytest.param(["2001:db8::5", "192.0.2.5"], ["2001:db8::6", "192.0.2.6"], {}, id="dual-6-first"),
        pytest.param(
            ["192.0.2.5", "2001:db8::5"],
            ["192.0.2.6", "2001:db8::6"],
            {"machine_networks": [NETWORK, V6]},
            id="dual-in-networks",
        ),
        pytest.param(["192.0.2.5"], ["192.0.2.5"], OWN_BALANCER, id="shared-behind-own-balancer"),
        pytest.param(
            ["192.0.2.5"], ["192.0.2.6"], OWN_BALANCER | {"machine_networks": ["10.0.0.0/8", NETWORK]}, id="in-any"
        ),
    ],
)
def test_accepted(api: list[str], ingress: list[str], flags: dict[str, Any]) -> None:
    assert check_vips(api, ingress, **USUAL | flags) == (tuple(api), tuple(ingress))


def test_texts_become_normal() -> None:
    assert check_vips(["2001:DB8:0::5"], ["2001:db8::0006"], **USUAL) == (("2001:db8::5",), ("2001:db8::6",))


@pytest.mark.parametrize(
    ("api", "ingress", "flags", "word"),
    [
        (["192.0.2.5"], ["192.0.2.6"], {"user_managed_networking": True}, "user-managed networking"),
        ([], ["192.0.2.6"], {"dhcp": True}, "DHCP"),
        (["192.0.2.5"], [], {}, "1 API VIPs and 0 ingress VIPs"),
        (["192.0.2.5"] * 3, ["192.0.2.6"] * 3, {}, "At most 2"),
        (["nowhere"], ["192.0.2.6"], {}, "'nowhere' is not an IP address"),
        (["192.0.2.5"], ["192.0.2.6/24"], {}, "cannot be an ingress VIP"),
        (["x" * 500], ["192.0.2.6"], {}, r"xxx\.\.\.'"),
        (["192.0.2.5", "192.0.2.5"], ["192.0.2.6", "2001:db8::6"], {}, "given twice"),
        (["192.0.2.5", "192.0.2.7"], ["192.0.2.6", "2001:db8::6"], {}, "both are IPv4"),
        (["192.0.2.5", "2001:db8::5"], ["192.0.2.6", "2001:db8::6"], {"two_allowed": False}, "4.12"),
        (["192.0.2.5"], ["192.0.2.5"], {}, "both API and ingress"),
        (["2001:db8::5"], ["2001:db8:0::5"], {}, "both API and ingress"),
        (["198.51.100.5"], ["192.0.2.6"], {"machine_networks": [NETWORK]}, "not in the machine network"),
        (["192.0.2.255"], ["192.0.2.6"], {"machine_networks": [NETWORK]}, "broadcast"),
        (["192.0.2.5"], ["198.51.100.6"], OWN_BALANCER | {"machine_networks": [NETWORK, V6]}, f"{NETWORK} or {V6}"),
        (
            ["192.0.2.5", "2001:db8::5"],
            ["192.0.2.6", "2001:db8::6"],
            {"machine_networks": [NETWORK]},
            "2001:db8::5 has no machine network",
        ),
    ],
)
def test_refused(api: list[str], ingress: list[str], flags: dict[str, Any], word: str) -> None:
    with pytest.raises(Invalid, match=word):
        check_vips(api, ingress, **USUAL | flags)


def test_without_machine_networks_nothing_is_said() -> None:
    assert range_problems("API", ["203.0.113.9"], [], user_managed_load_balancer=False) == []


@pytest.mark.parametrize(
    ("address", "cidr", "last"),
    [("192.0.2.255", NETWORK, True), ("192.0.2.254", NETWORK, False), ("2001:db8::ffff", "2001:db8::/112", False)],
)
def test_broadcast_is_an_ipv4_matter(address: str, cidr: str, last: bool) -> None:
    assert is_broadcast(address, cidr) is last


VIP = "192.0.2.5"


def looking(number: int, looked: bool | None = None, scanned: bool | None = None) -> HostState:
    vips = None if looked is None else {VIP: looked}
    free = None if scanned is None else {NETWORK: bitmap_of([VIP] if scanned else [], cidr=NETWORK) or b""}
    return host_state(number, reports=some_reports(number, vips=vips, free_addresses=free))


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        pytest.param([], Availability.UNKNOWN, id="nobody"),
        pytest.param([looking(1)], Availability.UNKNOWN, id="nobody-looked"),
        pytest.param([looking(1, True)], Availability.FREE, id="looked-free"),
        pytest.param([looking(1, True), looking(2, False), looking(3, True)], Availability.TAKEN, id="one-saw-it"),
        pytest.param([looking(1, None, True), looking(2, None, True)], Availability.FREE, id="scans-agree"),
        pytest.param([looking(1, None, False), looking(2, None, True)], Availability.TAKEN, id="one-scan-saw-it"),
        pytest.param([looking(1, None, True), looking(2, None, False)], Availability.TAKEN, id="the-last-scan-saw-it"),
        pytest.param([looking(1, None, False), looking(2, True)], Availability.FREE, id="looking-beats-scanning"),
        pytest.param([looking(2, True), looking(1, None, False)], Availability.FREE, id="in-any-order"),
        pytest.param([looking(1, None, True), looking(2, False)], Availability.TAKEN, id="looking-beats-a-free-scan"),
    ],
)
def test_availability(hosts: list[HostState], found: Availability) -> None:
    assert availability(VIP, hosts) is found


@pytest.mark.parametrize(("hosts", "small"), [(12, False), (13, True)])
def test_a_network_must_hold_hosts_and_vips(hosts: int, small: bool) -> None:
    assert is_too_small("192.0.2.0/28", host_count=hosts) is small
    assert not is_too_small("x", host_count=hosts)


def test_machine_network_of_a_vip() -> None:
    cluster = a_cluster(machine_networks=(V6, NETWORK))
    assert machine_network_of(cluster, VIP) == NETWORK
    assert machine_network_of(cluster, "203.0.113.1") is None


@given(st.lists(st.text(max_size=20), max_size=3), st.lists(st.text(max_size=20), max_size=3), st.text(max_size=20))
def test_any_text_is_refused_or_accepted(api: list[str], ingress: list[str], cidr: str) -> None:
    with suppress(Invalid):
        check_vips(api, ingress, **USUAL | {"machine_networks": [cidr]})
