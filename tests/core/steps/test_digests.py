"""Digests: order and jitter do not count, a crossed limit does."""

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.model.inventory import Gpu
from firstlight.core.model.reports import (
    ApiVipReply,
    BrokenMtu,
    Connectivity,
    DiskSpeed,
    ImageStatus,
    LossyPath,
    NtpSource,
    PartialPeer,
    ReportKind,
    Resolution,
    SlowPath,
    TangReply,
)
from firstlight.core.steps.digests import crawls, digest
from firstlight.core.steps.limits import DEFAULT_LIMITS, band
from tests.builders.inventories import a_disk, a_route, an_interface, an_inventory

K = ReportKind
A, B = UUID(int=1), UUID(int=2)


def differ(kind: ReportKind, first: Any, second: Any) -> bool:
    return digest(kind, first) != digest(kind, second)


def a_large_inventory() -> Any:
    return an_inventory(
        disks=(a_disk(1), a_disk(2), a_disk(3)),
        interfaces=(
            an_interface(1, ipv4=("192.0.2.1/24", "192.0.2.2/24"), ipv6=("2001:db8::1/64", "2001:db8::2/64")),
            an_interface(2, name="b"),
        ),
        routes=(a_route(), a_route(metric=200), a_route(destination="::", family=10)),
        gpus=(Gpu(address="1"), Gpu(address="2")),
    )


