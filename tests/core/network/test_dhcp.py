"""VIPs that come by DHCP: which addresses may be, and leases that do not lapse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.network import dhcp as subject

NETWORK = "192.0.2.0/24"
LEASE = """lease {
  interface "api";
  fixed-address 192.0.2.5;
  option dhcp-renewal-time 1800;
  renew 0 2025/06/01 10:00:00;
  rebind 0 2025/06/01 11:00:00;
  expire 0 2025/06/01 12:00:00;
}"""


def test_a_lease_for_the_new_cluster_does_not_lapse() -> None:
    lease = subject.never_expiring(LEASE)
    assert lease.count("never;") == 3
    assert "renew never;" in lease
    assert "option dhcp-renewal-time 1800;" in lease
    assert subject.never_expiring("lease { renew 1; rebind 2; expire 3; }") == (
        "lease { renew never; rebind never; expire never; }"
    )


@given(st.text(alphabet="renewxpi ;\n", max_size=200))
def test_lease_texts_never_raise(text: str) -> None:
    assert subject.never_expiring(text).count(";") == text.count(";")


def test_good_leases_give_normal_addresses() -> None:
    assert subject.leased_vips("192.0.2.5", "192.0.2.6", network=NETWORK) == ("192.0.2.5", "192.0.2.6")


@pytest.mark.parametrize(
    ("api", "ingress", "word"),
    [
        ("192.0.3.5", "192.0.2.6", "API VIP 192.0.3.5"),
        ("192.0.2.5", "192.0.3.6", "ingress VIP 192.0.3.6"),
        ("", "192.0.2.6", "not in the machine network"),
        ("2001:db8::5", "192.0.2.6", "not in the machine network"),
        ("192.0.2.5", "192.0.2.5", "both VIPs"),
    ],
)
def test_addresses_that_cannot_be_vips(api: str, ingress: str, word: str) -> None:
    with pytest.raises(Invalid, match=word):
        subject.leased_vips(api, ingress, network=NETWORK)
