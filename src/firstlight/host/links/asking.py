"""Asking many neighbours at once, gently: who owns these addresses on this link?

Requests leave in rounds at a bounded rate, so that a thousand questions are no storm. Every distinct answer is kept:
two owners of one address are a finding, not noise.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Final, TypeVar

from msgspec import Struct

from firstlight.host.links.arp_packets import arp_reply_of, arp_request
from firstlight.host.links.frames import ARP_PROTOCOL, IPV6_PROTOCOL, mac_bytes, mac_text
from firstlight.host.links.ndp_packets import ADVERTISEMENT, ICMPV6, advertisement_of, solicitation
from firstlight.host.links.packet_socket import ANSWER, EQUAL, LOAD_BYTE, Instruction, Send, listening
from firstlight.host.links.rows import Link

Ip = TypeVar("Ip", IPv4Address, IPv6Address)

BURST: Final = 32
BURST_PAUSE: Final = 0.04
"""Thirty-two requests every forty milliseconds are 800 in a second, half a megabit."""

_ADVERTISEMENTS: Final[tuple[Instruction, ...]] = (
    (LOAD_BYTE, 0, 0, 20),
    (EQUAL, 0, 3, ICMPV6),
    (LOAD_BYTE, 0, 0, 54),
    (EQUAL, 0, 1, ADVERTISEMENT),
    (ANSWER, 0, 0, 0xFFFF),
    (ANSWER, 0, 0, 0),
)


class Patience(Struct, frozen=True, kw_only=True):
    """How often to ask and how long to listen."""

    rounds: int = 3
    """Every address is asked this often, so that a second owner has its chance."""
    more_rounds: int = 2
    """Those that stayed silent are asked this often again."""
    pause: float = 0.5
    """Between rounds, and after the last one."""


async def owners_v4(
    targets: Sequence[tuple[IPv4Address, IPv4Address]], *, link: Link, patience: Patience | None = None
) -> Mapping[IPv4Address, tuple[str, ...]]:
    """The MAC addresses that answer for each target; pairs are target and own source address. Raises OSError."""
    mac = mac_bytes(link.mac)
    found: dict[IPv4Address, set[bytes]] = {}
    wanted = {target for target, _ in targets}

    def hear(frame: bytes) -> None:
        reply = arp_reply_of(frame)
        if reply is not None and reply.ip in wanted:
            found.setdefault(reply.ip, set()).add(reply.mac)

    with listening(link.name, protocol=ARP_PROTOCOL, on_frame=hear) as send:
        requests = {target: arp_request(target, mac=mac, source=source) for target, source in targets}
        await _ask(requests, found.keys, send=send, patience=patience or Patience())
    return _texts(found)


async def owners_v6(
    targets: Sequence[tuple[IPv6Address, IPv6Address]], *, link: Link, patience: Patience | None = None
) -> Mapping[IPv6Address, tuple[str, ...]]:
    """The same for IPv6. Raises OSError."""
    mac = mac_bytes(link.mac)
    found: dict[IPv6Address, set[bytes]] = {}
    wanted = {target for target, _ in targets}

    def hear(frame: bytes) -> None:
        reply = advertisement_of(frame)
        if reply is not None and reply.ip in wanted:
            found.setdefault(reply.ip, set()).add(reply.mac)

    with listening(link.name, protocol=IPV6_PROTOCOL, on_frame=hear, accept=_ADVERTISEMENTS) as send:
        requests = {target: solicitation(target, mac=mac, source=source) for target, source in targets}
        await _ask(requests, found.keys, send=send, patience=patience or Patience())
    return _texts(found)


async def _ask(
    requests: Mapping[Ip, bytes], answered: Callable[[], Iterable[Ip]], *, send: Send, patience: Patience
) -> None:
    for number in range(patience.rounds + patience.more_rounds):
        done = set(answered()) if number >= patience.rounds else set[Ip]()
        frames = [frame for target, frame in requests.items() if target not in done]
        if not frames:
            return
        for start in range(0, len(frames), BURST):
            for frame in frames[start : start + BURST]:
                send(frame)
            await asyncio.sleep(BURST_PAUSE)
        await asyncio.sleep(patience.pause)


def _texts(found: Mapping[Ip, set[bytes]]) -> dict[Ip, tuple[str, ...]]:
    return {ip: tuple(sorted(mac_text(mac) for mac in macs)) for ip, macs in found.items()}
