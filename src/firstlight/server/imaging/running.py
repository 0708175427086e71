"""The image service as a process: alone, or beside the API that starts it."""

import asyncio
import contextlib
import resource
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
import structlog

from firstlight.core.errors import Unavailable
from firstlight.server.auth.certificates import Certificate
from firstlight.server.imaging import news
from firstlight.server.imaging.http1 import Connection, Server, sweep
from firstlight.server.imaging.options import Options, options_of
from firstlight.server.imaging.service import ImageService
from firstlight.server.settings import Settings
from firstlight.server.telemetry.logging import set_up_logging

log = structlog.get_logger(__name__)

BACKLOG: Final = 1_024
MOST_FILES: Final = 65_536
GRACE: Final = 5.0
"""Seconds that running downloads have when the service is asked to stop."""
PAUSE: Final = 1.0
"""Seconds before a process that ended by itself is started again."""


def run_images(settings: Settings) -> None:
    """Serve images until told to stop."""
    options = options_of(settings)
    certificate_of(options)
    set_up_logging(level=options.log_level, json_lines=options.log_json)
    with contextlib.suppress(KeyboardInterrupt), listener(options) as listening:
        asyncio.run(serve_images(options, listening, ended=asyncio.Event()))


def certificate_of(options: Options) -> Certificate | None:
    if not options.cert_file:
        return None
    return Certificate(Path(options.cert_file), Path(options.key_file), oldest=options.oldest_tls)


def allow_many_files() -> None:
    """A thousand machines that boot at once are two thousand open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MOST_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(MOST_FILES, hard) if hard > 0 else MOST_FILES, hard))


def listener(options: Options) -> socket.socket:
    """Bound and listening; whoever connects before the service is up waits."""
    host, port = options.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise Unavailable(
            f"The image service cannot listen on {options.listen}: {error.strerror}."
            " Choose another address with FIRSTLIGHT_IMAGES_LISTEN."
        ) from None


async def serve_images(options: Options, listening: socket.socket, *, ended: asyncio.Event) -> None:
    """Until `ended` is set or a signal comes; running downloads have a few seconds then."""
    allow_many_files()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with serving(options, listening):
        await ended.wait()


@asynccontextmanager
async def serving(options: Options, listening: socket.socket) -> AsyncGenerator[ImageService]:
    """The service answers while the block is running."""
    service = ImageService(options)
    connections = Server(service, options.limits)
    service.metrics.inflight.labels("", "").set_function(lambda: len(connections.connections))
    loop = asyncio.get_running_loop()
    certificate = certificate_of(options)
    context = certificate.context if certificate is not None else None
    server = await loop.create_server(lambda: Connection(connections), sock=listening, backlog=BACKLOG, ssl=context)
    tasks = [
        asyncio.create_task(news.follow(service.environments, options.api_url, token=options.api_token)),
        asyncio.create_task(sweep(connections)),
    ]
    if certificate is not None:
        tasks.append(asyncio.create_task(certificate.watch()))
    if options.prefetch:
        tasks.append(asyncio.create_task(service.library.prefetch()))
    log.info("images are served", address=options.listen)
    try:
        yield service
    finally:
        server.close()
        await connections.drain(GRACE)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await service.close()


# --- beside the API ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def start_beside(
    settings: Settings, listening: socket.socket | None = None, *, api_token: str = ""
) -> AsyncGenerator[None]:
    """A process of its own serves images while the block is running; should it end by itself, another one takes over.

    The listener belongs to this process: a port that is taken is known at once, and nobody is refused in between.
    """
    options = options_of(settings)
    if api_token:
        options = msgspec.structs.replace(options, api_token=api_token)
    with contextlib.ExitStack() as stack:
        if listening is None:
            listening = stack.enter_context(listener(options))
        keeper = asyncio.create_task(_kept_up(options, listening))
        try:
            yield
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)


async def _kept_up(options: Options, listening: socket.socket) -> None:
    while True:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "firstlight.server.imaging",
            str(listening.fileno()),
            stdin=asyncio.subprocess.PIPE,
            pass_fds=(listening.fileno(),),
            # Ctrl-C at a terminal is for the parent, which ends this one.
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            with contextlib.suppress(ConnectionError):
                process.stdin.write(msgspec.json.encode(options) + b"\n")
                await process.stdin.drain()
            code = await process.wait()
        finally:
            await _end(process)
        log.error("the image service ended and is started again", code=code)
        await asyncio.sleep(PAUSE)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), GRACE + 2)
    except TimeoutError:
        process.kill()
        await process.wait()


def run_child(descriptor: int) -> None:
    """The other side of `start_beside`: options come on standard input, whose end means that the parent has ended."""
    options = msgspec.json.decode(sys.stdin.buffer.readline(), type=Options)
    set_up_logging(level=options.log_level, json_lines=options.log_json)
    with contextlib.suppress(KeyboardInterrupt), socket.socket(fileno=descriptor) as listening:
        asyncio.run(_serve_until_orphaned(options, listening))


async def _serve_until_orphaned(options: Options, listening: socket.socket) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    try:
        await serve_images(options, listening, ended=ended)
    finally:
        loop.remove_reader(sys.stdin.fileno())
