"""A client that notes every write it was told to have succeeded, and waits out a service that is not there."""

import asyncio
import itertools
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Final
from uuid import UUID

import aiohttp
import msgspec

from firstlight.simulate.calls import CONNECTIONS, PATIENCE, Refused, Service, Unreachable
from tests.end_to_end.registers import MISSING, Register, Written

Thing = tuple[str, ...]
"""What was written: its kind and the ids that lead to it."""

PATIENCE_SECONDS: Final = 120.0
PAUSE_SECONDS: Final = 0.2
AGENT: Final = re.compile(r"/v2/infra-envs/([^/]+)/hosts(/[^/]+/instructions)?$")
"""Agents have a patience of their own."""
HOST: Final = r"/v2/infra-envs/(?P<infra_env>[^/]+)/hosts/(?P<host>[^/]+)"
CLUSTER: Final = r"/v2/clusters/(?P<cluster>[^/]+)"


class Journal:
    """All that was written, by thing."""

    def __init__(self) -> None:
        self.things: defaultdict[Thing, Register] = defaultdict(Register)

    @property
    def acknowledged(self) -> int:
        return sum(register.counts for register in self.things.values())

    def of(self, kind: str) -> dict[tuple[str, ...], Register]:
        return {thing[1:]: register for thing, register in self.things.items() if thing[0] == kind}


def written(method: str, path: str, query: Mapping[str, str], body: bytes | None) -> dict[Thing, object]:
    """What a request would change, as far as it can be read back. Creations are known by their answers only."""
    document: Any = msgspec.json.decode(body) if isinstance(body, bytes) and body else {}
    for pattern, name in _WRITES:
        found = re.fullmatch(pattern, f"{method} {path}")
        if found:
            return _CHANGES[name](found.groupdict(), query, document)
    return {}


def _fields(kind: str, identity: tuple[str, ...], document: dict[str, Any]) -> dict[Thing, object]:
    return {(kind, *identity, field): value for field, value in document.items()}


def _reply(ids: dict[str, str], _: Mapping[str, str], document: dict[str, Any]) -> dict[Thing, object]:
    if document["step_type"] != "inventory" or document.get("exit_code"):
        return {}
    return {("inventory", ids["infra_env"], ids["host"]): document["output"]}


_WRITES: Final = (
    (rf"PATCH {CLUSTER}", "cluster"),
    (rf"DELETE {CLUSTER}", "cluster-gone"),
    (r"PATCH /v2/infra-envs/(?P<infra_env>[^/]+)", "infra-env"),
    (rf"PATCH {HOST}", "host"),
    (rf"POST {HOST}/instructions", "reply"),
    (rf"PUT {HOST}/progress", "stage"),
    (rf"PUT {HOST}/logs-progress", "logs-state"),
    (rf"PUT {CLUSTER}/progress", "finalizing"),
    (rf"PUT {CLUSTER}/monitored-operators", "operator"),
    (rf"POST {CLUSTER}/manifests", "manifest"),
    (rf"DELETE {CLUSTER}/manifests", "manifest-gone"),
    (rf"POST {CLUSTER}/actions/install", "install"),
    (rf"POST {CLUSTER}/actions/complete-installation", "complete"),
    (rf"POST {CLUSTER}/uploads/ingress-cert", "ingress"),
    (r"POST /v2/events", "event"),
)
_CHANGES: Final = {
    "cluster": lambda ids, _, document: _fields("cluster-field", (ids["cluster"],), document),
    "cluster-gone": lambda ids, _, __: {("cluster", ids["cluster"]): MISSING},
    "infra-env": lambda ids, _, document: _fields("infra-env-field", (ids["infra_env"],), document),
    "host": lambda ids, _, document: _fields("host-field", (ids["infra_env"], ids["host"]), document),
    "reply": _reply,
    "stage": lambda ids, _, document: {
        ("stage", ids["infra_env"], ids["host"]): (document["current_stage"], document.get("progress_info") or "")
    },
    "logs-state": lambda ids, _, document: {("logs-state", ids["infra_env"], ids["host"]): document["logs_state"]},
    "finalizing": lambda ids, _, document: {("finalizing", ids["cluster"]): document["finalizing_stage"]},
    "operator": lambda ids, _, document: {
        ("operator", ids["cluster"], document["name"]): (document["status"], document["status_info"])
    },
    "manifest": lambda ids, _, document: {
        ("manifest", ids["cluster"], document["folder"], document["file_name"]): document["content"]
    },
    "manifest-gone": lambda ids, query, _: {("manifest", ids["cluster"], query["folder"], query["file_name"]): MISSING},
    "install": lambda ids, _, __: {("installation", ids["cluster"]): "started"},
    "complete": lambda ids, _, __: {("completion", ids["cluster"]): "told"},
    "ingress": lambda ids, _, document: {("ingress", ids["cluster"]): document},
    "event": lambda _, __, document: {("event", document["cluster_id"], document["message"]): "told"},
}


