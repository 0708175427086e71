"""Turns away what a browser was made to send by a page that is none of ours."""

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from firstlight.server.auth.origins import Hosts, is_foreign_write
from firstlight.server.http.errors import CrossSite, Misdirected, answer_to
from firstlight.server.http.middleware import TRACE, Trace
from firstlight.server.http.reply import NO_HEADERS
from firstlight.server.http.respond import send_json


class Guard:
    """Without `hosts` any Host header will do, which is right when every caller has to prove who it is."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts | None, trusted: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = hosts
        self._trusted = tuple(origin.strip().lower() for origin in trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        answer = answer_to(refusal)
        await send_json(send, answer.encoded(), status=answer.status, accepts=NO_HEADERS, extra=[])

    def _refusal(self, scope: Scope) -> Misdirected | CrossSite | None:
        trace: Trace = scope[TRACE]
        if self._hosts is not None and not self._hosts.accepts(trace.headers.get("host", "")):
            return Misdirected(trace.headers["host"])
        if is_foreign_write(scope["method"], trace.headers, trusted=self._trusted):
            return CrossSite()
        return None
