"""`connectivity-check`: which peers answer on the link and beyond it, how fast, with what loss, at what packet size."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Final, TypeVar

from firstlight.core.wire.reading import Reader
from firstlight.host.actions.action import Action, Done, Site, failed, first_document, replied
from firstlight.host.actions.connectivity_report import (
    Measured,
    Outgoing,
    RemoteHost,
    all_targets,
    outgoing_links,
    report,
)
from firstlight.host.links import netlink
from firstlight.host.links.asking import owners_v4, owners_v6
from firstlight.host.links.echo_packets import HEADERS
from firstlight.host.links.ping import Ping, Pinger, Tries, pinging
from firstlight.host.links.rows import IpAddress

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE: Final = 100
"""Targets pinged at the same time: five hundred packets a second at most, however many peers there are."""
_REACH: Final = Tries()
_TOUCH: Final = Tries(count=3, interval=0.3, patience=2.0, enough=1)

_HOSTS: Final = Reader(tuple[RemoteHost, ...])


async def check(arguments: tuple[str, ...], site: Site) -> Done:
    hosts = first_document(arguments, _HOSTS)
    targets = all_targets(hosts, asker=site.host_id)
    try:
        outgoing = outgoing_links(netlink.links(), netlink.addresses())
        measured = _pretended(hosts, outgoing) if site.dry_run else await _measured(targets, outgoing)
    except OSError as reason:
        return failed(
            f"The network could not be asked about the other hosts: {reason}. The agent needs to run as root."
        )
    return replied(report(hosts, outgoing=outgoing, measured=measured))


async def _measured(targets: Sequence[IpAddress], outgoing: Sequence[Outgoing]) -> Measured:
    turns = asyncio.Semaphore(AT_ONCE)
    pings, owners, whole = await asyncio.gather(
        _pings(targets, turns=turns),
        _owners(targets, outgoing),
        _whole_packets(targets, [nic for nic in outgoing if nic.measures_mtu], turns=turns),
    )
    return Measured(pings=pings, owners=owners, whole_packets=whole)


async def _pings(targets: Sequence[IpAddress], *, turns: asyncio.Semaphore) -> dict[IpAddress, Ping]:
    async def of_version(version: int) -> dict[IpAddress, Ping]:
        chosen = [ip for ip in targets if ip.version == version]
        if not chosen:
            return {}
        with pinging(version=version) as pinger:
            return await _each(chosen, lambda ip: pinger.ping(ip, tries=_REACH), turns=turns)

    v4, v6 = await asyncio.gather(of_version(4), of_version(6))
    return {**v4, **v6}


async def _owners(
    targets: Sequence[IpAddress], outgoing: Sequence[Outgoing]
) -> dict[tuple[str, IpAddress], tuple[str, ...]]:
    async def through(nic: Outgoing) -> list[tuple[tuple[str, IpAddress], tuple[str, ...]]]:
        v4 = [(ip, own) for ip in targets if isinstance(ip, IPv4Address) and (own := nic.source_v4(ip))]
        v6 = [(ip, own) for ip in targets if isinstance(ip, IPv6Address) and (own := nic.source_v6(ip))]
        try:
            found_v4, found_v6 = await asyncio.gather(owners_v4(v4, link=nic.link), owners_v6(v6, link=nic.link))
        except OSError:
            # A link that went down in between reaches nobody, and that is what the report says.
            return []
        name = nic.link.name
        return [((name, ip), macs) for found in (found_v4, found_v6) for ip, macs in found.items()]

    answers = await asyncio.gather(*(through(nic) for nic in outgoing))
    return {key: macs for rows in answers for key, macs in rows}


async def _whole_packets(
    targets: Sequence[IpAddress], outgoing: Iterable[Outgoing], *, turns: asyncio.Semaphore
) -> dict[tuple[str, IpAddress], bool]:
    found: dict[tuple[str, IpAddress], bool] = {}
    for nic in outgoing:
        for version in (4, 6):
            chosen = [ip for ip in targets if ip.version == version]
            if chosen:
                arrived = await _sizes(chosen, nic=nic, version=version, turns=turns)
                found.update({(nic.link.name, ip): whole for ip, whole in arrived.items() if whole is not None})
    return found


async def _sizes(
    targets: Sequence[IpAddress], *, nic: Outgoing, version: int, turns: asyncio.Semaphore
) -> Mapping[IpAddress, bool | None]:
    try:
        with (
            pinging(version=version, link=nic.link.name) as small,
            pinging(version=version, link=nic.link.name, whole=True) as large,
        ):
            full = Tries(count=3, interval=0.3, patience=2.0, enough=1, size=nic.link.mtu - HEADERS[version])

            async def fits(ip: IpAddress) -> bool | None:
                if not await _answers(small, ip, _TOUCH):
                    return None
                return not nic.has_version(version) or await _answers(large, ip, full)

            return await _each(targets, fits, turns=turns)
    except OSError:
        return {}


async def _answers(pinger: Pinger, ip: IpAddress, tries: Tries) -> bool:
    return (await pinger.ping(ip, tries=tries)).received > 0


async def _each(items: Sequence[T], work: Callable[[T], Awaitable[R]], *, turns: asyncio.Semaphore) -> dict[T, R]:
    async def one(item: T) -> R:
        async with turns:
            return await work(item)

    return dict(zip(items, await asyncio.gather(*(one(item) for item in items)), strict=True))


def _pretended(hosts: Iterable[RemoteHost], outgoing: Iterable[Outgoing]) -> Measured:
    """For load tests without a network: everybody answers as listed."""
    rows = [(host, ip, nic) for host in hosts for ip in host.addresses for nic in outgoing]
    return Measured(
        pings={ip: Ping(sent=1, received=1, average_ms=0.1) for _, ip, _ in rows},
        owners={(nic.link.name, ip): tuple(sorted(host.macs))[:1] for host, ip, nic in rows},
        whole_packets={},
    )


CONNECTIVITY: Final = Action(step_type="connectivity-check", perform=check, limit_seconds=300.0, exclusive=True)
