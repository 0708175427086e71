"""Calls to an API server: typed answers, two kinds of failure, every call bounded in time and size."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, TypeVar

import httpx2
import msgspec

from firstlight.core.errors import Invalid
from firstlight.host.controller.kube.access import Access
from firstlight.host.fetching import RoutedTransport

T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
CALL_SECONDS: Final = 60.0
LARGEST_ANSWER: Final = 64 * 2**20
ERRORS_FROM: Final = 300
NOT_FOUND: Final = 404
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"


class Refused(Exception):
    """The API server answered, but not with what was asked for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"the API server answered {status}: {message}")
        self.status = status
        self.message = message


class Unreachable(Exception):
    """No answer came, or none that can be understood; the text is part of a sentence."""


class _Status(msgspec.Struct):
    message: str = ""
    code: int = 0


class Kube:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._client: httpx2.AsyncClient | None = None

    @property
    def access(self) -> Access:
        return self._access

    async def __aenter__(self) -> "Kube":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.renew()

    async def renew(self) -> None:
        """Drop connections and what is believed of certificates."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def read(self, type_: type[T], path: str, *, query: Mapping[str, str] | None = None) -> T:
        return decoded(type_, await self.ask("GET", path, query=query))

    async def find(self, type_: type[T], path: str) -> T | None:
        """The object, None if there is none (or no such kind of object)."""
        try:
            return await self.read(type_, path)
        except Refused as refusal:
            if refusal.status == NOT_FOUND:
                return None
            raise

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content_type: str = JSON,
    ) -> bytes:
        """The body of a successful answer. Raises `Refused` and `Unreachable`, nothing else."""
        body = None if document is None else msgspec.json.encode(document)
        headers = {"Content-Type": content_type} if body is not None else {}
        whole = bytearray()
        try:
            async with (
                asyncio.timeout(CALL_SECONDS),
                self.stream(method, path, query=query, body=body, headers=headers) as answer,
            ):
                async for piece in answer.aiter_bytes():
                    whole += piece
                    if len(whole) > LARGEST_ANSWER:
                        raise Unreachable(f"its answer is longer than {LARGEST_ANSWER} bytes")
        except TimeoutError:
            raise Unreachable(f"it did not answer within {CALL_SECONDS:g} seconds") from None
        if answer.status_code >= ERRORS_FROM:
            raise refused(answer.status_code, bytes(whole))
        return bytes(whole)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        silence_limit: float = CALL_SECONDS,
    ) -> AsyncGenerator[httpx2.Response]:
        """An answer under way, whatever its status."""
        try:
            client = self._opened()
            sent = {"Accept": JSON, **self._proof(), **(headers or {})}
            timeout = httpx2.Timeout(silence_limit, connect=CONNECT_SECONDS)
            extensions = {"sni_hostname": self._access.server_name} if self._access.server_name else {}
            async with client.stream(
                method,
                self._access.server + path,
                params=dict(query or {}),
                content=body,
                headers=sent,
                timeout=timeout,
                extensions=extensions,
            ) as answer:
                yield answer
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError, Invalid) as reason:
            if isinstance(reason, TimeoutError):
                raise
            raise Unreachable(str(reason).strip().rstrip(".") or type(reason).__name__) from reason

    def _proof(self) -> dict[str, str]:
        token = self._access.token
        return {"Authorization": f"Bearer {token()}"} if token is not None else {}

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            transport = RoutedTransport(self._access.context(), environment={}, keep_seconds=90.0)
            self._client = httpx2.AsyncClient(transport=transport, trust_env=False)
        return self._client


async def lines(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """Whole lines as they come; a last one without an end is not a line."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *found, rest = (rest + piece).split(b"\n")
        for line in found:
            yield line


def decoded(type_: type[T], data: bytes) -> T:
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as reason:
        raise Unreachable(f"its answer cannot be understood: {reason}") from None


def refused(status: int, body: bytes) -> Refused:
    try:
        return Refused(status, msgspec.json.decode(body, type=_Status).message)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Refused(status, body[:300].decode("utf-8", "replace"))
