"""The installer of a release: found in its images, kept, and run for one cluster at a time and directory."""

import asyncio
import hashlib
import platform
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from firstlight.core.validate.pull_secret import parse_pull_secret
from firstlight.core.versions.image_reference import parse_reference
from firstlight.core.versions.numbers import Version, parse
from firstlight.server.ports.installer import InstallerOrder, InstallerRun
from firstlight.server.release.connecting import open_registries
from firstlight.server.release.openshift_install import Directory, Way
from firstlight.server.release.payload import KnownReleases, Release, ReleaseInfo
from firstlight.server.release.tool_cache import ToolCache
from firstlight.server.release.work_folders import sweep, work_folder

log = structlog.get_logger(__name__)

STATIC_SINCE: Final = Version(major=4, minor=16)
"""From here on the common installer knows bare metal too, and needs no libraries."""
WORK: Final = "install-"
ANSWER_SECONDS: Final = 60
"""How long a registry is believed before it is asked for the same release again."""


Look = Callable[[], Awaitable[Mapping[str, str]]]
"""Tells the images of a release by component."""


class InstallerSettings(Struct, frozen=True, kw_only=True):
    folder: Path
    """For programs and work directories."""
    program: Path | None = None
    """An installer to use for every release, instead of each one's own."""
    capacity: int = 0
    """Bytes of programs to keep; 0 means all."""
    parallel: int = 2
    """Runs at the same time; the others wait."""
    niceness: int = 10
    plain_registries: frozenset[str] = frozenset()
    """Registries that speak HTTP without TLS."""
    invoker: str = "assisted-installer"


class ReleaseInstallers:
    """Implements the port `Installer`."""

    def __init__(self, settings: InstallerSettings) -> None:
        self._settings = settings
        self._tools = ToolCache(settings.folder / "tools", capacity=settings.capacity)
        self._slots = asyncio.Semaphore(settings.parallel)
        self._threads = ThreadPoolExecutor(settings.parallel, thread_name_prefix="installer")
        self._releases = KnownReleases()
        self._answers = KnownReleases(seconds=ANSWER_SECONDS)
        self._work = settings.folder / "work"
        sweep(self._work, prefix=WORK)

    @asynccontextmanager
    async def run(self, order: InstallerOrder) -> AsyncGenerator[InstallerRun]:
        async with AsyncExitStack() as stack:
            program, look = self._settings.program, partial(self._images, order)
            if program is None:
                program, look = await stack.enter_async_context(self._program(order))
            # Not before: whoever downloads a release for minutes keeps nobody from using another one.
            await stack.enter_async_context(self._slots)
            folder = await stack.enter_async_context(work_folder(self._work, prefix=WORK))
            way = Way(
                program=program,
                folder=folder,
                invoker=self._settings.invoker,
                niceness=self._settings.niceness,
                threads=self._threads,
            )
            yield Directory(order, way, look=look)

    async def _images(self, order: InstallerOrder) -> Mapping[str, str]:
        """What hosts are told of a release whose installer is not needed; without it no bootstrap could begin."""
        return (await self._info(order)).images

    @asynccontextmanager
    async def _program(self, order: InstallerOrder) -> AsyncGenerator[tuple[Path, Look]]:
        name = installer_name(order.version, fips=await asyncio.to_thread(in_fips_mode))
        info = await self._info(order)

        async def extracted(path: Path) -> None:
            log.info("extracting the installer of a release", release=info.image, program=name)
            async with self._release(order) as release:
                await release.program(info, name, to=path)

        digest = info.image.rpartition(":")[2]
        async with self._tools.using(f"{digest}-{name}", name, make=extracted) as program:
            yield program, partial(_known, info)

    async def _info(self, order: InstallerOrder) -> ReleaseInfo:
        """Many clusters are often installed at once, and whoever brings the same secrets gets the same answer."""

        async def asked() -> ReleaseInfo:
            async with self._release(order) as release:
                return await release.info(parse_reference(order.release_image))

        facts = msgspec.json.encode((order.release_image, order.pull_secret, order.mirrors))
        return await self._answers.get(hashlib.sha256(facts).hexdigest(), asked)

    @asynccontextmanager
    async def _release(self, order: InstallerOrder) -> AsyncGenerator[Release]:
        secret = parse_pull_secret(order.pull_secret)
        bundle = order.mirrors.ca_bundle if order.mirrors else ""
        plain = self._settings.plain_registries
        async with (
            open_registries(secret, mirrors=order.mirrors, bundle=bundle, plain=plain) as registries,
            work_folder(self._work, prefix=WORK) as layers,
        ):
            yield Release(registries, architecture=platform.machine(), folder=layers, known=self._releases)


async def _known(info: ReleaseInfo) -> Mapping[str, str]:
    return info.images


def installer_name(version: str, *, fips: bool = False) -> str:
    """`fips`: this machine runs in FIPS mode, for which only the installer with the system's cryptography will do."""
    is_static = parse(version).to_minor() >= STATIC_SINCE and not fips
    return "openshift-install" if is_static else "openshift-baremetal-install"


def in_fips_mode() -> bool:
    try:
        return Path("/proc/sys/crypto/fips_enabled").read_text().strip() == "1"
    except OSError:
        return False
