"""What is in the folders of base images, and getting more: without a running service."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Error, NotFound
from firstlight.core.versions.architectures import normalise
from firstlight.core.versions.configured import configured_catalogue
from firstlight.core.versions.releases import OsImage
from firstlight.server.imaging.base_images import Library, Listed, State, open_base
from firstlight.server.imaging.downloads import Source
from firstlight.server.imaging.options import Options

LOOK_SECONDS: Final = 0.2


class OtherFile(Struct, frozen=True, kw_only=True):
    """A file in the folder that is no configured base image: taken out of one, or left from before."""

    path: str
    bytes: int


class Stock(Struct, frozen=True, kw_only=True):
    folder: str
    seed_folder: str
    images: tuple[Listed, ...]
    other_files: tuple[OtherFile, ...]
    total_bytes: int
    """What all of these files occupy."""
    free_bytes: int | None
    """On the disk of the folder."""


def library_of(options: Options) -> Library:
    return Library(
        configured_catalogue(os_images=options.os_images),
        folder=Path(options.folder),
        seed_folder=Path(options.seed_folder) if options.seed_folder else None,
        parallel=options.parallel_downloads,
        source=Source(
            url="",
            headers=options.request_headers,
            query=options.request_query,
            ca_file=options.download_ca_file,
            insecure=options.download_insecure,
        ),
    )


def take_stock(options: Options, *, verify: bool = False) -> Stock:
    """Look at every image that is here; `verify` also compares checksums, which takes as long as reading them."""
    library, folder = library_of(options), Path(options.folder)
    images = tuple(_looked_at(library, listed, verify=verify) for listed in library.listing())
    known = {one.path for one in images if one.path} | {str(path) for path in library.unfinished()}
    others = tuple(
        OtherFile(path=str(path), bytes=path.stat().st_size)
        for path in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if path.is_file() and str(path) not in known
    )
    occupied = {one.path or f"{one.version} {one.cpu_architecture} {one.type}": one.bytes_on_disk for one in images}
    return Stock(
        folder=str(folder),
        seed_folder=options.seed_folder,
        images=images,
        other_files=others,
        total_bytes=sum(occupied.values()) + sum(one.bytes for one in others),
        free_bytes=_free(folder),
    )


def _looked_at(library: Library, listed: Listed, *, verify: bool) -> Listed:
    if not listed.path:
        return listed
    image = library.configured(listed)
    try:
        open_base(image, Path(listed.path), verify=verify and bool(image.sha256))
    except Error as error:
        return replace(listed, state=State.FAILED, reason=str(error))
    return listed


def _free(folder: Path) -> int | None:
    existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
    if existing is None:
        return None
    with contextlib.suppress(OSError):
        state = os.statvfs(existing)
        return state.f_bavail * state.f_frsize
    return None


# --- getting more


def chosen(options: Options, *, versions: Sequence[str], architectures: Sequence[str]) -> tuple[OsImage, ...]:
    """Configured images by OpenShift version or build; no versions or architectures mean all of them.

    NotFound names what is not configured.
    """
    images = configured_catalogue(os_images=options.os_images).os_images
    wanted = [str(normalise(name)) for name in architectures]
    for kind, asked, known in (
        ("version", versions, {name for one in images for name in (one.openshift_version, one.version)}),
        ("architecture", wanted, {one.cpu_architecture for one in images}),
    ):
        for name in asked:
            if name not in known:
                raise NotFound(
                    f"No base image of {kind} {name[:60]} is configured. There are {', '.join(sorted(known))}."
                )
    found = tuple(
        one
        for one in images
        if (not versions or one.openshift_version in versions or one.version in versions)
        and (not wanted or one.cpu_architecture in wanted)
    )
    if not found:
        raise NotFound("No configured base image has this version and this architecture.")
    return found


async def fetch(
    options: Options, wanted: Sequence[OsImage], *, tell: Callable[[Sequence[Listed]], None]
) -> tuple[Listed, ...]:
    """Get the images that are not here, a few at a time; one that cannot be had does not keep the others.

    `tell` hears how far all of them are, several times a second and once at the end.
    """
    library = library_of(options)
    names = {(one.version, one.cpu_architecture, one.type) for one in wanted}

    def state() -> tuple[Listed, ...]:
        return tuple(one for one in library.listing() if (one.version, one.cpu_architecture, one.type) in names)

    everything = asyncio.gather(
        *(library.open(image, patience=float("inf")) for image in wanted), return_exceptions=True
    )
    try:
        while not everything.done():
            tell(state())
            await asyncio.wait({everything}, timeout=LOOK_SECONDS)
        for failure in everything.result():
            if isinstance(failure, BaseException) and not isinstance(failure, Error):
                raise failure
    finally:
        await library.close()
    tell(state())
    return state()
