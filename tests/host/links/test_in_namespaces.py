"""Raw sockets among real kernels: neighbours, a second owner, loss, packet sizes, a macvlan."""

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from firstlight.host.links import netlink
from firstlight.host.links.asking import Patience, owners_v4, owners_v6
from firstlight.host.links.dhcp import NoLease, take_lease
from firstlight.host.links.ping import Ping, Tries, pinging
from firstlight.host.links.rows import Link
from tests.namespaces import Bridge, inside, program_or_skip

QUICK = Patience(rounds=2, more_rounds=1, pause=0.2)
FAST = Tries(count=20, interval=0.01, patience=0.5)
FIRST, SECOND, DOUBLE = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"


@pytest.fixture(scope="module")
def hosts(network: Bridge) -> tuple[str, str]:
    """Two machines that may ping each other, and a third with the second one's addresses."""
    first = network.plug("one", "10.9.0.1/24", "fd09::1/64", mac=FIRST)
    second = network.plug("two", "10.9.0.2/24", "fd09::2/64", "10.9.0.4/24", mac=SECOND)
    network.plug("double", "10.9.0.2/24", "fd09::2/64", mac=DOUBLE)
    return first, second


def eth0() -> Link:
    return next(link for link in netlink.links() if link.name == "eth0")


async def asked_v4(*targets: str) -> dict[str, tuple[str, ...]]:
    pairs = [(IPv4Address(target), IPv4Address("10.9.0.1")) for target in targets]
    return {str(ip): macs for ip, macs in (await owners_v4(pairs, link=eth0(), patience=QUICK)).items()}


async def asked_v6(*targets: str) -> dict[str, tuple[str, ...]]:
    pairs = [(IPv6Address(target), IPv6Address("fd09::1")) for target in targets]
    return {str(ip): macs for ip, macs in (await owners_v6(pairs, link=eth0(), patience=QUICK)).items()}


def test_neighbours_answer_and_a_second_owner_shows(hosts: tuple[str, str]) -> None:
    found = inside(hosts[0], lambda: asked_v4("10.9.0.2", "10.9.0.4", "10.9.0.9"))
    assert found == {"10.9.0.2": (SECOND, DOUBLE), "10.9.0.4": (SECOND,)}
    assert inside(hosts[0], lambda: asked_v6("fd09::2", "fd09::9")) == {"fd09::2": (SECOND, DOUBLE)}


async def pinged(target: str, tries: Tries, *, link: str | None = None, whole: bool = False) -> Ping:
    ip = ip_address(target)
    with pinging(version=ip.version, link=link, whole=whole) as pinger:
        return await pinger.ping(ip, tries=tries)


@pytest.mark.parametrize("target", ["10.9.0.4", "fd09::2"])
def test_a_ping_comes_back_without_loss(hosts: tuple[str, str], target: str) -> None:
    ping = inside(hosts[0], lambda: pinged(target, FAST))
    assert (ping.sent, ping.received, ping.loss_percent) == (20, 20, 0.0)
    assert ping.average_ms > 0


def test_silence_is_total_loss(hosts: tuple[str, str]) -> None:
    ping = inside(hosts[0], lambda: pinged("10.9.0.99", FAST))
    assert (ping.received, ping.loss_percent, ping.average_ms) == (0, 100.0, 0.0)


def test_every_fourth_packet_lost_is_a_quarter(network: Bridge, hosts: tuple[str, str]) -> None:
    program_or_skip("nft", package="nftables")
    rules = (
        "table ip lossy { chain arriving { type filter hook input priority 0;"
        " icmp type echo-request numgen inc mod 4 == 3 drop; }\n}\n"
    )
    network.run(hosts[1], "nft", "-f", "-", given=rules)
    try:
        ping = inside(hosts[0], lambda: pinged("10.9.0.4", FAST))
    finally:
        network.run(hosts[1], "nft", "delete", "table", "ip", "lossy")
    assert (ping.received, ping.loss_percent) == (15, 25.0)


@pytest.mark.parametrize(("target", "headers"), [("10.9.0.4", 28), ("fd09::2", 48)])
def test_packets_are_never_cut(hosts: tuple[str, str], target: str, headers: int) -> None:
    """A packet of the link's size arrives; one byte more would have to be cut, and is not sent."""
    for size, arrived in ((1500, 2), (1501, 0)):
        tries = Tries(count=2, interval=0.05, patience=0.3, size=size - headers)
        ping = inside(hosts[0], lambda tries=tries: pinged(target, tries, link="eth0", whole=True))
        assert ping.received == arrived


def test_many_at_once_are_told_apart(hosts: tuple[str, str]) -> None:
    async def all_of_them() -> list[Ping]:
        targets = [ip_address("10.9.0.2"), ip_address("10.9.0.4"), ip_address("10.9.0.99")] * 10
        with pinging(version=4) as pinger:
            tries = Tries(count=5, interval=0.02, patience=0.5)
            return list(await asyncio.gather(*(pinger.ping(ip, tries=tries) for ip in targets)))

    assert [ping.received for ping in inside(hosts[0], all_of_them)] == [5, 5, 0] * 10


def test_a_macvlan_comes_and_goes(hosts: tuple[str, str]) -> None:
    async def made_and_deleted() -> tuple[Link, set[str], set[str]]:
        link = netlink.create_macvlan("api", parent="eth0", mac="00:1a:4a:11:22:33")
        with_it = {row.name for row in netlink.links()}
        netlink.delete_link("api")
        return link, with_it, {row.name for row in netlink.links()}

    link, with_it, without = inside(hosts[0], made_and_deleted)
    assert (link.kind, link.mac, link.is_up) == ("macvlan", "00:1a:4a:11:22:33", True)
    assert with_it - without == {"api"}


def test_a_macvlan_over_nothing_is_an_error(hosts: tuple[str, str]) -> None:
    async def over_nothing() -> None:
        with pytest.raises(OSError, match=r".+"):
            netlink.create_macvlan("api", parent="nothing", mac="00:1a:4a:11:22:33")
        with pytest.raises(OSError, match=r".+"):
            netlink.create_macvlan("a-name-that-is-too-long", parent="eth0", mac="00:1a:4a:11:22:33")

    inside(hosts[0], over_nothing)


def test_no_server_no_lease(hosts: tuple[str, str]) -> None:
    async def ask() -> None:
        with pytest.raises(NoLease, match=r"eth0 granted an address within 1 seconds"):
            await take_lease(eth0(), host_name="somebody", limit=1.0)

    inside(hosts[0], ask)
