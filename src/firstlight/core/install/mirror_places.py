"""Where an image may be pulled from: its mirrors in the operator's order, then its own registry."""

from collections.abc import Iterator

from msgspec.structs import replace

from firstlight.core.install.inputs import MirrorRegistries, RegistryMirror
from firstlight.core.versions.image_reference import ImageReference


def places_of(image: ImageReference, mirrors: MirrorRegistries | None) -> tuple[ImageReference, ...]:
    """Mirrors for digests serve images named by digest only, and those for tags the others."""
    if mirrors is None:
        return (image,)
    fitting = mirrors.digest_mirrors if image.digest else mirrors.tag_mirrors
    return (*dict.fromkeys(_mirrored(image, fitting)), image)


def _mirrored(image: ImageReference, sources: tuple[RegistryMirror, ...]) -> Iterator[ImageReference]:
    # The longest source that fits wins, as in the container tools.
    for source in sorted(sources, key=lambda one: len(one.source), reverse=True):
        if not _covers(source.source, image.path):
            continue
        for mirror in source.mirrors:
            registry, _, repository = (mirror + image.path[len(source.source) :]).partition("/")
            yield replace(image, registry=registry, repository=repository)
        return


def _covers(source: str, path: str) -> bool:
    return path == source or path.startswith(source + "/")
