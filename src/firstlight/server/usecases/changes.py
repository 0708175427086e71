"""Which things changed, as it happens: what a page needs to know in order to ask again for what it shows.

Events tell of every change of a record. What was found (evidence, fixes) changes without one and is told apart.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from typing import Final

from msgspec import Struct

from firstlight.core.events.recorded import Recorded
from firstlight.server.ports.database import Notices
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import FINDINGS, cluster_subject, infra_env_subject
from firstlight.server.usecases.stream import Broadcast, Told, follow

_HOST: Final = "host:"


class Changed(Struct, frozen=True):
    subjects: tuple[str, ...]
    """`cluster:<id>`, `infra-env:<id>` and `host:<id>`."""
    everything: bool = False
    """Notices may have been missed: anything may have changed."""


async def follow_changes(
    store: Store, broadcast: Broadcast, *, after: int
) -> AsyncGenerator[tuple[int, Changed | None]]:
    """Numbers to continue from, with what changed; None is a sign of life."""
    position = after
    events = follow(store, broadcast, after=after)
    async with store.listen(FINDINGS) as notices:
        await anext(notices)  # The first one only says that somebody listens now.
        news: asyncio.Task[Told | None] = asyncio.ensure_future(_next_told(events))
        found: asyncio.Task[str] = asyncio.ensure_future(_next_notice(notices))
        try:
            while True:
                await asyncio.wait({news, found}, return_when=asyncio.FIRST_COMPLETED)
                if news.done():
                    told = news.result()
                    if told is None:
                        return
                    position = told.position
                    yield position, (Changed(tuple(_named(told.events))) if told.events else None)
                    news = asyncio.ensure_future(_next_told(events))
                if found.done():
                    notice = found.result()
                    yield position, Changed(tuple(_short(notice.split())), everything=not notice)
                    found = asyncio.ensure_future(_next_notice(notices))
        finally:
            for task in (news, found):
                task.cancel()
            await asyncio.gather(news, found, return_exceptions=True)
            if isinstance(events, AsyncGenerator):
                await events.aclose()


async def _next_told(events: AsyncIterator[Told]) -> Told | None:
    return await anext(events, None)


async def _next_notice(notices: Notices) -> str:
    return await anext(notices)


def _named(events: Iterable[Recorded]) -> Iterator[str]:
    names: dict[str, None] = {}
    for event in events:
        if event.cluster_id is not None:
            names[cluster_subject(event.cluster_id)] = None
        if event.infra_env_id is not None:
            names[infra_env_subject(event.infra_env_id)] = None
        if event.host_id is not None:
            names[f"{_HOST}{event.host_id}"] = None
    yield from names


def _short(subjects: Iterable[str]) -> Iterator[str]:
    """Hosts by their own id, as events name them."""
    for subject in subjects:
        yield f"{_HOST}{subject.rpartition('/')[2]}" if subject.startswith(_HOST) else subject
