"""The service as the agent calls it: one client with its connections kept, every call bounded in time and size.

Whatever goes wrong is one of two things: the service `Refused`, with a number and a reason, or it was `Unreachable`,
which includes answers that make no sense, such as the page of a router.
"""

import asyncio
import html
import re
from collections.abc import AsyncIterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, TypeVar
from uuid import UUID, uuid4

import httpx2
import msgspec

from firstlight.host.actions.action import Unfetched
from firstlight.host.agent.documents import ArchiveReached, Instructions, LogTaken, Registration, StepReply
from firstlight.host.fetching import RoutedTransport, pem_file, trust
from firstlight.host.root import Root
from firstlight.host.settings import AgentSettings

T = TypeVar("T")

API: Final = "/api/assisted-install"
OWN_API: Final = "/api/firstlight"
CONNECT_SECONDS: Final = 30.0
CALL_SECONDS: Final = 60.0
"""For a whole call, whatever the other side does."""
UPLOAD_SECONDS: Final = 3600.0
PIECE_SECONDS: Final = 300.0
"""With the last piece the service puts the whole archive in its place."""
SLACK_SECONDS: Final = 20.0
"""Beyond the time that a poll was promised to take at most."""
LARGEST_ANSWER: Final = 16 * 2**20
LONGEST_REASON: Final = 300
REDIRECTS: Final = 5
ERRORS_FROM: Final = 300
_TAGS: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class Refused(Exception):
    """The service answered, but not with what was asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the service answered {status}: {reason}" if reason else f"the service answered {status}")
        self.status = status
        self.reason = reason


class Unreachable(Exception):
    """No answer came, or none that can be understood; the text is part of a sentence."""


class _Complaint(msgspec.Struct):
    reason: str = ""
    message: str = ""


class ServiceSession:
    def __init__(self, settings: AgentSettings, *, root: Root, fingerprint: Mapping[str, str] | None = None) -> None:
        """`fingerprint` are headers that tell machines with one id apart."""
        self._settings = settings
        self._root = root
        self._headers = {
            "X-Secret-Key": settings.token,
            "discovery_agent_version": settings.agent_version,
            "User-Agent": "firstlight-agent",
            **(fingerprint or {}),
        }
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> "ServiceSession":
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

    # --- calls --------------------------------------------------------------------------------------------------------

    async def register(self, host_id: UUID) -> Registration:
        body = {"host_id": str(host_id), "discovery_agent_version": self._settings.agent_version}
        path = f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts"
        return _decoded(Registration, await self.ask("POST", path, document=body))

    async def instructions(self, host_id: UUID, *, timestamp: int, wait: int = 0, seen: str = "") -> Instructions:
        """`seen` is the digest of what the service thought of us last."""
        query = {"timestamp": str(timestamp)} | ({"wait": str(wait)} if wait else {}) | ({"seen": seen} if seen else {})
        answer = await self.ask("GET", self._instructions(host_id), query=query, seconds=CALL_SECONDS + wait)
        return _decoded(Instructions, answer)

    async def reply(self, host_id: UUID, reply: StepReply) -> None:
        await self.ask("POST", self._instructions(host_id), document=reply)

    async def logs_state(self, host_id: UUID, *, infra_env_id: UUID, state: str) -> None:
        path = f"{API}/v2/infra-envs/{infra_env_id}/hosts/{host_id}/logs-progress"
        await self.ask("PUT", path, document={"logs_state": state})

    async def send_log(self, host_id: UUID, *, offset: int | None, data: bytes) -> int:
        """How far the service has it afterwards. Without `offset` it goes behind whatever is there."""
        path = f"{OWN_API}/v1/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/log"
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        query = {} if offset is None else {"offset": str(offset)}
        answer = await self.ask("POST", path, query=query, content=data, headers=kind)
        return _decoded(LogTaken, answer).next

    async def upload(
        self, cluster_id: UUID, *, query: Mapping[str, str], content: AsyncIterable[bytes], headers: Mapping[str, str]
    ) -> None:
        path = f"{API}/v2/clusters/{cluster_id}/logs"
        await self.ask("POST", path, query=query, content=content, headers=headers, seconds=UPLOAD_SECONDS)

    async def archive_piece(
        self, host_id: UUID, *, infra_env_id: UUID, sha256: str, size: int, offset: int, data: bytes | None
    ) -> ArchiveReached:
        """Bring one piece of an archive, or, without data, ask how far the service has it."""
        path = f"{OWN_API}/v1/infra-envs/{infra_env_id}/hosts/{host_id}/log-archives/{sha256}"
        if data is None:
            return _decoded(ArchiveReached, await self.ask("GET", path, query={"size": str(size)}))
        query = {"size": str(size), "offset": str(offset)}
        kind = {"Content-Type": "application/octet-stream"}
        answer = await self.ask("PUT", path, query=query, content=data, headers=kind, seconds=PIECE_SECONDS)
        return _decoded(ArchiveReached, answer)

    def _instructions(self, host_id: UUID) -> str:
        return f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/instructions"

    # --- one call -----------------------------------------------------------------------------------------------------

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
        sent = {**self._headers, "X-Request-ID": str(uuid4()), **(headers or {})}
        if document is not None:
            content, sent["Content-Type"] = msgspec.json.encode(document), "application/json"
        try:
            async with asyncio.timeout(seconds + SLACK_SECONDS):
                client = self._opened()
                timeout = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
                url = self._settings.url + path
                async with client.stream(
                    method, url, params=dict(query or {}), content=content, headers=sent, timeout=timeout
                ) as answer:
                    body = await _bounded(answer)
        except TimeoutError:
            raise Unreachable(f"it did not answer within {seconds:g} seconds") from None
        except Unfetched as reason:
            raise Unreachable(str(reason)) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as reason:
            raise Unreachable(_words(reason)) from reason
        if answer.status_code >= ERRORS_FROM:
            raise Refused(answer.status_code, reason_in(body))
        return body

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            settings = self._settings
            given = settings.ca_certificate
            authorities = None if given is None else pem_file(given) or pem_file(self._root.path(str(given)))
            context = trust(root=self._root, authorities=authorities, insecure=settings.insecure)
            self._client = httpx2.AsyncClient(
                transport=RoutedTransport(context, environment=settings.proxies, keep_seconds=90.0),
                follow_redirects=True,
                max_redirects=REDIRECTS,
                trust_env=False,
            )
        return self._client


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
        raise Unreachable(f"its answer cannot be understood ({reason}): {reason_in(data) or 'it is empty'}") from None


def reason_in(body: bytes) -> str:
    """What an error answer says, be it the service's own document or the page of something in between."""
    try:
        found = msgspec.json.decode(body, type=_Complaint)
        text = found.reason or found.message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = html.unescape(_TAGS.sub(" ", body[:65_536].decode("utf-8", "replace")))
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= LONGEST_REASON else plain[: LONGEST_REASON - 1] + "…"


def _words(reason: BaseException) -> str:
    if isinstance(reason, httpx2.ConnectTimeout):
        return "no connection in time"
    if isinstance(reason, httpx2.TimeoutException):
        return "no answer in time"
    return str(reason).strip().rstrip(".") or type(reason).__name__


def multipart_file(path: Path, *, field: str, file_name: str) -> tuple[AsyncIterable[bytes], dict[str, str]]:
    """A form with one file, read from disk while it is sent, and the headers that announce it."""
    boundary = uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{file_name}"\r\n'
        "Content-Type: application/gzip\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    size = path.stat().st_size

    async def pieces() -> AsyncIterable[bytes]:
        yield head
        left = size
        with path.open("rb") as file:
            while left and (piece := await asyncio.to_thread(file.read, min(left, 2**18))):
                left -= len(piece)
                yield piece
        yield tail

    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(head) + size + len(tail)),
    }
    return pieces(), headers
