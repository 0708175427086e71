"""Bitmaps of free addresses, and what hosts agree on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.model.host import HostState
from firstlight.core.network import free_addresses as subject
from tests.builders.hosts import host_state, some_reports

NET = "192.0.2.0/24"


def scanning(number: int, free: list[str] | None, *, cidr: str = NET, **changes: Any) -> HostState:
    found = None if free is None else {cidr: subject.bitmap_of(free, cidr=cidr)}
    return host_state(number, reports=some_reports(number, free_addresses=found, **changes))


@given(st.integers(20, 32), st.sets(st.integers(0, 4095)))
def test_a_bitmap_keeps_the_list(prefix: int, offsets: set[int]) -> None:
    cidr = f"10.1.0.0/{prefix}"
    inside = sorted(offset for offset in offsets if offset < 2 ** (32 - prefix))
    texts = [f"10.1.{offset >> 8}.{offset & 255}" for offset in inside]
    bitmap = subject.bitmap_of(reversed(texts), cidr=cidr)
    assert bitmap is not None
    assert len(bitmap) == max(1, 2 ** (32 - prefix) // 8)
    assert subject.free_list(bitmap, cidr) == tuple(texts)
    assert all(subject.is_free(bitmap, cidr, address=text) for text in texts)


def test_the_lowest_address_is_the_highest_bit() -> None:
    assert subject.bitmap_of(["192.0.2.0", "192.0.2.9"], cidr="192.0.2.0/28") == b"\x80\x40"


def test_strangers_are_left_out() -> None:
    assert subject.bitmap_of(["192.0.3.0", "x", "2001:db8::1"], cidr="192.0.2.0/29") == b"\x00"


@pytest.mark.parametrize(("cidr", "kept"), [("10.0.0.0/16", True), ("10.0.0.0/15", False), ("2001:db8::/120", False)])
def test_only_smaller_ipv4_networks_are_kept(cidr: str, kept: bool) -> None:
    assert (subject.bitmap_of([], cidr=cidr) is not None) is kept


def test_reading_never_goes_past_the_end() -> None:
    assert subject.free_list(b"\xff", NET) == tuple(f"192.0.2.{n}" for n in range(8))
    assert subject.free_list(b"\xff" * 99, "192.0.2.0/30") == tuple(f"192.0.2.{n}" for n in range(4))
    assert subject.free_list(b"\xff", "x") == ()
    assert not subject.is_free(b"\xff", NET, address="192.0.2.8")
    assert not subject.is_free(b"\xff", NET, address="192.0.3.1")
    assert not subject.is_free(b"\xff", "x", address="192.0.2.1")


def test_hosts_must_agree() -> None:
    hosts = [scanning(1, ["192.0.2.50", "192.0.2.51"]), scanning(2, ["192.0.2.51", "192.0.2.52"]), scanning(3, None)]
    found = subject.free_for_all(hosts, cidr=NET)
    assert found is not None
    assert subject.free_list(found, NET) == ("192.0.2.51",)
    assert subject.free_for_all(hosts, cidr="198.51.100.0/24") is None


def test_a_cut_bitmap_shortens_what_is_known() -> None:
    cut = host_state(2, reports=some_reports(2, free_addresses={NET: b"\xff"}))
    found = subject.free_for_all([scanning(1, ["192.0.2.3", "192.0.2.200"]), cut], cidr=NET)
    assert found == b"\x10"


def test_vips_are_offered_only_where_nothing_else_lives() -> None:
    everything = [f"192.0.2.{n}" for n in range(256)]
    hosts = [scanning(1, everything), scanning(2, everything)]
    offered = subject.usable_for_vips(hosts, cidr=NET, taken=["192.0.2.2"], most=999)
    # First and last, gateway .1, taken .2, and the hosts' own .11 and .12 are missing.
    assert set(everything) - set(offered) == {f"192.0.2.{n}" for n in (0, 1, 2, 11, 12, 255)}
    assert subject.usable_for_vips(hosts, cidr=NET, taken=[], most=2) == ("192.0.2.2", "192.0.2.3")


def test_no_vips_are_offered_where_nobody_looked() -> None:
    assert subject.usable_for_vips([scanning(1, None)], cidr=NET, taken=[], most=2) == ()
    assert subject.usable_for_vips([scanning(1, [])], cidr="2001:db8::/64", taken=[], most=2) == ()


@pytest.mark.parametrize(
    ("free", "address", "seen"),
    [
        (["192.0.2.50"], "192.0.2.50", True),
        (["192.0.2.50"], "192.0.2.51", False),
        (["192.0.2.50"], "198.51.100.1", None),
        (None, "192.0.2.50", None),
    ],
)
def test_one_host_s_scan(free: list[str] | None, address: str, seen: bool | None) -> None:
    assert subject.scanned_by(scanning(1, free), address=address) is seen
