"""Serves the UI: a file where the path names one, the page itself for every address inside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from firstlight.server.web.files import BUILT, INDEX, StaticFile, read_files

Headers = list[tuple[bytes, bytes]]

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types firstlight-line",
    )
)
"""Nothing from elsewhere, nothing inline, and no text that a script could turn into markup.

The one policy of trusted types names the script of the worker that pages share; it makes no markup.
"""
SECURITY: Final[Headers] = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
NOT_BUILT: Final = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Firstlight</title>
<h1>Firstlight</h1>
<p>The service is running, but its pages were not built yet.</p>
<p>In the source tree, <code>make ui</code> builds them once (it needs the npm registry); then start the service again.
Everything else works without them: point <code>aicli</code> or <code>firstlight</code> at this address.</p>
<ul>
<li><a href="/api/docs">The API</a></li>
<li><a href="/api/firstlight/v1/about">What this service is, and what about its setup may surprise</a></li>
<li><a href="/health">Health</a> and <a href="/metrics">metrics</a></li>
</ul>
</html>
"""
_OK: Final = 200
_NOT_MODIFIED: Final = 304


class Site:
    """Answers what belongs to the UI and hands everything else on to `otherwise`."""

    def __init__(self, otherwise: ASGIApp, *, folder: Path = BUILT) -> None:
        self._files = read_files(folder)
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            await self._otherwise(scope, receive, send)
            return
        headers = _headers(scope)
        file = self._files.get(path.lstrip("/"))
        if file is None and _is_a_page(path, headers):
            file = self._files.get(INDEX)
            if file is None and path == "/":
                await _send(send, NOT_BUILT, [(b"content-type", b"text/html; charset=utf-8"), *SECURITY])
                return
        if file is None:
            await self._otherwise(scope, receive, send)
            return
        await _send_file(send, file, headers)


def _is_a_page(path: str, headers: Mapping[str, str]) -> bool:
    """Addresses inside the UI have no file of their own; a missing file must stay missing."""
    last = path.rpartition("/")[2]
    return path == "/" or ("." not in last and "text/html" in headers.get("accept", ""))


async def _send_file(send: Send, file: StaticFile, asked: Mapping[str, str]) -> None:
    headers: Headers = [
        (b"content-type", file.content_type.encode()),
        (b"cache-control", file.cache_control.encode()),
        (b"etag", file.etag.encode()),
        *SECURITY,
    ]
    if file.compressed:
        headers.append((b"vary", b"accept-encoding"))
    if file.etag in asked.get("if-none-match", ""):
        await send({"type": "http.response.start", "status": _NOT_MODIFIED, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    accepted = {item.partition(";")[0].strip() for item in asked.get("accept-encoding", "").lower().split(",")}
    for encoding, content in file.compressed.items():
        if encoding in accepted:
            await _send(send, content, [*headers, (b"content-encoding", encoding.encode())])
            return
    await _send(send, file.plain, headers)


async def _send(send: Send, content: bytes, headers: Headers) -> None:
    headers = [*headers, (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": _OK, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
