"""Reading request bodies: bounded while they arrive, then parsed as the original parses them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from starlette.types import Receive, Scope

from firstlight.core import wire
from firstlight.core.errors import TooLarge
from firstlight.server.http.errors import BadRequest

WHEN_LOST: Final = "firstlight.when_lost"
"""Where a connection that can tell its loss has a `WhenLost` in the scope."""
WhenLost = Callable[[Callable[[], None] | None], None]
_JSON_TYPES: Final = ("application/json", "text/json")


class CallerGone(Exception):
    """The connection ended before the body was complete; nobody is left to answer."""


async def chunks(receive: Receive, headers: Mapping[str, str], *, cap: int) -> AsyncIterator[bytes]:
    """The raw body in pieces. Raises TooLarge as soon as more than `cap` bytes are announced or have arrived."""
    _check_announced(headers, cap=cap)
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CallerGone
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(chunk)
        if size > cap:
            raise _too_large(cap)
        if chunk:
            yield chunk


async def until_gone(receive: Receive) -> None:
    """Wait for the caller to hang up, dropping what it still sends."""
    while (await receive())["type"] != "http.disconnect":
        pass


def when_gone(scope: Scope, receive: Receive, heard: Callable[[], None]) -> Callable[[], object]:
    """Have `heard` called when the caller hangs up; answers how to give that up. Costs a task only where the connection
    cannot tell by itself."""
    told_by: WhenLost | None = scope.get(WHEN_LOST)
    if told_by is not None:
        told_by(heard)
        return lambda: told_by(None)
    watching = asyncio.ensure_future(until_gone(receive))
    watching.add_done_callback(lambda done: None if done.cancelled() else heard())
    return watching.cancel


async def whole(receive: Receive, headers: Mapping[str, str], *, cap: int) -> bytes:
    """The raw body at once; never holds more than `cap` bytes and one network chunk."""
    return b"".join([chunk async for chunk in chunks(receive, headers, cap=cap)])


def check_content_type(headers: Mapping[str, str]) -> None:
    """Refuse bodies that say they are something else than JSON; web pages of other sites can send those unasked."""
    given = headers.get("content-type", "")
    kind = given.partition(";")[0].strip().lower()
    if kind and kind not in _JSON_TYPES and not kind.endswith("+json"):
        raise BadRequest(f'unsupported media type "{kind}", only [application/json] are allowed')


def parse(reader: wire.Reader[object], data: bytes, *, name: str) -> object:
    """The typed body; a failure names the body parameter the way clients know it."""
    if not data.strip():
        raise BadRequest(f"{name} in body is required")
    try:
        return reader.read(data)
    except wire.Unreadable as error:
        if error.field:
            raise BadRequest(str(error)) from error
        raise BadRequest(f'parsing {name} body from "" failed, because {error}') from error


def _check_announced(headers: Mapping[str, str], *, cap: int) -> None:
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > cap:
        raise _too_large(cap)


def _too_large(cap: int) -> TooLarge:
    return TooLarge(f"The request body is larger than the {cap} bytes this operation accepts. Send less at a time.")
