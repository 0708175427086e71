"""Check-ins, and measurements that change nothing, written in batches of at most a second."""

import asyncio
from typing import Final

import structlog

from firstlight.core.decision import HostKey
from firstlight.core.errors import Unavailable
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import PutPresence, PutReport

log = structlog.get_logger(__name__)

WINDOW: Final = 1.0
"""Seconds that an acknowledged check-in may wait to be written; the only acknowledged thing a kill may lose."""


class CheckIns:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[HostKey, PutPresence] = {}
        self._measured: dict[tuple[HostKey, ReportKind], PutReport] = {}
        self._pending = asyncio.Event()

    def add(self, presence: PutPresence) -> None:
        self._seen[presence.key] = presence
        self._pending.set()

    def measured(self, report: PutReport) -> None:
        """Newer values of a report whose facts stayed what they were."""
        self._measured[report.key, report.kind] = report
        self._pending.set()

    async def run(self) -> None:
        """Until cancelled; what is waiting then is written before this ends."""
        try:
            while True:
                await self._pending.wait()
                await asyncio.sleep(WINDOW)
                await self.flush()
        finally:
            await asyncio.shield(self.flush())

    async def flush(self) -> None:
        """Write what waits. While the database is away it waits on, unless something newer comes."""
        self._pending.clear()
        seen, self._seen = self._seen, {}
        measured, self._measured = self._measured, {}
        try:
            await self._store.check_in(tuple(seen.values()))
            seen = {}
            await self._store.measure(tuple(measured.values()))
        except Unavailable as failure:
            log.warning("check-ins wait for the database", count=len(seen), reason=str(failure))
            self._seen = {**seen, **self._seen}
            self._measured = {**measured, **self._measured}
            self._pending.set()
        except Exception:
            # Kept, they would spoil every later batch; the next polls say the same again.
            log.exception("check-ins could not be written", count=len(seen))
