"""Whole hosts out of five tables: one read tells the versions of everything, further ones fetch only what is new.

A host none of whose rows changed comes back as the same object; one that merely checked in keeps every part.
"""

import asyncio
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import ReportKind, Reports
from firstlight.core.rules import Finding
from firstlight.server.ports.database import Database, Param, Row, Sql
from firstlight.server.ports.rows import PresenceRow
from firstlight.server.ports.writes import PutFindings, PutHost, PutPlan, PutReport
from firstlight.server.store import findings, hosts, plans
from firstlight.server.store.cache import Cache
from firstlight.server.store.documents import FINDINGS, HOST, PLAN, as_bytes, key_params
from firstlight.server.store.kept import Identity, Kept, Loaded, decoding
from firstlight.server.store.presence import issued_of, presence_of
from firstlight.server.store.reports import kept_facts, reports_of, stamps_of
from firstlight.server.store.sealing import HOST_PLACE, PLAN_PLACE, Sealing
from firstlight.server.store.writes import Made

MIB: Final = 1 << 20
FACTS_BYTES: Final = 96 * MIB
FINDINGS_BYTES: Final = 48 * MIB
DOCUMENT_BYTES: Final = 16 * MIB
SLICE: Final = 100
"""Hosts put together before the loop has its turn."""
HOSTS: Final = 20_000
"""Hosts of which the assembled state is kept."""

IDENTITY: Final = itemgetter("infra_env_id", "id")
VERSION: Final = itemgetter(
    "revision", "checked_in_at", "clock_offset_ms", "agent_version", "findings", "plan", "reports"
)


def identity_of(key: HostKey) -> Identity:
    return (str(key[0]), str(key[1]))


class LoadedHost(Struct, frozen=True):
    state: HostState
    revision: int
    cluster_id: str | None


class Versions(Struct, frozen=True):
    """What one row of the first read says about a host."""

    identity: Identity
    row: Row
    subject: str
    reports: Reports | None
    """As they were cached when the versions were read: meanwhile another reader may put newer ones in their place."""


class Parts(Struct, frozen=True):
    hosts: Loaded[Host]
    findings: Loaded[tuple[Finding, ...]]
    plans: Loaded[StepPlan]
    facts: Loaded[Any]

    @property
    def torn(self) -> bool:
        return self.hosts.torn or self.findings.torn or self.plans.torn or self.facts.torn


