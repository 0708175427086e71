"""The service put together: settings → drivers → World → engine and HTTP, with its loops running."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Final
from uuid import uuid4

from starlette.types import ASGIApp

from firstlight.core.errors import Unavailable
from firstlight.core.model.policy import Policy
from firstlight.server.auth.authenticator import Authenticator
from firstlight.server.auth.origins import Hosts
from firstlight.server.auth.tokens import Tokens
from firstlight.server.background import ended, kept_up
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
from firstlight.server.http.operations import operations_of
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
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.chores import CHORES, plan_chores
from firstlight.server.usecases.object_names import holds_secrets
from firstlight.server.usecases.preparation import operations
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.step_inputs import inputs_for, pool_inputs
from firstlight.server.usecases.world import World
from firstlight.server.web.site import Site

LINK_KEY: Final = "link_key"


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that runs."""

    settings: Settings
    world: World
    engine: Engine
    database: Database
    app: ASGIApp


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where everything is kept."""

    database: Database
    store: Store
    blobs: SealedBlobs


@asynccontextmanager
async def service(
    settings: Settings, *, environment: Mapping[str, str] | None = None, clock: Clock | None = None
) -> AsyncGenerator[Service]:
    """The service with its background loops running; they end when the block is left."""
    async with AsyncExitStack() as stack:
        places = await _places(settings, stack)
        store, policy = places.store, policy_of(settings, os.environ if environment is None else environment)
        clock, replica, bell = clock or SystemClock(), new_name(), Bell()
        listening = Listening(store, clock, replica=replica, poll_seconds=policy.poll_seconds)
        access = await access_of(settings, store, clock)
        world = await _world(
            settings, places, policy, clock=clock, tokens=access.tokens, listening=listening, bell=bell
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
        stack.push_async_callback(ended, _loops(world, engine, places.database))
        app = build(settings, world, access.authenticator, ready=engine.readiness)
        yield Service(settings, world, engine, places.database, app)


async def _places(settings: Settings, stack: AsyncExitStack) -> _Places:
    database = await open_database(settings.database_location)
    stack.push_async_callback(database.close)
    seal = await open_seal(database, place_of(settings))
    blobs = sealed_blobs(settings, seal)
    stack.push_async_callback(blobs.close)
    return _Places(database=database, store=open_store(database, seal=seal), blobs=blobs)


async def _world(
    settings: Settings,
    places: _Places,
    policy: Policy,
    *,
    clock: Clock,
    tokens: Tokens | None,
    listening: Listening,
    bell: Bell,
) -> World:
    store, catalogue = places.store, catalogue_of(settings)
    evaluator = Evaluator(
        policy,
        inputs_of=partial(inputs_for, catalogue=catalogue, store=store),
        pool_inputs_of=partial(pool_inputs, image_service_url=settings.image_service_url, store=store, tokens=tokens),
        forgiven_until=listening.forgiven_until,
    )
    return World(
        store=store,
        blobs=places.blobs,
        clock=clock,
        policy=policy,
        catalogue=catalogue,
        service=service_facts(settings, link_key=await link_key(store)),
        nmstate=Nmstatectl(settings.nmstatectl),
        base_images=image_service_of(settings),
        tokens=tokens,
        new_id=uuid4,
        random_bytes=secrets.token_bytes,
        evaluate_cluster=evaluator.cluster,
        evaluate_pool_host=evaluator.pool_host,
        sessions=Sessions(),
        check_ins=CheckIns(store),
        wake=bell.ring,
    )


def _loops(world: World, engine: Engine, database: Database) -> list[asyncio.Task[None]]:
    return [
        kept_up("engine", engine.run),
        kept_up("check-ins", world.check_ins.run),
        kept_up("events", partial(world.broadcast.run, world.store)),
        kept_up("changes", partial(_hear_changes, database, world)),
        kept_up("due", partial(_hear_due, database, engine)),
    ]


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
