"""The base images as the settings page shows them: which are here, how far downloads are, and getting more."""

import asyncio
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import NotFound, Unavailable
from firstlight.server.ports.base_images import BaseImage
from firstlight.server.usecases.world import World

LONGEST_WAIT: Final = 30
LOOK_SECONDS: Final = 1.0
"""Between two looks of a waiting reader: downloads are no events of ours."""


class BaseImageList(Struct, frozen=True, kw_only=True):
    images: tuple[BaseImage, ...] = ()
    bytes_on_disk: int = 0
    trouble: str = ""
    """Why the images are not known."""
    state: str = ""
    """Differs when anything of this differs; whoever sends it waits for something new."""


async def follow(world: World, *, known: str, seconds: float) -> BaseImageList:
    """The list; while it is still the `known` one, a change of it is waited for."""
    found = await _listed(world)
    end = asyncio.get_running_loop().time() + seconds
    while found.state == known and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(LOOK_SECONDS)
        found = await _listed(world)
    return found


async def fetch(world: World, *, version: str, architecture: str) -> None:
    """`version` is a build. Unavailable with the reason when it cannot be had."""
    if world.base_images is None:
        raise Unavailable(NO_SERVICE)
    wanted = (version, architecture)
    if not any(wanted == _name(image) for image in await world.base_images.listing()):
        raise NotFound(f"No base image of version {version} for {architecture} is configured.")
    await world.base_images.fetch(version, architecture)
    for image in await world.base_images.listing():
        if _name(image) == wanted and image.state == "failed":
            raise Unavailable(image.reason)


def _name(image: BaseImage) -> tuple[str, str]:
    return image.version, image.cpu_architecture


async def _listed(world: World) -> BaseImageList:
    if world.base_images is None:
        return _with_state(BaseImageList(trouble=NO_SERVICE))
    try:
        images = await world.base_images.listing()
    except Unavailable as reason:
        return _with_state(BaseImageList(trouble=str(reason)))
    return _with_state(BaseImageList(images=images, bytes_on_disk=sum(image.bytes_on_disk for image in images)))


def _with_state(found: BaseImageList) -> BaseImageList:
    return msgspec.structs.replace(found, state=blake2b(msgspec.json.encode(found), digest_size=8).hexdigest())


NO_SERVICE: Final = (
    "No image service belongs to this service. Let it start its own (FIRSTLIGHT_ENABLE_IMAGE_SERVICE), or name another"
    " (FIRSTLIGHT_IMAGE_SERVICE_BASE_URL)."
)