class HostStates:
    def __init__(self, database: Database, sealing: Sealing) -> None:
        self._database = database
        self._hosts: Kept[Host] = Kept(
            hosts.DOCUMENTS,
            {"infra_env_id": "infra_env_ids", "id": "ids"},
            sealing.opening(HOST.decode, place=HOST_PLACE),
            limit=DOCUMENT_BYTES,
        )
        self.findings: Kept[tuple[Finding, ...]] = Kept(
            findings.DOCUMENTS, {"subject": "subjects"}, decoding(FINDINGS.decode), limit=FINDINGS_BYTES
        )
        self.plans: Kept[StepPlan] = Kept(
            plans.DOCUMENTS,
            {"infra_env_id": "infra_env_ids", "host_id": "host_ids"},
            sealing.opening(PLAN.decode, place=PLAN_PLACE),
            limit=DOCUMENT_BYTES,
        )
        self._facts = kept_facts(limit=FACTS_BYTES)
        self._reports: Cache[Reports] = Cache(limit=HOSTS)
        self._states: Cache[HostState] = Cache(limit=HOSTS)

    async def load(
        self, those: Sql, params: Mapping[str, Param], *, large: bool = False, brief: bool = False
    ) -> list[LoadedHost]:
        """`brief`: the read carries hosts and presence only; such states are not kept."""
        return await self.load_rows(await self._database.fetch(those, large=large, **params), brief=brief)

    async def load_rows(self, rows: Sequence[Row], *, brief: bool = False) -> list[LoadedHost]:
        found = {row_id: self._states.get(row_id, VERSION(row)) for row in rows if (row_id := IDENTITY(row))}
        fresh = [row for row in rows if found[IDENTITY(row)] is None]
        if fresh:
            parts, versions = await self._parts(fresh)
            for place, each in enumerate(versions, start=1):
                if place % SLICE == 0:
                    await asyncio.sleep(0)
                found[each.identity] = self._assembled(each, parts, keep=not brief and not parts.torn)
        return [
            LoadedHost(state, row["revision"], row["cluster_id"])
            for row in rows
            if (state := found[IDENTITY(row)]) is not None
        ]

    def remember(self, made: Made) -> None:
        """What was committed just now is known without reading it back."""
        for write, statements in made:
            if isinstance(write, PutHost):
                stored = statements[0].params
                identity = identity_of((write.host.infra_env_id, write.host.id))
                self._hosts.remember(identity, stored["revision"], write.host, as_bytes(stored["doc"]))
            elif isinstance(write, PutPlan):
                stored = statements[0].params
                self.plans.remember(identity_of(write.key), stored["digest"], write.plan, as_bytes(stored["doc"]))
            elif isinstance(write, PutFindings):
                stored = statements[0].params
                self.findings.remember((write.subject,), stored["digest"], write.findings, as_bytes(stored["doc"]))
            elif isinstance(write, PutReport):
                self._remember_report(write)

    def _remember_report(self, write: PutReport) -> None:
        identity = (*identity_of(write.key), write.kind.value)
        if self._facts.get(identity, write.digest) is None:
            row = {"kind": write.kind.value, "doc": write.facts}
            self._facts.remember(identity, write.digest, self._facts.decoded(row), write.facts)

    async def documents(self, rows: Sequence[Row]) -> list[Host]:
        """Only the hosts themselves, in the order of the rows."""
        wanted = {IDENTITY(row): row["revision"] for row in rows}
        loaded = await self._hosts.load(self._database, wanted)
        return [host for row_id in wanted if (host := loaded.get(row_id)) is not None]

    async def listed_parts(self, rows: Sequence[Row]) -> tuple[Loaded[Host], Loaded[tuple[Finding, ...]], Loaded[Any]]:
        """What tables show of the hosts, findings and inventories whose versions the rows tell."""
        judged = {(f"host:{row['infra_env_id']}/{row['id']}",): row["findings"] for row in rows if row["findings"]}
        told = {(*IDENTITY(row), ReportKind.INVENTORY.value): row["inventory"] for row in rows if row["inventory"]}
        return (
            await self._hosts.load(self._database, {IDENTITY(row): row["revision"] for row in rows}),
            await self.findings.load(self._database, judged),
            await self._facts.load(self._database, told),
        )

    async def presence(self, key: HostKey) -> PresenceRow | None:
        """What one agent is served from."""
        row = await self._database.fetch_one(hosts.SERVED, **key_params(key))
        loaded = [] if row is None else await self.load_rows([row])
        if row is None or not loaded:
            return None
        digests = {ReportKind(kind): found for kind, _, found in stamps_of(row["reports"])}
        return PresenceRow(
            state=loaded[0].state, revision=loaded[0].revision, digests=digests, issued=issued_of(row["issued"])
        )

    async def _parts(self, rows: Sequence[Row]) -> tuple[Parts, list[Versions]]:
        versions: list[Versions] = []
        facts: dict[Identity, object] = {}
        for row in rows:
            identity: Identity = IDENTITY(row)
            known = self._reports.get(identity, row["reports"])
            if known is None:
                facts.update({(*identity, kind): digest for kind, _, digest in stamps_of(row["reports"])})
            versions.append(Versions(identity, row, f"host:{identity[0]}/{identity[1]}", known))
        judged = {(each.subject,): each.row["findings"] for each in versions if each.row["findings"] is not None}
        planned = {each.identity: each.row["plan"] for each in versions if each.row["plan"] is not None}
        parts = Parts(
            await self._hosts.load(self._database, {each.identity: each.row["revision"] for each in versions}),
            await self.findings.load(self._database, judged),
            await self.plans.load(self._database, planned),
            await self._facts.load(self._database, facts),
        )
        return parts, versions

    def _assembled(self, each: Versions, parts: Parts, *, keep: bool) -> HostState | None:
        host = parts.hosts.get(each.identity)
        if host is None:
            return None  # deleted between two reads
        state = HostState(
            host=host,
            presence=presence_of(each.row),
            reports=self._reports_of(each, parts, keep=keep),
            findings=parts.findings.get((each.subject,)) or (),
            plan=parts.plans.get(each.identity),
        )
        if keep:
            self._states.put(each.identity, VERSION(each.row), state, size=1)
        return state

    def _reports_of(self, each: Versions, parts: Parts, *, keep: bool) -> Reports:
        if each.reports is not None:
            return each.reports
        reports = reports_of(each.identity, stamps_of(each.row["reports"]), parts.facts)
        if keep:
            self._reports.put(each.identity, each.row["reports"], reports, size=1)
        return reports
