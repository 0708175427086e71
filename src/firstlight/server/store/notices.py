"""Handing notices to the readers inside this process; both drivers end here."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Self

LIMIT: Final = 1_000
"""Notices kept for a reader that does not come; beyond it they fold into one empty notice."""


class Subscription:
    """One reader of one channel; see `ports.database.Notices` for what it promises."""

    def __init__(self, channel: str, leave: Callable[["Subscription"], None]) -> None:
        self.channel = channel
        self._leave = leave
        self._waiting: deque[str] = deque()
        self._news = asyncio.Event()
        self._closed = False

    def tell(self, payload: str) -> None:
        if len(self._waiting) >= LIMIT:
            self._waiting.clear()
            payload = ""
        self._waiting.append(payload)
        self._news.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._closed = True
        self._waiting.clear()
        self._news.set()
        self._leave(self)


class Readers:
    """Everyone in this process who listens, by channel."""

    def __init__(self) -> None:
        self._by_channel: dict[str, list[Subscription]] = {}

    def add(self, channel: str) -> Subscription:
        subscription = Subscription(channel, self._remove)
        self._by_channel.setdefault(channel, []).append(subscription)
        return subscription

    def _remove(self, subscription: Subscription) -> None:
        readers = self._by_channel.get(subscription.channel, [])
        if subscription in readers:
            readers.remove(subscription)
        if not readers:
            self._by_channel.pop(subscription.channel, None)

    @property
    def channels(self) -> frozenset[str]:
        return frozenset(self._by_channel)

    def tell(self, channel: str, payload: str) -> None:
        for reader in self._by_channel.get(channel, ()):
            reader.tell(payload)

    async def close(self) -> None:
        for readers in list(self._by_channel.values()):
            for reader in list(readers):
                await reader.aclose()
