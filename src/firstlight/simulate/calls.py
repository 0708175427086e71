"""The service as agents, installers, controllers and users call it: one session, one method per call of the wire."""

import re
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Final, TypeVar
from uuid import UUID, uuid4

import aiohttp
import msgspec

from firstlight.core import wire
from firstlight.simulate.documents import (
    ClusterDocument,
    HostDocument,
    Instructions,
    OperatorDocument,
    Registration,
    StepAnswer,
)

T = TypeVar("T")

API: Final = "/api/assisted-install"
OWN_API: Final = "/api/firstlight"
CONNECTIONS: Final = 100
"""At most this many requests are under way at once, however many machines there are."""
PATIENCE: Final = aiohttp.ClientTimeout(total=120, connect=60)

_AGENT_TOKEN: Final = re.compile(rb"PULL_SECRET_TOKEN=([\w.-]+)")
_JSON: Final = {"Content-Type": "application/json"}
_ENCODE: Final = msgspec.json.Encoder().encode
_DECODERS: dict[type[object], msgspec.json.Decoder[object]] = {}


class Refused(Exception):
    """The service answered, but not with what was asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the service answered {status}: {reason}")
        self.status = status
        self.reason = reason


class Unreachable(Exception):
    """No answer came."""


class _Complaint(msgspec.Struct):
    reason: str = ""
    message: str = ""


class Service:
    """Calls to one service through a shared session."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, *, secret_key: str | None = None, token: str = ""
    ) -> None:
        """`secret_key` is what machines prove themselves with, be it empty, `token` what people do."""
        self.url = url.rstrip("/")
        self._session = session
        self._proof = {} if secret_key is None else {"X-Secret-Key": secret_key}
        if token:
            self._proof["Authorization"] = f"Bearer {token}"

    async def for_machines(self, infra_env_id: UUID) -> "Service":
        """The same service as the machines of an infra-env see it: all they know is in their discovery image."""
        if "Authorization" not in self._proof:
            machine = copy(self)
            machine._proof = {"X-Secret-Key": "", **self._proof}
            return machine
        path, query = f"/v2/infra-envs/{infra_env_id}/downloads/files", {"file_name": "discovery.ign"}
        found = _AGENT_TOKEN.search(await self.ask("GET", path, query=query))
        return Service(self.url, self._session, secret_key=found[1].decode() if found else "")

    async def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | aiohttp.MultipartWriter | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        api: str = API,
    ) -> bytes:
        """The body of a 2xx answer; Refused or Unreachable otherwise."""
        sent = {**self._proof, "X-Request-ID": str(uuid4()), **(headers or {})}
        if isinstance(body, bytes):
            sent |= _JSON
        try:
            async with self._session.request(
                method, self.url + api + path, data=body, params=query, headers=sent
            ) as answer:
                content = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(f"{method} {path}: {error or type(error).__name__}") from error
        if answer.status >= 300:
            raise Refused(answer.status, _reason_in(content))
        return content

    async def read(self, type_: type[T], path: str, *, query: Mapping[str, str] | None = None) -> T:
        return decoded(type_, await self.ask("GET", path, query=query))

    async def send(self, method: str, path: str, document: object) -> bytes:
        return await self.ask(method, path, body=_ENCODE(document))

    # --- the agent ----------------------------------------------------------------------------------------------------

    async def register(self, infra_env_id: UUID, host_id: UUID, *, agent_version: str) -> Registration:
        body = _ENCODE(wire.HostCreateParams(host_id=host_id, discovery_agent_version=agent_version))
        path = f"/v2/infra-envs/{infra_env_id}/hosts"
        return decoded(Registration, await self.ask("POST", path, body=body, headers=_version(agent_version)))

    async def instructions(
        self, infra_env_id: UUID, host_id: UUID, *, agent_version: str, timestamp: int
    ) -> Instructions:
        path = f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}/instructions"
        answer = await self.ask("GET", path, query={"timestamp": str(timestamp)}, headers=_version(agent_version))
        return decoded(Instructions, answer)

    async def reply(self, infra_env_id: UUID, host_id: UUID, reply: StepAnswer, *, agent_version: str) -> None:
        path = f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}/instructions"
        await self.ask("POST", path, body=_ENCODE(reply), headers=_version(agent_version))

    async def host_logs_state(self, infra_env_id: UUID, host_id: UUID, state: wire.LogsProgressParams) -> None:
        await self.send("PUT", f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}/logs-progress", state)

    async def upload_logs(self, cluster_id: UUID, archive: bytes, *, query: Mapping[str, str]) -> None:
        with aiohttp.MultipartWriter("form-data") as form:
            part = form.append(archive, {"Content-Type": "application/gzip"})
            part.set_content_disposition("form-data", name="upfile", filename="logs.tar.gz")
        await self.ask("POST", f"/v2/clusters/{cluster_id}/logs", body=form, query=query)

    # --- the installer and the controller -----------------------------------------------------------------------------

    async def progress(self, infra_env_id: UUID, host_id: UUID, progress: wire.HostProgress) -> None:
        await self.send("PUT", f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}/progress", progress)

    async def host_ignition(self, infra_env_id: UUID, host_id: UUID) -> bytes:
        return await self.ask("GET", f"/v2/infra-env/{infra_env_id}/hosts/{host_id}/downloads/ignition")

    async def cluster_file(self, cluster_id: UUID, name: str) -> bytes:
        return await self.ask("GET", f"/v2/clusters/{cluster_id}/downloads/files", query={"file_name": name})

    async def cluster(self, cluster_id: UUID) -> ClusterDocument:
        return await self.read(ClusterDocument, f"/v2/clusters/{cluster_id}", query={"exclude-hosts": "true"})

    async def cluster_hosts(self, cluster_id: UUID, *, role: str = "") -> Sequence[HostDocument]:
        query = {"role": role} if role else None
        return await self.read(tuple[HostDocument, ...], f"/v2/clusters/{cluster_id}/hosts", query=query)

    async def operators(self, cluster_id: UUID) -> Sequence[OperatorDocument]:
        return await self.read(tuple[OperatorDocument, ...], f"/v2/clusters/{cluster_id}/monitored-operators")

    async def credentials(self, cluster_id: UUID, name: str) -> bytes:
        return await self.ask("GET", f"/v2/clusters/{cluster_id}/downloads/credentials", query={"file_name": name})


@asynccontextmanager
async def connect(
    url: str, *, secret_key: str | None = None, token: str = "", trust: ssl.SSLContext | None = None
) -> AsyncGenerator[Service]:
    """`trust` is needed where the system does not know who signed the service's certificate."""
    connector = aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=75, ssl=trust or True)
    async with aiohttp.ClientSession(connector=connector, timeout=PATIENCE) as session:
        yield Service(url, session, secret_key=secret_key, token=token)


def decoded(type_: type[T], content: bytes) -> T:
    decoder = _DECODERS.get(type_)
    if decoder is None:
        decoder = _DECODERS[type_] = msgspec.json.Decoder(type_)
    try:
        return decoder.decode(content)  # pyright: ignore[reportReturnType]
    except msgspec.DecodeError as error:
        raise Unreachable(f"the service sent something else than expected: {error}") from error


def _version(agent_version: str) -> Mapping[str, str]:
    return {"discovery_agent_version": agent_version}


def _reason_in(content: bytes) -> str:
    try:
        complaint = msgspec.json.decode(content, type=_Complaint)
    except msgspec.DecodeError:
        return content[:500].decode(errors="replace")
    return complaint.reason or complaint.message
