"""Echo requests to many targets through one socket per IP version and link, with loss and round trip measured.

The kernel's own arrival time is used where it is sound, so that a busy event loop does not look like a slow network.
"""

import asyncio
import contextlib
import secrets
import socket
import struct
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from firstlight.host.links.echo_packets import REPLY_V4, REPLY_V6, echo_reply_of, echo_request
from firstlight.host.links.rows import IpAddress

_BUFFER: Final = 65_536
_AT_ONCE: Final = 256
_RAW_LEVEL: Final = 255
_ICMP_FILTER: Final = 1
_MTU_DISCOVER: Final = {4: (socket.IPPROTO_IP, 10), 6: (socket.IPPROTO_IPV6, 23)}
_NEVER_FRAGMENT: Final = 2
_TIMESTAMP_NS: Final = 35
_SECOND: Final = 1_000_000_000


class Tries(Struct, frozen=True, kw_only=True):
    """How a target is pinged."""

    count: int = 20
    interval: float = 0.2
    patience: float = 3.0
    """How long the last answer is waited for."""
    size: int = 56
    enough: int = 0
    """Stop as soon as this many answers came; 0 means never."""


class Ping(Struct, frozen=True, kw_only=True):
    """What came back."""

    sent: int
    received: int
    average_ms: float = 0.0

    @property
    def loss_percent(self) -> float:
        return 100.0 if not self.sent else round(100.0 * (self.sent - self.received) / self.sent, 2)


class Pinger:
    """One raw socket; targets may be pinged at the same time."""

    def __init__(self, raw: socket.socket, *, version: int) -> None:
        self._raw = raw
        self._version = version
        self._next = secrets.randbelow(1 << 16)
        self._waiting: dict[tuple[int, int], _Waiting] = {}

    async def ping(self, target: IpAddress, *, tries: Tries) -> Ping:
        """Never raises for the network's sake: what cannot be sent is lost."""
        self._next = (self._next + 1) & 0xFFFF
        waiting = _Waiting(target=str(target), enough=tries.enough or tries.count)
        identifier = self._next
        keys = [(identifier, sequence) for sequence in range(1, tries.count + 1)]
        sent = 0
        try:
            for key in keys:
                self._waiting[key] = waiting
                waiting.departures[key] = (time.monotonic_ns(), time.time_ns())
                sent += 1
                self._send(target, key, tries.size)
                if key is not keys[-1] and await waiting.over(tries.interval):
                    break
            await waiting.over(tries.patience)
        finally:
            for key in keys:
                self._waiting.pop(key, None)
        trips = waiting.trips
        average = round(sum(trips) / len(trips) / 1e6, 3) if trips else 0.0
        return Ping(sent=sent, received=len(trips), average_ms=average)

    def _send(self, target: IpAddress, key: tuple[int, int], size: int) -> None:
        packet = echo_request(version=self._version, identifier=key[0], sequence=key[1], size=size)
        # Unreachable, too long for the path, no buffer: all the same to whoever waits for the answer.
        with contextlib.suppress(OSError):
            self._raw.sendto(packet, (str(target), 0))

    def hear(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                data, ancillary, _, origin = self._raw.recvmsg(_BUFFER, 128)
            except OSError:
                return
            reply = echo_reply_of(data, version=self._version)
            if reply is None:
                continue
            key = (reply.identifier, reply.sequence)
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.target == str(origin[0]).partition("%")[0]:
                waiting.arrived(key, arrival=_kernel_time(ancillary))


class _Waiting:
    def __init__(self, *, target: str, enough: int) -> None:
        self.target = target
        self.departures: dict[tuple[int, int], tuple[int, int]] = {}
        self.trips: list[int] = []
        self._enough = enough
        self._full = asyncio.Event()

    def arrived(self, key: tuple[int, int], *, arrival: int | None) -> None:
        """The first answer counts, duplicates do not."""
        departure = self.departures.pop(key, None)
        if departure is None:
            return
        trip = time.monotonic_ns() - departure[0]
        if arrival is not None and 0 <= arrival - departure[1] < trip:
            trip = arrival - departure[1]
        self.trips.append(trip)
        if len(self.trips) >= self._enough:
            self._full.set()

    async def over(self, seconds: float) -> bool:
        """Wait; true as soon as all answers that matter are there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._full.wait()
        return self._full.is_set()


@contextmanager
def pinging(*, version: int, link: str | None = None, whole: bool = False) -> Generator[Pinger]:
    """A pinger for one IP version, over one link if named; `whole` packets are never cut. Raises OSError."""
    loop = asyncio.get_running_loop()
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    protocol = socket.IPPROTO_ICMP if version == 4 else socket.IPPROTO_ICMPV6
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        raw.setblocking(False)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
        raw.setsockopt(socket.SOL_SOCKET, _TIMESTAMP_NS, 1)
        _only_replies(raw, version=version)
        if link is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode() + b"\0")
        if whole:
            raw.setsockopt(*_MTU_DISCOVER[version], _NEVER_FRAGMENT)
        pinger = Pinger(raw, version=version)
        loop.add_reader(raw, pinger.hear)
        try:
            yield pinger
        finally:
            loop.remove_reader(raw)


def _only_replies(raw: socket.socket, *, version: int) -> None:
    """Both filters hold a one for what is not wanted."""
    if version == 4:
        raw.setsockopt(_RAW_LEVEL, _ICMP_FILTER, _blocked(REPLY_V4)[:4])
    else:
        raw.setsockopt(socket.IPPROTO_ICMPV6, _ICMP_FILTER, _blocked(REPLY_V6))


def _blocked(wanted: int) -> bytes:
    return struct.pack(
        "=8I", *(0xFFFF_FFFF & ~((1 << (wanted - 32 * word)) if wanted // 32 == word else 0) for word in range(8))
    )


def _kernel_time(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMP_NS) and len(data) >= 16:
            seconds, nanoseconds = struct.unpack_from("@ll", data)
            return seconds * _SECOND + nanoseconds
    return None
