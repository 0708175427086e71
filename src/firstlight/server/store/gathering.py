"""Commits that wait go together: when many hosts call at once, PostgreSQL's work is the statements, not their rows.

While one group is on its way, whatever comes meanwhile makes the next. A group is one transaction. When it fails for
the sake of one of its commits, nothing of it was kept, and each is tried on its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import HeldUp, Statement
from firstlight.server.ports.writes import (
    AddEvents,
    MakeDue,
    PutHost,
    PutPlan,
    PutPresence,
    PutReport,
    TouchCluster,
    Write,
)
from firstlight.server.store.writes import BATCHES, Made

MOST_WRITES: Final = 8
"""Of one commit that may go with others: what one host tells. Larger ones are better off alone."""
MOST_BYTES: Final = 256 * 1024
"""Of a report that may go with others."""
MOST: Final = 64
"""Commits and hosts of a group, taken together: their names have room in one notice."""
PATIENCE: Final = 0.02
"""Seconds after which the next group does not wait any longer for one that is held up."""
ORDER: Final = (TouchCluster, PutHost, PutReport, PutPresence, PutPlan, MakeDue, AddEvents)
"""What may go together, in the order in which every group locks its rows."""

Send = Callable[[Sequence[Write], Made], Awaitable[None]]


class Parcel(Struct, frozen=True):
    """One commit that waits."""

    writes: Sequence[Write]
    made: Made
    landed: asyncio.Future[None]


class Gathering:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: list[Parcel] = []
        self._patience: asyncio.TimerHandle | None = None
        """With the flight that the next one waits for; None when there is none, or when it is held up."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def commit(self, writes: Sequence[Write], made: Made) -> None:
        if self._patience is None:
            await self._fly(self._send(writes, made), self._begun())
        else:
            parcel = Parcel(writes, made, asyncio.get_running_loop().create_future())
            self._waiting.append(parcel)
            await parcel.landed

    def _begun(self) -> asyncio.TimerHandle:
        self._patience = asyncio.get_running_loop().call_later(PATIENCE, self._depart)
        return self._patience

    async def _fly(self, sending: Awaitable[None], patience: asyncio.TimerHandle) -> None:
        try:
            await sending
        finally:
            if self._patience is patience:
                patience.cancel()
                self._depart()

    def _depart(self) -> None:
        """Set off with those who wait; a host that is among them twice takes the next flight, too."""
        self._patience = None
        group: list[Parcel] = []
        later: list[Parcel] = []
        aboard: set[HostKey] = set()
        for parcel in self._waiting:
            hosts = set(hosts_of(parcel.writes))
            if len(group) + len(aboard) >= MOST or not aboard.isdisjoint(hosts):
                later.append(parcel)
            elif not parcel.landed.done():
                # Who was cancelled before it began is left out.
                group.append(parcel)
                aboard |= hosts
        self._waiting = later
        if group:
            task = asyncio.create_task(self._fly(self._together(group), self._begun()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _together(self, group: Sequence[Parcel]) -> None:
        if len(group) == 1:
            await self._alone(group[0])
            return
        try:
            await self._send([write for parcel in group for write in parcel.writes], arranged(group))
        except Exception as trouble:
            if isinstance(trouble, Unavailable) and not isinstance(trouble, HeldUp):
                # Nobody would fare better alone, and whether it was kept may not be known.
                for parcel in group:
                    tell(parcel, trouble)
            else:
                await asyncio.gather(*map(self._alone, group))
        else:
            for parcel in group:
                tell(parcel)

    async def _alone(self, parcel: Parcel) -> None:
        try:
            await self._send(parcel.writes, parcel.made)
        except Exception as trouble:
            tell(parcel, trouble)
        else:
            tell(parcel)


def may_go_along(writes: Sequence[Write]) -> bool:
    """Commits of hosts: their registrations and reports."""
    return len(writes) <= MOST_WRITES and all(map(_may_go_along, writes))


def _may_go_along(write: Write) -> bool:
    if isinstance(write, TouchCluster):
        return write.beside is not None
    if isinstance(write, PutHost):
        return write.expect_revision is None
    if isinstance(write, PutReport):
        return len(write.raw) + len(write.facts) <= MOST_BYTES
    return isinstance(write, ORDER)


def hosts_of(writes: Sequence[Write]) -> Iterator[HostKey]:
    for write in writes:
        if isinstance(write, PutHost):
            yield (write.host.infra_env_id, write.host.id)
        elif isinstance(write, PutReport | PutPresence | PutPlan):
            yield write.key


def arranged(group: Sequence[Parcel]) -> Made:
    """The writes of all, kind by kind and in the order of their keys; a row of the queue is asked for once."""
    first: dict[tuple[str, str], MakeDue] = {}
    for parcel in group:
        for write in parcel.writes:
            if isinstance(write, MakeDue):
                known = first.get((write.subject, write.kind))
                first[write.subject, write.kind] = write if known is None or write.at < known.at else known
    kept = [
        (write, statements)
        for parcel in group
        for write, statements in parcel.made
        if not isinstance(write, MakeDue) or first[write.subject, write.kind] is write
    ]
    return sorted(kept, key=place_of)


def place_of(made: tuple[Write, tuple[Statement, ...]]) -> tuple[int, list[str]]:
    write, (statement,) = made
    return ORDER.index(type(write)), [str(statement.params[column]) for column in BATCHES[statement.sql]]


def tell(parcel: Parcel, trouble: Exception | None = None) -> None:
    if parcel.landed.done():
        return
    if trouble is None:
        parcel.landed.set_result(None)
    else:
        parcel.landed.set_exception(trouble)
