"""Mistakes in static networks that are found before any machine boots."""

import pytest

from firstlight.core.network.host_rows import HostRow, document_of
from firstlight.core.network.static_problems import DescribedHost, NetworkProblem, Severity, check_hosts

A, B, C = "02:00:00:80:12:1a", "02:00:00:80:12:1b", "02:00:00:80:12:1c"
ON = {"enabled": True}
CARD = {"name": "eth0", "type": "ethernet", "state": "up"}
DNS = {"config": {"server": ["192.0.2.2"]}}


def a_host(mac: str = A, **changes: object) -> DescribedHost:
    document, cards = document_of(
        HostRow(mac_addresses=(mac,), ipv4="192.0.2.5/24", ipv4_gateway="192.0.2.1", dns=("192.0.2.2",))
    )
    return DescribedHost(cards=cards, document=document | changes)


def v4(*addresses: str, **more: object) -> dict[str, object]:
    listed = [{"ip": ip, "prefix-length": int(prefix)} for ip, _, prefix in (one.partition("/") for one in addresses)]
    return {**CARD, "ipv4": {**ON, "address": listed}, **more}


def route(gateway: str, *, through: str = "eth0", to: str = "0.0.0.0/0", **more: object) -> dict[str, object]:
    return {"destination": to, "next-hop-address": gateway, "next-hop-interface": through, **more}


def routes(*given: dict[str, object]) -> dict[str, object]:
    return {"config": [*given]}


def problems(*hosts: DescribedHost) -> tuple[NetworkProblem, ...]:
    found = check_hosts(hosts)
    assert all(one.message.endswith((".", "?")) for one in found)
    return found


def test_nothing_is_wrong() -> None:
    assert problems(a_host()) == ()
    assert problems() == ()


@pytest.mark.parametrize(
    ("interfaces", "code", "words"),
    [
        ([CARD, CARD], "interface-twice", "described 2 times"),
        ([{**CARD, "name": "a-name-of-16-let"}, v4("192.0.2.5/24")], "interface-name", "at most 15 characters"),
        ([v4("192.0.2.5/24", "192.0.2.5/24")], "address-twice", "given to it twice"),
        ([v4("192.0.2.300/24")], "address-malformed", "192.0.2.300/24"),
        ([v4("192.0.2.5/33")], "address-malformed", "192.0.2.5/33"),
        ([v4("192.0.2.0/24")], "address-unusable", "the network itself"),
        ([v4("192.0.2.255/24")], "address-unusable", "all hosts of its network"),
        ([v4("224.0.0.1/24")], "address-unusable", "224.0.0.1"),
        ([v4("198.51.100.5/24")], "gateway-outside", "192.0.2.1 is not in 198.51.100.0/24"),
        ([v4("192.0.2.1/24")], "gateway-own", "the host's own address"),
        ([CARD], "gateway-outside", "eth0 has no IPv4 address"),
        ([v4("192.0.2.5/24", mtu=67)], "mtu", "MTU of 67"),
        ([v4("192.0.2.5/24", mtu=65_536)], "mtu", "at most 65535"),
        ([v4("192.0.2.5/24", mtu=1_279, ipv6={**ON, "dhcp": True})], "mtu", "IPv6 needs at least 1280"),
        (
            [
                v4("192.0.2.5/24", mtu=1500),
                {"name": "v", "type": "vlan", "mtu": 1501, "vlan": {"base-iface": "eth0", "id": 5}},
            ],
            "mtu",
            "but eth0 below it only 1500",
        ),
        ([v4("192.0.2.5/24"), {"name": "v", "vlan": {"base-iface": "eth0", "id": 4095}}], "vlan", "1 to 4094"),
        ([v4("192.0.2.5/24"), {"name": "v", "vlan": {"base-iface": "eth9", "id": 5}}], "interface-unknown", "eth9"),
        (
            [v4("192.0.2.5/24"), {"name": "b", "type": "bond", "link-aggregation": {"port": ["eth7"]}}],
            "interface-unknown",
            "b stands on eth7",
        ),
        (
            [
                v4("192.0.2.5/24"),
                {"name": "b", "type": "bond", "link-aggregation": {"slaves": ["eth0"]}},
                {"name": "br", "type": "linux-bridge", "bridge": {"port": [{"name": "eth0"}]}},
            ],
            "port-twice",
            "eth0 is a port of b and of br",
        ),
        ([v4("192.0.2.5/24"), {"name": "b", "type": "bond"}], "no-ports", "b has no ports"),
        ([{"type": "ethernet"}], "shape", "`name`"),
        ("odd", "shape", "$.interfaces"),
    ],
)
def test_interfaces(interfaces: object, code: str, words: str) -> None:
    found = problems(a_host(interfaces=interfaces))
    assert [one for one in found if one.code == code and words in one.message], found


