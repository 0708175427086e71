"""The connectivity check among machines of a laboratory: what is whole, what is broken, and what nmap says."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from firstlight.host.actions.registry import ACTIONS
from tests.agent_sites import a_site, output_of, text
from tests.namespaces import Bridge, inside, ip, program_or_skip

FIRST, SECOND, THIRD = (f"52:54:00:00:00:0{number}" for number in (1, 2, 3))
PEER = UUID("a0d9e086-ae60-bd63-5910-fed4736ccffa")
OTHER = UUID("b0d9e086-ae60-bd63-5910-fed4736ccffa")


@dataclass(frozen=True, kw_only=True)
class Hosts:
    network: Bridge
    first: str
    second: str
    third: str


@pytest.fixture(scope="module")
def hosts(network: Bridge) -> Hosts:
    return Hosts(
        network=network,
        first=network.plug("one", "10.9.0.1/24", "fd09::1/64", mac=FIRST, mtu=9000),
        second=network.plug("two", "10.9.0.2/24", "fd09::2/64", mac=SECOND, mtu=9000),
        third=network.plug("three", "10.9.0.3/24", mac=THIRD, mtu=9000),
    )


def peers() -> str:
    def host(identity: UUID, mac: str, *addresses: str) -> dict[str, Any]:
        return {"host_id": str(identity), "nics": [{"name": "x", "mac": mac.upper(), "ip_addresses": addresses}]}

    return text([host(OTHER, THIRD, "10.9.0.3"), host(PEER, SECOND, "10.9.0.2/24", "fd09::2", "nonsense")])


def checked(machine: str, *, arguments: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    done = inside(machine, lambda: ACTIONS["connectivity-check"].run((peers(), *arguments), a_site()))
    report = output_of(done)["remote_hosts"]
    assert [host["host_id"] for host in report] == sorted(host["host_id"] for host in report)
    return {host["host_id"]: host for host in report}


def l3(host: dict[str, Any]) -> dict[str, tuple[bool, float]]:
    return {
        row["remote_ip_address"]: (row.get("successful", False), row.get("packet_loss_percentage", 0.0))
        for row in host["l3_connectivity"]
    }


def l2(host: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [
        (row["remote_ip_address"], row["remote_mac"], row.get("successful", False)) for row in host["l2_connectivity"]
    ]


def mtu(host: dict[str, Any]) -> dict[str, bool]:
    return {row["remote_ip_address"]: row.get("mtu_successful", False) for row in host["mtu_report"]}


def test_a_whole_network(hosts: Hosts) -> None:
    """Further arguments of newer services change nothing."""
    report = checked(hosts.first, arguments=("--something-new",))
    peer = report[str(PEER)]
    assert l3(peer) == {"10.9.0.2": (True, 0.0), "fd09::2": (True, 0.0)}
    assert l2(peer) == [("10.9.0.2", SECOND, True), ("fd09::2", SECOND, True)]
    assert peer["l2_connectivity"][0]["outgoing_ip_address"] == "10.9.0.1"
    assert {row["outgoing_nic"] for row in peer["l2_connectivity"]} == {"eth0"}
    assert mtu(peer) == {"10.9.0.2": True, "fd09::2": True}
    assert all(0 < row["average_rtt_ms"] < 1000 for row in peer["l3_connectivity"])


def test_faults_are_seen_where_they_are(hosts: Hosts) -> None:
    """The third machine loses every fourth packet, and packets beyond 1500 bytes vanish on the way to the second."""
    program_or_skip("nft", package="nftables")
    network = hosts.network
    # Only requests of the usual size count, so the counter sees all twenty and nothing else.
    lossy = "type filter hook input priority 0; ip length 84 icmp type echo-request numgen inc mod 4 == 3 drop;"
    network.run(hosts.third, "nft", "-f", "-", given=f"table ip faults {{\nchain arriving {{ {lossy} }}\n}}\n")
    hole = "type filter hook ingress device eth0 priority 0; meta length > 1600 drop;"
    network.run(hosts.second, "nft", "-f", "-", given=f"table netdev faults {{\nchain arriving {{ {hole} }}\n}}\n")
    try:
        report = checked(hosts.first)
    finally:
        network.run(hosts.second, "nft", "delete", "table", "netdev", "faults")
        network.run(hosts.third, "nft", "delete", "table", "ip", "faults")
    assert mtu(report[str(PEER)]) == {"10.9.0.2": False, "fd09::2": False}
    assert l3(report[str(PEER)]) == {"10.9.0.2": (True, 0.0), "fd09::2": (True, 0.0)}
    assert l3(report[str(OTHER)]) == {"10.9.0.3": (True, 25.0)}


def test_a_machine_off_the_network_is_total_loss(hosts: Hosts) -> None:
    ip("link", "set", "p-three", "down", namespace=hosts.network.switch)
    try:
        other = checked(hosts.first)[str(OTHER)]
    finally:
        ip("link", "set", "p-three", "up", namespace=hosts.network.switch)
    assert l3(other) == {"10.9.0.3": (False, 100.0)}
    assert other["l2_connectivity"] == []
    assert other["mtu_report"] == []


def test_a_stranger_with_a_peers_address(hosts: Hosts) -> None:
    """Both owners are reported, and only one of them is the peer."""
    stranger = "52:54:00:00:00:99"
    hosts.network.plug("stranger", "10.9.0.2/24", mac=stranger)
    assert ("10.9.0.2", stranger, False) in (found := l2(checked(hosts.first)[str(PEER)]))
    assert ("10.9.0.2", SECOND, True) in found
    hosts.network.run(f"{hosts.network.prefix}-stranger", "ip", "address", "flush", "dev", "eth0")


def verified(machine: str, *vips: str) -> list[str]:
    wanted = text([{"vip": vip, "vip_type": "api"} for vip in vips])
    done = inside(machine, lambda: ACTIONS["verify-vips"].run((wanted,), a_site()))
    return [row["verification"] for row in output_of(done)]


def test_virtual_addresses_are_free_or_not(hosts: Hosts) -> None:
    """Somebody's, nobody's, our own; on the link and behind a router that does not exist."""
    vips = ("10.9.0.2", "10.9.0.200", "fd09::2", "fd09::200", "10.9.0.1", "172.31.9.9")
    expected = ["failed", "succeeded", "failed", "succeeded", "failed", "succeeded"]
    assert verified(hosts.first, *vips) == expected


def up_by_nmap(network: Bridge, machine: str, *words: str) -> set[str]:
    output = network.run(machine, "nmap", "-sn", "-n", "-oG", "-", *words)
    return {line.split()[1] for line in output.splitlines() if "Status: Up" in line}


def test_free_addresses_agree_with_nmap(hosts: Hosts) -> None:
    program_or_skip("nmap", package="nmap")
    run: Callable[..., Any] = ACTIONS["free-network-addresses"].run
    report = output_of(inside(hosts.first, lambda: run((text(["10.9.0.0/24"]),), a_site())))
    taken = {f"10.9.0.{number}" for number in range(256)} - set(report[0]["free_addresses"])
    assert report[0]["network"] == "10.9.0.0/24"
    assert taken == up_by_nmap(hosts.network, hosts.first, "-PR", "10.9.0.0/24") == {"10.9.0.1", "10.9.0.2", "10.9.0.3"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (('["10.9.0.1/24"]',), "10.9.0.1/24"),
        (('["10.77.0.0/24"]',), "10.77.0.0/24"),
        (("{",), "JSON document"),
        ((), "first argument"),
    ],
)
def test_a_scan_that_makes_no_sense(hosts: Hosts, arguments: tuple[str, ...], word: str) -> None:
    done = inside(hosts.first, lambda: ACTIONS["free-network-addresses"].run(arguments, a_site()))
    assert done.exit_code == -1
    assert word in done.error


def test_the_real_ping_and_arping_agree(hosts: Hosts) -> None:
    program_or_skip("ping", package="iputils-ping")
    program_or_skip("arping", package="iputils-arping")
    network = hosts.network
    assert "0% packet loss" in network.run(hosts.first, "ping", "-c", "3", "-i", "0.2", "-q", "10.9.0.2")
    answer = network.run(hosts.first, "arping", "-c", "2", "-w", "3", "-I", "eth0", "10.9.0.2")
    assert SECOND.upper() in answer
    assert l2(checked(hosts.first)[str(PEER)])[0][1] == SECOND


def test_two_hundred_peers_are_no_storm(hosts: Hosts) -> None:
    """All are reached without loss, and the questions leave at a bounded rate."""
    network, crowd = hosts.network, hosts.network.plug("crowd", mac="52:54:00:00:00:55")
    addresses = [f"10.9.0.{number}" for number in range(20, 220)]
    lines = "".join(f"address add {address}/24 dev eth0\n" for address in addresses)
    subprocess.run(["ip", "-n", crowd, "-batch", "-"], input=lines, text=True, check=True)
    nics = [{"mac": "52:54:00:00:00:55", "ip_addresses": [address]} for address in addresses]
    peers = text([{"host_id": str(UUID(int=number)), "nics": [nic]} for number, nic in enumerate(nics)])

    def sent() -> int:
        return int(network.run(hosts.first, "cat", "/sys/class/net/eth0/statistics/tx_packets"))

    before, start = sent(), time.monotonic()
    done = inside(hosts.first, lambda: ACTIONS["connectivity-check"].run((peers,), a_site()))
    rate = (sent() - before) / (time.monotonic() - start)
    report = output_of(done)["remote_hosts"]
    assert [l3(host)[address] for host, address in zip(report, addresses, strict=True)] == [(True, 0.0)] * 200
    assert all(
        l2(host) == [(address, "52:54:00:00:00:55", True)] for host, address in zip(report, addresses, strict=True)
    )
    assert rate < 1500
