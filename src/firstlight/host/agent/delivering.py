"""Bringing replies to the service: withheld when known, kept when it is away, given up when it does not want them."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from firstlight.host.agent.documents import StepReply
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.once import Once
from firstlight.host.agent.replies import Key, Memory, Outbox
from firstlight.host.agent.session import Refused, ServiceSession, Unreachable

UNWANTED: Final = frozenset({400, 404, 405, 409, 413, 422})
"""Answers after which sending the same reply again would help nobody."""


class Delivery:
    def __init__(
        self, session: ServiceSession, *, host_id: UUID, once: Once, log: Log, clock: Callable[[], float]
    ) -> None:
        """`clock` never jumps."""
        self.host_id = host_id
        self.memory = Memory()
        self._session = session
        self._outbox = Outbox()
        self._once = once
        self._log = log
        self._clock = clock

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
        self._log.warning("A reply waits for the service to come back.", step=key[0], reason=reason)
        self._outbox.put(key, reply)

    def _settled(self, key: Key) -> None:
        self._outbox.drop(key)
        try:
            self._once.delivered(*key)
        except OSError as reason:
            # At worst the same reply is delivered once more after a restart.
            self._log.warning("The journal of steps cannot be written.", reason=reason)
