"""The base images: which are configured, which are here, and how to get the others. One bad image harms no other."""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import structlog
from msgspec import Struct

from firstlight.core.errors import Error, Invalid, NotFound, Unavailable
from firstlight.core.images.live_iso import LiveIso, read_live_iso
from firstlight.core.images.virtual import FileSlice, ReadAt
from firstlight.core.versions.architectures import CpuArchitecture, normalise
from firstlight.core.versions.catalogue import Catalogue
from firstlight.core.versions.releases import FULL_ISO, OsImage
from firstlight.server.imaging.downloads import Progress, Source, download, note_of, part_of
from firstlight.server.imaging.files import OpenFile

log = structlog.get_logger(__name__)

CHUNK: Final = 1024 * 1024
PATIENCE: Final = 1.0
"""Seconds that a request waits for an image that is not here yet."""
RETRY_AFTER: Final = 30.0
"""Seconds after which an image that could not be had is tried again."""
LOOK_AGAIN: Final = 2.0
"""Seconds after which an open image is compared with the file of its name."""


class State(StrEnum):
    MISSING = "missing"
    """Not here, and nobody has asked for it."""
    PARTIAL = "partial"
    """A download broke off; the next one goes on where it was."""
    DOWNLOADING = "downloading"
    READY = "ready"
    FAILED = "failed"


class Listed(Struct, frozen=True, kw_only=True):
    """One line of the list of base images."""

    openshift_version: str
    version: str
    cpu_architecture: str
    type: str
    state: State
    reason: str = ""
    bytes_on_disk: int = 0
    percent: int | None = None
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """An open image. It can be read as long as somebody holds it, even when its file is replaced."""

    image: OsImage
    name: str
    """What it is called in file slices."""
    path: Path
    file: OpenFile
    iso: LiveIso
    identity: str
    """The same for the same bytes, wherever they lie."""
    modified: datetime
    stamp: tuple[int, int, int]

    @property
    def read(self) -> ReadAt:
        return self.file.read_at

    def piece(self, offset: int, length: int) -> FileSlice:
        return FileSlice(self.name, offset, length)


@dataclass(slots=True)
class _Entry:
    image: OsImage
    base: Base | None = None
    looked_at: float = 0.0
    task: asyncio.Task[Base] | None = None
    progress: Progress = field(default_factory=Progress)
    failure: str = ""
    failed_at: float = 0.0


