"""Sending what the table of calls says."""

import json
import re
from typing import Final

from starlette.types import ASGIApp

from firstlight.server.http.operations import Operation
from tests.clients.operation_calls import PATH, Ask
from tests.http.client import Answer, ask

BASE: Final = "/api/assisted-install"


async def send(app: ASGIApp, operation: Operation, asked: Ask, *, method: str = "") -> Answer:
    path = re.sub(r"{(\w+)(:uuid)?}", lambda found: str((PATH | asked.path)[found[1]]), operation.path)
    body = asked.body
    if not isinstance(body, bytes):
        body = b"" if body is None else json.dumps(body).encode()
    headers = {"content-type": asked.content_type, "content-length": str(len(body))}
    return await ask(app, method or operation.method, BASE + path, query=asked.query, body=body, headers=headers)
