"""A release image: its metadata, the images it consists of, and the programs that install it."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid, NotFound
from firstlight.core.versions.image_reference import ImageReference, parse_reference
from firstlight.server.release.images import Image
from firstlight.server.release.registry import Progress, Registries

REFERENCES: Final = "release-manifests/image-references"
METADATA: Final = "release-manifests/release-metadata"
DOCUMENT_LIMIT: Final = 16 * 2**20
PROGRAM_LIMIT: Final = 2 * 2**30
KEPT_RELEASES: Final = 16


class _From(Struct, frozen=True, kw_only=True):
    name: str = ""


class _Tag(Struct, frozen=True, kw_only=True):
    name: str
    from_: _From | None = msgspec.field(name="from", default=None)


class _Spec(Struct, frozen=True, kw_only=True):
    tags: tuple[_Tag, ...] = ()


class _Meta(Struct, frozen=True, kw_only=True):
    name: str = ""


class _ImageStream(Struct, frozen=True, kw_only=True):
    """The document in which a release lists its images."""

    spec: _Spec
    metadata: _Meta = _Meta()


class _Metadata(Struct, frozen=True, kw_only=True):
    version: str = ""


class Program(Struct, frozen=True, kw_only=True):
    """A program and the image of the release that carries it."""

    tag: str
    path: str


PROGRAMS: Final = {
    "openshift-install": Program(tag="installer", path="usr/bin/openshift-install"),
    "openshift-baremetal-install": Program(tag="baremetal-installer", path="usr/bin/openshift-install"),
    "oc": Program(tag="cli", path="usr/bin/oc"),
}


class ReleaseInfo(Struct, frozen=True, kw_only=True):
    """What a release image says about itself."""

    image: str
    """Its name by digest."""
    version: str
    images: dict[str, str]
    """Component → image name."""


class KnownReleases:
    """What was read of releases lately, each by a name its owner chooses."""

    def __init__(self, *, most: int = KEPT_RELEASES, seconds: float = math.inf) -> None:
        """`seconds` is how long something known counts."""
        self._most = most
        self._seconds = seconds
        self._known: dict[str, tuple[float, ReleaseInfo]] = {}
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def get(self, name: str, read: Callable[[], Awaitable[ReleaseInfo]]) -> ReleaseInfo:
        """Whoever asks for the same one meanwhile waits: a release may have hundreds of megabytes."""
        async with self._reading.setdefault(name, asyncio.Lock()):
            since, found = self._known.pop(name, (-math.inf, None))
            if found is None or time.monotonic() - since >= self._seconds:
                since, found = time.monotonic(), await read()
            self._known[name] = (since, found)
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
            return found


class Release:
    """One release image for one architecture; its layers lie in `folder` while it is read."""

    def __init__(
        self, registries: Registries, *, architecture: str, folder: Path, known: KnownReleases | None = None
    ) -> None:
        self._registries = registries
        self._architecture = architecture
        self._folder = folder
        self._known = known or KnownReleases()

    async def info(self, name: ImageReference) -> ReleaseInfo:
        """The registry is asked in any case: a tag may have moved, and not every pull secret opens every door.

        What an image with this digest says never changes.
        """
        image = await self._image(name)
        return await self._known.get(str(image.name), partial(self._read, name, image))

    async def _read(self, name: ImageReference, image: Image) -> ReleaseInfo:
        try:
            stream = msgspec.json.decode(await image.content(REFERENCES, most=DOCUMENT_LIMIT), type=_ImageStream)
        except NotFound as reason:
            raise Invalid(f"{name} is not a release image: it has no /{REFERENCES}.") from reason
        except msgspec.DecodeError as reason:
            raise Invalid(f"The list of images in {name} cannot be read: {reason}.") from reason
        images = {tag.name: tag.from_.name for tag in stream.spec.tags if tag.from_ is not None and tag.from_.name}
        return ReleaseInfo(
            image=str(image.name), version=await self._version(image) or stream.metadata.name, images=images
        )

    async def program(self, release: ReleaseInfo, program: str, *, to: Path, progress: Progress | None = None) -> None:
        """Write a program of the release to `to`, executable."""
        wanted = PROGRAMS[program]
        source = release.images.get(wanted.tag)
        if source is None:
            raise NotFound(f"The release {release.version} has no image '{wanted.tag}', which carries {program}.")
        image = await self._image(parse_reference(source))
        await image.file(wanted.path, to=to, most=PROGRAM_LIMIT, progress=progress)
        await asyncio.to_thread(to.chmod, 0o755)

    async def _image(self, name: ImageReference) -> Image:
        exact, manifest = await self._registries.image(name, architecture=self._architecture)
        return Image(self._registries, exact, manifest, folder=self._folder)

    async def _version(self, image: Image) -> str:
        try:
            return msgspec.json.decode(await image.content(METADATA, most=DOCUMENT_LIMIT), type=_Metadata).version
        except (NotFound, msgspec.DecodeError):
            return ""
