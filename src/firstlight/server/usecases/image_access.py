"""What discovery images need where callers have to prove who they are: links that end, and tokens inside.

An agent's token is made from the moment its infra-env was last changed, so an image has the same bytes each time it is
made. Half-way through a token's life the infra-env counts as changed: images from then on carry a new one.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.decision import Change
from firstlight.core.events.infra_env import ImageInfoUpdated
from firstlight.core.infra_envs.urls import image_file, image_url
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.auth.tokens import IMAGE_KEY
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import StoredInfraEnv
from firstlight.server.ports.subjects import infra_env_subject
from firstlight.server.ports.writes import PutInfraEnv, PutSecret
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.deciding import events_of
from firstlight.server.usecases.world import World

KEY_BYTES: Final = 32


def new_image_key(world: World) -> bytes:
    return world.random_bytes(KEY_BYTES)


def put_image_key(infra_env_id: UUID, key: bytes) -> PutSecret:
    return PutSecret(subject=infra_env_subject(infra_env_id), name=IMAGE_KEY, value=key.hex())


async def image_key(world: World, infra_env_id: UUID) -> bytes:
    """The key that signs the image links of an infra-env; empty where links are not signed."""
    if world.tokens is None:
        return b""
    return bytes.fromhex(await world.store.secret(infra_env_subject(infra_env_id), IMAGE_KEY) or "")


def locator(world: World, *, key: bytes, anew: bool = False) -> Callable[[InfraEnv], InfraEnv]:
    """Gives infra-envs their image URL. One that still holds for a while is kept, unless it is to be made `anew`."""
    base, now = world.service.image_service_url, world.clock.now()

    def locate(infra_env: InfraEnv) -> InfraEnv:
        if world.tokens is None:
            return replace(infra_env, download_url=image_url(infra_env, base=base), expires_at=None)
        if not anew and not _is_stale(world, infra_env, now):
            return infra_env
        token, expires_at = world.tokens.image(infra_env.id, key=key, now=now)
        return replace(infra_env, download_url=image_url(infra_env, base=base, token=token), expires_at=expires_at)

    return locate


def is_stale(world: World, infra_env: InfraEnv) -> bool:
    """Does the stored image URL lead nowhere, or not for long?"""
    return _is_stale(world, infra_env, world.clock.now())


def _is_stale(world: World, infra_env: InfraEnv, now: datetime) -> bool:
    if world.tokens is None:
        return infra_env.expires_at is not None
    if infra_env.expires_at is None or infra_env.expires_at - now < world.tokens.lifetimes.image / 2:
        return True
    return not infra_env.download_url.endswith(image_file(infra_env))


def agent_token(world: World, infra_env: InfraEnv) -> str:
    """What the agents in images of this infra-env prove themselves with."""
    if world.tokens is None or world.tokens.keys.private is None:
        return ""
    return world.tokens.agent(infra_env.id, issued_at=infra_env.updated_at)


async def renewed(world: World, stored: StoredInfraEnv) -> InfraEnv:
    """The infra-env as images are made from it now; changed when its token has lived for half of its time."""
    now, infra_env = world.clock.now(), stored.infra_env
    if world.tokens is None or not world.tokens.is_due(infra_env.updated_at, now):
        return infra_env
    later = replace(infra_env, updated_at=now)
    event = ImageInfoUpdated(infra_env_id=later.id, cluster_id=later.cluster_id, details="a new token for agents")
    try:
        await world.store.commit(
            PutInfraEnv(infra_env=later, expect_revision=stored.revision),
            *events_of((Change(event=event),), caller=SERVICE, now=now),
        )
    except LostRace:
        return infra_env  # whoever was faster changed it, too; this image is the last one with the old token
    return later
