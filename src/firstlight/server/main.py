"""The composition root of the server: settings → drivers → World → engine and HTTP."""

import asyncio
import gc
import os
import secrets
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Final
from uuid import uuid4

import structlog
import uvicorn
from starlette.types import ASGIApp

from firstlight.core.errors import Error, Unavailable
from firstlight.server.auth.authenticator import Authenticator
from firstlight.server.auth.certificates import Certificate
from firstlight.server.auth.limits import Limits
from firstlight.server.auth.origins import Hosts
from firstlight.server.base_images.image_service import image_service_of
from firstlight.server.blobs.connect import open_blobs
from firstlight.server.blobs.sealed import SealedBlobs
from firstlight.server.composition import access_of, catalogue_of, policy_of, service_facts
from firstlight.server.engine.bell import Bell
from firstlight.server.engine.engine import Engine
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.engine.listening import Listening
from firstlight.server.engine.replicas import new_name
from firstlight.server.http import v1, v2
from firstlight.server.http.app import Check, all_is_well, build_app
from firstlight.server.http.authentication import Credentials
from firstlight.server.http.listener import cut_slow, listener_with
from firstlight.server.http.operations import operations_of
from firstlight.server.imaging.options import options_of
from firstlight.server.imaging.running import allow_many_files, certificate_of, start_beside
from firstlight.server.nmstate.nmstatectl import Nmstatectl
from firstlight.server.ports.clock import Clock, SystemClock
from firstlight.server.ports.database import Database
from firstlight.server.ports.installer import Installer
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import CHANGES, DUE, SERVICE_SUBJECT
from firstlight.server.ports.writes import PutSecret
from firstlight.server.release import pki
from firstlight.server.release.installers import InstallerSettings, ReleaseInstallers
from firstlight.server.sealing.keys import place_of
from firstlight.server.sealing.seal import Seal
from firstlight.server.settings import Settings
from firstlight.server.store.connect import open_database
from firstlight.server.store.sealing import open_seal
from firstlight.server.store.sql_store import open_store
from firstlight.server.telemetry.logging import set_up_logging
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.chores import CHORES, plan_chores
from firstlight.server.usecases.object_names import holds_secrets
from firstlight.server.usecases.preparation import operations
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.step_inputs import inputs_for, pool_inputs
from firstlight.server.usecases.stream import Broadcast
from firstlight.server.usecases.waits import Waits
from firstlight.server.usecases.world import World
from firstlight.server.web.site import Site

log = structlog.get_logger(__name__)

