"""MAC addresses and leases of VIPs that come by DHCP."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.network import dhcp as subject
from tests.builders.clusters import a_cluster

LEASE = """lease {
  interface "api";
  fixed-address 192.0.2.5;
  option dhcp-renewal-time 1800;
  renew 0 2025/06/01 10:00:00;
  rebind 0 2025/06/01 11:00:00;
  expire 0 2025/06/01 12:00:00;
}"""


@given(st.uuids())
def test_macs_differ_and_stay(cluster_id: UUID) -> None:
    api, ingress = subject.dhcp_macs(cluster_id)
    assert api.startswith("00:1a:4a:")
    assert len(api) == len(ingress) == 17
    assert api != ingress
    assert subject.dhcp_macs(UUID(str(cluster_id))) == (api, ingress)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (LEASE, True),
        ("lease { a b; }", True),
        ("lease{a b;c d;}", True),
        ("lease { }", False),
        ("lease { a b }", False),
        ("lease { a { b; } }", False),
        ("release { a b; }", False),
        ("lease { a b; } lease { a b; }", False),
        ("", False),
        ("lease { " + "a b; " * 5000 + "}", False),
    ],
)
def test_lease_shape(text: str, good: bool) -> None:
    assert subject.is_lease(text) is good


def test_a_lease_for_the_new_cluster_does_not_lapse() -> None:
    lease = subject.never_expiring(LEASE)
    assert lease.count("never;") == 3
    assert "renew never;" in lease
    assert "option dhcp-renewal-time 1800;" in lease
    assert subject.never_expiring("lease { renew 1; rebind 2; expire 3; }") == (
        "lease { renew never; rebind never; expire never; }"
    )
    assert subject.is_lease(lease)


def test_good_leases_give_normal_addresses() -> None:
    cluster = a_cluster(vip_dhcp_allocation=True)
    found = subject.check_leases(cluster, addresses=("192.0.2.5", "192.0.2.6"), leases=(LEASE, ""))
    assert found == ("192.0.2.5", "192.0.2.6")


@pytest.mark.parametrize(
    ("changes", "addresses", "leases", "word"),
    [
        ({"vip_dhcp_allocation": False}, ("192.0.2.5", "192.0.2.6"), ("", ""), "does not get its VIPs by DHCP"),
        ({"machine_networks": ()}, ("192.0.2.5", "192.0.2.6"), ("", ""), "no machine network"),
        ({}, ("192.0.3.5", "192.0.2.6"), ("", ""), "API VIP 192.0.3.5"),
        ({}, ("192.0.2.5", "192.0.3.6"), ("", ""), "ingress VIP 192.0.3.6"),
        ({}, ("", "192.0.2.6"), ("", ""), "not in the machine network"),
        ({}, ("2001:db8::5", "192.0.2.6"), ("", ""), "IPv6"),
        ({}, ("192.0.2.5", "192.0.2.6"), ("", "lease"), "ingress VIP 192.0.2.6"),
        ({}, ("192.0.2.5", "192.0.2.5"), ("", ""), "both VIPs"),
    ],
)
def test_bad_leases(changes: dict[str, Any], addresses: tuple[str, str], leases: tuple[str, str], word: str) -> None:
    cluster = a_cluster(**{"vip_dhcp_allocation": True} | changes)
    with pytest.raises(Invalid, match=word):
        subject.check_leases(cluster, addresses=addresses, leases=leases)


@given(st.text(alphabet="lease {};ab\n", max_size=200))
def test_lease_texts_never_raise(text: str) -> None:
    subject.is_lease(text)
    subject.never_expiring(text)
