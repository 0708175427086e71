"""All notices of a commit in one of PostgreSQL's: each costs the server, its listeners and us something of its own."""

from collections.abc import Iterable, Iterator
from typing import Final

from firstlight.server.ports.database import MAX_NOTICE_BYTES, Notify

CHANNEL: Final = "firstlight_news"
"""The one channel that replicas use between them."""
BETWEEN_NOTICES: Final = "\x1e"
BEFORE_PAYLOAD: Final = "\x1f"


def payloads(notices: Iterable[Notify]) -> Iterator[str]:
    """As few payloads as have room for them, in order. A notice too long for its envelope says "look for yourself"."""
    together, size = list[str](), 0
    for notice in notices:
        text = notice.channel + BEFORE_PAYLOAD + notice.payload
        length = len(text.encode())
        if length > MAX_NOTICE_BYTES:
            text = notice.channel + BEFORE_PAYLOAD
            length = len(text.encode())
        if together and size + 1 + length > MAX_NOTICE_BYTES:
            yield BETWEEN_NOTICES.join(together)
            together, size = [], 0
        size += length + bool(together)
        together.append(text)
    if together:
        yield BETWEEN_NOTICES.join(together)


def notices_in(payload: str) -> Iterator[tuple[str, str]]:
    """Channel and payload of each."""
    for text in payload.split(BETWEEN_NOTICES):
        channel, _, told = text.partition(BEFORE_PAYLOAD)
        yield channel, told
