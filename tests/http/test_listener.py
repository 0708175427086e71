"""What the parser may gather: heads and trailers are bounded, bodies and many requests are not."""

import asyncio

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from firstlight.server.http.listener import LARGEST_HEAD, Listener

pytestmark = pytest.mark.anyio
BEGIN = b"POST /x HTTP/1.1\r\nHost: a\r\n"
CHUNKED = BEGIN + b"Transfer-Encoding: chunked\r\n\r\n"


class Line(asyncio.Transport):
    """The other end of a connection: keeps what is sent to it."""

    def __init__(self) -> None:
        super().__init__()
        self.received = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.received += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def size_of_body(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-size", b"%d" % size)]})
    await send({"type": "http.response.body", "body": b""})


def connected() -> tuple[Listener, Line, ServerState]:
    state, line = ServerState(), Line()
    config = uvicorn.Config(size_of_body, http=Listener, lifespan="off", log_config=None)
    listener = Listener(config, state, {})
    listener.connection_made(line)
    return listener, line, state


async def answered(state: ServerState) -> None:
    while state.tasks:
        await asyncio.gather(*state.tasks)


@pytest.mark.parametrize(
    ("begin", "endless"),
    [
        (b"GET /", b"a" * 1_000),
        (BEGIN, b"X: " + b"a" * 1_000 + b"\r\n"),
        (BEGIN + b"X: ", b"a" * 1_000),
        (CHUNKED + b"0\r\n", b"X: " + b"a" * 1_000 + b"\r\n"),
        (CHUNKED + b"1;x=", b"a" * 1_000),
    ],
    ids=["url", "headers", "header", "trailers", "extension"],
)
async def test_an_endless_head_is_refused(begin: bytes, endless: bytes) -> None:
    listener, line, state = connected()
    listener.data_received(begin)
    sent = 0
    while not line.closed and sent < 2 * LARGEST_HEAD:
        listener.data_received(endless)
        sent += len(endless)
    assert line.closed
    assert LARGEST_HEAD - len(begin) < sent <= LARGEST_HEAD + len(endless)
    assert line.received.startswith(b"HTTP/1.1 400 ")
    assert str(LARGEST_HEAD).encode() in line.received
    listener.connection_lost(None)
    await answered(state)


async def test_large_bodies_and_many_requests_pass() -> None:
    listener, line, state = connected()
    size = 2 * LARGEST_HEAD
    listener.data_received(BEGIN + b"Content-Length: %d\r\n\r\n" % size)
    for _ in range(size // 1024):
        listener.data_received(b"a" * 1024)
    await answered(state)
    assert line.received.count(b"x-size: %d" % size) == 1
    for _ in range(200):
        listener.data_received(BEGIN + b"X: " + b"a" * 1_000 + b"\r\nContent-Length: 2\r\n\r\nab")
        await answered(state)
    assert line.received.count(b"x-size: 2\r\n") == 200
    assert not line.closed
    listener.connection_lost(None)
