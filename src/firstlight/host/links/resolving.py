"""Resolves names through the host's own resolver configuration, by questions of our own.

The container's copy of that configuration was made when it started and may be stale; the standard library reads only
that one, and does not tell aliases.
"""

import asyncio
import secrets
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

from msgspec import Struct

from firstlight.host.links.dns_packets import (
    AAAA,
    NO_ERROR,
    NO_SUCH_NAME,
    PTR,
    A,
    DnsAnswer,
    dns_answer_of,
    dns_query,
)
from firstlight.host.links.resolver_rules import ResolverRules, absolute_names, hosts_entries, resolver_rules
from firstlight.host.root import Root

PORT: Final = 53
_LONGEST: Final = 65_535


class Resolved(Struct, frozen=True, kw_only=True):
    """What a name leads to; all empty if nobody knows it."""

    ipv4: tuple[str, ...] = ()
    ipv6: tuple[str, ...] = ()
    canonical: str = ""
    """The absolute name behind all aliases, with its final dot."""


class Resolver:
    """Questions to the servers that the host would ask. Reads the configuration anew for each one made."""

    def __init__(self, root: Root, *, port: int = PORT) -> None:
        self._rules: ResolverRules = resolver_rules(root.text("/etc/resolv.conf") or "")
        self._hosts = root.text("/etc/hosts") or ""
        self._port = port

    async def resolve(self, name: str) -> Resolved:
        """The first of the names to be tried that has an address. A name nobody knows is no error; raises
        `Unanswered` if no server gave an answer."""
        if fixed := hosts_entries(self._hosts, name):
            return Resolved(
                ipv4=tuple(str(ip) for ip in fixed if ip.version == 4),
                ipv6=tuple(str(ip) for ip in fixed if ip.version == 6),
                canonical=f"{name.rstrip('.')}.",
            )
        for absolute in absolute_names(name, self._rules):
            v4, v6 = await asyncio.gather(self.ask(absolute, kind=A), self.ask(absolute, kind=AAAA))
            ipv4, ipv6 = v4.values(absolute, kind=A), v6.values(absolute, kind=AAAA)
            if ipv4 or ipv6:
                canonical = (v4 if ipv4 else v6).canonical(absolute)
                return Resolved(ipv4=_in_order(ipv4), ipv6=_in_order(ipv6), canonical=canonical)
        return Resolved()

    async def reverse(self, address: str) -> str:
        """The first name of an address without its final dot, empty if it has none or nobody answers."""
        pointer = f"{ip_address(address).reverse_pointer}."
        with suppress(Unanswered):
            names = (await self.ask(pointer, kind=PTR)).values(pointer, kind=PTR)
            return names[0].rstrip(".") if names else ""
        return ""

    async def ask(self, name: str, *, kind: int) -> DnsAnswer:
        """One question to one server after the other. Raises `Unanswered`."""
        try:
            query = dns_query(name, kind=kind, identifier=secrets.randbits(16))
        except (ValueError, UnicodeError):
            return DnsAnswer(code=NO_SUCH_NAME, truncated=False, records=())
        for _ in range(self._rules.attempts):
            for server in self._rules.servers:
                answer = await self._from(server, query)
                if answer is not None and answer.code in (NO_ERROR, NO_SUCH_NAME):
                    return answer
        raise Unanswered(f"None of the name servers {', '.join(self._rules.servers)} answered a question about {name}")

    async def _from(self, server: str, query: bytes) -> DnsAnswer | None:
        with suppress(TimeoutError, OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(self._rules.seconds):
                answer = await _by_datagram(server, self._port, query)
                return await _by_stream(server, self._port, query) if answer.truncated else answer
        return None


class Unanswered(Exception):
    """No name server answered; the text is a sentence."""


async def _by_datagram(server: str, port: int, query: bytes) -> DnsAnswer:
    loop = asyncio.get_running_loop()
    family, kind, protocol, _, address = (await loop.getaddrinfo(server, port, type=socket.SOCK_DGRAM))[0]
    with socket.socket(family, kind, protocol) as udp:
        udp.setblocking(False)
        # A connected socket hears only its peer, and hears at once that nobody listens there.
        udp.connect(address)
        await loop.sock_sendall(udp, query)
        while True:
            answer = dns_answer_of(await loop.sock_recv(udp, _LONGEST), query=query)
            if answer is not None:
                return answer


async def _by_stream(server: str, port: int, query: bytes) -> DnsAnswer | None:
    reader, writer = await asyncio.open_connection(server, port)
    try:
        writer.write(struct.pack("!H", len(query)) + query)
        length = struct.unpack("!H", await reader.readexactly(2))[0]
        return dns_answer_of(await reader.readexactly(length), query=query)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _in_order(addresses: Sequence[str]) -> tuple[str, ...]:
    """Servers rotate their answers; a stable order keeps equal answers equal."""
    return tuple(sorted(dict.fromkeys(addresses), key=lambda text: ip_address(text).packed))
