"""Calls to an API server: typed answers, two kinds of failure, every call bounded in time and size."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, TypeVar

import httpx2

from firstlight.host.calling import CALL_SECONDS, Api, Refused, decoded, reason_in
from firstlight.host.controller.kube.access import Access
from firstlight.host.fetching import RoutedTransport

T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
NOT_FOUND: Final = 404
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"


class Kube:
    def __init__(self, access: Access) -> None:
        self.access = access
        self._api = Api(
            access.server,
            transport=lambda: RoutedTransport(access.context(), environment={}, keep_seconds=90.0),
            headers=self._headers,
            who="the API server",
            server_name=access.server_name,
            connect_seconds=CONNECT_SECONDS,
        )
        self.renew = self._api.renew

    async def __aenter__(self) -> "Kube":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.renew()

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
        headers = {"Content-Type": content_type} if document is not None else {}
        return await self._api.ask(method, path, query=query, document=document, headers=headers)

    def stream(
        self, path: str, *, query: Mapping[str, str] | None = None, silence_limit: float = CALL_SECONDS
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        """An answer to GET under way, whatever its status."""
        return self._api.stream("GET", path, query=query, silence_limit=silence_limit)

    def refused(self, status: int, body: bytes) -> Refused:
        return self._api.refused(status, reason_in(body))

    def _headers(self) -> dict[str, str]:
        token = self.access.token
        return {"Accept": JSON} | ({"Authorization": f"Bearer {token()}"} if token is not None else {})


async def lines(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """Whole lines as they come; a last one without an end is not a line."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *found, rest = (rest + piece).split(b"\n")
        for line in found:
            yield line
