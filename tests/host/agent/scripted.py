"""A small HTTP server that says exactly what a test wants, on loopback, with or without TLS."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Said:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    raw: bytes | None = None
    """Sent instead of a proper answer; the connection ends then."""


Script = Callable[[Asked], Said | Awaitable[Said]]


def document(value: object, status: int = 200) -> Said:
    return Said(status, json.dumps(value).encode())


class Scripted:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.url = ""
        self.connections = 0
        self._heard = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                async with self._heard:
                    self._heard.notify_all()
                said = self.script(asked)
                if not isinstance(said, Said):
                    said = await said
                if said.raw is not None:
                    writer.write(said.raw)
                    await writer.drain()
                    return
                lines = [f"HTTP/1.1 {said.status} X", f"Content-Length: {len(said.body)}"]
                lines += [f"{name}: {value}" for name, value in said.headers.items()]
                writer.write("\r\n".join([*lines, "", ""]).encode() + said.body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def until(self, condition: Callable[[list[Asked]], bool], *, seconds: float = 20.0) -> None:
        async with asyncio.timeout(seconds), self._heard:
            await self._heard.wait_for(lambda: condition(self.asked))


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return Asked(method, path, query, headers, body)


@asynccontextmanager
async def scripted(script: Script, *, tls: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator[Scripted]:
    server = Scripted(script)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, ssl=tls, limit=2**22)
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
