"""Connectivity reports, packed."""

import json
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.model.inventory import Cpu, Interface, Inventory, Memory
from firstlight.core.model.policy import HardwareMinimum, Policy, VersionedHardware
from firstlight.core.model.reports import BrokenMtu, Connectivity, LossyPath, PartialPeer, SlowPath
from firstlight.core.steps.connectivity_reply import MOST_PEERS, networks_of, parse_connectivity
from firstlight.core.steps.limits import Limits, limits_of

A, B = UUID(int=1), UUID(int=2)
OWN = Inventory(
    cpu=Cpu(),
    memory=Memory(),
    interfaces=(
        Interface(name="one", ipv4=("192.0.2.11/24",), ipv6=("2001:db8::11/64",)),
        Interface(name="two", ipv4=("198.51.100.11/24", "192.0.2.12/24")),
    ),
)


def report(*peers: dict[str, Any], own: Inventory | None = OWN) -> Connectivity:
    return parse_connectivity(json.dumps({"remote_hosts": peers}), own=own)


def peer(host_id: UUID = A, **parts: Any) -> dict[str, Any]:
    return {"host_id": str(host_id), **parts}


def link(address: str, mac: str = "aa:bb", nic: str = "one", *, successful: bool = True) -> dict[str, Any]:
    return {"outgoing_nic": nic, "remote_ip_address": address, "remote_mac": mac, "successful": successful}


def ping(address: str, *, successful: bool = True, **measured: float) -> dict[str, Any]:
    return {"remote_ip_address": address, "successful": successful, **measured}


def test_peers_are_packed_in_order_and_once() -> None:
    seen = report(peer(B, l2_connectivity=[link("192.0.2.21")]), peer(A, l2_connectivity=[link("192.0.2.22")] * 2))
    assert seen.layer2 == {"192.0.2.0/24": A.bytes + B.bytes}
    assert seen.asked == A.bytes + B.bytes


def test_a_peer_nothing_is_known_of_was_still_asked() -> None:
    text = json.dumps({"remote_hosts": [peer(A), None, {"l3_connectivity": []}]})
    seen = parse_connectivity(text, own=OWN)
    assert seen == Connectivity(asked=A.bytes)


def test_layer_two_counts_inside_own_networks_only() -> None:
    links = [link("203.0.113.9"), link("192.0.2.30", successful=False), link("no address"), link("")]
    assert report(peer(l2_connectivity=links)).layer2 == {}
    assert report(peer(l2_connectivity=[link("192.0.2.30")]), own=None).layer2 == {}


def test_an_address_may_lie_in_networks_of_several_sizes() -> None:
    own = Inventory(cpu=Cpu(), memory=Memory(), interfaces=(Interface(name="one", ipv4=("10.0.0.1/8", "10.1.2.1/24")),))
    seen = report(peer(A, l2_connectivity=[link("10.1.2.9")]), peer(B, l2_connectivity=[link("10.9.9.9")]), own=own)
    assert seen.layer2 == {"10.0.0.0/8": A.bytes + B.bytes, "10.1.2.0/24": A.bytes}


def test_a_ping_stands_for_layer_two_on_ipv6_only() -> None:
    seen = report(peer(l3_connectivity=[ping("2001:db8::12"), ping("192.0.2.12")]))
    assert seen.layer2 == {"2001:db8::/64": A.bytes}
    assert seen.layer3 == {4: A.bytes, 6: A.bytes}


def test_some_but_not_all_answers_are_partial() -> None:
    pings = [ping("192.0.2.13"), ping("192.0.2.12"), ping("198.51.100.12", successful=False), ping("?")]
    seen = report(peer(l3_connectivity=pings))
    assert seen.layer3 == {}
    assert seen.partial == (PartialPeer(A, 4, ("192.0.2.12", "192.0.2.13")),)


def test_no_answer_at_all_is_nothing() -> None:
    seen = report(peer(l3_connectivity=[ping("192.0.2.12", successful=False)]))
    assert (seen.layer3, seen.partial) == ({}, ())


