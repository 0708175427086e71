"""`verify-vips`: a virtual address must be nobody's yet.

On our own link an owner cannot hide from ARP or neighbour discovery; elsewhere a host counts as present when it
answers an echo request, or accepts or refuses a connection, as network scanners judge it.
"""

import asyncio
from ipaddress import IPv4Address, ip_address
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import VerifyVip
from firstlight.core.wire.step_outputs import VerifiedVip
from firstlight.host.actions.action import Action, Done, Site, failed, first_document, replied
from firstlight.host.links import netlink
from firstlight.host.links.asking import owners_v4, owners_v6
from firstlight.host.links.ping import Tries, pinging
from firstlight.host.links.rows import Address, IpAddress, Link

_PORTS: Final = (443, 80)
_CONNECT_SECONDS: Final = 2.0
_TRIES: Final = Tries(count=3, interval=0.5, patience=1.5, enough=1)


_VIPS: Final = Reader(tuple[VerifyVip, ...])


async def verify(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _VIPS)
    vips = [(vip, _address(vip.vip)) for vip in wanted]
    if site.dry_run:
        return replied([_said(vip, taken=False) for vip in wanted])
    links = {link.index: link for link in netlink.links()}
    addresses = netlink.addresses()
    try:
        taken = await asyncio.gather(*(is_taken(ip, links=links, addresses=addresses) for _, ip in vips))
    except OSError as reason:
        return failed(f"The virtual addresses could not be asked for: {reason}. The agent needs to run as root.")
    return replied([_said(vip, taken=used) for (vip, _), used in zip(vips, taken, strict=True)])


async def is_taken(ip: IpAddress, *, links: dict[int, Link], addresses: tuple[Address, ...]) -> bool:
    """Raises OSError if nothing could be asked."""
    if any(row.ip == ip for row in addresses):
        return True
    near = {
        row.link: row.ip
        for row in addresses
        if row.ip.version == ip.version
        and ip in row.interface.network
        and row.link in links
        and links[row.link].mac
        and links[row.link].is_up
    }
    for index, source in near.items():
        link = links[index]
        if isinstance(ip, IPv4Address) and isinstance(source, IPv4Address):
            owners = bool(await owners_v4([(ip, source)], link=link))
        elif not isinstance(ip, IPv4Address) and not isinstance(source, IPv4Address):
            owners = bool(await owners_v6([(ip, source)], link=link))
        else:
            continue
        if owners:
            return True
    return False if near else await _answers_from_afar(ip)


async def _answers_from_afar(ip: IpAddress) -> bool:
    with pinging(version=ip.version) as pinger:
        echo, secure, plain = await asyncio.gather(
            pinger.ping(ip, tries=_TRIES), _present(str(ip), _PORTS[0]), _present(str(ip), _PORTS[1])
        )
    return echo.received > 0 or secure or plain


async def _present(host: str, port: int) -> bool:
    """A refusal is an answer too."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except ConnectionRefusedError:
        return True
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _said(vip: VerifyVip, *, taken: bool) -> VerifiedVip:
    return VerifiedVip(vip=vip.vip, vip_type=vip.vip_type, verification="failed" if taken else "succeeded")


def _address(text: str) -> IpAddress:
    try:
        return ip_address(text)
    except ValueError as reason:
        raise Invalid(f"{text!r} is not an IP address.") from reason


VERIFY_VIPS: Final = Action(step_type="verify-vips", perform=verify, limit_seconds=180.0, exclusive=True)