@pytest.mark.parametrize("prefix", ["192.0.2.4/31", "192.0.2.5/32"])
def test_small_networks_have_no_address_for_themselves(prefix: str) -> None:
    host = a_host(interfaces=[v4(prefix)], routes=routes(route("192.0.2.5" if "31" in prefix else "192.0.2.1")))
    assert "address-unusable" not in {one.code for one in problems(host)}


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ([route("192.0.2.1", through="eth9")], "route-interface", "leaves through eth9"),
        ([{"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.1"}], "route-interface", "names no next-hop"),
        ([route("192.0.2.999")], "gateway-malformed", "192.0.2.999"),
        ([route("192.0.2.1"), route("192.0.2.3")], "default-route-twice", "2 default routes for IPv4"),
        ([route("192.0.2.1", to="10.0.0.0/8")], "no-default-route", "no default route"),
    ],
)
def test_routes(given: list[dict[str, object]], code: str, words: str) -> None:
    found = problems(a_host(routes=routes(*given)))
    assert [one for one in found if one.code == code and words in one.message], found


@pytest.mark.parametrize(
    "given",
    [
        [route("192.0.2.1"), route("192.0.2.3", metric=200)],
        [route("192.0.2.1"), route("192.0.2.3", **{"table-id": 100})],
        [route("192.0.2.1"), route("203.0.113.1", state="absent")],
    ],
)
def test_routes_that_are_fine(given: list[dict[str, object]]) -> None:
    assert problems(a_host(routes=routes(*given))) == ()


def test_link_local_gateways_are_always_near() -> None:
    document, cards = document_of(
        HostRow(mac_addresses=(A,), ipv6="2001:db8::5/64", ipv6_gateway="fe80::1", dns=("2001:db8::2",))
    )
    assert problems(DescribedHost(cards=cards, document=document)) == ()


def test_names() -> None:
    missing = problems(a_host(**{"dns-resolver": {}}))
    assert [(one.code, one.severity) for one in missing] == [("dns-missing", Severity.WARNING)]
    wrong = problems(a_host(**{"dns-resolver": {"config": {"server": ["ns.example.com"]}}}))
    assert [one.code for one in wrong] == ["dns-malformed"]


def test_whoever_asks_is_told() -> None:
    asking = {**CARD, "ipv4": {**ON, "dhcp": True}}
    assert problems(a_host(interfaces=[asking], routes={}, **{"dns-resolver": {}})) == ()
    proud = {**CARD, "ipv4": {**ON, "dhcp": True, "auto-dns": False}}
    found = problems(a_host(interfaces=[proud], routes={}, **{"dns-resolver": {}}))
    assert [one.code for one in found] == ["dns-missing"]


def test_a_host_nobody_reaches() -> None:
    found = problems(a_host(interfaces=[CARD], routes={}))
    assert [one.code for one in found] == ["no-address"]


def test_hosts_do_not_share() -> None:
    found = problems(a_host(A), a_host(A.upper()), a_host(C, interfaces=[v4("192.0.2.6/24")]))
    shared = [(one.host, one.code) for one in found]
    assert shared == [(0, "address-twice"), (0, "mac-shared"), (1, "address-twice"), (1, "mac-shared")]
    assert "also given to host 2" in found[0].message
    assert "also described for host 1" in found[3].message


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        ((), "no-cards"),
        (((A, "eth0"), ("02:00", "eth1")), "mac-malformed"),
        (((A, ""),), "card-unnamed"),
        (((A, "eth0"), (A, "eth1")), "mac-twice"),
        (((A, "eth0"), (B, "eth0")), "name-twice"),
        (((A, "eth0"), (B, "eth5")), "unused-card"),
    ],
)
def test_cards(cards: tuple[tuple[str, str], ...], code: str) -> None:
    host = DescribedHost(cards=cards, document=a_host().document)
    assert code in {one.code for one in problems(host)}