class Library:
    def __init__(
        self,
        catalogue: Catalogue,
        *,
        folder: Path,
        seed_folder: Path | None = None,
        parallel: int = 2,
        source: Source | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`source` holds what all downloads have in common."""
        self._catalogue = catalogue
        self._entries = {_key(image): _Entry(image) for image in catalogue.os_images}
        self._folder = folder
        self._seed_folder = seed_folder
        self._places = asyncio.Semaphore(parallel)
        self._common = source or Source(url="")
        self._clock = clock

    def find(self, version: str, architecture: str, *, kind: str = FULL_ISO) -> OsImage:
        """By the build of the system or by the OpenShift version. NotFound when it is not configured."""
        try:
            wanted = normalise(architecture or CpuArchitecture.X86_64)
        except Invalid as error:
            raise NotFound(str(error)) from None
        images = [one for one in self._catalogue.os_images if one.cpu_architecture == wanted and one.type == kind]
        found = [one for one in images if one.version == version]
        found = found or [one for one in images if one.openshift_version == version]
        if found:
            return max(found, key=lambda one: one.number)
        known = ", ".join(sorted({one.openshift_version for one in images})) or "none"
        raise NotFound(f"There is no {kind} of version '{version[:60]}' for {wanted}. Configured versions: {known}.")

    def ready(self, image: OsImage) -> Base | None:
        """The image, when it is open and its file is still the same."""
        entry = self._entries[_key(image)]
        now = self._clock()
        if entry.base is not None and now - entry.looked_at >= LOOK_AGAIN:
            entry.looked_at = now
            if _stamp(entry.base.path) != entry.base.stamp:
                log.warning("a base image was replaced and is opened again", image=entry.base.path.name)
                entry.base = None
        return entry.base

    async def open(self, image: OsImage, *, patience: float = PATIENCE) -> Base:
        """The image; Unavailable, with a sentence that tells how far it is, when it is not here yet."""
        base = self.ready(image)
        if base is not None:
            return base
        entry = self._entries[_key(image)]
        if entry.task is None:
            recently = entry.failure and self._clock() - entry.failed_at < RETRY_AFTER
            if recently and self._local(image) is None:
                raise _cannot_be_had(image, entry.failure)
            entry.task = asyncio.create_task(self._bring(entry))
        done, _ = await asyncio.wait({entry.task}, timeout=patience)
        if done:
            return done.pop().result()
        percent = entry.progress.percent
        shown = f" {percent} % are here." if percent is not None else ""
        raise Unavailable(f"The base image {_shown(image)} is being downloaded.{shown} Ask again in a while.")

    async def prefetch(self) -> None:
        """Get every configured image, a few at a time."""
        wanted = (self.open(entry.image, patience=float("inf")) for entry in self._entries.values())
        for failure in await asyncio.gather(*wanted, return_exceptions=True):
            if isinstance(failure, BaseException) and not isinstance(failure, Error):
                log.error("a base image could not be fetched", reason=repr(failure))

    async def close(self) -> None:
        tasks = [entry.task for entry in self._entries.values() if entry.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def configured(self, listed: Listed) -> OsImage:
        """The entry of the catalogue behind a line of the list."""
        return self._entries[(listed.version, listed.cpu_architecture, listed.type)].image

    def unfinished(self) -> list[Path]:
        """Files of downloads that broke off or are under way."""
        parts = (part_of(self._folder / file_name(entry.image)) for entry in self._entries.values())
        return [path for part in parts for path in (part, note_of(part)) if path.exists()]

    def listing(self) -> list[Listed]:
        return [self._listed(entry) for entry in self._entries.values()]

    def _listed(self, entry: _Entry) -> Listed:
        path = self._local(entry.image)
        size = _stamp(path)[1] if path is not None else 0
        state = State.READY if path is not None else State.MISSING
        if entry.failure:
            state = State.FAILED
        elif path is None and entry.task is not None:
            state, size = State.DOWNLOADING, entry.progress.done
        elif path is None and (begun := _stamp(part_of(self._folder / file_name(entry.image)))[1]):
            state, size = State.PARTIAL, begun
        return Listed(
            openshift_version=entry.image.openshift_version,
            version=entry.image.version,
            cpu_architecture=entry.image.cpu_architecture,
            type=entry.image.type,
            state=state,
            reason=entry.failure,
            bytes_on_disk=size,
            percent=entry.progress.percent if state is State.DOWNLOADING else None,
            path=str(path or ""),
        )

    async def _bring(self, entry: _Entry) -> Base:
        image = entry.image
        try:
            path = self._local(image)
            if path is None:
                path = await self._fetched(entry)
            own = path.parent == self._folder
            base = await asyncio.to_thread(open_base, image, path, verify=bool(image.sha256) and not own)
        except Error as error:
            entry.failure, entry.failed_at = str(error), self._clock()
            log.error("a base image cannot be used", image=_shown(image), reason=str(error))
            raise _cannot_be_had(image, str(error)) from None
        finally:
            entry.task = None
        entry.base, entry.looked_at, entry.failure = base, self._clock(), ""
        log.info("a base image is ready", image=_shown(image), bytes=base.iso.size)
        return base

    async def _fetched(self, entry: _Entry) -> Path:
        image = entry.image
        if urlsplit(image.url).scheme not in ("http", "https"):
            raise Unavailable(f"There is no file at {_without_secrets(image.url)}.")
        target = self._folder / file_name(image)
        common = self._common
        source = Source(
            url=image.url,
            sha256=image.sha256,
            headers=common.headers,
            query=common.query,
            ca_file=common.ca_file,
            insecure=common.insecure,
        )
        async with self._places:
            entry.progress = Progress()
            log.info("a base image is being downloaded", image=_shown(image), url=_without_secrets(image.url))
            await download(source, target, check=lambda part: open_base(image, part), progress=entry.progress)
        return target

    def _local(self, image: OsImage) -> Path | None:
        return next((path for path in self._candidates(image) if path.is_file()), None)

    def _candidates(self, image: OsImage) -> Iterable[Path]:
        parts = urlsplit(image.url)
        if parts.scheme == "file":
            yield Path(unquote(parts.path))
        elif not parts.scheme and image.url.startswith("/"):
            yield Path(image.url)
        if self._seed_folder is not None:
            yield self._seed_folder / file_name(image)
            last = unquote(parts.path).rpartition("/")[2]
            if last not in ("", ".", ".."):
                yield self._seed_folder / last
        yield self._folder / file_name(image)


def file_name(image: OsImage) -> str:
    """The name the original gives it, so that folders can be taken over."""
    return f"rhcos-{image.type}-{quote(image.version, safe='')}-{image.cpu_architecture}.iso"


def open_base(image: OsImage, path: Path, *, verify: bool = False) -> Base:
    """Open and understand an image; `verify` compares its checksum. Blocks. Invalid when it is no live image."""
    try:
        file = OpenFile(path)
    except OSError as error:
        raise Unavailable(f"Its file cannot be opened: {error.strerror or error}.") from None
    state = file.status()
    if verify and (found := _checksum(file)) != image.sha256:
        raise Invalid(f"Its checksum is {found}, but {image.sha256} was expected.")
    iso = read_live_iso(file.read_at, size=state.st_size)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    stamp = (state.st_ino, state.st_size, state.st_mtime_ns)
    return Base(
        image=image,
        name=f"{path}#{stamp}",
        path=path,
        file=file,
        iso=iso,
        identity=hashlib.sha256(b"%d " % iso.size + file.read_at(0, 65_536)).hexdigest(),
        modified=datetime.fromtimestamp(state.st_mtime, UTC),
        stamp=stamp,
    )


def _checksum(file: OpenFile) -> str:
    digest, at = hashlib.sha256(), 0
    while chunk := file.read_at(at, CHUNK):
        digest.update(chunk)
        at += len(chunk)
    return digest.hexdigest()


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        state = path.stat()
    except OSError:
        return (0, 0, 0)
    return state.st_ino, state.st_size, state.st_mtime_ns


def _key(image: OsImage) -> tuple[str, str, str]:
    return image.version, image.cpu_architecture, image.type


def _shown(image: OsImage) -> str:
    return f"{image.version} ({image.openshift_version}, {image.cpu_architecture})"


def _cannot_be_had(image: OsImage, reason: str) -> Unavailable:
    return Unavailable(f"The base image {_shown(image)} cannot be had. {reason}")


def _without_secrets(url: str) -> str:
    """Scheme, host and path: what comes before and after may be a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
