"""Latency, packet loss, MTU."""

from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.hosts.facts import HostFacts, Peer
from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.reports import BrokenMtu, LossyPath, SlowPath
from firstlight.core.rules import Status
from tests.builders.facts import MASTER_NEEDS, a_context, host_facts, pool_facts
from tests.builders.hosts import a_connectivity, a_host, some_reports
from tests.builders.inventories import an_interface, an_inventory
from tests.builders.moments import EARLIER, host_id
from tests.core.hosts.rules.judging import FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

LATENCY = "sufficient-network-latency-requirement-for-role"
LOSS = "sufficient-packet-loss-requirement-for-role"
TWO = host_id(2)


def slow(*paths: tuple[int, float], **changes: Any) -> HostFacts:
    found = tuple(SlowPath(host_id(number), f"192.0.2.{10 + number}", rtt) for number, rtt in paths)
    return host_facts(reports=some_reports(connectivity=a_connectivity(slow=found)), **changes)


def lossy(*paths: tuple[int, float], **changes: Any) -> HostFacts:
    found = tuple(LossyPath(host_id(number), f"192.0.2.{10 + number}", loss) for number, loss in paths)
    return host_facts(reports=some_reports(connectivity=a_connectivity(lossy=found)), **changes)


def with_worker(number: int) -> Any:
    context = a_context()
    return replace(context, peers={**context.peers, host_id(number): Peer(name="w", role=HostRole.WORKER)})


NO_REPORT = host_facts(reports=some_reports(connectivity=None))
NO_INVENTORY = host_facts(reports=some_reports(inventory=None))
AUTO = a_host(role=HostRole.AUTO_ASSIGN, suggested_role=None)
WORKER = a_host(role=HostRole.WORKER)
DAY_TWO = {"kind": ClusterKind.ADD_HOSTS}
NO_LIMIT = replace(MASTER_NEEDS, network_latency_threshold_ms=None, packet_loss_percentage=None)
TEN_PERCENT = replace(MASTER_NEEDS, packet_loss_percentage=10)
FREE = [
    pytest.param({"context": a_context(host_count=1)}, id="single-host"),
    pytest.param({"requirements": NO_LIMIT}, id="no-limit"),
    pytest.param({"host": AUTO}, id="role-open"),
    pytest.param({"cluster": DAY_TWO}, id="day-2"),
    pytest.param({"context": with_worker(2)}, id="peer-has-another-role"),
    pytest.param({"host": WORKER}, id="host-has-another-role"),
    pytest.param({"context": a_context(peers={})}, id="peer-unknown"),
]


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("fast", host_facts(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", NO_INVENTORY, PENDING, "no-inventory"),
        case("no-report", NO_REPORT, PENDING, "no-connectivity-report"),
        case("at-the-limit", slow((2, 100.0)), SUCCESS),
        case("under-the-limit", slow((2, 99.99)), SUCCESS),
        case("over-the-limit", slow((2, 100.01)), FAILURE, "network-too-slow"),
        case("no-number", slow((2, float("nan"))), SUCCESS),
    ],
)
def test_latency(facts: HostFacts, status: Status, cause: str) -> None:
    check(LATENCY, facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-lost", host_facts(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", NO_INVENTORY, PENDING, "no-inventory"),
        case("no-report", NO_REPORT, PENDING, "no-connectivity-report"),
        case("at-the-limit", lossy((2, 0.0)), SUCCESS),
        case("over-the-limit", lossy((2, 0.01)), FAILURE, "packets-lost"),
        case("at-ten-percent", lossy((2, 10.0), requirements=TEN_PERCENT), SUCCESS),
        case("over-ten-percent", lossy((2, 10.01), requirements=TEN_PERCENT), FAILURE, "packets-lost"),
    ],
)
def test_loss(facts: HostFacts, status: Status, cause: str) -> None:
    check(LOSS, facts, status, cause)


@pytest.mark.parametrize("changes", FREE)
def test_paths_that_do_not_count(changes: dict[str, Any]) -> None:
    check(LATENCY, slow((2, 5000.0), **changes), SUCCESS, "")
    check(LOSS, lossy((2, 99.0), **changes), SUCCESS, "")


def test_the_worst_path_to_each_host_is_told() -> None:
    found = finding(LATENCY, slow((3, 300.0), (2, 150.0), (2, 200.0), (2, 170.0)))
    assert found.evidence["slow"] == ["host-2 (200.00 ms)", "host-3 (300.00 ms)"]
    assert "ping -c 10 -W 3 192.0.2.12" in found.message
    assert found.measured_at == EARLIER
    assert finding(LOSS, lossy((2, 20.0))).evidence["lossy"] == ["host-2 (20.00 %)"]


def test_at_most_six_hosts_are_listed() -> None:
    peers = {host_id(number): Peer(name=f"peer-{number}", role=HostRole.MASTER) for number in range(1, 10)}
    facts = slow(*((number, 500.0) for number in range(2, 9)), context=a_context(peers=peers))
    found = finding(LATENCY, facts)
    assert "peer-7 (500.00 ms) and 1 more" in found.message
    assert "peer-8" not in found.message
    assert found.message.count("ping -c") == 6
    six = slow(*((number, 500.0) for number in range(2, 8)), context=a_context(peers=peers))
    assert "more" not in finding(LATENCY, six).message


def mtu(*broken: tuple[str, str], **changes: Any) -> HostFacts:
    probes = tuple(BrokenMtu(TWO, interface, address) for interface, address in broken)
    two_nics = (an_interface(), an_interface(name="enp2s0", ipv4=("198.51.100.1/24",)))
    reports = some_reports(connectivity=a_connectivity(broken_mtu=probes), inventory=an_inventory(interfaces=two_nics))
    return host_facts(reports=reports, **changes)


INSIDE, OUTSIDE = ("enp1s0", "192.0.2.12"), ("enp2s0", "198.51.100.2")
UMN = {"user_managed_networking": True}


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("all-arrive", mtu(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("single-node", mtu(INSIDE, cluster={"control_plane_count": 1}), SUPPRESSED),
        case("day-2", mtu(INSIDE, cluster=DAY_TWO), SUCCESS),
        case("nothing-yet", NO_INVENTORY, PENDING, "no-inventory"),
        case("no-report", NO_REPORT, PENDING, "no-connectivity-report"),
        case("broken", mtu(INSIDE), FAILURE, "mtu-broken"),
        case("broken-elsewhere", mtu(OUTSIDE), SUCCESS),
        case("broken-from-elsewhere", mtu(("enp2s0", "192.0.2.12")), SUCCESS),
        case("broken-to-elsewhere", mtu(("enp1s0", "198.51.100.2")), SUCCESS),
        case("user-managed-counts-all", mtu(OUTSIDE, cluster=UMN), FAILURE, "mtu-broken"),
        case("no-machine-network", mtu(INSIDE, cluster={"machine_networks": ()}), SUCCESS),
    ],
)
def test_mtu_valid(facts: HostFacts, status: Status, cause: str) -> None:
    check("mtu-valid", facts, status, cause)
