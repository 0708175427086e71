"""Whoever writes the files of an installation: the installer that comes with the release."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from firstlight.core.install.inputs import MirrorRegistries


class ManifestFile(Struct, frozen=True, kw_only=True):
    folder: str
    name: str
    content: bytes


class InstallerOrder(Struct, frozen=True, kw_only=True):
    """What is to be installed."""

    release_image: str
    version: str
    architecture: str
    install_config: str
    pull_secret: str
    single_node: bool = False
    bootstrap_address: str = ""
    """The bootstrap host's address in the machine network; the installer cannot know it."""
    mirrors: MirrorRegistries | None = None


class InstallerRun(Protocol):
    """One run in a directory of its own, gone afterwards."""

    async def images(self) -> Mapping[str, str]:
        """The images of the release by component. Raises a domain error when it cannot be had."""
        ...

    async def manifests(self) -> Sequence[ManifestFile]:
        """Everything the installer would start the cluster with."""
        ...

    async def configs(self, manifests: Sequence[ManifestFile], *, wanted: Sequence[str]) -> Mapping[str, bytes]:
        """The `wanted` files by their paths, made from these manifests instead. Raises Invalid with its own words."""
        ...


class Installer(Protocol):
    def run(self, order: InstallerOrder) -> AbstractAsyncContextManager[InstallerRun]:
        """Get the release's installer and a directory. Raises a domain error when the release cannot be had."""
        ...
