"""The program: listeners, signals and warnings around the service and, beside it, the image service."""

import asyncio
import gc
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from firstlight.core.errors import Error, Unavailable
from firstlight.server.auth.certificates import Certificate
from firstlight.server.auth.limits import Limits
from firstlight.server.background import ended, kept_up
from firstlight.server.composition import catalogue_of, policy_of
from firstlight.server.http.listener import cut_slow, listener_with
from firstlight.server.imaging.options import options_of
from firstlight.server.imaging.running import allow_many_files, certificate_of, start_beside
from firstlight.server.sealing.keys import place_of
from firstlight.server.service import service
from firstlight.server.settings import Settings
from firstlight.server.telemetry.logging import set_up_logging
from firstlight.server.usecases.stream import Broadcast
from firstlight.server.usecases.waits import Waits
from firstlight.server.usecases.world import World

log = structlog.get_logger(__name__)

BACKLOG: Final = 2_048
"""Connections that may wait to be taken."""
GRACE: Final = 5
"""Seconds that running requests have when the service is asked to stop."""


def serve(settings: Settings) -> None:
    """Run until told to stop."""
    spare_the_collector()
    allow_many_files()
    set_up_logging(level=settings.log_level, json_lines=settings.log_format == "json")
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings))
    except KeyboardInterrupt:
        return


def spare_the_collector() -> None:
    """Decoded documents are many, long-lived and free of cycles: looking through them all the time is wasted."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.Loop


class _Api(uvicorn.Server):
    """Ends the streams of events before it waits for requests to end: they would never end by themselves.

    Polls that wait are answered as well.
    """

    def __init__(self, config: uvicorn.Config, *, streams: Broadcast, waits: Waits) -> None:
        super().__init__(config)
        self._streams = streams
        self._waits = waits

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.close()
        self._waits.close()
        await super().shutdown(sockets)


async def _serve(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        api_socket = stack.enter_context(_listener(settings.listen, "FIRSTLIGHT_LISTEN"))
        images = None
        if settings.enable_image_service:
            images = stack.enter_context(_listener(settings.images_listen, "FIRSTLIGHT_IMAGES_LISTEN"))
        running = await stack.enter_async_context(service(settings))
        if images is not None:
            await stack.enter_async_context(start_beside(settings, images, api_token=_watching(running.world)))
        warn_if_open(settings)
        warn_if_key_is_here_only(settings)
        url = f"{settings.scheme}://{settings.listen}"
        images_url = f"{settings.scheme}://{settings.images_listen}"
        log.info("firstlight serves", api=url, page=f"{url}/api/docs", images=images_url)
        world = running.world
        certificate = certificate_of(options_of(settings))
        api = _Api(_uvicorn(running.app, settings, certificate), streams=world.broadcast, waits=world.waits)
        tasks = [kept_up("slow clients", lambda: cut_slow(api.server_state.connections))]
        if certificate is not None:
            tasks.append(kept_up("certificate", certificate.watch))
        stack.push_async_callback(ended, tasks)
        await api.serve(sockets=[api_socket])


def _watching(world: World) -> str:
    """What the image service beside the API hears of changes with."""
    return "" if world.tokens is None else world.tokens.watcher("images", expires_at=None)


def _listener(listen: str, setting: str) -> socket.socket:
    """Taken before anything else, so that a second service on one address says so and touches nothing."""
    host, _, port = listen.rpartition(":")
    try:
        family, _, _, _, place = socket.getaddrinfo(
            host.strip("[]") or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(place[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise Unavailable(
            f"The address {listen} cannot be listened on: {reason}. Stop whoever uses it, or choose another with"
            f" {setting}."
        ) from error


def _uvicorn(app: ASGIApp, settings: Settings, certificate: Certificate | None) -> uvicorn.Config:
    limits = Limits(
        connections=settings.max_connections,
        head_seconds=settings.slow_client_timeout.total_seconds(),
        idle_seconds=settings.idle_timeout.total_seconds(),
    )
    return uvicorn.Config(
        app,
        http=listener_with(limits),
        ssl_context_factory=None if certificate is None else _using(certificate),
        ws="none",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=max(1, round(limits.idle_seconds)),
    )


def _using(certificate: Certificate) -> Callable[[uvicorn.Config, Callable[[], ssl.SSLContext]], ssl.SSLContext]:
    def context(config: uvicorn.Config, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:  # noqa: ARG001 - given
        return certificate.context

    return context


def warn_if_open(settings: Settings) -> None:
    if settings.auth_type == "none" and not settings.is_loopback_only:
        log.warning(
            "everybody who reaches this address is administrator: authentication is off and the listener is not on"
            " loopback",
            listen=settings.listen,
        )


def warn_if_key_is_here_only(settings: Settings) -> None:
    keys = place_of(settings)
    shared = settings.database_location.startswith("postgres") or settings.blobs_location.startswith("s3:")
    if shared and keys.is_own and not keys.given:
        log.warning(
            "secrets are encrypted with a key that only this file has, although database or files are elsewhere: keep a"
            " copy, and give it to every replica with FIRSTLIGHT_ENCRYPTION_KEY or FIRSTLIGHT_ENCRYPTION_KEY_FILE",
            file=str(keys.file),
        )


def check(settings: Settings) -> str:
    """What is wrong with these settings, in a sentence; empty when they can be used."""
    try:
        policy_of(settings, os.environ)
        catalogue_of(settings)
        certificate_of(options_of(settings))
    except Error as error:
        return str(error)
    return ""
