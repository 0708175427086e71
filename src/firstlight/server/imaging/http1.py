"""The smallest HTTP/1.1 server that can send pieces of files: parsing by httptools, bytes by `sendfile`.

A general framework costs more per request than a 64 KiB Range itself, and virtual media ask for thousands of them.
"""

import asyncio
import os
import socket
import struct
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import formatdate
from typing import Final, Protocol

import httptools
import structlog

from firstlight.core.images.virtual import Memory, Segment
from firstlight.server.auth.limits import Limits
from firstlight.server.imaging.answers import REASONS, Answer, Request, refusal
from firstlight.server.imaging.files import OpenFile, send_file

log = structlog.get_logger(__name__)

SMALL: Final = 128 * 1024
"""Answers up to this size are read into memory and leave in one call together with their head."""
MOST_HEAD_BYTES: Final = 32 * 1024
MOST_BODY_BYTES: Final = 64 * 1024
MOST_WAITING: Final = 16
"""Requests of one connection that may wait for their turn."""
LINGER_SECONDS: Final = 1.0
PIECE: Final = 256 * 1024
"""How much of a file is encrypted at once."""
_ACKNOWLEDGED: Final = struct.Struct("=120xQ")
"""`tcpi_bytes_acked` in Linux's `struct tcp_info`."""
DEAD_PEER_MILLISECONDS: Final = 120_000


class Service(Protocol):
    def quick(self, request: Request) -> Answer | None:
        """The answer, when it can be given without waiting for anything."""
        ...

    def answer(self, request: Request) -> Awaitable[Answer]: ...

    def done(self, request: Request, answer: Answer, *, seconds: float, sent: int) -> None: ...


class Server:
    """All connections of one listener."""

    def __init__(self, service: Service, limits: Limits | None = None) -> None:
        self.service = service
        self.limits = limits or Limits()
        self.under_way = 0
        """Answers that take their time."""
        self.connections: set[Connection] = set()
        self.closing = False
        self._date = (0, b"")

    def head(self, answer: Answer, *, keep_alive: bool) -> bytes:
        now = int(time.time())
        if self._date[0] != now:
            self._date = now, b"Date: " + formatdate(now, usegmt=True).encode() + b"\r\n"
        length = b"" if answer.status in (204, 304) else b"Content-Length: %d\r\n" % answer.length
        return b"".join(
            (
                b"HTTP/1.1 %d %s\r\n" % (answer.status, REASONS.get(answer.status, b"")),
                self._date[1],
                length,
                answer.headers,
                b"\r\n" if keep_alive else b"Connection: close\r\n\r\n",
            )
        )

    @property
    def is_full(self) -> bool:
        return self.under_way >= self.limits.requests

    def close_idle(self, now: float) -> None:
        for connection in tuple(self.connections):
            connection.close_if_idle(now)
            connection.close_if_stalled(now)

    async def drain(self, seconds: float) -> None:
        """Let running answers end, for a while; connections that wait for requests are closed at once."""
        self.closing = True
        deadline = time.monotonic() + seconds
        while self.connections and time.monotonic() < deadline:
            for connection in tuple(self.connections):
                connection.close_if_quiet()
            await asyncio.sleep(0.02)
        for connection in tuple(self.connections):
            connection.abort()


class Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self._server = server
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._drained: asyncio.Event = asyncio.Event()
        self._drained.set()
        self._last = self._begun = time.monotonic()
        self._client = ""
        self._refused = False
        self._received = 0
        self._streaming = False
        self._acknowledged = (0, self._last)
        self._begin()

    # --- the transport's side ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._encrypted = transport.get_extra_info("ssl_object") is not None
        # Writing is paused while anything waits here: pieces of files must not overtake it. On encrypted lines a bound
        # of nothing counts as always reached.
        transport.set_write_buffer_limits(high=1 if self._encrypted else 0)
        self._server.connections.add(self)
        peer: Sequence[object] | None = transport.get_extra_info("peername")
        self._client = str(peer[0]) if peer else ""
        connected = transport.get_extra_info("socket")
        # The same socket once more: asyncio's own view of it cannot send.
        self._socket = socket.socket(fileno=connected.fileno())
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            # A machine that lost its power in the middle of a download must not hold its connection for ever.
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_PEER_MILLISECONDS)
        if len(self._server.connections) > self._server.limits.connections:
            self._refuse(503, "There are too many connections. Come again in a while.")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is given
        self._server.connections.discard(self)
        self._socket.detach()
        self._drained.set()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._last = time.monotonic()
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, "This service speaks HTTP/1.1 and nothing else.")
        except httptools.HttpParserError:
            self._refuse(400, "This is not a request that can be understood.")
        if self._received > MOST_HEAD_BYTES and not self._complete:
            self._refuse(431, "The head of this request is too long.")

    # --- the parser's side ------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._target = b""
        self._headers: dict[bytes, str] = {}
        self._body = 0
        self._complete = True

    def on_message_begin(self) -> None:
        self._begin()
        self._begun = self._last
        self._complete = False

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        """Nobody has anything to tell us; a little is read over."""
        self._body += len(body)
        if self._body > MOST_BODY_BYTES:
            self._refuse(413, "This service takes no uploads.")

    def on_message_complete(self) -> None:
        self._complete = True
        self._received = 0
        if self._refused:
            return
        request = Request(self._parser.get_method(), self._target, self._headers, self._client)
        keep_alive = self._parser.should_keep_alive() and not self._server.closing
        if self._task is not None or self._waiting:
            self._waiting.append((request, keep_alive))
            if len(self._waiting) >= MOST_WAITING:
                self._transport.pause_reading()
            return
        self._start(request, keep_alive)

    # --- answering --------------------------------------------------------------------------------------------------

    def _start(self, request: Request, keep_alive: bool) -> None:
        if self._transport.is_closing():
            return
        answer = self._server.service.quick(request)
        if answer is not None and self._send_at_once(request, answer, keep_alive):
            return
        if self._server.is_full:
            answer = refusal(503, "There are too many downloads at the moment. Come again in a while.")
        self._task = asyncio.get_running_loop().create_task(self._respond(request, answer, keep_alive))

    def _send_at_once(self, request: Request, answer: Answer, keep_alive: bool) -> bool:
        """Small answers on a connection that takes them need no task of their own."""
        has_body = bool(answer.length) and request.method != b"HEAD"
        if (has_body and answer.length > SMALL) or self._transport.get_write_buffer_size():
            return False
        started = time.monotonic()
        head = self._server.head(answer, keep_alive=keep_alive)
        if not has_body:
            self._transport.write(head)
        elif not self._send_small(head, answer):
            return False
        self._server.service.done(request, answer, seconds=time.monotonic() - started, sent=has_body * answer.length)
        if not keep_alive:
            self._transport.close()
        return True

    def _send_small(self, head: bytes, answer: Answer) -> bool:
        """One piece of a file goes the short way: no byte of it passes through this program."""
        segment = answer.segments[0]
        if len(answer.segments) > 1 or isinstance(segment, Memory) or self._encrypted:
            body = read_segments(answer.segments, answer.files)
            if body is None:
                return False
            self._transport.write(head + body)
            return True
        file, sent = answer.files[segment.file], 0
        try:
            written = self._socket.send(head, socket.MSG_MORE)
            if written == len(head):
                sent = os.sendfile(self._socket.fileno(), file.fileno(), segment.offset, segment.length)
        except BlockingIOError:
            written = 0
        except OSError:
            self._transport.abort()
            return True
        if sent < segment.length:
            rest = file.read_at(segment.offset + sent, segment.length - sent)
            if len(rest) < segment.length - sent:
                self._transport.abort()
            else:
                self._transport.write(head[written:] + rest)
        return True

    async def _respond(self, request: Request, answer: Answer | None, keep_alive: bool) -> None:
        started, sent = time.monotonic(), 0
        self._server.under_way += 1
        try:
            if answer is None:
                answer = await self._server.service.answer(request)
            head = self._server.head(answer, keep_alive=keep_alive)
            body = answer.segments if request.method != b"HEAD" else ()
            sent = await self._stream(head, body, answer.files)
        except OSError:
            self._transport.abort()
        finally:
            self._server.under_way -= 1
            self._streaming = False
            if answer is not None:
                self._server.service.done(request, answer, seconds=time.monotonic() - started, sent=sent)
        self._task = None
        self._last = time.monotonic()
        if not keep_alive or self._server.closing:
            self._transport.close()
        self._next()

    def _next(self) -> None:
        while self._waiting and self._task is None and not self._transport.is_closing():
            self._start(*self._waiting.popleft())
        if len(self._waiting) < MOST_WAITING and not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()

    async def _stream(self, head: bytes, segments: tuple[Segment, ...], files: Mapping[str, OpenFile]) -> int:
        sent = 0
        self._streaming, self._acknowledged = True, (0, time.monotonic())
        self._transport.write(head)
        for segment in segments:
            if isinstance(segment, Memory):
                self._transport.write(segment.data)
                await self._drained.wait()
                if self._transport.is_closing():
                    raise ConnectionResetError
            else:
                await self._send_file(files[segment.file], segment.offset, segment.length)
            sent += segment.length
        await self._drained.wait()
        return sent

    async def _send_file(self, file: OpenFile, offset: int, length: int) -> None:
        await self._drained.wait()
        if self._transport.is_closing():
            raise ConnectionResetError
        if not self._encrypted:
            await send_file(self._socket.fileno(), file, offset, length)
            return
        # Whatever is encrypted has to pass through this program.
        for place in range(offset, offset + length, PIECE):
            data = file.read_at(place, min(PIECE, offset + length - place))
            if len(data) < min(PIECE, offset + length - place):
                raise ConnectionResetError
            self._transport.write(data)
            await self._drained.wait()
            if self._transport.is_closing():
                raise ConnectionResetError

    def _refuse(self, status: int, reason: str) -> None:
        """The connection cannot be used any further.

        What still comes is read over for a moment: closed with unread bytes, a connection loses the answer as well.
        """
        if self._refused:
            return
        self._refused = True
        self._waiting.clear()
        if self._task is not None or self._transport.is_closing():
            self._transport.close()
            return
        answer = refusal(status, reason)
        body = read_segments(answer.segments, answer.files) or b""
        self._transport.write(self._server.head(answer, keep_alive=False) + body)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, self._transport.close)

    # --- ending -----------------------------------------------------------------------------------------------------

    def close_if_idle(self, now: float) -> None:
        if self._task is not None or self._refused:
            return
        if self._complete:
            if now - self._last > self._server.limits.idle_seconds:
                self._transport.close()
        elif now - self._begun > self._server.limits.head_seconds:
            self._refuse(408, "The request did not come to its end in time.")

    def close_if_stalled(self, now: float) -> None:
        """A reader that takes nothing for long is cut off; how slowly it reads is its own affair."""
        if self._task is None or not self._streaming:
            return
        taken = _acknowledged(self._socket)
        if taken is None or taken != self._acknowledged[0]:
            self._acknowledged = (taken or 0, now)
        elif now - self._acknowledged[1] > self._server.limits.stall_seconds:
            self._transport.abort()

    def close_if_quiet(self) -> None:
        if self._task is None and not self._waiting:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()


def _acknowledged(line: socket.socket) -> int | None:
    """Bytes that the other side has acknowledged so far; none where the kernel does not say."""
    try:
        told = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.size)
    except OSError:
        return None
    return _ACKNOWLEDGED.unpack(told)[0] if len(told) == _ACKNOWLEDGED.size else None


def read_segments(segments: tuple[Segment, ...], files: Mapping[str, OpenFile]) -> bytes | None:
    """The bytes of a small answer; none when a file has become shorter, which only a broken connection can tell."""
    parts: list[bytes] = []
    for segment in segments:
        if isinstance(segment, Memory):
            parts.append(segment.data)
        else:
            data = files[segment.file].read_at(segment.offset, segment.length)
            if len(data) < segment.length:
                return None
            parts.append(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def sweep(server: Server, *, every: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
    """Close connections that nobody uses, until cancelled."""
    while True:
        await asyncio.sleep(every)
        server.close_idle(clock())
