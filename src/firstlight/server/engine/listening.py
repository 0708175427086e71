"""Whether somebody listened: the silence of a host counts only while it could have been heard."""

from datetime import datetime, timedelta
from typing import Final

import structlog

from firstlight.server.ports.clock import Clock
from firstlight.server.ports.store import Store

log = structlog.get_logger(__name__)

LONGEST_GAP: Final = timedelta(seconds=15)
"""Without a sign of life of any replica for longer than this, hosts may have spoken to nobody."""
POLLS: Final = 2
"""How many polls a host may miss after a gap before its silence counts again."""


class Listening:
    """One replica's view of the signs of life that all replicas give."""

    def __init__(self, store: Store, clock: Clock, *, replica: str, poll_seconds: int) -> None:
        self._store = store
        self._clock = clock
        self._replica = replica
        self._grace = timedelta(seconds=POLLS * poll_seconds)
        self._renewed_at: datetime | None = None
        self._forgiven_until: datetime | None = None

    async def renew(self) -> None:
        """Look for a gap first, then give a sign of life; what is forgiven is told to all replicas with it."""
        now = self._clock.now()
        known = await self._store.listened()
        forgiven = known.forgiven_until
        if known.until is None or now - known.until > LONGEST_GAP:
            forgiven = now + self._grace
            if known.until is not None:
                since, until = known.until.isoformat(), forgiven.isoformat()
                log.info("nobody listened for a while; silence counts from later on", since=since, until=until)
        await self._store.renew_listening(self._replica, now, forgiven_until=forgiven)
        self._renewed_at, self._forgiven_until = now, forgiven

    def is_current(self, now: datetime) -> bool:
        """Whether this replica gave a sign of life lately."""
        return self._renewed_at is not None and now - self._renewed_at <= LONGEST_GAP

    def forgiven_until(self, now: datetime) -> datetime | None:
        """The moment before which silence does not count. Nobody judges before having looked for a gap."""
        if not self.is_current(now):
            return now + self._grace
        return self._forgiven_until
