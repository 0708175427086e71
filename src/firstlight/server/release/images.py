"""Files out of images: layers are fetched newest first, and only as many as it takes."""

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from firstlight.core.errors import Invalid, NotFound
from firstlight.core.versions.image_reference import ImageReference
from firstlight.server.release.layers import take
from firstlight.server.release.manifests import Manifest
from firstlight.server.release.registry import Progress, Registries

LINK_LIMIT: Final = 16
"""Links are followed this far; more means a circle."""
UNREADABLE_LAYERS: Final = "+zstd"
"""Layers packed in a way that the standard library of this Python cannot unpack."""


class Image:
    """One image of one architecture, with the layers fetched so far in a folder of its owner."""

    def __init__(self, registries: Registries, name: ImageReference, manifest: Manifest, *, folder: Path) -> None:
        self.name = name
        self._registries = registries
        self._manifest = manifest
        self._folder = folder

    async def file(self, path: str, *, to: Path, most: int, progress: Progress | None = None) -> None:
        """Write one file of the image to `to`. Raises NotFound if the image has none there."""
        for _ in range(LINK_LIMIT):
            link = await self._search(path, to=to, most=most, progress=progress)
            if not link:
                return
            path = link
        raise Invalid(f"The link {path} of {self.name} leads in a circle.")

    async def content(self, path: str, *, most: int) -> bytes:
        """A small file's bytes."""
        with tempfile.NamedTemporaryFile(dir=self._folder) as file:
            await self.file(path, to=Path(file.name), most=most)
            return await asyncio.to_thread(Path(file.name).read_bytes)

    async def _search(self, path: str, *, to: Path, most: int, progress: Progress | None) -> str:
        """The path that a link leads to, or nothing when the file was written."""
        for layer in reversed(self._manifest.layers):
            if layer.media_type.endswith(UNREADABLE_LAYERS):
                raise Invalid(f"A layer of {self.name} is packed with zstd, which this service cannot read.")
            place = self._folder / layer.digest.replace(":", "-")
            await self._registries.blob(self.name, layer, into=place, progress=progress)
            found = await asyncio.to_thread(take, path, place, to=to, most=most)
            if found is not None and not found.hidden:
                return found.link
            if found is not None:
                break
        raise NotFound(f"There is no /{path.lstrip('/')} in the image {self.name}.")
