"""The service as the controller calls it. Whatever goes wrong, it `RefusedIt` or was `OutOfReach`."""

import asyncio
from collections.abc import AsyncIterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, TypeVar
from uuid import uuid4

import httpx2
import msgspec

from firstlight.core import wire
from firstlight.host.actions.action import Unfetched
from firstlight.host.controller.documents import ClusterDocument, CustomManifest, HostDocument, OperatorDocument
from firstlight.host.controller.settings import ControllerSettings
from firstlight.host.fetching import RoutedTransport, pem_file, trust
from firstlight.host.root import Root

T = TypeVar("T")

API: Final = "/api/assisted-install"
CALL_SECONDS: Final = 60.0
UPLOAD_SECONDS: Final = 1800.0
LARGEST_ANSWER: Final = 64 * 2**20
ERRORS_FROM: Final = 300
PIECE: Final = 2**18


class RefusedIt(Exception):
    """The service answered, but not with what was asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the service answered {status}: {reason}")
        self.status = status


class OutOfReach(Exception):
    """No answer came, or none that can be understood; the text is part of a sentence."""


class _Complaint(msgspec.Struct):
    reason: str | None = None
    message: str | None = None


class Service:
    def __init__(self, settings: ControllerSettings, *, root: Root, proxies: Mapping[str, str]) -> None:
        self._settings = settings
        self._root = root
        self._proxies = proxies
        self._client: httpx2.AsyncClient | None = None
        self._cluster = f"/v2/clusters/{settings.cluster_id}"

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    # --- what it knows ------------------------------------------------------------------------------------------------

    async def cluster(self) -> ClusterDocument:
        return await self._read(ClusterDocument, self._cluster, query={"exclude-hosts": "true"})

    async def hosts(self) -> tuple[HostDocument, ...]:
        """With their inventories: addresses are part of who they are."""
        return await self._read(tuple[HostDocument, ...], f"{self._cluster}/hosts", query={"with-inventory": "true"})

    async def operators(self) -> tuple[OperatorDocument, ...]:
        return await self._read(tuple[OperatorDocument, ...], f"{self._cluster}/monitored-operators")

    async def custom_manifests(self) -> tuple[CustomManifest, ...]:
        path, query = f"{self._cluster}/downloads/files", {"file_name": "custom_manifests.json"}
        return await self._read(tuple[CustomManifest, ...], path, query=query)

    async def admin_kubeconfig(self) -> str:
        path, query = f"{self._cluster}/downloads/credentials", {"file_name": "kubeconfig-noingress"}
        return (await self._ask("GET", path, query=query)).decode("utf-8", "replace")

    # --- what it is told ----------------------------------------------------------------------------------------------

    async def tell_stage(self, host: HostDocument, report: wire.HostProgress) -> None:
        path = f"/v2/infra-envs/{host.infra_env_id}/hosts/{host.id}/progress"
        await self._ask("PUT", path, document=report)

    async def tell_operator(self, report: wire.OperatorMonitorReport) -> None:
        await self._ask("PUT", f"{self._cluster}/monitored-operators", document=report)

    async def tell_finalizing(self, report: wire.ClusterFinalizingProgress) -> None:
        await self._ask("PUT", f"{self._cluster}/progress", document=report)

    async def add_ingress_ca(self, bundle: str) -> None:
        await self._ask("POST", f"{self._cluster}/uploads/ingress-cert", document=bundle)

    async def complete(self, report: wire.CompletionParams) -> None:
        await self._ask("POST", f"{self._cluster}/actions/complete-installation", document=report)

    async def tell_event(self, event: wire.EventTriggerParams) -> None:
        await self._ask("POST", "/v2/events", document=event)

    async def tell_logs_state(self, report: wire.LogsProgressParams) -> None:
        await self._ask("PUT", f"{self._cluster}/logs-progress", document=report)

    async def upload_logs(self, archive: Path) -> None:
        content, headers = _form(archive)
        query = {"logs_type": "controller"}
        await self._ask(
            "POST", f"{self._cluster}/logs", query=query, content=content, headers=headers, seconds=UPLOAD_SECONDS
        )

    # --- one call -----------------------------------------------------------------------------------------------------

    async def _read(self, type_: type[T], path: str, *, query: Mapping[str, str] | None = None) -> T:
        body = await self._ask("GET", path, query=query)
        try:
            return msgspec.json.decode(body, type=type_)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as reason:
            raise OutOfReach(f"its answer cannot be understood: {reason}") from None

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content: AsyncIterable[bytes] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = CALL_SECONDS,
    ) -> bytes:
        sent = {"X-Secret-Key": self._settings.token, "X-Request-ID": str(uuid4()), **(headers or {})}
        if document is not None:
            content, sent["Content-Type"] = msgspec.json.encode(document), "application/json"
        url = f"{self._settings.service_url}{API}{path}"
        try:
            async with (
                asyncio.timeout(seconds + 20),
                self._opened().stream(
                    method, url, params=dict(query or {}), content=content, headers=sent, timeout=seconds
                ) as answer,
            ):
                body = await _bounded(answer)
        except TimeoutError:
            raise OutOfReach(f"the service did not answer within {seconds:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError, Unfetched) as reason:
            words = str(reason).strip().rstrip(".") or type(reason).__name__
            raise OutOfReach(f"the service cannot be reached: {words}") from reason
        if answer.status_code >= ERRORS_FROM:
            raise RefusedIt(answer.status_code, _reason(body))
        return body

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            given = self._settings.ca_certificate
            authorities = None if given is None else pem_file(given)
            context = trust(root=self._root, authorities=authorities, insecure=self._settings.insecure)
            transport = RoutedTransport(context, environment=self._proxies)
            self._client = httpx2.AsyncClient(transport=transport, trust_env=False)
        return self._client


async def _bounded(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise ValueError(f"its answer is longer than {LARGEST_ANSWER} bytes")
    return bytes(body)


def _reason(body: bytes) -> str:
    try:
        found = msgspec.json.decode(body, type=_Complaint)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return body[:300].decode("utf-8", "replace")
    return found.reason or found.message or ""


def _form(path: Path) -> tuple[AsyncIterable[bytes], dict[str, str]]:
    """A form with the file, read from disk while it is sent, and the headers that announce it."""
    boundary = uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="upfile"; filename="{path.name}"\r\n'
        "Content-Type: application/gzip\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    size = path.stat().st_size

    async def pieces() -> AsyncIterable[bytes]:
        yield head
        with path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, PIECE):
                yield piece
        yield tail

    length = str(len(head) + size + len(tail))
    return pieces(), {"Content-Type": f"multipart/form-data; boundary={boundary}", "Content-Length": length}
