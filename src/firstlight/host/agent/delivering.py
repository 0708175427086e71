"""Bringing replies to the service: withheld when known, kept when it is away, given up when it does not want them."""

import asyncio
from collections.abc import Callable
from typing import Final
from uuid import UUID

from firstlight.host.agent.documents import StepReply
from firstlight.host.agent.kept_replies import KeptReplies
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.once import Once
from firstlight.host.agent.replies import Key, Memory, Outbox
from firstlight.host.agent.session import ServiceSession
from firstlight.host.calling import Refused, Unreachable

UNWANTED: Final = frozenset({400, 404, 405, 409, 413, 422})
"""Answers after which sending the same reply again would help nobody."""


class Delivery:
    def __init__(
        self,
        session: ServiceSession,
        *,
        host_id: UUID,
        once: Once,
        log: Log,
        clock: Callable[[], float],
        notes: KeptReplies | None = None,
    ) -> None:
        """`clock` never jumps. `notes` outlive the agent."""
        self.host_id = host_id
        self.memory = Memory()
        self._session = session
        self._outbox = Outbox()
        self._once = once
        self._log = log
        self._clock = clock
        self._notes = notes
        for key, reply in () if notes is None else notes.read():
            self._outbox.put(key, reply)

    @property
    def waiting(self) -> int:
        return len(self._outbox)

    async def send(self, key: Key, reply: StepReply) -> None:
        if self.memory.is_known(key, reply, now=self._clock()):
            return
        try:
            await self._session.reply(self.host_id, reply)
        except Refused as refusal:
            if refusal.status in UNWANTED:
                self._log.warning("The service does not take a reply.", step=key[0], reason=str(refusal))
                self._settled(key)
            else:
                self._keep(key, reply, reason=str(refusal))
        except Unreachable as reason:
            self._keep(key, reply, reason=str(reason))
        except asyncio.CancelledError:
            # The agent is told to end: whoever comes after it delivers this.
            self._keep(key, reply, reason="the agent ends")
            raise
        else:
            self.memory.accepted(key, reply, now=self._clock())
            self._settled(key)

    async def flush(self) -> None:
        """Send what waits, oldest first; the first that fails again leaves the rest for later."""
        for key, reply in self._outbox.take():
            before = self.waiting
            await self.send(key, reply)
            if self.waiting >= before:
                return

    def _keep(self, key: Key, reply: StepReply, *, reason: str) -> None:
        self._outbox.put(key, reply)
        self._note()
        self._log.warning("A reply waits for the service to come back.", step=key[0], reason=reason)

    def _note(self) -> None:
        if self._notes is None:
            return
        # What must run once has its own journal, and would be delivered twice.
        waiting = [one for one in self._outbox.take() if self._once.verdict(*one[0])[0] != "answer"]
        try:
            self._notes.write(waiting)
        except OSError as reason:
            self._log.warning("Replies that wait could not be noted on this machine.", reason=reason)

    def _settled(self, key: Key) -> None:
        if self._outbox.drop(key):
            self._note()
        try:
            self._once.delivered(*key)
        except OSError as reason:
            # At worst the same reply is delivered once more after a restart.
            self._log.warning("The journal of steps cannot be written.", reason=reason)
