"""Calls to an API: connections are kept, every answer is bounded in time and size, and there are two kinds of failure.

Whatever goes wrong, the other side `Refused`, with a number and a reason, or it was `Unreachable`, which includes
answers that make no sense, such as the page of a router. Neither tells a secret.
"""

import asyncio
import html
import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar
from uuid import uuid4

import httpx2
import msgspec

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Unfetched
from firstlight.host.fetching import RoutedTransport, pem_file, trust, words_of
from firstlight.host.root import Root

T = TypeVar("T")

SERVICE_API: Final = "/api/assisted-install"
KEEP_SECONDS: Final = 90.0
"""Longer than the pause between two polls."""
CONNECT_SECONDS: Final = 30.0
CALL_SECONDS: Final = 60.0
"""For a whole call, whatever the other side does."""
LARGEST_ANSWER: Final = 64 * 2**20
LONGEST_REASON: Final = 300
ERRORS_FROM: Final = 300
SERVER_ERRORS_FROM: Final = 500
PASSING: Final = frozenset({408, 425, 429})
"""Errors of the client that are none: too slow, too early, too often."""
_TAGS: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_BROKEN_OFF: Final = (httpx2.HTTPError, httpx2.StreamError, OSError)
_TROUBLE: Final = (*_BROKEN_OFF, httpx2.InvalidURL, ValueError, Unfetched, Invalid)


class Refused(Exception):
    """The other side answered, but not with what was asked for."""

    def __init__(self, status: int, reason: str, *, who: str = "the service") -> None:
        super().__init__(f"{who} answered {status}: {reason}" if reason else f"{who} answered {status}")
        self.status = status
        self.reason = reason

    @property
    def is_final(self) -> bool:
        """Whether the same call would be refused again."""
        return self.status < SERVER_ERRORS_FROM and self.status not in PASSING


class Unreachable(Exception):
    """No answer came, or none that can be understood; the text is part of a sentence."""

    def __init__(self, sentence: str, *, words: str = "") -> None:
        super().__init__(sentence)
        self.words = words or sentence
        """The same for whoever has already said who cannot be reached."""


class Api:
    """One API as its caller sees it. The client is made with the first call, so that nobody fails before that."""

    def __init__(
        self,
        url: str,
        *,
        transport: Callable[[], httpx2.AsyncBaseTransport],
        headers: Callable[[], Mapping[str, str]],
        who: str = "the service",
        refusal: type[Refused] = Refused,
        largest: int = LARGEST_ANSWER,
        redirects: int = 0,
        server_name: str = "",
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """`headers` are asked for before each call; `server_name` is whom the certificate must name, if not the URL."""
        self._url = url
        self._transport = transport
        self._headers = headers
        self._who = who
        self._refusal = refusal
        self._largest = largest
        self._redirects = redirects
        self._connect_seconds = connect_seconds
        self._extensions = {"sni_hostname": server_name} if server_name else {}
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.renew()

    async def renew(self) -> None:
        """Drop connections and what is believed of certificates; the next call starts over."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content: bytes | AsyncIterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = CALL_SECONDS,
    ) -> bytes:
        """The body of a successful answer. Raises `Refused` and `Unreachable`, nothing else."""
        sent = dict(headers or {})
        if document is not None:
            content = msgspec.json.encode(document)
            sent.setdefault("Content-Type", "application/json")
        try:
            async with (
                asyncio.timeout(seconds),
                self.stream(method, path, query=query, content=content, headers=sent) as answer,
            ):
                body = await self._bounded(answer)
        except TimeoutError:
            words = f"did not answer within {seconds:g} seconds"
            raise Unreachable(f"{self._who} {words}", words=f"it {words}") from None
        if answer.status_code >= ERRORS_FROM:
            raise self.refused(answer.status_code, reason_in(body))
        return body

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        content: bytes | AsyncIterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        silence_limit: float | None = None,
    ) -> AsyncGenerator[httpx2.Response]:
        """An answer under way, whatever its status; without a limit the caller bounds the time."""
        try:
            async with AsyncExitStack() as stack:
                try:
                    answer = await stack.enter_async_context(
                        self._opened().stream(
                            method,
                            self._url + path,
                            params=dict(query or {}),
                            content=content,
                            headers={**self._headers(), **(headers or {})},
                            timeout=httpx2.Timeout(silence_limit, connect=self._connect_seconds),
                            extensions=self._extensions,
                        )
                    )
                except _TROUBLE as reason:
                    raise self._unreachable(reason) from reason
                yield answer
        except _BROKEN_OFF as reason:
            # What the caller makes of an answer is not ours to judge: only that it, or its end, did not come.
            raise self._unreachable(reason) from reason

    def _unreachable(self, reason: BaseException) -> Unreachable:
        words = words_of(reason)
        return Unreachable(f"{self._who} cannot be reached: {words}", words=words)

    def refused(self, status: int, reason: str) -> Refused:
        return self._refusal(status, reason, who=self._who)

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(
                transport=self._transport(),
                follow_redirects=self._redirects > 0,
                max_redirects=self._redirects,
                trust_env=False,
            )
        return self._client

    async def _bounded(self, answer: httpx2.Response) -> bytes:
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > self._largest:
                raise self._unreachable(ValueError(f"its answer is longer than {self._largest} bytes"))
        return bytes(body)


def service(
    url: str,
    *,
    root: Root,
    ca_certificate: Path | None,
    insecure: bool,
    proxies: Mapping[str, str],
    headers: Mapping[str, str],
    refusal: type[Refused] = Refused,
    largest: int = LARGEST_ANSWER,
    redirects: int = 0,
) -> Api:
    """The service, as the programs on a host reach it."""

    def transport() -> httpx2.AsyncBaseTransport:
        authorities = None if ca_certificate is None else authorities_in(ca_certificate, root=root)
        context = trust(root=root, authorities=authorities, insecure=insecure)
        return RoutedTransport(context, environment=proxies, keep_seconds=KEEP_SECONDS)

    def sent() -> Mapping[str, str]:
        return {**headers, "X-Request-ID": str(uuid4())}

    return Api(url, transport=transport, headers=sent, refusal=refusal, largest=largest, redirects=redirects)


def authorities_in(path: Path, *, root: Root) -> str | None:
    """PEM text from a file named as we see it or as the host does, None if there is none."""
    return pem_file(path) or pem_file(root.path(str(path)))


def decoded(type_: type[T], data: bytes) -> T:
    """What an answer says. Raises `Unreachable` if it makes no sense."""
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as reason:
        raise Unreachable(f"its answer cannot be understood ({reason}): {reason_in(data) or 'it is empty'}") from None


class _Complaint(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
    """Kubernetes has both, and its reason is but one word."""


def reason_in(body: bytes) -> str:
    """What an error answer says, be it an API's own document or the page of something in between."""
    try:
        found = msgspec.json.decode(body, type=_Complaint)
        text = found.message or found.reason or ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = html.unescape(_TAGS.sub(" ", body[:65_536].decode("utf-8", "replace")))
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= LONGEST_REASON else plain[: LONGEST_REASON - 1] + "…"
