"""Replies on their way: what the service knows is not said again, what could not be delivered is kept.

An answer equal to the last one accepted for the same step and arguments is withheld for an hour. A service that asks
for the same thing again soon has not got it, so the memory of it is dropped.
"""

from collections import OrderedDict
from typing import Final

from firstlight.host.agent.documents import StepReply

WITHHELD_SECONDS: Final = 3600.0
SOON_SECONDS: Final = 45.0
"""Steps are repeated once a minute; whoever asks faster is missing something."""
MOST_REMEMBERED: Final = 64
MOST_KEPT: Final = 32
MOST_KEPT_BYTES: Final = 16 * 2**20
NEVER_WITHHELD: Final = frozenset(
    {
        "installation-disk-speed-check",
        "container-image-availability",
        "install",
        "logs-gather",
        "stop-installation",
        "upgrade-agent",
        "download-boot-artifacts",
        "reboot-for-reclaim",
    }
)
"""Asked for only while their answer is missing, or to have something done."""

Key = tuple[str, tuple[str, ...]]
"""Step type and arguments."""


class Memory:
    """What the service was told last, per step and arguments. Times are those of a clock that never jumps."""

    def __init__(self) -> None:
        self._told: OrderedDict[Key, tuple[int, float]] = OrderedDict()
        self._asked: OrderedDict[Key, float] = OrderedDict()

    def asked(self, key: Key, *, now: float) -> None:
        before = self._asked.pop(key, None)
        if before is not None and now - before < SOON_SECONDS:
            self._told.pop(key, None)
        self._asked[key] = now
        _cut(self._asked, MOST_REMEMBERED)

    def is_known(self, key: Key, reply: StepReply, *, now: float) -> bool:
        """Whether the service has this very answer."""
        if reply.exit_code or key[0] in NEVER_WITHHELD:
            return False
        known = self._told.get(key)
        return known is not None and known[0] == hash(reply.output) and now - known[1] < WITHHELD_SECONDS

    def accepted(self, key: Key, reply: StepReply, *, now: float) -> None:
        self._told.pop(key, None)
        if not reply.exit_code:
            self._told[key] = (hash(reply.output), now)
            _cut(self._told, MOST_REMEMBERED)

    def forget(self) -> None:
        self._told.clear()


class Outbox:
    """Replies that could not be delivered, newest of each step and arguments, bounded in number and size."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Key, StepReply] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, key: Key, reply: StepReply) -> None:
        self.drop(key)
        self._waiting[key] = reply
        self._size += _size(reply)
        while len(self._waiting) > MOST_KEPT or (self._size > MOST_KEPT_BYTES and len(self._waiting) > 1):
            self.drop(next(iter(self._waiting)))

    def drop(self, key: Key) -> bool:
        """Whether it was there."""
        old = self._waiting.pop(key, None)
        self._size -= 0 if old is None else _size(old)
        return old is not None

    def take(self) -> tuple[tuple[Key, StepReply], ...]:
        return tuple(self._waiting.items())


def _size(reply: StepReply) -> int:
    return len(reply.output) + len(reply.error)


def _cut(remembered: OrderedDict[Key, tuple[int, float]] | OrderedDict[Key, float], most: int) -> None:
    while len(remembered) > most:
        remembered.popitem(last=False)
