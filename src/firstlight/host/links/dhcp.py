"""Takes one DHCP lease over a link: the previous address if the server still agrees, else a new one."""

import asyncio
import secrets
from contextlib import suppress
from ipaddress import IPv4Address
from typing import Final

from firstlight.host.links.dhcp_packets import (
    ACKNOWLEDGE,
    CLIENT_PORT,
    DISCOVER,
    OFFER,
    REFUSE,
    REQUEST,
    UDP,
    DhcpAnswer,
    dhcp_answer_of,
    dhcp_message,
)
from firstlight.host.links.frames import IPV4_PROTOCOL, mac_bytes
from firstlight.host.links.packet_socket import ANSWER, EQUAL, LOAD_BYTE, LOAD_HALF, Instruction, listening
from firstlight.host.links.rows import Link

_TRIES: Final = (0.5, 1.0, 2.0, 4.0, 4.0)
"""How long each repetition of a question waits for its answer."""
_FOR_CLIENTS: Final[tuple[Instruction, ...]] = (
    (LOAD_BYTE, 0, 0, 23),
    (EQUAL, 0, 3, UDP),
    (LOAD_HALF, 0, 0, 36),
    (EQUAL, 0, 1, CLIENT_PORT),
    (ANSWER, 0, 0, 0xFFFF),
    (ANSWER, 0, 0, 0),
)


class NoLease(Exception):
    """No server granted an address; the text is a sentence."""


async def take_lease(
    link: Link, *, host_name: str, previous: IPv4Address | None = None, limit: float = 28.0
) -> DhcpAnswer:
    """Raises `NoLease`, and OSError if the link cannot be used."""
    try:
        async with asyncio.timeout(limit):
            return await _take(link, host_name=host_name, previous=previous)
    except TimeoutError:
        raise NoLease(f"No DHCP server on {link.name} granted an address within {limit:g} seconds.") from None


async def _take(link: Link, *, host_name: str, previous: IPv4Address | None) -> DhcpAnswer:
    mac = mac_bytes(link.mac)
    transaction = secrets.randbits(32)
    heard: asyncio.Queue[DhcpAnswer] = asyncio.Queue()

    def hear(frame: bytes) -> None:
        answer = dhcp_answer_of(frame, transaction=transaction, mac=mac)
        if answer is not None:
            heard.put_nowait(answer)

    with listening(link.name, protocol=IPV4_PROTOCOL, on_frame=hear, accept=_FOR_CLIENTS) as send:

        async def ask(
            kind: int, kinds: set[int], *, wanted: IPv4Address | None = None, server: IPv4Address | None = None
        ) -> DhcpAnswer | None:
            message = dhcp_message(
                kind, transaction=transaction, mac=mac, host_name=host_name, wanted=wanted, server=server
            )
            for wait in _TRIES:
                send(message)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        while (answer := await heard.get()).kind not in kinds:
                            pass
                        return answer
            return None

        if previous is not None:
            answer = await ask(REQUEST, {ACKNOWLEDGE, REFUSE}, wanted=previous)
            if answer is not None and answer.kind == ACKNOWLEDGE:
                return answer
        while True:
            offer = await ask(DISCOVER, {OFFER}, wanted=previous)
            if offer is None:
                continue
            answer = await ask(REQUEST, {ACKNOWLEDGE, REFUSE}, wanted=offer.address, server=offer.server)
            if answer is not None and answer.kind == ACKNOWLEDGE:
                return answer
            previous = None
            await asyncio.sleep(1.0)
