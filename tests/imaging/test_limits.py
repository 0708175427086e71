"""Readers that come in crowds, never finish a request, or take nothing of what they asked for; plain and encrypted."""

import asyncio
import hashlib
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from firstlight.core.images.virtual import FileSlice, Memory
from firstlight.server.auth.certificates import Certificate
from firstlight.server.auth.limits import Limits
from firstlight.server.imaging.answers import Answer, Request, text
from firstlight.server.imaging.files import OpenFile
from firstlight.server.imaging.http1 import SMALL, Connection, Server
from tests.auth.certificates import a_certificate
from tests.imaging.conftest import until

pytestmark = pytest.mark.anyio
LIMITS = Limits(connections=3, requests=1, head_seconds=10, idle_seconds=60, stall_seconds=30)
SIZE = 32 * 1024 * 1024
GET = b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n"


class Shop:
    """`/large` is a file in two pieces, with a few bytes of memory in between; all else is small."""

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        half = SIZE // 2
        self.segments = (FileSlice("f", 0, half), Memory(b"between"), FileSlice("f", half, half))

    def quick(self, request: Request) -> Answer | None:
        return None if request.target == b"/large" else text(b"small")

    async def answer(self, request: Request) -> Answer:
        return Answer(200, b"", self.segments, SIZE + len(b"between"), {"f": self.file})

    def done(self, request: Request, answer: Answer, *, seconds: float, sent: int) -> None:
        return


@dataclass
class Place:
    server: Server
    port: int
    content: bytes
    trust: ssl.SSLContext | None
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.trust, limit=64 * 1024)
        self.writers.append(writer)
        return reader, writer


@asynccontextmanager
async def a_place(folder: Path, *, encrypted: bool) -> AsyncIterator[Place]:
    content = hashlib.shake_256(b"content").digest(SIZE)
    (folder / "file").write_bytes(content)
    server, context, trust = Server(Shop(OpenFile(folder / "file")), LIMITS), None, None
    if encrypted:
        cert_file, key_file = a_certificate(folder)
        context, trust = Certificate(cert_file, key_file).context, ssl.create_default_context(cafile=str(cert_file))
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, ssl=context)
    place = Place(server, listening.sockets[0].getsockname()[1], content, trust)
    try:
        yield place
    finally:
        for writer in place.writers:
            writer.transport.abort()
        listening.close()
        await server.drain(0)
        await until(lambda: not server.connections)


@pytest.fixture(params=[False, True], ids=["plain", "encrypted"])
async def place(tmp_path: Path, request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Place]:
    async with a_place(tmp_path, encrypted=request.param) as place:
        yield place


async def head_of(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value for name, _, value in pairs}


async def answer_of(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    status, headers = await head_of(reader)
    return status, await asyncio.wait_for(reader.readexactly(int(headers["content-length"])), 60)


async def test_every_byte_arrives(place: Place) -> None:
    reader, writer = await place.connect()
    half = SIZE // 2
    for _ in range(2):
        writer.write(GET % b"large" + GET % b"small")
        status, body = await answer_of(reader)
        assert (status, len(body)) == (200, SIZE + 7)
        assert body == place.content[:half] + b"between" + place.content[half:]
        assert await answer_of(reader) == (200, b"small")
    assert place.server.under_way == 0


async def test_too_many_downloads(place: Place) -> None:
    assert SIZE > 8 * SMALL
    first, second = await place.connect(), await place.connect()
    first[1].write(GET % b"large")
    assert (await head_of(first[0]))[0] == 200
    second[1].write(GET % b"large" + GET % b"small")
    status, body = await answer_of(second[0])
    assert (status, json.loads(body)["id"]) == (503, 503)
    assert (await answer_of(second[0]))[1] == b"small"
    first[1].transport.abort()
    await until(lambda: place.server.under_way == 0)
    second[1].write(GET % b"large")
    assert (await answer_of(second[0]))[0] == 200


async def test_too_many_connections(place: Place) -> None:
    lines = [await place.connect() for _ in range(4)]
    status, body = await answer_of(lines[3][0])
    assert (status, "too many" in json.loads(body)["reason"]) == (503, True)
    assert await lines[3][0].read() == b""
    lines[0][1].write(GET % b"small")
    assert (await answer_of(lines[0][0]))[1] == b"small"
    lines[0][1].close()
    await until(lambda: len(place.server.connections) == 2)
    again = await place.connect()
    again[1].write(GET % b"small")
    assert (await answer_of(again[0]))[1] == b"small"


async def test_requests_have_to_come_to_an_end(place: Place) -> None:
    began = time.monotonic()
    reader, writer = await place.connect()
    writer.write(GET % b"small" + b"GET /small HTTP/1.1\r\nHost:")
    assert (await answer_of(reader))[1] == b"small"
    place.server.close_idle(began + 9)
    writer.write(b" a")
    await until(lambda: all(one._headers == {} for one in place.server.connections))
    place.server.close_idle(began + 9)
    # Another letter now and then does not help.
    place.server.close_idle(time.monotonic() + 11)
    status, body = await answer_of(reader)
    assert (status, set(json.loads(body))) == (408, {"code", "message"})


async def test_pauses_end(place: Place) -> None:
    began = time.monotonic()
    reader, writer = await place.connect()
    writer.write(GET % b"small")
    await answer_of(reader)
    place.server.close_idle(began + 59)
    assert len(place.server.connections) == 1
    place.server.close_idle(time.monotonic() + 61)
    assert await asyncio.wait_for(reader.read(), 60) == b""


async def test_a_reader_who_takes_nothing_is_cut_off_and_a_slow_one_is_not(place: Place) -> None:
    reader, writer = await place.connect()
    writer.write(GET % b"large")
    assert (await head_of(reader))[0] == 200
    moment = time.monotonic()
    for _ in range(3):
        # Slow, but alive: something was taken since the last look.
        before = next(iter(place.server.connections))._acknowledged[0]
        await asyncio.wait_for(reader.readexactly(3 * 1024 * 1024), 60)
        moment += 29
        await until(lambda before=before: _taken(place) > before)
        place.server.close_idle(moment)
    assert len(place.server.connections) == 1
    place.server.close_idle(moment + 31)  # what was on its way has arrived by now, perhaps
    place.server.close_idle(moment + 62)
    place.server.close_idle(moment + 93)
    await until(lambda: not place.server.connections)
    assert place.server.under_way == 0


def _taken(place: Place) -> int:
    from firstlight.server.imaging.http1 import _acknowledged

    return _acknowledged(next(iter(place.server.connections))._socket) or 0
