"""A line to a service that breaks: whoever sends more than agreed over one connection is cut off in the middle."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Line:
    url: str = ""
    cuts: int = 0
    carried: int = 0
    """Bytes towards the service."""
    paths: list[str] = field(default_factory=list)


@contextmanager
def cutting_line(service_url: str, *, after: int) -> Iterator[Line]:
    line, loop, started = Line(), asyncio.new_event_loop(), threading.Event()
    target = urlsplit(service_url)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        back = asyncio.ensure_future(_copy(far_reader, writer))
        left = after
        with suppress(ConnectionError):
            while left > 0 and (piece := await reader.read(min(left, 65_536))):
                if piece[:4] in (b"GET ", b"PUT ", b"POST"):
                    line.paths.append(" ".join(piece.split(b"\r\n", 1)[0].decode().split()[:2]))
                left -= len(piece)
                line.carried += len(piece)
                far_writer.write(piece)
                await far_writer.drain()
            line.cuts += left <= 0
        for one in (far_writer, writer):
            one.transport.abort()
        back.cancel()
        await asyncio.gather(back, return_exceptions=True)

    async def serve() -> asyncio.Server:
        server = await asyncio.start_server(carry, "127.0.0.1", 0)
        line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set()
        return server

    def run() -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(serve())
        loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(10)
    try:
        yield line
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()
