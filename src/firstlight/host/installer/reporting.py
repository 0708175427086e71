"""Progress reports in their order. A newer word about the same stage takes the place of one that has not left yet.

The service may be away for as long as it likes: reports wait, the installation does not.
"""

import asyncio
from collections import deque
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.wire.words import HostStage
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.log import Log
from firstlight.host.installer.service import SETTLED, Service

LONGEST_INFO: Final = 2048
ROUND_SECONDS: Final = 60.0


class Report(Struct, frozen=True):
    stage: HostStage
    info: str = ""


class Reporter:
    def __init__(self, service: Service, log: Log, *, infra_env_id: UUID, host_id: UUID | None) -> None:
        """Without a host id there is nobody to speak for: reports are only logged."""
        self._service = service
        self._log = log
        self._infra_env_id = infra_env_id
        self._host_id = host_id
        self._waiting: deque[Report] = deque()
        self._last: Report | None = None
        self._changed = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def last(self) -> Report | None:
        return self._last

    def tell(self, stage: HostStage, info: str = "") -> None:
        report = Report(stage, self._log.without_secrets(info)[:LONGEST_INFO])
        if report == self._last:
            return
        self._last = report
        self._log.info(f"Stage: {stage}", info=report.info)
        if self._host_id is None:
            return
        if self._waiting and self._waiting[-1].stage == stage:
            self._waiting.pop()
        self._waiting.append(report)
        self._empty.clear()
        self._changed.set()

    async def deliver(self) -> None:
        """Send what is told, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                await self._send(self._waiting[0])
            self._empty.set()

    async def flush(self, *, limit: float) -> bool:
        """Whether everything has been delivered within the limit."""
        try:
            async with asyncio.timeout(limit):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True

    async def _send(self, report: Report) -> None:
        """One round of attempts; a report that was replaced meanwhile is not sent again."""
        assert self._host_id is not None
        try:
            await self._service.progress(
                self._infra_env_id, self._host_id, report.stage, info=report.info, limit=ROUND_SECONDS
            )
        except Refused as refusal:
            if refusal.status != SETTLED:
                self._log.warning("A progress report was refused.", stage=report.stage, reason=refusal)
        except Unreachable as reason:
            self._log.warning("A progress report is still waiting.", stage=report.stage, reason=reason)
            return
        if self._waiting and self._waiting[0] == report:
            self._waiting.popleft()
