"""The protocol on each connection: uvicorn's, with bounds on how many there are, how much they send before anybody is
asked, and how long they take for it.

The parser keeps URL, headers and trailers until they are complete, however long they become.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from firstlight.server.auth.limits import Limits, body_seconds
from firstlight.server.http.body import WHEN_LOST
from firstlight.server.http.errors import TooFull, TooSlow, answer_to

LARGEST_HEAD: Final = 128 * 1024
"""Bytes of a request line with its headers, and of anything else between two pieces of a body."""
LOOK_SECONDS: Final = 1.0


class Listener(HttpToolsProtocol):
    limits: ClassVar[Limits] = Limits()
    _gathered = 0
    _head_since: float | None = None
    """Since when the head of a request is awaited."""
    _body_since: float | None = None
    _body_bytes = 0
    _heard: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._head_since = self.loop.time()
        if len(self.connections) > self.limits.connections:
            self._refuse(TooFull())

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._gathered += len(data)
        super().data_received(data)
        if self._gathered > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of the request is larger than {LARGEST_HEAD} bytes.")

    def on_message_begin(self) -> None:
        if self._head_since is None:
            self._head_since = self.loop.time()
        super().on_message_begin()
        cast("dict[str, object]", self.scope)[WHEN_LOST] = self.when_lost

    def when_lost(self, heard: Callable[[], None] | None) -> None:
        """Who is told when the connection ends; at once if it has. None: nobody any more."""
        self._heard = heard
        if heard is not None and self.transport.is_closing():
            heard()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        heard, self._heard = self._heard, None
        if heard is not None:
            heard()

    def on_headers_complete(self) -> None:
        self._gathered = 0
        self._head_since = None
        self._body_since, self._body_bytes = self.loop.time(), 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._gathered = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._gathered = 0
        self._body_since = None
        super().on_message_complete()

    def close_if_slow(self, now: float) -> None:
        """Requests have to come within their time; answers may take as long as they like."""
        if self._head_since is not None:
            is_slow = now - self._head_since > self.limits.head_seconds
        elif self._body_since is not None:
            if self.flow.read_paused:
                # It is we who are slow.
                self._body_since, self._body_bytes = now, 0
            is_slow = now - self._body_since > body_seconds(self.limits, self._body_bytes)
        else:
            return
        if is_slow and not self.transport.is_closing():
            self._refuse(TooSlow())

    def _refuse(self, refusal: TooFull | TooSlow) -> None:
        is_answering = bool(self.cycle) and self.cycle.response_started and not self.cycle.response_complete
        if not is_answering:
            self.transport.write(_written(refusal))
        self.transport.close()


def listener_with(limits: Limits) -> type[Listener]:
    """uvicorn makes the protocols itself, so their limits go with the class."""
    return type("LimitedListener", (Listener,), {"limits": limits})


async def cut_slow(connections: Iterable[object]) -> None:
    """Look after these connections, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = loop.time()
        for connection in tuple(connections):
            if isinstance(connection, Listener):
                connection.close_if_slow(now)


def _written(refusal: TooFull | TooSlow) -> bytes:
    """A whole answer: there is no request that somebody could answer to."""
    answer = answer_to(refusal)
    body = answer.encoded()
    head = (
        f"HTTP/1.1 {answer.status} {refusal.phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    )
    return "\r\n".join((*head, "", "")).encode() + body
