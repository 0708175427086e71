"""`free-network-addresses`: the IPv4 addresses of our networks that nobody answers for."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_outputs import FreeNetworkAddresses
from firstlight.host.actions.action import Action, Done, Site, failed, first_document, replied
from firstlight.host.links import netlink
from firstlight.host.links.asking import Patience, owners_v4
from firstlight.host.links.rows import Link

PIECE_PREFIX: Final = 22
ENOUGH: Final = 8000
"""More free addresses than this are of no use to anybody."""
_TWICE: Final = Patience(rounds=1, more_rounds=1, pause=1.0)

_NETWORKS: Final = Reader(tuple[str, ...])


def networks_of(texts: Sequence[str]) -> tuple[IPv4Network, ...]:
    """Raises `Invalid` for anything but IPv4 networks in their own notation."""
    found: list[IPv4Network] = []
    for text in texts:
        try:
            found.append(IPv4Network(text))
        except ValueError as reason:
            raise Invalid(f"{text!r} is not an IPv4 network ({reason}).") from reason
    return tuple(found)


def pieces(network: IPv4Network) -> Iterator[IPv4Network]:
    """The network in parts that are scanned one after the other."""
    if network.prefixlen >= PIECE_PREFIX:
        return iter((network,))
    return network.subnets(new_prefix=PIECE_PREFIX)


async def scan(arguments: tuple[str, ...], _site: Site) -> Done:
    networks = networks_of(first_document(arguments, _NETWORKS))
    links = {link.index: link for link in netlink.links()}
    own = [(row.interface, links[row.link]) for row in netlink.addresses() if row.link in links]
    reports: list[FreeNetworkAddresses] = []
    for network in networks:
        paths = [
            (interface, link)
            for interface, link in own
            if isinstance(interface, IPv4Interface) and interface.ip in network and link.mac and link.is_up
        ]
        if not paths:
            return failed(f"No interface of this host has an address in {network}. Ask for a network that it is in.")
        try:
            free = await _free(network, paths)
        except OSError as reason:
            return failed(f"The network {network} could not be scanned: {reason}. The agent needs to run as root.")
        reports.append(FreeNetworkAddresses(network=str(network), free_addresses=tuple(map(str, free))))
    return replied(reports)


async def _free(network: IPv4Network, paths: Sequence[tuple[IPv4Interface, Link]]) -> list[IPv4Address]:
    mine = {interface.ip for interface, _ in paths}
    free: list[IPv4Address] = []
    for piece in pieces(network):
        asked = [ip for ip in piece if ip not in mine]
        taken: set[IPv4Address] = set()
        for source, link in _one_per_link(paths).values():
            taken |= (await owners_v4([(ip, source) for ip in asked], link=link, patience=_TWICE)).keys()
        free += [ip for ip in asked if ip not in taken]
        if len(free) >= ENOUGH:
            return free[:ENOUGH]
    return free


def _one_per_link(paths: Sequence[tuple[IPv4Interface, Link]]) -> Mapping[int, tuple[IPv4Address, Link]]:
    return {link.index: (interface.ip, link) for interface, link in reversed(paths)}


FREE_ADDRESSES: Final = Action(step_type="free-network-addresses", perform=scan, limit_seconds=180.0, exclusive=True)
