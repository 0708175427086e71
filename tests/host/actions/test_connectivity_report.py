"""What the connectivity check asks and reports, without a network."""

from ipaddress import ip_address, ip_interface
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.actions.connectivity_report import (
    Measured,
    Outgoing,
    RemoteHost,
    RemoteNic,
    all_targets,
    outgoing_links,
    report,
)
from firstlight.host.links.ping import Ping
from firstlight.host.links.rows import LOOPBACK, UP, Address, Link

A = UUID("a0d9e086-ae60-bd63-5910-fed4736ccffa")
B = UUID("b0d9e086-ae60-bd63-5910-fed4736ccffa")


def a_link(name: str = "eth0", *, index: int = 1, **parts: object) -> Link:
    values: dict[str, object] = {"mac": "52:54:00:00:00:01", "mtu": 1500, "flags": UP}
    return msgspec.convert({**values, **parts, "index": index, "name": name}, Link)


def an_address(text: str, *, link: int = 1) -> Address:
    return Address(link=link, interface=ip_interface(text))


def a_peer(identity: UUID = A, *addresses: str, mac: str = "52:54:00:00:00:02") -> RemoteHost:
    return RemoteHost(host_id=identity, nics=(RemoteNic(mac=mac, ip_addresses=addresses),))


@pytest.mark.parametrize(
    ("link", "addresses", "kept"),
    [
        (a_link(), ["192.0.2.1/24"], True),
        (a_link(kind="bond"), ["fd00::1/64"], True),
        (a_link(kind="vlan"), ["192.0.2.1/24"], True),
        (a_link(kind="bridge"), ["192.0.2.1/24"], False),
        (a_link(kind="tun"), ["192.0.2.1/24"], False),
        (a_link(), ["169.254.1.1/16", "fe80::1/64"], False),
        (a_link(), ["fe80::1/64", "fd00::1/64"], True),
        (a_link(), [], False),
        (a_link(master=7, member_kind="bond"), ["192.0.2.1/24"], False),
        (a_link("lo", flags=UP | LOOPBACK, mac="00:00:00:00:00:00"), ["127.0.0.1/8", "192.0.2.1/32"], False),
        (a_link(mac=""), ["192.0.2.1/24"], False),
    ],
)
def test_links_that_peers_are_asked_through(link: Link, addresses: list[str], kept: bool) -> None:
    found = outgoing_links([link], [an_address(text) for text in addresses])
    assert bool(found) == kept
    if kept:
        assert [str(interface) for interface in found[0].interfaces] == addresses


def test_the_source_of_a_question() -> None:
    nic = Outgoing(link=a_link(), interfaces=tuple(map(ip_interface, ("10.0.0.1/24", "192.0.2.1/25", "fd00::1/128"))))
    assert str(nic.source_v4(ip_address("192.0.2.127"))) == "192.0.2.1"
    assert nic.source_v4(ip_address("192.0.2.128")) is None
    assert str(nic.source_v6(ip_address("fd00::2"))) == "fd00::1"


@pytest.mark.parametrize("mtu", [1499, 1500, 1501, 9000])
def test_only_unusual_sizes_are_measured(mtu: int) -> None:
    assert Outgoing(link=a_link(mtu=mtu), interfaces=()).measures_mtu == (mtu != 1500)


def test_what_is_measured_is_reported_in_order() -> None:
    """A second owner of an address, total loss, and lists sorted by what they are about."""
    nic = Outgoing(link=a_link(mtu=9000), interfaces=(ip_interface("192.0.2.1/24"),))
    near, far = ip_address("192.0.2.2"), ip_address("10.0.0.9")
    measured = Measured(
        pings={near: Ping(sent=20, received=15, average_ms=1.25), far: Ping(sent=20, received=0)},
        owners={("eth0", near): ("52:54:00:00:00:02", "52:54:00:00:00:99")},
        whole_packets={("eth0", near): False},
    )
    hosts = [a_peer(B, "10.0.0.9"), a_peer(A, "192.0.2.2/24", "nonsense", mac="52:54:00:00:00:02".upper())]
    document = msgspec.json.encode(report(hosts, outgoing=[nic], measured=measured))
    assert msgspec.json.decode(document) == {
        "remote_hosts": [
            {
                "host_id": str(A),
                "l2_connectivity": [
                    {
                        "outgoing_nic": "eth0",
                        "outgoing_ip_address": "192.0.2.1",
                        "remote_ip_address": "192.0.2.2",
                        "remote_mac": "52:54:00:00:00:02",
                        "successful": True,
                    },
                    {
                        "outgoing_nic": "eth0",
                        "outgoing_ip_address": "192.0.2.1",
                        "remote_ip_address": "192.0.2.2",
                        "remote_mac": "52:54:00:00:00:99",
                    },
                ],
                "l3_connectivity": [
                    {
                        "remote_ip_address": "192.0.2.2",
                        "successful": True,
                        "average_rtt_ms": 1.25,
                        "packet_loss_percentage": 25.0,
                    }
                ],
                "mtu_report": [{"outgoing_nic": "eth0", "remote_ip_address": "192.0.2.2"}],
            },
            {
                "host_id": str(B),
                "l2_connectivity": [],
                "l3_connectivity": [{"remote_ip_address": "10.0.0.9", "packet_loss_percentage": 100.0}],
                "mtu_report": [],
            },
        ]
    }


@given(st.lists(st.ip_addresses().map(str), max_size=30), st.uuids())
def test_every_target_once_whoever_asks(texts: list[str], asker: UUID) -> None:
    hosts = [a_peer(A, *texts), a_peer(B, *texts)]
    found = all_targets(hosts, asker=asker)
    assert sorted(map(str, found)) == sorted({str(ip_address(text)) for text in texts})


def test_machines_do_not_begin_with_the_same_peer() -> None:
    hosts = [a_peer(A, *(f"192.0.2.{number}" for number in range(200)))]
    assert len({all_targets(hosts, asker=UUID(int=number))[0] for number in range(200)}) == 200


def test_a_peer_may_have_nothing() -> None:
    assert RemoteHost(host_id=A).addresses == ()
    nothing = Measured(pings={}, owners={}, whole_packets={})
    (row,) = report([RemoteHost(host_id=A)], outgoing=[], measured=nothing).remote_hosts or ()
    assert row.host_id == A
