"""Speaking ASGI to an application without a server, and a handful of operations to try it on."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    query: str = "",
    body: bytes | Iterable[bytes] = b"",
    headers: dict[str, str] | None = None,
    receive: Callable[[], Awaitable[Message]] | None = None,
) -> Answer:
    """One request. A body given as pieces arrives in as many messages; after it the caller stays connected."""
    pieces = [body] if isinstance(body, bytes) else list(body)
    waiting: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": index < len(pieces) - 1}
        for index, piece in enumerate(pieces)
    ]
    sent: list[Message] = []

    async def deliver() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def collect(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
    }
    await app(scope, receive or deliver, collect)
    return _answer(sent)


def _answer(sent: list[Message]) -> Answer:
    start = sent[0]
    assert start["type"] == "http.response.start"
    assert [message["type"] for message in sent[1:]] == ["http.response.body"] * (len(sent) - 1)
    assert not sent[-1].get("more_body", False)
    names = [name for name, _ in start["headers"]]
    assert all(name == name.lower() for name in names)
    headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))
