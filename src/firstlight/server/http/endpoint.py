"""From an ASGI request to a handler and back; this is the path every agent poll takes, so it does nothing twice."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import NoneType
from typing import Final, cast
from uuid import UUID

import msgspec
from starlette.types import Receive, Scope, Send

from firstlight.core import wire
from firstlight.core.errors import Error
from firstlight.server.http import body
from firstlight.server.http.call import Call
from firstlight.server.http.errors import Refused, answer_to
from firstlight.server.http.middleware import TRACE, Trace
from firstlight.server.http.operations import Access, Operation
from firstlight.server.http.query import QueryReader
from firstlight.server.http.reply import NO_HEADERS, Download, Empty, Encoded, Reply, Stream
from firstlight.server.http.respond import Headers, raw_headers, send_bytes, send_download, send_json, send_stream
from firstlight.server.http.router import Route, Router
from firstlight.server.usecases.caller import Caller

Authenticate = Callable[[Operation, Mapping[str, UUID | str], Mapping[str, str], bytes], Awaitable[Caller]]
"""Who is asking, by operation, path arguments, headers and query string. Raises domain errors."""

MOUNTS: Final = {"v2": "/api/assisted-install", "v1": "/api/firstlight"}
"""Where the two APIs live: the original's and our own."""


class Endpoint:
    """An operation with everything prepared that does not depend on the request."""

    def __init__(self, operation: Operation, *, ignore_unknown: bool) -> None:
        self.operation = operation
        self.is_routine = operation.access is Access.AGENT
        self.anyone = "agent" if self.is_routine else "admin"
        self._reader = (
            None if operation.body is NoneType else wire.Reader(operation.body, ignore_unknown=ignore_unknown)
        )
        self._query = QueryReader(operation.query)

    async def read_body(self, receive: Receive, headers: Mapping[str, str]) -> object:
        if self._reader is None:
            return None
        body.check_content_type(headers)
        data = await body.whole(receive, headers, cap=self.operation.body_cap)
        return body.parse(self._reader, data, name=self.operation.body_name)

    def read_query(self, query_string: bytes) -> object:
        return self._query.read(query_string)


class Api:
    """Finds the operation, prepares its call, sends its answer."""

    def __init__(
        self,
        world: object,
        *,
        operations: Iterable[Operation],
        authenticate: Authenticate | None = None,
        ignore_unknown_fields: bool = False,
    ) -> None:
        self._world = world
        self._authenticate = authenticate
        self._router: Router[Endpoint] = Router()
        for operation in operations:
            self._router.add(
                operation.method, full_path(operation), Endpoint(operation, ignore_unknown=ignore_unknown_fields)
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        trace: Trace = scope[TRACE]
        try:
            route, values = self._router.find(scope["method"], scope["path"])
            await self._serve(route, values, trace, scope, receive, send)
        except (Error, Refused) as error:
            answer = answer_to(error, to_machine=trace.is_routine)
            extra = raw_headers(answer.headers)
            await send_json(send, answer.encoded(), status=answer.status, accepts=NO_HEADERS, extra=extra)

    async def _serve(
        self, route: Route[Endpoint], values: list[str], trace: Trace, scope: Scope, receive: Receive, send: Send
    ) -> None:
        endpoint = route.endpoint
        operation = endpoint.operation
        trace.operation = operation.id
        trace.is_routine = endpoint.is_routine
        headers = trace.headers
        query_string: bytes = scope["query_string"]
        path = route.arguments(values)
        if self._authenticate is None:
            actor = Caller(name=endpoint.anyone, request_id=trace.request_id)
        else:
            known = await self._authenticate(operation, path, headers, query_string)
            actor = msgspec.structs.replace(known, request_id=trace.request_id)
        call = Call(
            path=path,
            query=endpoint.read_query(query_string),
            body=await endpoint.read_body(receive, headers),
            headers=headers,
            actor=actor,
            stream=lambda: body.chunks(receive, headers, cap=operation.body_cap),
            when_gone=lambda heard: body.when_gone(scope, receive, heard),
        )
        answer = await operation.handler(self._world, call)
        await _send_answer(answer, operation, trace, scope, receive, send)


def full_path(operation: Operation) -> str:
    """The path as callers see it."""
    return MOUNTS[operation.path.split("/")[1]] + operation.path


async def _send_answer(
    answer: object, operation: Operation, trace: Trace, scope: Scope, receive: Receive, send: Send
) -> None:
    extra: Headers = []
    status = operation.success
    if isinstance(answer, Reply):
        reply = cast(Reply[object], answer)
        extra = raw_headers(reply.headers)
        answer = reply.value
    if isinstance(answer, Encoded):
        content = answer.content
    elif answer is None or isinstance(answer, Empty):
        status = answer.status if answer and answer.status else status
        await send_bytes(send, b"", status=status, headers=extra)
        return
    elif isinstance(answer, Download):
        await send_download(send, receive, answer, status=status, head_only=scope["method"] == "HEAD")
        return
    elif isinstance(answer, Stream):
        await send_stream(send, receive, answer, status=status, head_only=scope["method"] == "HEAD")
        return
    else:
        content = _encode(answer)
    await send_json(send, content, status=status, accepts=trace.headers, extra=extra, etag=operation.etag)


_encode: Final = msgspec.json.Encoder().encode
