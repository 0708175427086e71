"""Sending answers: JSON with compression and ETags, files, and streams that end when the caller leaves."""

import asyncio
import gzip
import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from email.utils import format_datetime
from typing import Final

from starlette.types import Receive, Send

from firstlight.server.http.body import until_gone
from firstlight.server.http.errors import NO_CONTENT, NOT_MODIFIED
from firstlight.server.http.reply import Download, Stream

Headers = list[tuple[bytes, bytes]]

COMPRESS_FROM: Final = 4_096
"""Smaller JSON answers are sent as they are."""
_COMPRESS_ON_THREAD_FROM: Final = 512 * 1024
_BODILESS: Final = (NO_CONTENT, NOT_MODIFIED)
_JSON: Final = (b"content-type", b"application/json")
_VARY: Final = (b"vary", b"accept-encoding")


async def send_json(
    send: Send, content: bytes, *, status: int, accepts: Mapping[str, str], extra: Headers, etag: bool = False
) -> None:
    """Send encoded JSON; `accepts` are the request's headers."""
    headers = [_JSON, *extra]
    if etag:
        tag = f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
        headers.append((b"etag", tag.encode()))
        if _known(accepts.get("if-none-match", ""), tag):
            await send_bytes(send, b"", status=NOT_MODIFIED, headers=headers[1:])
            return
    if len(content) >= COMPRESS_FROM:
        headers.append(_VARY)
        if _takes_gzip(accepts.get("accept-encoding", "")):
            content = await _compressed(content)
            headers.append((b"content-encoding", b"gzip"))
    await send_bytes(send, content, status=status, headers=headers)


async def send_bytes(send: Send, content: bytes, *, status: int, headers: Headers) -> None:
    """Send a complete answer."""
    if status not in _BODILESS:
        headers.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def send_download(
    send: Send, receive: Receive, download: Download, *, status: int, head_only: bool = False
) -> None:
    """Send a file. A stream must yield its first piece before anything is sent, so that it can still fail properly."""
    headers: Headers = [
        (b"content-type", download.content_type.encode("latin-1")),
        (b"content-disposition", f'attachment; filename="{_safe(download.file_name)}"'.encode("latin-1")),
        (b"x-content-type-options", b"nosniff"),
    ]
    if download.last_modified is not None:
        headers.append((b"last-modified", format_datetime(download.last_modified, usegmt=True).encode()))
    if isinstance(download.content, bytes):
        await send_bytes(send, download.content, status=status, headers=headers)
        return
    if download.length is not None:
        headers.append((b"content-length", b"%d" % download.length))
    if head_only:
        await _send_head(send, download.content, status=status, headers=headers)
        return
    pieces = aiter(download.content)
    first = await anext(pieces, b"")
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await _pump(send, receive, _again(first, pieces))


async def send_stream(send: Send, receive: Receive, stream: Stream, *, status: int, head_only: bool = False) -> None:
    """Send pieces as they come until the source ends or the caller leaves."""
    headers: Headers = [
        (b"content-type", stream.content_type.encode("latin-1")),
        (b"cache-control", b"no-store"),
        *raw_headers(stream.headers),
    ]
    if head_only:
        await _send_head(send, stream.chunks, status=status, headers=headers)
        return
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await _pump(send, receive, stream.chunks)


async def _send_head(send: Send, source: AsyncIterable[bytes], *, status: int, headers: Headers) -> None:
    """What a GET would begin with; nobody reads the source, which may have no end."""
    await _close(source)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def raw_headers(headers: Mapping[str, str]) -> Headers:
    """Headers as ASGI wants them. Line breaks in values are a defect of ours and raise."""
    if any("\n" in value or "\r" in value for value in headers.values()):
        raise ValueError("A header value contains a line break.")
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def _pump(send: Send, receive: Receive, chunks: AsyncIterable[bytes]) -> None:
    async def forward() -> None:
        async for chunk in chunks:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                # Neither a quick source nor a gone caller makes `send` wait; without this nobody else would get a turn.
                await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})

    forwarding = asyncio.ensure_future(forward())
    leaving = asyncio.ensure_future(until_gone(receive))
    try:
        await asyncio.wait({forwarding, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if forwarding.done():
            forwarding.result()
    finally:
        for task in (forwarding, leaving):
            task.cancel()
        await asyncio.gather(forwarding, leaving, return_exceptions=True)
        await _close(chunks)


async def _again(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        yield first
        async for piece in rest:
            yield piece
    finally:
        await _close(rest)


async def _close(source: AsyncIterable[bytes]) -> None:
    """Let a source that was left midway put its things away now, not when the collector finds it."""
    if isinstance(source, AsyncGenerator):
        await source.aclose()


async def _compressed(content: bytes) -> bytes:
    # Level 1 costs a third of the default and gives away a tenth of the gain.
    if len(content) < _COMPRESS_ON_THREAD_FROM:
        return gzip.compress(content, 1, mtime=0)
    return await asyncio.to_thread(gzip.compress, content, 1, mtime=0)


def _takes_gzip(accept_encoding: str) -> bool:
    for item in accept_encoding.split(","):
        coding, _, parameters = item.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _known(if_none_match: str, tag: str) -> bool:
    bare = tag.removeprefix("W/")
    return any(item.strip() == "*" or item.strip().removeprefix("W/") == bare for item in if_none_match.split(","))


def _safe(file_name: str) -> str:
    """A file name that cannot leave its quotes, its line or its folder."""
    kept = (char if char.isascii() and char.isprintable() and char not in '"\\/' else "_" for char in file_name)
    return "".join(kept) or "download"
