"""The whole application: the API, the pages for machines beside it, and the start and end of the process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from typing import Final
from urllib.parse import urlsplit

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.types import ASGIApp, Receive, Scope, Send

from firstlight.server.auth.origins import Hosts
from firstlight.server.http.endpoint import MOUNTS, Api, Authenticate
from firstlight.server.http.errors import NOT_READY, OK, UNEXPECTED, WrongMethod, answer_to
from firstlight.server.http.guard import Guard
from firstlight.server.http.middleware import TRACE, Cors, Metrics, Observe, Trace
from firstlight.server.http.openapi import docs_page, document
from firstlight.server.http.operations import Operation
from firstlight.server.http.respond import raw_headers, send_bytes, send_json

Check = Callable[[], Awaitable[str]]
"""Says what is wrong in a sentence; nothing when all is well."""
Lifespan = Callable[[], AbstractAsyncContextManager[object]]


async def all_is_well() -> str:
    return ""


def build_app(
    world: object,
    *,
    operations: Iterable[Operation],
    authenticate: Authenticate | None = None,
    ignore_unknown_fields: bool = False,
    health: Check = all_is_well,
    ready: Check = all_is_well,
    registry: CollectorRegistry | None = None,
    allowed_domains: Iterable[str] = (),
    hosts: Hosts | None = None,
    public_url: str = "",
    lifespan: Lifespan = nullcontext,
    fallback: ASGIApp | None = None,
    site: Callable[[ASGIApp], ASGIApp] | None = None,
) -> ASGIApp:
    """An ASGI application that serves `operations` on `world`.

    `fallback` serves what is neither API nor machine page; `site` makes one that may leave a request to the API, such
    as the web UI. Without `authenticate` everyone is the administrator; `hosts` are the names the service is called by
    then. `public_url` is where browsers find our own pages if a proxy renames us. `lifespan` is entered when the server
    starts and left when it ends.
    """
    registry = registry or CollectorRegistry()
    operations = tuple(operations)
    api = Api(world, operations=operations, authenticate=authenticate, ignore_unknown_fields=ignore_unknown_fields)
    pages = _pages(operations, health=health, ready=ready, registry=registry)
    if site is not None:
        fallback = site(api)
    if fallback is None:
        pages["/"] = _Page("front", _front_page)
    app: ASGIApp = _Entrance(api=api, pages=pages, fallback=fallback or api, lifespan=lifespan)
    domains = tuple(allowed_domains)
    if domains:
        app = Cors(app, allowed=domains)
    app = Guard(app, hosts=hosts, trusted=(*domains, *filter(None, (urlsplit(public_url).netloc,))))
    return Observe(app, metrics=Metrics(registry))


@dataclass(frozen=True, slots=True)
class _Page:
    """A document for machines (or the page of the API document), rendered when asked for."""

    name: str
    render: Callable[[], Awaitable[tuple[int, str, bytes]]]
    is_json: bool = False


def _pages(
    operations: tuple[Operation, ...], *, health: Check, ready: Check, registry: CollectorRegistry
) -> dict[str, _Page]:
    async def metrics() -> tuple[int, str, bytes]:
        return OK, CONTENT_TYPE_LATEST, generate_latest(registry)

    # Takes a good part of a start, and few ever ask for it.
    encoded_document = cache(lambda: msgspec.json.encode(document(operations)))

    async def api_document() -> tuple[int, str, bytes]:
        return OK, "application/json", await asyncio.to_thread(encoded_document)

    async def api_page() -> tuple[int, str, bytes]:
        return OK, "text/html; charset=utf-8", docs_page()

    openapi = _Page("openapi", api_document, is_json=True)
    return {
        "/health": _Page("health", _checking(health, UNEXPECTED)),
        "/ready": _Page("ready", _checking(ready, NOT_READY)),
        "/metrics": _Page("metrics", metrics),
        f"{MOUNTS['v2']}/openapi": openapi,
        f"{MOUNTS['v2']}/v2/openapi": openapi,
        "/api/docs": _Page("docs", api_page),
    }


_FRONT: Final = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Firstlight</title>
<style>
body { font: 1rem/1.5 sans-serif; color-scheme: light dark; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
</style>
<h1>Firstlight</h1>
<p>The service is running. Point <code>aicli</code> or <code>firstlight</code> at this address.</p>
<ul>
<li><a href="/api/docs">The API</a></li>
<li><a href="/api/firstlight/v1/about">What this service is, and what about its setup may surprise</a></li>
<li><a href="/health">Health</a> and <a href="/metrics">metrics</a></li>
</ul>
</html>
"""


async def _front_page() -> tuple[int, str, bytes]:
    """What a browser finds until there is a user interface."""
    return OK, "text/html; charset=utf-8", _FRONT


def _checking(check: Check, otherwise: int) -> Callable[[], Awaitable[tuple[int, str, bytes]]]:
    async def render() -> tuple[int, str, bytes]:
        complaint = await check()
        return otherwise if complaint else OK, "text/plain; charset=utf-8", (complaint or "ok").encode()

    return render


_API: Final = "/api/"


class _Entrance:
    """Sends each request to the page, the API or the fallback it is for."""

    def __init__(self, *, api: ASGIApp, pages: dict[str, _Page], fallback: ASGIApp, lifespan: Lifespan) -> None:
        self._api = api
        self._pages = pages
        self._fallback = fallback
        self._lifespan = lifespan

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        path: str = scope["path"]
        page = self._pages.get(path) or self._pages.get(path.rstrip("/"))
        if page is not None:
            await _send_page(page, scope, send)
        elif path.startswith(_API):
            await self._api(scope, receive, send)
        else:
            trace: Trace = scope[TRACE]
            trace.is_routine = True
            await self._fallback(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self._lifespan():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except BaseException as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.shutdown.complete"})


async def _send_page(page: _Page, scope: Scope, send: Send) -> None:
    trace: Trace = scope[TRACE]
    trace.operation = page.name
    trace.is_routine = True
    if scope["method"] not in ("GET", "HEAD"):
        refusal = answer_to(WrongMethod(scope["method"], allowed=["GET"]))
        await send_json(send, refusal.encoded(), status=refusal.status, accepts={}, extra=raw_headers(refusal.headers))
        return
    status, content_type, content = await page.render()
    if page.is_json:
        await send_json(send, content, status=status, accepts=trace.headers, extra=[], etag=True)
    else:
        # Machines compare their clock with this; nothing else of ours tells the time.
        headers = {"content-type": content_type, "date": formatdate(usegmt=True)}
        await send_bytes(send, content, status=status, headers=raw_headers(headers))
