"""Agents whose poll waits for news: one parked future each, woken by the notices of commits, here or elsewhere.

An agent at rest costs its future and nothing else: no timer of its own beyond the poll's, and no look at the database.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from firstlight.core.decision import HostKey
from firstlight.server.ports.subjects import host_subject

MOST: Final = 10_000
"""Polls beyond these are answered at once; their agents then ask at the usual interval."""


class Ticket:
    """One waiting poll."""

    __slots__ = ("_parked", "heard", "left", "replaced", "subjects")

    def __init__(self, *subjects: str) -> None:
        self.subjects = subjects
        self._parked: asyncio.Future[None] | None = None
        self.heard = False
        """There is news. Take it back before looking, so that nothing comes in between unnoticed."""
        self.left = False
        """Whoever asked has hung up."""
        self.replaced = False
        """The same agent came with another poll: this one has nobody who would carry out what it is told."""

    def wake(self) -> None:
        """Tell that there is news."""
        self.heard = True
        self.stir()

    def leave(self) -> None:
        self.left = True
        self.stir()

    def stir(self) -> None:
        """Let the poll look around, without news."""
        if self._parked is not None and not self._parked.done():
            self._parked.set_result(None)

    async def parked(self, seconds: float) -> None:
        """Until somebody wakes or stirs it, or the time is up. One future and one timer: there are many of these."""
        if self.heard or self.left:
            return
        loop = asyncio.get_running_loop()
        self._parked = loop.create_future()
        timer = loop.call_later(seconds, self.stir)
        try:
            await self._parked
        finally:
            timer.cancel()
            self._parked = None


class Waits:
    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._by_subject: dict[str, set[Ticket]] = {}
        self._count = 0
        self._closed = False

    @property
    def count(self) -> int:
        return self._count

    @property
    def open(self) -> bool:
        """Whether another poll may wait."""
        return not self._closed and self._count < self._most

    @property
    def closed(self) -> bool:
        return self._closed

    @contextmanager
    def joined(self, key: HostKey, subject: str) -> Generator[Ticket]:
        """`subject` is who decides about the host: its cluster, or itself."""
        own = host_subject(key)
        for earlier in self._by_subject.get(own, ()):
            earlier.replaced = True
            earlier.wake()
        ticket = Ticket(own) if own == subject else Ticket(own, subject)
        self._count += 1
        for name in ticket.subjects:
            self._by_subject.setdefault(name, set()).add(ticket)
        try:
            yield ticket
        finally:
            self._count -= 1
            for name in ticket.subjects:
                others = self._by_subject[name]
                others.discard(ticket)
                if not others:
                    del self._by_subject[name]

    def wake(self, subject: str) -> None:
        """Somebody committed a change of this subject."""
        for ticket in self._by_subject.get(subject, ()):
            ticket.wake()

    def wake_all(self) -> None:
        """Changes may have been missed."""
        for tickets in self._by_subject.values():
            for ticket in tickets:
                ticket.wake()

    def close(self) -> None:
        """Let every poll come to its end, and those that come later."""
        self._closed = True
        self.wake_all()
