"""Whoever keeps the base images that discovery images are made from."""

from typing import Literal, Protocol

from msgspec import Struct


class BaseImage(Struct, frozen=True, kw_only=True):
    openshift_version: str
    version: str
    """The build of the system."""
    cpu_architecture: str
    type: str
    state: Literal["missing", "partial", "downloading", "ready", "failed"]
    reason: str = ""
    """Why it cannot be used."""
    bytes_on_disk: int = 0
    percent: int | None = None
    """How much of it is here, while it is being downloaded and its size is known."""


class BaseImages(Protocol):
    async def listing(self) -> tuple[BaseImage, ...]:
        """Every configured image. Unavailable when nobody can be asked."""
        ...

    async def fetch(self, version: str, architecture: str) -> None:
        """Have an image downloaded unless it is here; does not wait for it."""
        ...
