"""Image manifests and indexes, Docker's and OCI's alike, as far as a reader of images needs them."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from firstlight.core.errors import Invalid, NotFound

INDEX_TYPES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFEST_TYPES: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
ACCEPT: Final = ", ".join((*MANIFEST_TYPES, *INDEX_TYPES))
"""All four: without the OCI types some registries claim that there is no such image."""
LARGEST_BLOB: Final = 8 * 2**30
"""Layers of releases have a tenth of it; whoever promises more wants our disk."""
Digest = Annotated[str, Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]
"""Checked where it is read: it becomes a file's name and part of an address."""


class Platform(Struct, frozen=True, kw_only=True):
    architecture: str = ""
    os: str = ""


class Descriptor(Struct, frozen=True, kw_only=True, rename="camel"):
    """A blob or manifest by digest."""

    digest: Digest
    size: Annotated[int, Meta(ge=0, le=LARGEST_BLOB)]
    media_type: str = ""
    platform: Platform | None = None


class Manifest(Struct, frozen=True, kw_only=True):
    """One image for one architecture; layers from the bottom up."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


class Index(Struct, frozen=True, kw_only=True):
    """One image for several architectures."""

    manifests: tuple[Descriptor, ...]

    def for_architecture(self, architecture: str) -> Descriptor:
        """The image for one architecture in the registries' words (amd64, arm64, ppc64le, s390x)."""
        fitting = [
            one
            for one in self.manifests
            if one.platform is not None
            and (one.platform.os or "linux", one.platform.architecture) == ("linux", architecture)
        ]
        if not fitting:
            known = ", ".join(sorted({one.platform.architecture for one in self.manifests if one.platform}))
            raise NotFound(f"The image has no variant for {architecture}; it has {known or 'none that says its own'}.")
        return fitting[0]


class _Kind(Struct, frozen=True, kw_only=True, rename="camel"):
    media_type: str = ""
    manifests: tuple[Descriptor, ...] | None = None


def parse_manifest(body: bytes, *, media_type: str = "") -> Manifest | Index:
    """Read what a registry answered; the document's own word about its kind beats the header's."""
    try:
        kind = msgspec.json.decode(body, type=_Kind)
        if kind.manifests is not None and (kind.media_type or media_type) not in MANIFEST_TYPES:
            return Index(manifests=kind.manifests)
        return msgspec.json.decode(body, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise Invalid(f"The registry's image manifest cannot be read: {problem}.") from problem
