"""Five machines become a cluster by themselves; then one fault after the other, each found by name and forgotten."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime

import pytest

from tests.lab.agents.hosts import Host
from tests.lab.agents.laboratory import API_VIP, CLUSTER, EXTRA, PLANS, POLL_SECONDS, READY, Laboratory
from tests.lab.agents.servers import DOMAIN, NETWORK, PREFIX
from tests.lab.agents.watching import Timing, Told, stays, wait_for, wait_for_statuses
from tests.namespaces import ip

pytestmark = pytest.mark.timeout(900)

Expected = Mapping[Told, tuple[str, ...]]
"""Findings, and what each must name."""
LONGEST_SECONDS = 180.0
STEADY_SECONDS = POLL_SECONDS + 1.0
PROMISED_SECONDS = 5.0
NAMES = tuple(plan.name for plan in PLANS)


def unready(*names: str) -> Expected:
    """What the cluster says about hosts that are not ready."""
    return {("all-hosts-are-ready-to-install", "hosts-not-ready", ""): names}


def found_and_forgotten(
    laboratory: Laboratory,
    name: str,
    fault: AbstractContextManager[object],
    expected: Expected,
    *,
    others: bool = False,
) -> None:
    """The fault brings exactly these findings, and its end takes them away; `others` may come and go in between."""
    watcher = laboratory.watcher
    wait_for(watcher, {}, seconds=LONGEST_SECONDS)
    begin = datetime.now(UTC)
    with fault:
        found, seen = wait_for(watcher, expected, seconds=LONGEST_SECONDS, others=others)
        measured = [problem.measured_at for problem in found if problem.measured_at is not None]
        stays(watcher, expected, seconds=STEADY_SECONDS)
    end = datetime.now(UTC)
    _, clear = wait_for(watcher, {}, seconds=LONGEST_SECONDS)
    wait_for_statuses(watcher, READY, seconds=LONGEST_SECONDS)
    laboratory.timings.append(
        Timing(
            fault=name,
            noticed=(seen - begin).total_seconds(),
            judged=(seen - max(measured)).total_seconds(),
            vanished=(clear - end).total_seconds(),
        )
    )


def test_the_cluster_becomes_ready_by_itself(laboratory: Laboratory) -> None:
    """The service deals the roles; then a person makes sure of them, for the faults to come."""
    watcher = laboratory.watcher
    wait_for_statuses(watcher, READY, seconds=120)
    wait_for(watcher, {}, seconds=LONGEST_SECONDS)
    hosts = watcher.cluster.hosts
    assert sorted(host.suggested_role for host in hosts) == ["master"] * 3 + ["worker"] * 2
    roles = {plan.name: plan.role for plan in PLANS}
    for host in hosts:
        laboratory.change(host.id, host_role=roles[host.requested_hostname])
    wait_for(watcher, {}, seconds=LONGEST_SECONDS)
    wait_for_statuses(watcher, READY, seconds=LONGEST_SECONDS)


def test_frames_between_two_hosts_are_dropped(laboratory: Laboratory) -> None:
    """Both say whom they do not reach; the second is outside the group of those that reach each other."""
    first, second = PLANS[0], PLANS[1]
    fault = laboratory.rules(
        f"ether saddr {first.mac} ether daddr {second.mac} drop",
        f"ether saddr {second.mac} ether daddr {first.mac} drop",
    )
    lossy = "sufficient-packet-loss-requirement-for-role", "packets-lost"
    found_and_forgotten(
        laboratory,
        "no frames between two hosts",
        fault,
        {
            ("belongs-to-majority-group", "outside-majority", second.name): (NETWORK, first.name),
            (*lossy, first.name): (second.name, second.address, "100.00 %"),
            (*lossy, second.name): (first.name, first.address, "100.00 %"),
            **unready(first.name, second.name),
        },
    )


def test_every_fourth_packet_is_lost(laboratory: Laboratory) -> None:
    """Only requests of the usual size on one way count: the counter sees all twenty and nothing else."""
    first, second = PLANS[0], PLANS[2]
    way = f"ether saddr {first.mac} ether daddr {second.mac} ip length 84 icmp type echo-request"
    found_and_forgotten(
        laboratory,
        "every fourth packet lost",
        laboratory.rules(f"{way} numgen inc mod 4 == 3 drop"),
        {
            ("sufficient-packet-loss-requirement-for-role", "packets-lost", first.name): (
                second.name,
                second.address,
                "25.00 %",
            ),
            **unready(first.name),
        },
    )


def test_two_control_planes_are_far_apart(laboratory: Laboratory) -> None:
    first, second = laboratory.hosts["cp-1"], laboratory.hosts["cp-2"]
    slow = "sufficient-network-latency-requirement-for-role", "network-too-slow"
    found_and_forgotten(
        laboratory,
        "150 ms between two hosts",
        laboratory.slow_cable(first, second, seconds=0.075),
        {
            (*slow, "cp-1"): ("cp-2 (1", second.plan.address),
            (*slow, "cp-2"): ("cp-1 (1", first.plan.address),
            **unready("cp-1", "cp-2"),
        },
    )


@contextmanager
def large_packets(host: Host) -> Iterator[None]:
    ip("link", "set", "eth0", "mtu", "9000", namespace=host.namespace)
    try:
        yield
    finally:
        ip("link", "set", "eth0", "mtu", "1500", namespace=host.namespace)


def test_an_interface_claims_larger_packets_than_arrive(laboratory: Laboratory) -> None:
    others = tuple(f"eth0 to {plan.address}" for plan in PLANS if plan.name != "w-0")
    found_and_forgotten(
        laboratory,
        "wrong MTU",
        large_packets(laboratory.hosts["w-0"]),
        {("mtu-valid", "mtu-broken", "w-0"): others},
    )


@contextmanager
def wildcard(laboratory: Laboratory, address: str) -> Iterator[None]:
    laboratory.names.start(f"--address=/{CLUSTER}.{DOMAIN}/{address}")
    try:
        yield
    finally:
        laboratory.names.start()


def test_a_wildcard_record_covers_the_domain(laboratory: Laboratory) -> None:
    address = f"{PREFIX}.77"
    found_and_forgotten(
        laboratory,
        "wildcard DNS record",
        wildcard(laboratory, address),
        {
            **{
                ("dns-wildcard-not-configured", "wildcard-record", name): (f"{CLUSTER}.{DOMAIN}", address)
                for name in NAMES
            },
            **unready(*NAMES),
        },
    )


@contextmanager
def without_time(laboratory: Laboratory) -> Iterator[None]:
    laboratory.clock.stop()
    try:
        yield
    finally:
        laboratory.start_clock()


def test_the_time_server_is_off(laboratory: Laboratory) -> None:
    found_and_forgotten(
        laboratory,
        "time server off",
        without_time(laboratory),
        {("ntp-synced", "ntp-not-synced", name): (f"ntp.{DOMAIN} (unreachable)",) for name in NAMES},
    )


@contextmanager
def named(host: Host, name: str) -> Iterator[None]:
    host.rename(name)
    try:
        yield
    finally:
        host.rename(host.plan.name)


def test_two_hosts_have_one_name(laboratory: Laboratory) -> None:
    """Both are told, and both are called the same; which is which tell their own pages."""
    found_and_forgotten(
        laboratory,
        "one name twice",
        named(laboratory.hosts["w-1"], "w-0"),
        {("hostname-unique", "hostname-taken", "w-0"): ("w-0",), **unready("w-0")},
    )


@contextmanager
def twin(laboratory: Laboratory) -> Iterator[None]:
    host = laboratory.add(EXTRA[0])
    laboratory.start_agent(host)
    try:
        yield
    finally:
        laboratory.remove(host.plan.name)


def test_two_machines_have_one_uuid(laboratory: Laboratory) -> None:
    """They stay two hosts, and both can be installed."""
    shared, extra = PLANS[4], EXTRA[0]
    assert shared.uuid == extra.uuid
    found_and_forgotten(
        laboratory,
        "one UUID twice",
        twin(laboratory),
        {
            ("identity-unique", "identity-taken", extra.name): (str(shared.uuid), extra.mac),
            ("identity-unique", "identity-shared", shared.name): (str(shared.uuid), shared.mac),
        },
        others=True,
    )


@contextmanager
def stranger(laboratory: Laboratory, address: str) -> Iterator[None]:
    """A machine that nobody knows takes an address."""
    machine = laboratory.network.plug("stranger", f"{address}/24", mac="52:54:00:77:01:99")
    try:
        yield
    finally:
        ip("link", "set", "eth0", "down", namespace=machine)


def test_a_stranger_has_a_virtual_address(laboratory: Laboratory) -> None:
    found_and_forgotten(
        laboratory,
        "VIP taken by a stranger",
        stranger(laboratory, API_VIP),
        {("api-vips-valid", "vip-in-use", ""): (API_VIP, *NAMES)},
    )


def test_each_finding_was_told_soon_after_its_measurement(laboratory: Laboratory) -> None:
    """Five seconds are what is promised; a tenth of that is usual, so that a busy machine does not matter."""
    assert {timing.fault: timing.judged for timing in laboratory.timings if timing.judged > PROMISED_SECONDS} == {}
