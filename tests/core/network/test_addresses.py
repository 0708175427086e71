"""Reading addresses and networks: normal forms, arithmetic, and no exception whatever the text."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.model.inventory import Cpu, Interface, Inventory, Memory
from firstlight.core.network import addresses as subject

EVERY_FUNCTION = (
    subject.address_of,
    subject.network_of,
    subject.strict_network,
    subject.normal_address,
    subject.normal_network,
    subject.version_of,
    subject.is_v6,
)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        pytest.param("192.0.2.17/24", "192.0.2.0/24", id="host-bits-cut-off"),
        pytest.param("192.0.2.0/24", "192.0.2.0/24", id="network"),
        pytest.param("192.0.2.1/32", "192.0.2.1/32", id="longest-v4"),
        pytest.param("192.0.2.1/33", None, id="one-bit-too-many-v4"),
        pytest.param("2001:DB8:0:0::5/64", "2001:db8::/64", id="v6-short-form"),
        pytest.param("2001:db8::1/128", "2001:db8::1/128", id="longest-v6"),
        pytest.param("2001:db8::1/129", None, id="one-bit-too-many-v6"),
        pytest.param("0.0.0.0/0", "0.0.0.0/0", id="everything"),
        pytest.param("192.0.2.1", None, id="no-prefix"),
        pytest.param("192.0.2.1/", None, id="empty-prefix"),
        pytest.param("192.0.2.1/255.255.255.0", None, id="netmask"),
        pytest.param("192.0.2.1/-1", None, id="negative"),
        pytest.param("192.0.2.1/0024", None, id="padded-prefix"),
        pytest.param("192.0.2.1/²", None, id="odd-digit"),
        pytest.param("fe80::1%eth0/64", None, id="zone"),
        pytest.param("", None, id="empty"),
        pytest.param("/24", None, id="only-prefix"),
        pytest.param("host/24", None, id="word"),
    ],
)
def test_network(text: str, network: str | None) -> None:
    assert subject.normal_network(text) == network


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1/24", "192.0.2.1"),
        ("2001:0db8::0001/64", "2001:db8::1"),
        ("192.0.2.1/99", None),
        ("192.0.2.256", None),
        ("fe80::1%eth0", None),
        ("", None),
    ],
)
def test_address(text: str, address: str | None) -> None:
    assert subject.normal_address(text) == address


@pytest.mark.parametrize(
    ("text", "strict"), [("192.0.2.0/24", True), ("192.0.2.1/24", False), ("2001:db8::/32", True), ("x", False)]
)
def test_strict_network_refuses_host_bits(text: str, strict: bool) -> None:
    assert (subject.strict_network(text) is not None) is strict


@pytest.mark.parametrize(
    ("address", "cidr", "inside"),
    [
        ("192.0.2.255", "192.0.2.0/24", True),
        ("192.0.3.0", "192.0.2.0/24", False),
        ("192.0.1.255/24", "192.0.2.0/24", False),
        ("2001:db8::1", "192.0.2.0/24", False),
        ("nonsense", "192.0.2.0/24", False),
        ("192.0.2.1", "nonsense", False),
    ],
)
def test_in_network(address: str, cidr: str, inside: bool) -> None:
    assert subject.in_network(address, cidr) is inside
    assert subject.in_networks(address, ["198.51.100.0/24", cidr]) is inside


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("10.0.0.0/8", "10.255.0.0/16", True),
        ("10.0.0.0/9", "10.128.0.0/9", False),
        ("::/0", "10.0.0.0/8", False),
        ("2001:db8::/32", "2001:db8:1::/48", True),
        ("2001:db8::/48", "2001:db8:1::/48", False),
        ("x", "10.0.0.0/8", False),
    ],
)
def test_overlaps_is_symmetric(first: str, second: str, shared: bool) -> None:
    assert subject.overlaps(first, second) is shared
    assert subject.overlaps(second, first) is shared


def test_same_network_needs_two_readable_texts() -> None:
    assert subject.same_network("2001:db8:0::/64", "2001:db8::5/64")
    assert not subject.same_network("192.0.2.0/24", "192.0.2.0/25")
    assert not subject.same_network("x", "x")


def test_versions() -> None:
    assert subject.version_of("192.0.2.0/24") == 4
    assert subject.is_v6("2001:db8::1")
    assert subject.version_of("x") is None
    assert subject.versions_of(["192.0.2.1", "x", "198.51.100.0/24"]) == {4}
    assert subject.is_dual_stack(["192.0.2.1", "2001:db8::/64"])
    assert not subject.is_dual_stack(["192.0.2.1"])


def test_networks_of_a_machine() -> None:
    first = Interface(name="a", ipv4=("192.0.2.5/24", "192.0.2.6/24", "169.254.1.1/16"), ipv6=("fe80::1/64",))
    second = Interface(name="b", ipv4=("192.0.2.7/24", "bad"), ipv6=("2001:db8::7/64",))
    inventory = Inventory(cpu=Cpu(), memory=Memory(), interfaces=(first, second))
    assert subject.networks_of_inventory(inventory) == ("192.0.2.0/24", "2001:db8::/64")
    assert subject.addresses_of_inventory(inventory) == ("192.0.2.5", "192.0.2.6", "192.0.2.7", "2001:db8::7")


@given(st.text(alphabet="0123456789abcdef.:/%-² xe", max_size=50) | st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    for function in EVERY_FUNCTION:
        function(text)
    subject.in_network(text, text)
    subject.overlaps(text, "10.0.0.0/8")
    subject.same_network(text, text)


@given(st.ip_addresses(), st.integers(0, 128))
def test_prefix_arithmetic(address: ipaddress.IPv4Address | ipaddress.IPv6Address, prefix: int) -> None:
    bits = address.max_prefixlen
    network = subject.network_of(f"{address}/{prefix}")
    if prefix > bits:
        assert network is None
        return
    assert network is not None
    assert network.num_addresses == 2 ** (bits - prefix)
    assert int(network.network_address) == int(address) >> (bits - prefix) << (bits - prefix)
    assert subject.in_network(str(address), str(network))
    assert subject.strict_network(str(network)) == network