@given(st.randoms())
def test_the_order_of_an_inventory_does_not_count(random: Random) -> None:
    def shuffled(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(random.sample(items, len(items)))

    first = a_large_inventory()
    second = replace(
        first,
        cpu=replace(first.cpu, flags=shuffled(first.cpu.flags)),
        disks=shuffled(first.disks),
        interfaces=tuple(
            replace(nic, ipv4=shuffled(nic.ipv4), ipv6=shuffled(nic.ipv6)) for nic in shuffled(first.interfaces)
        ),
        routes=shuffled(first.routes),
        gpus=shuffled(first.gpus),
    )
    assert not differ(K.INVENTORY, first, second)


@given(st.floats(min_value=0, max_value=1e6))
def test_the_clock_rate_does_not_count(frequency: float) -> None:
    inventory = an_inventory()
    assert not differ(K.INVENTORY, inventory, replace(inventory, cpu=replace(inventory.cpu, frequency=frequency)))


@pytest.mark.parametrize(
    "change",
    [
        lambda i: replace(i, hostname="other"),
        lambda i: replace(i, cpu=replace(i.cpu, count=9)),
        lambda i: replace(i, memory=replace(i.memory, physical_bytes=1)),
        lambda i: replace(i, disks=(*i.disks, a_disk(9))),
        lambda i: replace(i, disks=(replace(i.disks[0], refusals=("why",)), *i.disks[1:])),
        lambda i: replace(i, interfaces=(replace(i.interfaces[0], has_carrier=False), *i.interfaces[1:])),
        lambda i: replace(i, routes=()),
        lambda i: replace(i, tpm_version="2.0"),
        lambda i: replace(i, boot=replace(i.boot, secure_boot="Enabled")),
    ],
)
def test_what_a_machine_is_does_count(change: Callable[[Any], Any]) -> None:
    inventory = a_large_inventory()
    assert differ(K.INVENTORY, inventory, change(inventory))


rtts = st.floats(min_value=0.001, max_value=5_000)
losses = st.floats(min_value=0.001, max_value=100)


@given(rtts, rtts)
def test_latency_counts_by_band(first: float, second: float) -> None:
    crossed = band(first, limits=DEFAULT_LIMITS.latency_ms) != band(second, limits=DEFAULT_LIMITS.latency_ms)
    reports = [Connectivity(slow=(SlowPath(A, "192.0.2.1", rtt),)) for rtt in (first, second)]
    assert differ(K.CONNECTIVITY, *reports) is crossed


@given(losses, losses)
def test_loss_counts_by_band(first: float, second: float) -> None:
    crossed = (first > 10) != (second > 10)
    reports = [Connectivity(lossy=(LossyPath(A, "192.0.2.1", loss),)) for loss in (first, second)]
    assert differ(K.CONNECTIVITY, *reports) is crossed


@pytest.mark.parametrize(("value", "number"), [(99.9, 0), (100.0, 0), (100.1, 1), (1000.0, 1), (1000.1, 2)], ids=str)
def test_a_value_equal_to_a_limit_keeps_it(value: float, number: int) -> None:
    assert band(value, limits=(100.0, 1000.0)) == number


FULL = Connectivity(
    asked=A.bytes + B.bytes,
    layer2={"192.0.2.0/24": A.bytes, "198.51.100.0/24": B.bytes},
    layer3={4: A.bytes, 6: B.bytes},
    partial=(PartialPeer(A, 4, ("192.0.2.1",)), PartialPeer(B, 4, ("192.0.2.2",))),
    slow=(SlowPath(A, "192.0.2.1", 150), SlowPath(B, "192.0.2.2", 150)),
    lossy=(LossyPath(A, "192.0.2.1", 1), LossyPath(B, "192.0.2.2", 1)),
    broken_mtu=(BrokenMtu(A, "one", "192.0.2.1"), BrokenMtu(B, "one", "192.0.2.2")),
    collisions={"192.0.2.1": ("a", "b"), "192.0.2.2": ("c", "d")},
)


def test_the_order_of_paths_does_not_count() -> None:
    turned = Connectivity(
        asked=FULL.asked,
        layer2=dict(reversed(FULL.layer2.items())),
        layer3=dict(reversed(FULL.layer3.items())),
        partial=FULL.partial[::-1],
        slow=FULL.slow[::-1],
        lossy=FULL.lossy[::-1],
        broken_mtu=FULL.broken_mtu[::-1],
        collisions=dict(reversed(FULL.collisions.items())),
    )
    assert not differ(K.CONNECTIVITY, FULL, turned)


@pytest.mark.parametrize("field", Connectivity.__struct_fields__)
def test_each_part_of_connectivity_counts(field: str) -> None:
    assert differ(K.CONNECTIVITY, FULL, replace(FULL, **{field: getattr(Connectivity(), field)}))


@pytest.mark.parametrize(
    ("kind", "first", "second", "differs"),
    [
        (
            K.NTP,
            (NtpSource("a", "synced"), NtpSource("b", "x")),
            (NtpSource("b", "x"), NtpSource("a", "synced")),
            False,
        ),
        (K.NTP, (NtpSource("a", "synced"),), (NtpSource("a", "error"),), True),
        (K.DOMAINS, {"a": Resolution(("1", "2"))}, {"a": Resolution(("2", "1"))}, False),
        (K.DOMAINS, {"a": Resolution(), "b": Resolution()}, {"b": Resolution(), "a": Resolution()}, False),
        (K.DOMAINS, {"a": Resolution(("1",))}, {"a": Resolution()}, True),
        (
            K.IMAGES,
            {"a": ImageStatus(success=True, size_bytes=9, seconds=1, megabytes_per_second=5)},
            {"a": ImageStatus(success=True, size_bytes=9, seconds=8, megabytes_per_second=50)},
            False,
        ),
        (
            K.IMAGES,
            {"a": ImageStatus(success=True, size_bytes=9, megabytes_per_second=0.001)},
            {"a": ImageStatus(success=True, size_bytes=9, megabytes_per_second=0.0009)},
            True,
        ),
        (K.IMAGES, {"a": ImageStatus(success=True)}, {"a": ImageStatus(success=False)}, True),
        (K.DISK_SPEEDS, {"a": DiskSpeed(speed_ms=1)}, {"a": DiskSpeed(speed_ms=10)}, False),
        (K.DISK_SPEEDS, {"a": DiskSpeed(speed_ms=10)}, {"a": DiskSpeed(speed_ms=11)}, True),
        (K.DISK_SPEEDS, {"a": DiskSpeed()}, {"a": DiskSpeed(exit_code=1)}, True),
        (K.TANG, TangReply(success=True), TangReply(success=False), True),
        (K.API_VIP, ApiVipReply(success=False, error="a"), ApiVipReply(success=False, error="b"), True),
        (K.FREE_ADDRESSES, {"a": b"1", "b": b"2"}, {"b": b"2", "a": b"1"}, False),
        (K.FREE_ADDRESSES, {"a": b"1"}, {"a": b"2"}, True),
        (K.VIPS, {"a": True}, {"a": False}, True),
    ],
)
def test_small_reports(kind: ReportKind, first: Any, second: Any, *, differs: bool) -> None:
    assert differ(kind, first, second) is differs


@pytest.mark.parametrize(("size", "rate", "slow"), [(0, 0, False), (1, 0.0009, True), (1, 0.001, False)])
def test_an_image_that_never_had_to_be_pulled_does_not_crawl(size: float, rate: float, *, slow: bool) -> None:
    assert crawls(ImageStatus(success=True, size_bytes=size, megabytes_per_second=rate)) is slow
