"""The service as the installer calls it. An outage is waited out within the caller's limit; a refusal is final.

Who asks for something that is not there yet (404, 423, 425) asks a few times more.
"""

import asyncio
import random
from collections.abc import Mapping
from types import TracebackType
from typing import Final, TypeVar
from uuid import UUID, uuid4

import httpx2
import msgspec
from msgspec import Struct

from firstlight.core.wire.words import HostStage
from firstlight.host.actions.action import Unfetched
from firstlight.host.fetching import RoutedTransport, pem_file, trust
from firstlight.host.installer.pace import Pace
from firstlight.host.installer.settings import InstallerSettings
from firstlight.host.root import Root

T = TypeVar("T")
API: Final = "/api/assisted-install"
CALL_SECONDS: Final = 60.0
"""For one attempt, whatever the other side does."""
BASE_SECONDS: Final = 2.0
CAP_SECONDS: Final = 10.0
NOT_YET: Final = frozenset({404, 423, 425})
NOT_YET_RETRIES: Final = 10
OUTAGES: Final = frozenset({408, 429})
SETTLED: Final = 409
ERRORS_FROM: Final = 300
SERVER_ERRORS_FROM: Final = 500
LARGEST_ANSWER: Final = 64 * 2**20


class Refused(Exception):
    """The service answered, and will answer the same again."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the service answered {status}: {reason}" if reason else f"the service answered {status}")
        self.status = status


class Unreachable(Exception):
    """No useful answer came before the time was up; the text is part of a sentence."""


class _Complaint(Struct):
    reason: str = ""
    message: str = ""


class Reached(Struct, frozen=True, kw_only=True):
    current_stage: str = ""


class HostDocument(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID | None = None
    status: str = ""
    role: str = ""
    requested_hostname: str = ""
    progress: Reached | None = None
    inventory: str = ""

    @property
    def stage(self) -> str:
        return self.progress.current_stage if self.progress is not None else ""


class PlatformDocument(Struct, frozen=True, kw_only=True):
    type: str = ""


class ClusterDocument(Struct, frozen=True, kw_only=True):
    kind: str = ""
    status: str = ""
    control_plane_count: int = 0
    platform: PlatformDocument | None = None

    @property
    def platform_type(self) -> str:
        return self.platform.type if self.platform is not None else ""


class Service:
    def __init__(self, settings: InstallerSettings, *, root: Root, pace: Pace) -> None:
        """Raises `Unfetched` if the given authority is no certificate."""
        self._settings = settings
        self._pace = pace
        given = settings.ca_certificate
        authorities = None if given is None else pem_file(given) or pem_file(root.path(str(given)))
        if given is not None and authorities is None:
            raise Unfetched(f"The certificate authority {given} cannot be read.")
        context = trust(root=root, authorities=authorities, insecure=settings.insecure)
        self._client = httpx2.AsyncClient(
            transport=RoutedTransport(context, environment=settings.proxies, keep_seconds=90.0), trust_env=False
        )

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    # --- calls --------------------------------------------------------------------------------------------------------

    async def progress(
        self, infra_env_id: UUID, host_id: UUID, stage: HostStage, *, info: str = "", limit: float
    ) -> None:
        body = {"current_stage": stage} | ({"progress_info": info} if info else {})
        path = f"{API}/v2/infra-envs/{infra_env_id}/hosts/{host_id}/progress"
        await self.ask("PUT", path, document=body, limit=limit)

    async def host_ignition(self, host_id: UUID, *, limit: float) -> bytes:
        path = f"{API}/v2/infra-env/{self._settings.infra_env_id}/hosts/{host_id}/downloads/ignition"
        return await self.ask("GET", path, limit=limit)

    async def cluster_file(self, name: str, *, limit: float) -> bytes:
        return await self.ask("GET", f"{self._cluster}/downloads/files", query={"file_name": name}, limit=limit)

    async def cluster(self, *, limit: float) -> ClusterDocument:
        return _decoded(
            ClusterDocument, await self.ask("GET", self._cluster, query={"exclude-hosts": "true"}, limit=limit)
        )

    async def hosts(self, role: str, *, limit: float) -> tuple[HostDocument, ...]:
        answer = await self.ask("GET", f"{self._cluster}/hosts", query={"role": role}, limit=limit)
        return _decoded(tuple[HostDocument, ...], answer)

    async def host_logs_state(self, host_id: UUID, state: str, *, limit: float) -> None:
        path = f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/logs-progress"
        await self.ask("PUT", path, document={"logs_state": state}, limit=limit)

    async def upload_controller_logs(self, archive: bytes, *, limit: float) -> None:
        boundary = uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="upfile"; filename="controller_logs.tar.gz"\r\n'
            "Content-Type: application/gzip\r\n\r\n"
        )
        content = head.encode() + archive + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        query = {"logs_type": "controller"}
        await self.ask("POST", f"{self._cluster}/logs", query=query, content=content, kind=kind, limit=limit)

    async def cluster_logs_state(self, state: str, *, limit: float) -> None:
        await self.ask("PUT", f"{self._cluster}/logs-progress", document={"logs_state": state}, limit=limit)

    @property
    def _cluster(self) -> str:
        return f"{API}/v2/clusters/{self._settings.cluster_id}"

    # --- one call -----------------------------------------------------------------------------------------------------

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content: bytes | None = None,
        kind: str = "",
        limit: float,
    ) -> bytes:
        """The body of a successful answer. Raises `Refused`, and `Unreachable` once `limit` seconds are over."""
        headers = {"X-Secret-Key": self._settings.token, "User-Agent": "firstlight-installer"}
        headers["X-Request-ID"] = str(uuid4())
        if document is not None:
            content, kind = msgspec.json.encode(document), "application/json"
        if kind:
            headers["Content-Type"] = kind
        request = self._client.build_request(
            method,
            self._settings.url + path,
            params=dict(query or {}),
            content=content,
            headers=headers,
            timeout=httpx2.Timeout(CALL_SECONDS, connect=30.0),
        )
        loop = asyncio.get_running_loop()
        end, not_yet, attempt = loop.time() + limit, 0, 0
        while True:
            left = end - loop.time()
            try:
                return await self._once(request, seconds=min(CALL_SECONDS, max(left, 1.0)))
            except Refused as refusal:
                not_yet += refusal.status in NOT_YET
                if not _passes(refusal.status) and (refusal.status not in NOT_YET or not_yet > NOT_YET_RETRIES):
                    raise
                trouble: Exception = refusal
            except Unreachable as reason:
                trouble = reason
            delay = random.uniform(0, min(BASE_SECONDS * 2**attempt, CAP_SECONDS))  # noqa: S311 - to spread callers
            attempt = min(attempt + 1, 8)
            if loop.time() + self._pace.seconds(delay) >= end:
                raise Unreachable(str(trouble)) from trouble
            await self._pace.rest(delay)

    async def _once(self, request: httpx2.Request, *, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                answer = await self._client.send(request, stream=True)
                try:
                    body = await _bounded(answer)
                finally:
                    await answer.aclose()
        except TimeoutError:
            raise Unreachable(f"the service did not answer within {seconds:g} seconds") from None
        except Unfetched as reason:
            raise Unreachable(str(reason)) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as reason:
            raise Unreachable(f"the service cannot be reached: {reason or type(reason).__name__}") from reason
        if answer.status_code >= ERRORS_FROM:
            raise Refused(answer.status_code, _reason(body))
        return body


def _passes(status: int) -> bool:
    """Whether the trouble is the service's own and may go by itself."""
    return status in OUTAGES or status >= SERVER_ERRORS_FROM


async def _bounded(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise ValueError(f"its answer is longer than {LARGEST_ANSWER} bytes")
    return bytes(body)


def _decoded(type_: type[T], data: bytes) -> T:
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as reason:
        raise Unreachable(f"the answer of the service cannot be understood: {reason}") from None


def _reason(body: bytes) -> str:
    try:
        found = msgspec.json.decode(body, type=_Complaint)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return " ".join((found.reason or found.message).split())[:300]
