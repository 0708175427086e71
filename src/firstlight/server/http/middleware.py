"""What happens to every request: an id, a log line, a measurement, a last net for errors; and CORS where it is wanted.

Everything here is a plain ASGI callable. Query strings and bodies are never logged: they carry tokens and secrets.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Final
from uuid import UUID, uuid4

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from firstlight.server.http.body import CallerGone
from firstlight.server.http.errors import NO_CONTENT, UNEXPECTED, answer_to_unexpected
from firstlight.server.http.respond import Headers, raw_headers, send_bytes

log: Final = structlog.stdlib.get_logger(__name__)

TRACE: Final = "firstlight.trace"
"""The key under which the scope holds the request's `Trace`."""


@dataclass(slots=True)
class Trace:
    """What is known of a request while it is served."""

    request_id: UUID
    headers: Mapping[str, str] = field(repr=False)
    operation: str = ""
    is_routine: bool = False
    """Agents do this all day; it is logged at debug level only."""
    status: int = 0


class Metrics:
    """Counts and durations per operation."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count = Counter(
            "firstlight_http_requests", "Requests answered.", ["operation", "status"], registry=registry
        )
        self._seconds = Histogram(
            "firstlight_http_request_seconds", "Time to answer.", ["operation"], registry=registry
        )
        self.unexpected = Counter(
            "firstlight_http_unexpected_errors", "Requests that failed with an error nobody foresaw.", registry=registry
        )
        # Looking a labelled child up costs more than using it.
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def record(self, operation: str, status: int, seconds: float) -> None:
        key = (operation, status)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (
                self._count.labels(operation, str(status)),
                self._seconds.labels(operation),
            )
        known[0].inc()
        known[1].observe(seconds)


class Observe:
    """Outermost: gives the request its id and sees to it that nothing ends unlogged."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        trace = scope[TRACE] = Trace(_request_id(headers.get("x-request-id")), headers)
        request_id = str(trace.request_id)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                trace.status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
            await send(message)

        # Whatever is logged from here on carries the id; the server runs each request in a context of its own.
        bind_contextvars(request_id=request_id)
        try:
            await self._app(scope, receive, noting)
        except CallerGone:
            pass
        except Exception:
            self._note_unexpected(scope, trace)
            if trace.status:
                # An answer already begun cannot be taken back; raising cuts the connection so that nobody trusts it.
                raise
            content = answer_to_unexpected(trace.request_id).encoded()
            await send_bytes(noting, content, status=UNEXPECTED, headers=[(b"content-type", b"application/json")])
        finally:
            seconds = perf_counter() - started
            self._metrics.record(trace.operation, trace.status, seconds)
            (log.debug if trace.is_routine else log.info)(
                "request answered",
                method=scope["method"],
                path=scope["path"],
                operation=trace.operation,
                status=trace.status,
                milliseconds=round(seconds * 1000, 3),
            )

    def _note_unexpected(self, scope: Scope, trace: Trace) -> None:
        self._metrics.unexpected.inc()
        log.exception(
            "request failed unexpectedly",
            method=scope["method"],
            path=scope["path"],
            operation=trace.operation,
        )
        trace.is_routine = False


def _request_id(given: str | None) -> UUID:
    """The caller's id if it is a UUID, since events keep it as one; else a new one."""
    if given is not None:
        try:
            return msgspec.convert(given, UUID)
        except msgspec.ValidationError:
            pass
    return uuid4()


_METHODS: Final = "GET, PUT, POST, DELETE, PATCH"
_REQUEST_HEADERS: Final = "Authorization, Content-Type, X-Request-ID, If-None-Match"
_EXPOSED: Final = (
    "Severity-Count-Info, Severity-Count-Warning, Severity-Count-Error, Severity-Count-Critical, Event-Count, "
    "Content-Disposition, ETag, X-Request-ID"
)
_MAX_AGE: Final = "600"


class Cors:
    """Lets pages of the given origins use the API; `*` in an origin stands for any part of it."""

    def __init__(self, app: ASGIApp, *, allowed: Iterable[str]) -> None:
        self._app = app
        self._allowed = tuple(origin.strip().lower() for origin in allowed if origin.strip())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = _header(scope, b"origin") if scope["type"] == "http" else ""
        if not origin or not self._is_allowed(origin):
            await self._app(scope, receive, send)
            return
        headers = raw_headers({"access-control-allow-origin": origin, "vary": "origin"})
        if scope["method"] == "OPTIONS" and _header(scope, b"access-control-request-method"):
            headers += raw_headers(
                {
                    "access-control-allow-methods": _METHODS,
                    "access-control-allow-headers": _REQUEST_HEADERS,
                    "access-control-max-age": _MAX_AGE,
                }
            )
            await send_bytes(send, b"", status=NO_CONTENT, headers=headers)
            return
        headers += raw_headers({"access-control-expose-headers": _EXPOSED})
        await self._app(scope, receive, _with_headers(send, headers))

    def _is_allowed(self, origin: str) -> bool:
        if not origin.isprintable():
            return False
        bare = origin.lower()
        host = bare.partition("://")[2]
        return any(fnmatchcase(bare, pattern) or fnmatchcase(host, pattern) for pattern in self._allowed)


def _with_headers(send: Send, headers: Headers) -> Send:
    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return adding


def _header(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")
