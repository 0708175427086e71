"""Replies that wait for the service, noted on the machine: an agent that starts after this one delivers them unasked.

Answers of steps that must run once have a journal of their own. A note that cannot be written costs a repeated step.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.host.agent.documents import StepReply
from firstlight.host.agent.replies import MOST_KEPT, Key
from firstlight.host.keeping import keep, kept

FILE: Final = "replies.json"
MOST_BYTES: Final = 4 * 2**20
"""The state of an agent lies in memory."""
OLDEST_SECONDS: Final = 3600.0
"""What is older was measured anew by then, or nobody wants it."""


class Waiting(Struct, frozen=True, kw_only=True):
    arguments: tuple[str, ...]
    reply: StepReply


class Pages(Struct, frozen=True, kw_only=True):
    boot_id: str
    noted_at: float
    """By the clock that counts since the boot, which every life of the agent shares."""
    waiting: tuple[Waiting, ...] = ()


class KeptReplies:
    def __init__(self, folder: Path, *, boot_id: str, clock: Callable[[], float]) -> None:
        self._path = folder / FILE
        self._boot_id = boot_id
        self._clock = clock

    def read(self) -> tuple[tuple[Key, StepReply], ...]:
        """Those of an earlier life of the agent, oldest first."""
        found = kept(self._path, Pages)
        if found is None or found.boot_id != self._boot_id:
            return ()
        if not 0 <= self._clock() - found.noted_at <= OLDEST_SECONDS:
            return ()
        return tuple(((one.reply.step_type, one.arguments), one.reply) for one in found.waiting[-MOST_KEPT:])

    def write(self, waiting: Iterable[tuple[Key, StepReply]]) -> None:
        """Raises OSError. The newest that fit."""
        room, notes = MOST_BYTES, list[Waiting]()
        for key, reply in reversed(tuple(waiting)):
            room -= len(reply.output) + len(reply.error) + sum(map(len, key[1]))
            if room < 0:
                break
            notes.append(Waiting(arguments=key[1], reply=reply))
        if notes:
            keep(self._path, Pages(boot_id=self._boot_id, noted_at=self._clock(), waiting=tuple(reversed(notes))))
        else:
            self._path.unlink(missing_ok=True)
