"""The loop behind everything that happens without being asked: due subjects, lasting operations, who listens."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from firstlight.core.errors import Error, Unavailable
from firstlight.server.engine.listening import Listening
from firstlight.server.engine.replicas import is_gone
from firstlight.server.ports.rows import DueRow, OperationRow
from firstlight.server.usecases.settling import settle_cluster, settle_pool_host
from firstlight.server.usecases.turns import Turns
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

LEASE: Final = timedelta(seconds=20)
SLOTS: Final = 64
"""Subjects that are looked at side by side."""
PACE: Final = 0.05
"""Seconds between two looks at the queue, however often somebody rings."""
LONGEST_NAP: Final = 5.0
"""Seconds; another replica may have made something due that nobody told us about."""
LISTENING_EVERY: Final = 5.0
COOL_DOWN: Final = 10
"""Evaluations of one subject lie at least this many times their own cost apart,"""
SHORTEST_REST: Final = 0.25
"""and at least this many seconds: hosts of a cluster tend to speak all at once."""
LONGEST_REST: Final = 3.0
RESTING: Final = 10_000
"""Subjects whose rest is remembered."""
HEARTBEAT: Final = 5.0
STALE: Final = timedelta(seconds=20)
OPERATIONS_PACE: Final = 0.2
"""Seconds between two looks for operations, however often somebody rings."""
PARTING_SECONDS: Final = 5.0
"""Nobody waits longer with a start or an end for the sake of claims, which expire anyway."""
SLOWEST_RETRY: Final = timedelta(minutes=5)

Operation = Callable[[World, OperationRow, Callable[[str], Awaitable[None]]], Awaitable[None]]
"""Runs to its end or raises; the callable reports progress and raises when somebody else took over."""
Chore = Callable[[World], Awaitable[datetime | None]]
"""Service-wide work behind a due row of subject `service`; answers when it is due again."""


class TakenOver(Exception):
    """Another replica runs this operation now."""


class Engine:
    def __init__(
        self,
        world: World,
        *,
        replica: str,
        listening: Listening,
        operations: Mapping[str, Operation],
        chores: Mapping[str, Chore],
    ) -> None:
        self._world = world
        self._listening = listening
        self._replica = replica
        self._operations = operations
        self._chores = chores
        self._awake = asyncio.Event()
        self._asked = asyncio.Event()
        self._rested: dict[str, float] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._turns = Turns()
        self._running: set[asyncio.Task[None]] = set()
        self.failures = 0

    def wake(self) -> None:
        """Something became due, or an operation was asked for, just now."""
        self._awake.set()
        self._asked.set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            await self._free_claims(lambda owner: is_gone(owner, like=self._replica))
            async with asyncio.TaskGroup() as group:
                group.create_task(self._serve_due())
                group.create_task(self._serve_operations())
                group.create_task(self._keep_listening())
        finally:
            await _ended(self._running | self._serving)
            await self._free_claims(lambda owner: owner == self._replica)

    async def _free_claims(self, will_not_come_back: Callable[[str], bool]) -> None:
        """What was claimed by who was killed here, or by us when we end, need not expire before others take it up."""
        try:
            async with asyncio.timeout(PARTING_SECONDS):
                owners = await self._world.store.claim_owners()
                await self._world.store.free_claims([owner for owner in owners if will_not_come_back(owner)])
        except TimeoutError:
            log.warning("claims of replicas that are gone were not freed", reason="The database took too long.")
        except Error as trouble:
            self._note("claims of replicas that are gone were not freed", trouble)

    async def readiness(self) -> str:
        """What keeps this replica from doing its work, in a sentence; nothing when all is well."""
        try:
            await self._world.store.check()
        except Unavailable as trouble:
            return str(trouble)
        if not self._listening.is_current(self._world.clock.now()):
            return "The engine is starting, or has given no sign of life lately. Its log says why."
        return ""

    # --- the due queue

    async def _serve_due(self) -> None:
        while True:
            self._awake.clear()
            try:
                started = await self._claim()
                # A slot that becomes free wakes us; until then there is nothing to be claimed for.
                pause = 0.0 if started else LONGEST_NAP if len(self._serving) >= SLOTS else await self._pause()
            except Exception as error:
                self._note("the queue could not be served", error)
                pause = LONGEST_NAP
            await asyncio.sleep(PACE)
            if pause > PACE:
                await _nap(self._awake, pause - PACE)

    async def _pause(self) -> float:
        at = await self._world.store.next_due_at()
        if at is None:
            return LONGEST_NAP
        return min(LONGEST_NAP, max(0.0, (at - self._world.clock.now()).total_seconds()))

    async def serve_once(self) -> int:
        """Everything due now, as far as there are slots; answers how many rows were served."""
        started = await self._claim()
        await asyncio.gather(*started)
        return len(started)

    async def _claim(self) -> list[asyncio.Task[None]]:
        """Take as many due rows as there are free slots: a long evaluation holds its own slot and nobody else."""
        free = SLOTS - len(self._serving)
        if free <= 0:
            return []
        now = self._world.clock.now()
        rows = await self._world.store.claim_due(owner=self._replica, now=now, lease=LEASE, limit=free)
        return [self._start(row) for row in rows]

    def _start(self, row: DueRow) -> asyncio.Task[None]:
        task = asyncio.create_task(self._serve_in_turn(row))
        self._serving.add(task)

        def done(task: asyncio.Task[None]) -> None:
            if len(self._serving) >= SLOTS:
                self._awake.set()
            self._serving.discard(task)
            error = None if task.cancelled() else task.exception()
            if isinstance(error, Exception):
                self._note("a row of the queue could not be settled", error)

        task.add_done_callback(done)
        return task

    async def _serve_in_turn(self, row: DueRow) -> None:
        """A row whose lease ran out while it was looked at is claimed again; its second look waits for the first."""
        async with self._turns.of(f"{row.subject} {row.kind}"):
            await self._serve(row)

    async def _serve(self, row: DueRow) -> None:
        store, now = self._world.store, self._world.clock.now()
        rested = self._rested.get(row.subject, 0.0) - time.monotonic()
        if rested > 0:
            await store.settle_due(row, next_at=now + timedelta(seconds=rested))
            return
        started = time.monotonic()
        try:
            next_at = await self._settle(row)
        except Exception:
            self.failures += 1
            log.exception("a subject could not be settled", subject=row.subject, attempts=row.attempts + 1)
            delay = min(SLOWEST_RETRY, timedelta(seconds=2 ** min(row.attempts, 10)))
            await store.retry_due(row, at=self._world.clock.now() + delay)
            return
        cost = time.monotonic() - started
        self._rest(row.subject, min(max(COOL_DOWN * cost, SHORTEST_REST), LONGEST_REST))
        await store.settle_due(row, next_at=next_at)

    def _rest(self, subject: str, seconds: float) -> None:
        now = time.monotonic()
        if len(self._rested) >= RESTING:
            self._rested = {resting: until for resting, until in self._rested.items() if until > now}
        self._rested[subject] = now + seconds

    async def _settle(self, row: DueRow) -> datetime | None:
        kind, _, rest = row.subject.partition(":")
        if kind == "cluster":
            return await settle_cluster(self._world, UUID(rest))
        if kind == "host":
            infra_env_id, _, host_id = rest.partition("/")
            return await settle_pool_host(self._world, (UUID(infra_env_id), UUID(host_id)))
        return await self._chores[row.kind](self._world)

    # --- lasting operations

    async def _serve_operations(self) -> None:
        while True:
            self._asked.clear()
            try:
                now = self._world.clock.now()
                claimed = await self._world.store.claim_operations(
                    owner=self._replica, now=now, stale_before=now - STALE, limit=4
                )
            except Exception as error:
                self._note("operations could not be claimed", error)
                claimed = ()
            for operation in claimed:
                task = asyncio.create_task(self._operate(operation))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            if not claimed:
                await asyncio.sleep(OPERATIONS_PACE)
                await _nap(self._asked, HEARTBEAT)

    async def _operate(self, row: OperationRow) -> None:
        progress = row.progress

        async def report(text: str) -> None:
            nonlocal progress
            progress = text
            if not await self._beat(row, text):
                raise TakenOver(row.kind)

        async def keep_beating() -> None:
            owned = True
            while owned:
                await asyncio.sleep(HEARTBEAT)
                try:
                    owned = await self._beat(row, progress)
                except Error as trouble:
                    # A beat that is missed is no end: whether somebody else took over, the next one tells.
                    log.warning("an operation could not give a sign of life", kind=row.kind, reason=str(trouble))

        beating = asyncio.create_task(keep_beating())
        try:
            await self._go_through(row, report)
        except TakenOver:
            log.info("operation taken over by another replica", kind=row.kind, subject=row.subject)
        except Exception as error:
            self._note("operation failed", error)
        finally:
            beating.cancel()

    async def _go_through(self, row: OperationRow, report: Callable[[str], Awaitable[None]]) -> None:
        """While the database or the files are away it is tried again here, unless somebody else takes over first."""
        while True:
            try:
                await self._operations[row.kind](self._world, row, report)
                return
            except Unavailable as trouble:
                self._note(f"operation {row.kind} of {row.subject} waits", trouble)
                # Somebody looks at a cluster that does not go on, and not at our log.
                with suppress(Unavailable):
                    await report(f"waiting: {trouble}")
            await asyncio.sleep(HEARTBEAT)

    async def _beat(self, row: OperationRow, progress: str) -> bool:
        return await self._world.store.heartbeat_operation(
            row.id, epoch=row.epoch, now=self._world.clock.now(), progress=progress
        )

    # --- who listens

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listening.renew()
            except Exception as error:
                self._note("listening could not be renewed", error)
            await asyncio.sleep(LISTENING_EVERY)

    def _note(self, what: str, error: Exception) -> None:
        """A database that is away needs no traceback; everything else is a mistake of ours."""
        self.failures += 1
        if isinstance(error, Unavailable):
            log.warning(what, reason=str(error))
        else:
            log.error(what, exc_info=error)


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Whoever comes next runs them again."""
    running = tuple(tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _nap(until: asyncio.Event, seconds: float) -> None:
    """Sleep, but not past the event."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return