LINK_KEY: Final = "link_key"
BACKLOG: Final = 2_048
"""Connections that may wait to be taken."""
GRACE: Final = 5
"""Seconds that running requests have when the service is asked to stop."""
RESTART_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that runs."""

    settings: Settings
    world: World
    engine: Engine
    database: Database
    app: ASGIApp


@asynccontextmanager
async def service(
    settings: Settings, *, environment: Mapping[str, str] | None = None, clock: Clock | None = None
) -> AsyncGenerator[Service]:
    """The service with its background loops running; they end when the block is left."""
    async with AsyncExitStack() as stack:
        database = await open_database(settings.database_location)
        stack.push_async_callback(database.close)
        seal = await open_seal(database, place_of(settings))
        blobs = sealed_blobs(settings, seal)
        stack.push_async_callback(blobs.close)
        store = open_store(database, seal=seal)
        policy = policy_of(settings, os.environ if environment is None else environment)
        catalogue = catalogue_of(settings)
        clock = clock or SystemClock()
        replica = new_name()
        listening = Listening(store, clock, replica=replica, poll_seconds=policy.poll_seconds)
        access = await access_of(settings, store, clock)
        evaluator = Evaluator(
            policy,
            inputs_of=partial(inputs_for, catalogue=catalogue, store=store),
            pool_inputs_of=partial(
                pool_inputs, image_service_url=settings.image_service_url, store=store, tokens=access.tokens
            ),
            forgiven_until=listening.forgiven_until,
        )
        bell = Bell()
        world = World(
            store=store,
            blobs=blobs,
            clock=clock,
            policy=policy,
            catalogue=catalogue,
            service=service_facts(settings, link_key=await link_key(store)),
            nmstate=Nmstatectl(settings.nmstatectl),
            base_images=image_service_of(settings),
            tokens=access.tokens,
            new_id=uuid4,
            random_bytes=secrets.token_bytes,
            evaluate_cluster=evaluator.cluster,
            evaluate_pool_host=evaluator.pool_host,
            sessions=Sessions(),
            check_ins=CheckIns(store),
            wake=bell.ring,
        )
        engine = Engine(
            world,
            replica=replica,
            listening=listening,
            operations=operations(pki, installer_of(settings)),
            chores=CHORES,
        )
        bell.listen(engine.wake)
        await plan_chores(world, inactive=settings.deregister_inactive, purge=settings.purge_deleted)
        tasks = [
            asyncio.create_task(_kept_up("engine", engine.run)),
            asyncio.create_task(_kept_up("check-ins", world.check_ins.run)),
            asyncio.create_task(_kept_up("events", lambda: world.broadcast.run(store))),
            asyncio.create_task(_kept_up("changes", lambda: _hear_changes(database, world))),
            asyncio.create_task(_kept_up("due", lambda: _hear_due(database, engine))),
        ]
        stack.push_async_callback(_end, tasks)
        yield Service(
            settings, world, engine, database, build(settings, world, access.authenticator, ready=engine.readiness)
        )


def sealed_blobs(settings: Settings, seal: Seal) -> SealedBlobs:
    place = open_blobs(
        settings.blobs_location,
        access_key=_secret(settings.aws_access_key_id),
        secret_key=_secret(settings.aws_secret_access_key),
    )
    return SealedBlobs(place, seal, is_secret=holds_secrets)


def installer_of(settings: Settings) -> Installer | None:
    """Whoever writes the files of real installations; nobody if they shall all be ours."""
    if settings.installer == "built-in":
        return None
    return ReleaseInstallers(
        InstallerSettings(
            folder=settings.data_dir / "installers",
            program=settings.openshift_install,
            capacity=settings.installer_cache_bytes,
            parallel=settings.installer_parallel,
            niceness=settings.installer_niceness,
            plain_registries=frozenset(settings.plain_registries),
            invoker=settings.install_invoker,
        )
    )


def build(
    settings: Settings, world: World, authenticator: Authenticator | None = None, *, ready: Check = all_is_well
) -> ASGIApp:
    modules: tuple[ModuleType, ...] = (*v2.MODULES, *v1.MODULES)

    async def health() -> str:
        try:
            waited = await world.store.oldest_overdue(world.clock.now())
        except Unavailable as trouble:
            return str(trouble)
        if waited is not None and waited > settings.liveness_timeout:
            return f"Work has been waiting for {waited} without being taken up."
        return ""

    return build_app(
        world,
        operations=operations_of(*modules),
        authenticate=None if authenticator is None else Credentials(authenticator),
        ignore_unknown_fields=not settings.reject_unknown_fields,
        health=health,
        ready=ready,
        allowed_domains=settings.allowed_domains,
        hosts=Hosts(settings.host_names) if settings.auth_type == "none" else None,
        public_url=settings.service_base_url,
        site=Site,
    )


def _secret(value: object) -> str:
    reveal = getattr(value, "get_secret_value", None)
    return str(reveal()) if reveal is not None else ""


async def link_key(store: Store) -> bytes:
    """The key that signs download links: made at first start, shared by all replicas."""
    known = await store.secret(SERVICE_SUBJECT, LINK_KEY)
    if known is None:
        new = PutSecret(subject=SERVICE_SUBJECT, name=LINK_KEY, value=secrets.token_hex(32), only_if_missing=True)
        await store.commit(new)
        known = await store.secret(SERVICE_SUBJECT, LINK_KEY) or ""
    return bytes.fromhex(known)


async def _kept_up(name: str, run: Callable[[], Coroutine[None, None, None]]) -> None:
    """A loop that fails for a reason nobody foresaw must not leave the service half alive."""
    while True:
        try:
            await run()
            return
        except Exception:
            log.exception("a background loop failed and is started again", loop=name)
            await asyncio.sleep(RESTART_SECONDS)


async def _hear_changes(database: Database, world: World) -> None:
    """Sessions are forgotten when anybody, here or in another replica, commits a change of their subject."""
    async with database.subscribe(CHANGES) as notices:
        async for notice in notices:
            if not notice:
                world.sessions.forget_all()
                world.waits.wake_all()
            for subject in notice.split():
                world.sessions.forget(subject)
                world.waits.wake(subject)


async def _hear_due(database: Database, engine: Engine) -> None:
    async with database.subscribe(DUE) as notices:
        async for _ in notices:
            engine.wake()


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def serve(settings: Settings) -> None:
    """Run until told to stop."""
    _spare_the_collector()
    allow_many_files()
    set_up_logging(level=settings.log_level, json_lines=settings.log_format == "json")
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings))
    except KeyboardInterrupt:
        return


def _spare_the_collector() -> None:
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
        tasks = [asyncio.create_task(_kept_up("slow clients", lambda: cut_slow(api.server_state.connections)))]
        if certificate is not None:
            tasks.append(asyncio.create_task(_kept_up("certificate", certificate.watch)))
        stack.push_async_callback(_end, tasks)
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
