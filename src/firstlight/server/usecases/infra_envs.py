"""Infra-envs: registered, changed, looked at, given an image URL, and forgotten."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from cryptography import x509
from msgspec import Struct

from firstlight.core.decision import Change
from firstlight.core.errors import Conflict, Error, Invalid, NotFound
from firstlight.core.events.event import Event
from firstlight.core.events.infra_env import (
    ImageInfoUpdated,
    InfraEnvDeregistered,
    InfraEnvDeregisterFailed,
    InfraEnvRegistrationFailed,
)
from firstlight.core.infra_envs import registration
from firstlight.core.infra_envs.registration import Grounds, NewInfraEnv, Updated
from firstlight.core.infra_envs.wishes import InfraEnvWish
from firstlight.core.install.discovery import render_discovery
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import StoredInfraEnv
from firstlight.server.ports.subjects import cluster_subject, host_subject, infra_env_subject
from firstlight.server.ports.writes import DeleteInfraEnv, MakeDue, PutInfraEnv, PutSecret, Write
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import EVALUATE, TRIES, busy, events_of
from firstlight.server.usecases.discovery_files import KEPT_AS, inputs_of
from firstlight.server.usecases.image_access import image_key, is_stale, locator, new_image_key, put_image_key
from firstlight.server.usecases.object_names import live_logs_of, log_uploads_of
from firstlight.server.usecases.static_networks import parsed_networks, require_accepted, static_network
from firstlight.server.usecases.world import World


class Registration(Struct, frozen=True, kw_only=True):
    """What is settled when an infra-env is made and never changes."""

    name: str
    cluster_id: UUID | None = None
    cpu_architecture: str = ""


def grounds_of(world: World, *, key: bytes = b"") -> Grounds:
    """`key` signs image links where they are signed."""
    service = world.service
    return Grounds(
        policy=world.policy,
        catalogue=world.catalogue,
        public_registries=service.public_registries,
        image_service_url=service.image_service_url,
        locate=locator(world, key=key),
        parse_certificate=x509.load_der_x509_certificate,
        default_image_type=service.default_image_type,
        default_ntp_source=service.default_ntp_source,
    )


# --- making and changing


async def register(world: World, asked: Registration, wish: InfraEnvWish, *, caller: Caller) -> InfraEnv:
    infra_env_id = world.service.infra_env_id or world.new_id()
    try:
        return await _register(world, infra_env_id, asked, wish, caller=caller)
    except Error as refusal:
        event = InfraEnvRegistrationFailed(infra_env_id=infra_env_id, cluster_id=asked.cluster_id, error=str(refusal))
        await _tell(world, event, caller=caller)
        raise


async def _register(
    world: World, infra_env_id: UUID, asked: Registration, wish: InfraEnvWish, *, caller: Caller
) -> InfraEnv:
    new = NewInfraEnv(
        id=infra_env_id,
        name=asked.name,
        cluster=await _cluster(world, asked.cluster_id),
        cpu_architecture=asked.cpu_architecture,
        user_name=caller.name,
        org_id=caller.org_id,
        email_domain=caller.email_domain,
    )
    now, secret = world.clock.now(), wish.pull_secret or ""
    key = new_image_key(world)

    def decide() -> Updated:
        networks = parsed_networks(wish.static_network or ())
        return registration.register(new, wish, networks=networks, grounds=grounds_of(world, key=key), now=now)

    made = await asyncio.to_thread(decide)
    await _require_bootable(world, made.infra_env, wish, secret)
    subject = infra_env_subject(infra_env_id)
    try:
        await world.store.commit(
            PutInfraEnv(infra_env=made.infra_env, expect_revision=None),
            PutSecret(subject=subject, name=KEPT_AS, value=secret),
            put_image_key(infra_env_id, key),
            *_look_at_cluster(made.infra_env.cluster_id, now),
            *events_of(made.changes, caller=caller, now=now),
        )
    except LostRace:
        raise Conflict(f"There is an infra-env {infra_env_id} already.") from None
    world.wake()
    return made.infra_env


async def _cluster(world: World, cluster_id: UUID | None) -> Cluster | None:
    if cluster_id is None:
        return None
    cluster = await world.store.cluster(cluster_id)
    if cluster is None:
        raise NotFound(f"There is no cluster {cluster_id} that the infra-env could belong to.")
    return cluster


async def _require_bootable(world: World, infra_env: InfraEnv, wish: InfraEnvWish, pull_secret: str) -> None:
    """Refuse what no image could carry or no host could apply, before anybody boots it."""
    described = wish.static_network or infra_env.static_network
    await require_accepted(world, described, openshift_version=infra_env.openshift_version)
    network = await static_network(world, infra_env)
    inputs = inputs_of(world, infra_env, network=network, pull_secret=pull_secret)
    await asyncio.to_thread(render_discovery, inputs)


async def update(world: World, infra_env_id: UUID, wish: InfraEnvWish, *, caller: Caller) -> InfraEnv:
    """Hosts that booted before do not notice; what is asked of them from now on may change."""
    for _ in range(TRIES):
        stored = await _load(world, infra_env_id)
        now = world.clock.now()
        secret = wish.pull_secret or await world.store.secret(infra_env_subject(infra_env_id), KEPT_AS) or ""
        grounds = grounds_of(world, key=await image_key(world, infra_env_id))
        changed = await asyncio.to_thread(_decide_update, stored.infra_env, wish, grounds, now)
        if changed is None:
            return stored.infra_env
        await _require_bootable(world, changed.infra_env, wish, secret)
        try:
            await world.store.commit(
                PutInfraEnv(infra_env=changed.infra_env, expect_revision=stored.revision),
                *_new_secret(infra_env_id, wish.pull_secret),
                *await _look_at_hosts(world, changed.infra_env, now),
                *events_of(changed.changes, caller=caller, now=now),
            )
        except LostRace:
            continue
        world.wake()
        return changed.infra_env
    raise busy(f"Infra-env {infra_env_id}")


def _decide_update(infra_env: InfraEnv, wish: InfraEnvWish, grounds: Grounds, now: datetime) -> Updated | None:
    networks = parsed_networks(wish.static_network or ())
    return registration.update(infra_env, wish, networks=networks, grounds=grounds, now=now)


def _new_secret(infra_env_id: UUID, pull_secret: str | None) -> Iterator[Write]:
    if pull_secret:
        yield PutSecret(subject=infra_env_subject(infra_env_id), name=KEPT_AS, value=pull_secret)


def _look_at_cluster(cluster_id: UUID | None, now: datetime) -> Iterator[Write]:
    if cluster_id is not None:
        yield MakeDue(subject=cluster_subject(cluster_id), kind=EVALUATE, at=now)


async def _look_at_hosts(world: World, infra_env: InfraEnv, now: datetime) -> Sequence[Write]:
    """Time sources and proxies are part of what hosts are asked and judged by."""
    states = await world.store.hosts_of_infra_env(infra_env.id)
    subjects = {
        host_subject((state.host.infra_env_id, state.host.id))
        if state.host.cluster_id is None
        else cluster_subject(state.host.cluster_id)
        for state in states
    }
    if infra_env.cluster_id is not None:
        subjects.add(cluster_subject(infra_env.cluster_id))
    return [MakeDue(subject=subject, kind=EVALUATE, at=now) for subject in sorted(subjects)]


# --- looking


async def list_infra_envs(
    world: World, *, cluster_id: UUID | None = None, owner: str | None = None
) -> Sequence[InfraEnv]:
    return await world.store.infra_envs(cluster_id=cluster_id, owner=owner)


async def get(world: World, infra_env_id: UUID) -> InfraEnv:
    infra_env = (await _load(world, infra_env_id)).infra_env
    return await fresh_image_url(world, infra_env_id) if is_stale(world, infra_env) else infra_env


async def _load(world: World, infra_env_id: UUID) -> StoredInfraEnv:
    stored = await world.store.infra_env(infra_env_id)
    if stored is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    return stored


# --- images


async def fresh_image_url(world: World, infra_env_id: UUID) -> InfraEnv:
    """The infra-env with an image URL made now. It is the same image, so nothing else about it changes."""
    for _ in range(TRIES):
        stored = await _load(world, infra_env_id)
        key = await image_key(world, infra_env_id)
        located = locator(world, key=key, anew=True)(stored.infra_env)
        if located == stored.infra_env:
            return located
        try:
            await world.store.commit(PutInfraEnv(infra_env=located, expect_revision=stored.revision))
        except LostRace:
            continue
        return located
    raise busy(f"Infra-env {infra_env_id}")


async def new_signing_key(world: World, infra_env_id: UUID, *, caller: Caller) -> None:
    """Image tokens signed with the old key are void from now on."""
    infra_env = (await _load(world, infra_env_id)).infra_env
    event = ImageInfoUpdated(infra_env_id=infra_env_id, cluster_id=infra_env.cluster_id, details="a new signing key")
    await world.store.commit(
        put_image_key(infra_env_id, new_image_key(world)),
        *events_of((Change(event=event),), caller=caller, now=world.clock.now()),
    )
    if world.tokens is not None:
        await fresh_image_url(world, infra_env_id)


# --- leaving


async def deregister(world: World, infra_env_id: UUID, *, caller: Caller) -> None:
    infra_env = (await _load(world, infra_env_id)).infra_env
    hosts = await world.store.hosts_of_infra_env(infra_env_id)
    if hosts:
        refusal = Invalid(
            f"Infra-env {infra_env.name} still has {len(hosts)} hosts. Deregister its hosts before the infra-env."
        )
        event = InfraEnvDeregisterFailed(infra_env_id=infra_env_id, cluster_id=infra_env.cluster_id, error=str(refusal))
        await _tell(world, event, caller=caller)
        raise refusal
    now = world.clock.now()
    gone = Change(
        event=InfraEnvDeregistered(infra_env_id=infra_env_id, cluster_id=infra_env.cluster_id),
        before={"name": infra_env.name},
    )
    await world.store.commit(
        DeleteInfraEnv(infra_env_id=infra_env_id, at=now),
        *_look_at_cluster(infra_env.cluster_id, now),
        *events_of((gone,), caller=caller, now=now),
    )
    await world.blobs.delete_under(live_logs_of(infra_env_id))
    await world.blobs.delete_under(log_uploads_of(infra_env_id))


async def _tell(world: World, event: Event, *, caller: Caller) -> None:
    await world.store.commit(*events_of((Change(event=event),), caller=caller, now=world.clock.now()))
