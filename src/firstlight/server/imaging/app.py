"""Download links already have their final form; until images can be built, whoever follows one is told so."""

from typing import Final

import msgspec
from starlette.types import Receive, Scope, Send

NOT_YET: Final = "This service cannot build discovery images yet. Boot hosts from an image made elsewhere."
_BODY: Final = msgspec.json.encode({"code": "503", "href": "", "id": 503, "kind": "Error", "reason": NOT_YET})
_HEADERS: Final = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(_BODY)).encode()),
    (b"retry-after", b"3600"),
]


async def image_app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        for answer in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{answer}.complete"})
        return
    if scope["type"] != "http":
        return
    if scope["path"] in ("/health", "/live"):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 503, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else _BODY})
