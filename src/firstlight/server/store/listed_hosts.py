"""Hosts for tables: one narrow read tells which of thousands changed, and only those are put together anew."""

import asyncio
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.reports import ReportKind, Reports
from firstlight.server.ports.database import Database, Row
from firstlight.server.ports.listed_hosts import HostsOf, ListedHost, Place
from firstlight.server.store import hosts
from firstlight.server.store.cache import Cache
from firstlight.server.store.documents import optional_moment
from firstlight.server.store.host_states import HOSTS, IDENTITY, SLICE, HostStates
from firstlight.server.store.kept import Identity

VERSION: Final = itemgetter("revision", "findings", "inventory")
LISTED: Final = {Place.CLUSTER: hosts.LISTED_OF_CLUSTER, Place.INFRA_ENV: hosts.LISTED_OF_INFRA_ENV}
INVENTORY: Final = ReportKind.INVENTORY.value
UNHEARD: Final = Presence()


class ListedHosts:
    """Documents come from the caches of whole hosts, so that nothing is kept twice."""

    def __init__(self, database: Database, host_states: HostStates) -> None:
        self._database = database
        self._hosts = host_states
        self._states: Cache[HostState] = Cache(limit=HOSTS)

    async def load(self, place: HostsOf) -> list[ListedHost]:
        rows = await self._database.fetch(LISTED[place.place], large=True, id=str(place.id))
        found = {row_id: self._states.get(row_id, VERSION(row)) for row in rows if (row_id := IDENTITY(row))}
        fresh = [row for row in rows if found[IDENTITY(row)] is None]
        if fresh:
            found.update(await self._assembled(fresh))
        return [
            ListedHost(state, optional_moment(row["checked_in_at"]))
            for row in rows
            if (state := found[IDENTITY(row)]) is not None
        ]

    async def _assembled(self, rows: Sequence[Row]) -> dict[Identity, HostState | None]:
        documents, findings, facts = await self._hosts.listed_parts(rows)
        torn = documents.torn or findings.torn or facts.torn
        made: dict[Identity, HostState | None] = {}
        for place, row in enumerate(rows, start=1):
            if place % SLICE == 0:
                await asyncio.sleep(0)
            identity: Identity = IDENTITY(row)
            host = documents.get(identity)
            made[identity] = None  # deleted between two reads
            if host is None:
                continue
            state = made[identity] = HostState(
                host=host,
                presence=UNHEARD,
                reports=Reports(inventory=facts.get((*identity, INVENTORY))),
                findings=findings.get((f"host:{identity[0]}/{identity[1]}",)) or (),
            )
            if not torn:
                self._states.put(identity, VERSION(row), state, size=1)
        return made
