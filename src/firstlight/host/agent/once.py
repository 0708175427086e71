"""A journal of steps that must run once, kept where it outlives the agent: what began is known before it begins.

A step whose end is recorded but not delivered is answered from here. A step that began and has no end was cut off with
the agent: whether it did its work nobody knows, so it is not begun again.
"""

import hashlib
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.keeping import keep, kept

FILE: Final = "once.json"
MOST_ENTRIES: Final = 32
LONGEST_OUTPUT: Final = 256 * 1024


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    step_type: str
    digest: str
    """Of the arguments."""
    step: Step | None = None
    """As it was asked for, until it is delivered: who comes after goes on with it unasked."""
    reply: StepReply | None = None
    """Once it ended."""
    delivered: bool = False
    succeeded: bool = False
    """What the answer said, once it was delivered."""


class Pages(Struct, frozen=True, kw_only=True):
    boot_id: str
    """The journal of another boot says nothing about this one."""
    entries: tuple[Entry, ...] = ()


Verdict = Literal["begin", "answer", "interrupted"]


class Once:
    def __init__(self, folder: Path, *, boot_id: str) -> None:
        self._path = folder / FILE
        self._boot_id = boot_id
        found = kept(self._path, Pages)
        self._entries = {
            (entry.step_type, entry.digest): entry
            for entry in (found.entries if found is not None and found.boot_id == boot_id else ())
        }

    def verdict(self, step_type: str, arguments: tuple[str, ...]) -> tuple[Verdict, StepReply | None]:
        """What is to be done about a step that is asked for, and the reply that waits to be delivered if there is one.

        A step that was answered and is asked for again is a new one: its arguments may be the same.
        """
        entry = self._entries.get((step_type, digest_of(arguments)))
        if entry is None or entry.delivered:
            return "begin", None
        return ("interrupted", None) if entry.reply is None else ("answer", entry.reply)

    def begin(self, step: Step) -> None:
        """Raises OSError if it cannot be recorded; the step must not begin then."""
        self._put(Entry(step_type=step.step_type, digest=digest_of(step.arguments), step=step))

    def end(self, step: Step, reply: StepReply) -> None:
        cut = replace(reply, output=reply.output[:LONGEST_OUTPUT], error=reply.error[:LONGEST_OUTPUT])
        self._put(Entry(step_type=step.step_type, digest=digest_of(step.arguments), step=step, reply=cut))

    def delivered(self, step_type: str, arguments: tuple[str, ...]) -> None:
        entry = self._entries.get((step_type, digest_of(arguments)))
        if entry is not None:
            succeeded = entry.reply is not None and entry.reply.exit_code == 0
            self._put(replace(entry, step=None, reply=None, delivered=True, succeeded=succeeded))

    @property
    def unsettled(self) -> tuple[tuple[Step, bool], ...]:
        """Steps whose answer was not delivered, and whether they came to an end."""
        entries = (entry for entry in self._entries.values() if not entry.delivered)
        return tuple((entry.step, entry.reply is not None) for entry in entries if entry.step is not None)

    def has_succeeded(self, step_type: str) -> bool:
        """Whether a step of this type was done, and the service knows."""
        return any(entry.succeeded for entry in self._entries.values() if entry.step_type == step_type)

    def _put(self, entry: Entry) -> None:
        changed = {**self._entries}
        changed.pop((entry.step_type, entry.digest), None)
        changed[entry.step_type, entry.digest] = entry
        while len(changed) > MOST_ENTRIES:
            # What was delivered is the least worth knowing.
            oldest = next((key for key, known in changed.items() if known.delivered), next(iter(changed)))
            del changed[oldest]
        keep(self._path, Pages(boot_id=self._boot_id, entries=tuple(changed.values())))
        self._entries = changed


def digest_of(arguments: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(arguments).encode("utf-8", "surrogatepass")).hexdigest()[:32]