@pytest.mark.parametrize(("rtt", "slow"), [(99.9, False), (100.0, False), (100.1, True)])
def test_slow_paths_begin_above_the_smallest_limit(rtt: float, *, slow: bool) -> None:
    seen = report(peer(l3_connectivity=[ping("192.0.2.12", average_rtt_ms=rtt)]))
    assert seen.slow == ((SlowPath(A, "192.0.2.12", rtt),) if slow else ())


@pytest.mark.parametrize(("loss", "lossy"), [(0.0, False), (0.1, True), (100.0, True)])
def test_any_loss_is_noted(loss: float, *, lossy: bool) -> None:
    seen = report(peer(l3_connectivity=[ping("192.0.2.12", packet_loss_percentage=loss)]))
    assert seen.lossy == ((LossyPath(A, "192.0.2.12", loss),) if lossy else ())


def test_without_any_limit_nothing_is_slow() -> None:
    text = json.dumps({"remote_hosts": [peer(l3_connectivity=[ping("192.0.2.12", average_rtt_ms=1e9)])]})
    assert parse_connectivity(text, own=OWN, limits=Limits()).slow == ()


def test_limits_come_from_all_roles() -> None:
    def minimum(latency: float | None, loss: float | None) -> HardwareMinimum:
        return HardwareMinimum(
            cpu_cores=1,
            ram_mib=1,
            disk_size_gb=1,
            disk_speed_threshold_ms=None,
            network_latency_threshold_ms=latency,
            packet_loss_percentage=loss,
        )

    hardware = VersionedHardware(
        version="default",
        master=minimum(50, 0),
        worker=minimum(70, 5),
        arbiter=minimum(50, None),
        sno=minimum(None, None),
        edge_worker=minimum(None, None),
    )
    limits = limits_of(Policy(hardware=(hardware,)))
    assert limits == Limits(latency_ms=(50.0, 70.0), loss_percent=(0.0, 5.0), disk_speed_ms=())


def test_broken_mtu_paths_are_noted() -> None:
    reports = [
        {"outgoing_nic": "one", "remote_ip_address": "192.0.2.12", "mtu_successful": True},
        {"outgoing_nic": "one", "remote_ip_address": "192.0.2.13"},
    ]
    assert report(peer(mtu_report=reports)).broken_mtu == (BrokenMtu(A, "one", "192.0.2.13"),)


def test_two_macs_behind_one_address_collide() -> None:
    links = [link("192.0.2.12", "BB"), link("192.0.2.12", "aa"), link("192.0.2.12", "aa"), link("192.0.2.13", "cc")]
    assert report(peer(l2_connectivity=links)).collisions == {"192.0.2.12": ("aa", "bb")}


def test_two_interfaces_may_see_two_macs() -> None:
    links = [link("192.0.2.12", "aa", "one"), link("192.0.2.12", "bb", "two"), link("192.0.2.12", "", "one")]
    assert report(peer(l2_connectivity=links)).collisions == {}


def test_own_networks_are_distinct() -> None:
    assert [network[0] for network in networks_of(OWN)] == ["192.0.2.0/24", "2001:db8::/64", "198.51.100.0/24"]


def test_an_empty_report_is_a_report() -> None:
    assert parse_connectivity(b'{"remote_hosts": null}', own=OWN) == Connectivity()


@pytest.mark.parametrize("output", [b"", b"null", b'{"remote_hosts": [{"host_id": "x"}]}', b'{"remote_hosts": [7]}'])
def test_hostile_reports_are_refused(output: bytes) -> None:
    with pytest.raises(Invalid, match="connectivity report"):
        parse_connectivity(output, own=OWN)


@pytest.mark.parametrize(("count", "refused"), [(MOST_PEERS, False), (MOST_PEERS + 1, True)])
def test_a_report_names_a_bounded_number_of_hosts(count: int, *, refused: bool) -> None:
    text = json.dumps({"remote_hosts": [{}] * count})
    if refused:
        with pytest.raises(Invalid, match="at most"):
            parse_connectivity(text, own=OWN)
    else:
        assert parse_connectivity(text, own=OWN) == Connectivity()
