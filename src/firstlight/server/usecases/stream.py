"""Following the sequence of events live, by number.

What was added last is read from the store once and kept in one ring for all followers. A follower only knows the number
it has come to: one that is slow, or comes back late, finds its place gone from the ring and reads on from the store.
While all followers are choosy (they named kinds of things), nothing is read until a notice names a kind that one of
them wants, and they read for themselves.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Final
from uuid import UUID

import structlog
from msgspec import Struct

from firstlight.core.errors import Error
from firstlight.core.events.recorded import About, Recorded
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import EVENTS

log = structlog.get_logger(__name__)

KEPT: Final = 1_000
"""Events in the ring."""
PAGE: Final = 200
HEARTBEAT: Final = 15.0
"""Seconds of silence after which a follower is told that the line still stands."""


class Scope(Struct, frozen=True, kw_only=True):
    """Whose events are wanted; nobody named: everybody's."""

    cluster_id: UUID | None = None
    infra_env_id: UUID | None = None
    about: frozenset[About] = frozenset()
    """Only events about things of these kinds; none named: of all kinds."""

    def holds(self, event: Recorded) -> bool:
        return (
            self.cluster_id in (None, event.cluster_id)
            and self.infra_env_id in (None, event.infra_env_id)
            and (not self.about or event.about in self.about)
        )


EVERYTHING: Final = Scope()


class Told(Struct, frozen=True):
    """What a follower is told at once; no event at all is a heartbeat."""

    events: Sequence[Recorded]
    position: int
    """Every wanted event up to this number has been told."""


class Broadcast:
    def __init__(self, *, kept: int = KEPT) -> None:
        self._ring: deque[Recorded] = deque(maxlen=kept)
        self._since = 0
        """Every event after this number, up to `until`, went into the ring."""
        self.until: int | None = None
        """The last number the ring has come to; none while nobody follows."""
        self._followers: list[Scope] = []
        self._news = asyncio.Event()
        self._closed = False

    async def run(self, store: Store) -> None:
        """Hear of new events from every replica, until cancelled; followers then come to their end."""
        self._closed = False
        try:
            async with store.listen(EVENTS) as notices:
                async for notice in notices:
                    try:
                        await self.look(store, notice)
                    except Error as failure:
                        # Followers look for themselves at their next heartbeat.
                        log.warning("new events could not be read", reason=str(failure))
                        self._forget()
        finally:
            self.close()

    async def look(self, store: Store, notice: str = "") -> None:
        """Read what was added since the last look and wake everybody; `notice` is what the commit told."""
        if all(scope.about for scope in self._followers):
            self._forget()
            told = set(notice.split())
            if self._followers and (not told or any(told & scope.about for scope in self._followers)):
                self._wake()
            return
        if self.until is None:
            self._since = self.until = await store.last_event_seq()
        full = True
        while full:
            found = await store.events_after(self.until, limit=PAGE)
            full = len(found) == PAGE
            self._ring.extend(found)
            self.until = found[-1].seq if found else self.until
        self._wake()

    def after(self, seq: int) -> Sequence[Recorded] | None:
        """Events after this number, or None when the ring does not reach back that far."""
        if self.until is None or seq < self._reach:
            return None
        return tuple(takewhile(lambda event: event.seq > seq, reversed(self._ring)))[::-1]

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def news(self) -> asyncio.Event:
        """Set when there is something new. Take it before looking, so that nothing comes in between unnoticed."""
        return self._news

    @contextmanager
    def joined(self, scope: Scope = EVERYTHING) -> Generator[None]:
        self._followers.append(scope)
        try:
            yield
        finally:
            self._followers.remove(scope)

    def close(self) -> None:
        """Let every follower come to its end, and those who come later."""
        self._closed = True
        self._wake()

    @property
    def _reach(self) -> int:
        return self._ring[0].seq - 1 if len(self._ring) == self._ring.maxlen else self._since

    def _forget(self) -> None:
        self._ring.clear()
        self.until = None

    def _wake(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()


class Place:
    """Where one follower stands in the sequence."""

    def __init__(self, store: Store, broadcast: Broadcast, *, seq: int, scope: Scope) -> None:
        self._store = store
        self._broadcast = broadcast
        self._seq = seq
        self._scope = scope

    @property
    def position(self) -> int:
        return self._seq

    async def step(self) -> tuple[Sequence[Recorded], bool]:
        """The next wanted events, and whether there may be more at once."""
        found = self._broadcast.after(self._seq)
        if found is None:
            return await self._from_store()
        self._seq = max(self._seq, self._broadcast.until or 0)
        return tuple(event for event in found if self._scope.holds(event)), False

    async def _from_store(self) -> tuple[Sequence[Recorded], bool]:
        # What there was before reading is surely in what is read, so unwanted events are passed over too.
        until = self._broadcast.until or 0
        if self._scope.about and not until:
            until = await self._store.last_event_seq()
        found = await self._store.events_after(
            self._seq,
            limit=PAGE,
            cluster_id=self._scope.cluster_id,
            infra_env_id=self._scope.infra_env_id,
            about=tuple(sorted(self._scope.about)),
        )
        full = len(found) == PAGE
        last = found[-1].seq if found else 0
        self._seq = max(self._seq, last if full else max(last, until))
        return found, full


async def follow(
    store: Store, broadcast: Broadcast, *, after: int, scope: Scope = EVERYTHING, heartbeat: float = HEARTBEAT
) -> AsyncIterator[Told]:
    """Every wanted event after the number, in order and once, as they come; nothing at all is a heartbeat."""
    place = Place(store, broadcast, seq=after, scope=scope)
    clock = asyncio.get_running_loop().time
    with broadcast.joined(scope):
        told_at = clock()
        while not broadcast.closed:
            news = broadcast.news
            found, more = await place.step()
            if found:
                yield Told(found, place.position)
                told_at = clock()
            if more:
                continue
            # Counted from what was told last: news that does not concern this follower is no sign of life.
            try:
                async with asyncio.timeout_at(told_at + heartbeat):
                    await news.wait()
            except TimeoutError:
                yield Told((), place.position)
                told_at = clock()


async def starting_point(store: Store, last_event_id: int | None) -> int:
    """The number to go on from. A number of the future (another database's) means: from now on."""
    newest = await store.last_event_seq()
    return newest if last_event_id is None else min(last_event_id, newest)