class JournalingService(Service):
    """Whoever calls through this has its acknowledged writes noted; all but agents try again when nobody answers."""

    def __init__(self, urls: Sequence[str], session: aiohttp.ClientSession, journal: Journal) -> None:
        """Of several replicas each request goes to the next, as a balancer before them would have it."""
        super().__init__(urls[0], session)
        self._urls = itertools.cycle(urls)
        self._others = len(urls) - 1
        self.journal = journal
        self.gate = asyncio.Event()
        self.gate.set()
        self.under_way = 0
        """Requests that wait for an answer."""

    async def for_machines(self, infra_env_id: UUID) -> Service:
        """Machines and people share one journal."""
        return self

    async def is_quiet(self) -> None:
        """Until every request has its answer, or its end. Close the gate before."""
        while self.under_way:
            await asyncio.sleep(0.01)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | aiohttp.MultipartWriter | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        is_agent = AGENT.fullmatch(path) is not None and (method == "POST" or path.endswith("/instructions"))
        patient = not isinstance(body, aiohttp.MultipartWriter) and not is_agent
        end = time.monotonic() + (PATIENCE_SECONDS if patient else 0)
        others = self._others
        while True:
            await self.gate.wait()
            try:
                return await self._noted(method, path, body=body, query=query, headers=headers)
            except (Refused, Unreachable) as error:
                # As before several replicas, whoever answers gets what another one did not take.
                others -= 1
                if (time.monotonic() > end and others < 0) or (isinstance(error, Refused) and error.status != 503):
                    raise
            if others < 0:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _noted(
        self,
        method: str,
        path: str,
        *,
        body: bytes | aiohttp.MultipartWriter | None,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
    ) -> bytes:
        plain = body if isinstance(body, bytes) else None
        self.under_way += 1
        try:
            with ExitStack() as stack:
                writes = [
                    stack.enter_context(self.journal.things[thing].writing(value))
                    for thing, value in written(method, path, query or {}, plain).items()
                ]
                answer = await self._told(writes, method, path, body=body, query=query, headers=headers)
        finally:
            self.under_way -= 1
        self._note_creation(method, path, answer)
        return answer

    async def _told(self, writes: list[Written], method: str, path: str, **parts: Any) -> bytes:
        # Read before anything is waited for, so that no other request comes in between.
        self.url = next(self._urls)
        try:
            answer = await super().ask(method, path, **parts)
        except Refused as refusal:
            for write in writes:
                write.refused = refusal.status < 500
            raise
        for write in writes:
            write.acknowledged = True
        return answer

    def _note_creation(self, method: str, path: str, answer: bytes) -> None:
        """Nobody else can write a thing before its id is known."""
        registered = AGENT.fullmatch(path)
        if method != "POST" or not (registered or path in ("/v2/clusters", "/v2/infra-envs")):
            return
        if registered is not None and registered[2]:
            return
        document: dict[str, Any] = msgspec.json.decode(answer)
        thing: Thing = (
            ("host", registered[1], document["id"]) if registered else (path.split("/")[2][:-1], document["id"])
        )
        name = "there" if registered else document["name"]
        if self.journal.things[thing].counts == 0:
            with self.journal.things[thing].writing(name) as write:
                write.acknowledged = True

    async def upload_logs(self, cluster_id: UUID, archive: bytes, *, query: Mapping[str, str]) -> None:
        thing = ("logs", str(cluster_id), query["logs_type"], query.get("host_id", ""))
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            await self.gate.wait()
            try:
                with self.journal.things[thing].writing(archive) as write:
                    await super().upload_logs(cluster_id, archive, query=query)
                    write.acknowledged = True
                return
            except (Refused, Unreachable) as error:
                if time.monotonic() > end or (isinstance(error, Refused) and error.status != 503):
                    raise
            await asyncio.sleep(PAUSE_SECONDS)


@asynccontextmanager
async def journaling(journal: Journal, *urls: str) -> AsyncIterator[JournalingService]:
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector, timeout=PATIENCE) as session:
        yield JournalingService(urls, session, journal)
