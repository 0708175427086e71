"""Groups, connected addresses and collisions from packed reports."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.model.host import FencingCredentials, HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.reports import Connectivity, PartialPeer
from firstlight.core.network.connectivity import ConnectivityMemo, groups_of, ip_collisions, pack, unpack
from firstlight.core.network.topology import has_fencing, smallest_group
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_connectivity, a_host, host_state, some_reports
from tests.builders.inventories import NETWORK, an_interface, an_inventory
from tests.builders.moments import host_id


def with_connectivity(number: int, report: Connectivity | None, **inventory: Any) -> HostState:
    reports = some_reports(number, connectivity=report, inventory=an_inventory(number, **inventory))
    return host_state(number, reports=reports)


def full(count: int) -> list[HostState]:
    numbers = range(1, count + 1)
    return [with_connectivity(number, a_connectivity(number, peers=numbers)) for number in numbers]


def ids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(host_id(number) for number in numbers)


@given(st.lists(st.uuids(), max_size=20))
def test_packing_keeps_each_peer_once_in_order(peers: list[UUID]) -> None:
    assert unpack(pack(peers)) == tuple(sorted(set(peers)))


def test_unpacking_ignores_a_torn_end() -> None:
    assert unpack(pack(ids(1, 2)) + b"torn") == ids(1, 2)


@pytest.mark.parametrize(("count", "smallest", "size"), [(3, 3, 3), (2, 3, 0), (2, 2, 2), (1, 3, 0), (0, 3, 0)])
def test_groups_need_a_least_size(count: int, smallest: int, size: int) -> None:
    groups = groups_of(full(count), smallest=smallest).majority_groups
    assert len(groups.get(NETWORK, ())) == size
    assert len(groups["IPv4"]) == size
    assert groups["IPv6"] == ()


def test_every_network_of_any_inventory_is_listed() -> None:
    hosts = full(3)
    extra = an_interface(3, ipv4=("198.51.100.3/24",), ipv6=("2001:db8::3/64",))
    hosts[2] = with_connectivity(3, a_connectivity(3), interfaces=(an_interface(3), extra))
    groups = groups_of(hosts, smallest=3).majority_groups
    assert groups == {
        NETWORK: ids(1, 2, 3),
        "198.51.100.0/24": (),
        "2001:db8::/64": (),
        "IPv4": ids(1, 2, 3),
        "IPv6": (),
    }


def test_silent_and_unknown_hosts_are_in_no_group() -> None:
    strangers = pack([*ids(1, 3, 4, 5), UUID(int=7)])
    hosts = [
        *full(5)[:1],
        with_connectivity(2, None),
        with_connectivity(3, Connectivity(layer2={"192.0.2.99/24": strangers, "x": b""}, layer3={4: strangers})),
        with_connectivity(4, a_connectivity(4, peers=(1, 3, 4))),
    ]
    hosts[0] = with_connectivity(1, a_connectivity(1, peers=(2, 3, 4)))
    groups = groups_of(hosts, smallest=3).majority_groups
    assert groups[NETWORK] == ids(1, 3, 4)
    assert groups["IPv4"] == ids(1, 3, 4)


def test_all_addresses_are_connected_when_everybody_reaches_everybody() -> None:
    found = groups_of(full(3), smallest=3).connected_addresses
    assert found == {host_id(n): (f"192.0.2.{10 + n}",) for n in (1, 2, 3)}


def test_one_host_alone_has_no_connected_addresses() -> None:
    assert groups_of(full(1), smallest=3).connected_addresses == {}


def test_a_silent_host_leaves_only_its_own_addresses() -> None:
    hosts = full(3)
    hosts[0] = with_connectivity(1, None)
    assert set(groups_of(hosts, smallest=3).connected_addresses) == {host_id(1)}


def test_a_host_without_inventory_has_no_addresses() -> None:
    hosts = full(3)
    hosts[0] = replace(hosts[0], reports=replace(hosts[0].reports, inventory=None))
    assert set(groups_of(hosts, smallest=3).connected_addresses) == {host_id(2), host_id(3)}


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        pytest.param(("192.0.2.13",), ("192.0.2.13",), id="one-of-two"),
        pytest.param(("192.0.2.13", "198.51.100.3"), ("192.0.2.13", "198.51.100.3"), id="both"),
        pytest.param(("203.0.113.1",), None, id="an-address-it-has-no-more"),
        pytest.param((), None, id="none"),
    ],
)
def test_partly_reached_hosts_keep_what_answered(answered: tuple[str, ...], expected: tuple[str, ...] | None) -> None:
    hosts = full(3)
    two = (an_interface(3), an_interface(3, name="b", ipv4=("198.51.100.3/24",)))
    hosts[2] = with_connectivity(3, a_connectivity(3), interfaces=two)
    seen = PartialPeer(host_id(3), 4, answered)
    hosts[0] = with_connectivity(1, a_connectivity(1, layer3={4: pack(ids(2))}, partial=(seen,)))
    assert groups_of(hosts, smallest=3).connected_addresses.get(host_id(3)) == expected


def test_both_families_count() -> None:
    hosts = full(2)
    six = {n: an_interface(n, ipv6=(f"2001:db8::{n}/64",)) for n in (1, 2)}
    for n, other in ((1, 2), (2, 1)):
        both = {4: pack(ids(other)), 6: pack(ids(other))}
        hosts[n - 1] = with_connectivity(n, a_connectivity(n, peers=(1, 2), layer3=both), interfaces=(six[n],))
    groups = groups_of(hosts, smallest=2)
    assert groups.majority_groups["IPv6"] == ids(1, 2)
    assert groups.connected_addresses[host_id(1)] == ("192.0.2.11", "2001:db8::1")


def test_collisions_of_all_hosts_are_united() -> None:
    def sees(**macs: tuple[str, ...]) -> Connectivity:
        return a_connectivity(collisions={name.replace("_", "."): found for name, found in macs.items()})

    hosts = [
        with_connectivity(1, sees(a_2=("02:00:00:00:00:02", "02:00:00:00:00:01"))),
        with_connectivity(2, sees(a_1=("b", "a"), a_2=("02:00:00:00:00:03", "02:00:00:00:00:01"))),
        with_connectivity(3, None),
    ]
    found = ip_collisions(hosts)
    assert list(found.items()) == [
        ("a.1", ("a", "b")),
        ("a.2", ("02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03")),
    ]


@st.composite
def clusters(draw: st.DrawFn) -> list[HostState]:
    numbers = range(1, draw(st.integers(0, 6)) + 1)
    hosts: list[HostState] = []
    for number in numbers:
        peers = draw(st.sets(st.sampled_from(numbers)))
        report = a_connectivity(number, peers=peers) if draw(st.booleans()) else None
        hosts.append(with_connectivity(number, report))
    return hosts


@given(clusters(), st.randoms(use_true_random=False))
def test_order_does_not_matter(hosts: list[HostState], random: Any) -> None:
    shuffled = list(hosts)
    random.shuffle(shuffled)
    assert groups_of(shuffled, smallest=3) == groups_of(hosts, smallest=3)
    assert ip_collisions(shuffled) == ip_collisions(hosts)


@given(st.lists(clusters(), max_size=4))
def test_a_memo_never_changes_the_outcome(evaluations: Sequence[list[HostState]]) -> None:
    memo = ConnectivityMemo()
    for hosts in evaluations:
        for smallest in (2, 3):
            assert groups_of(hosts, smallest=smallest, memo=memo) == groups_of(hosts, smallest=smallest)


def test_a_memo_keeps_unchanged_rows() -> None:
    hosts, memo = full(3), ConnectivityMemo()
    groups_of(hosts, smallest=3, memo=memo)
    before = dict(memo.rows)
    hosts[1] = with_connectivity(2, a_connectivity(2, peers=(1, 2)))
    groups_of(hosts, smallest=3, memo=memo)
    assert memo.rows[host_id(1)] is before[host_id(1)]
    assert memo.rows[host_id(2)] is not before[host_id(2)]


@pytest.mark.parametrize(
    ("count", "roles", "fenced", "smallest"),
    [
        pytest.param(2, "mm", 2, 2, id="two-fenced-masters"),
        pytest.param(2, "mm", 1, 3, id="one-without-credentials"),
        pytest.param(2, "mma", 2, 3, id="an-arbiter-makes-it-ordinary"),
        pytest.param(2, "mmw", 2, 2, id="workers-do-not-matter"),
        pytest.param(2, "m", 1, 3, id="one-master"),
        pytest.param(3, "mm", 2, 3, id="three-wanted"),
    ],
)
def test_fencing_lowers_the_least_group(count: int, roles: str, fenced: int, smallest: int) -> None:
    named = {"m": HostRole.MASTER, "a": HostRole.ARBITER, "w": HostRole.WORKER}
    card = FencingCredentials(address="redfish+https://192.0.2.9", username="u", password="p")
    hosts = [
        a_host(number, role=named[role], fencing=card if number <= fenced else None)
        for number, role in enumerate(roles, start=1)
    ]
    cluster = a_cluster(control_plane_count=count)
    assert smallest_group(cluster, hosts) == smallest
    assert has_fencing(cluster, hosts) is (smallest == 2)
