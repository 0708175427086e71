"""registries.conf, the file in which an operator names mirrors, read into what install-config needs."""

import tomllib
from collections.abc import Iterator

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import Document, mapping, sequence
from firstlight.core.install.inputs import MirrorRegistries, RegistryMirror

TAG_ONLY, DIGEST_ONLY, ALL = "tag-only", "digest-only", "all"


def parse_registries_conf(text: str, *, ca_bundle: str = "") -> MirrorRegistries:
    """Read the file. Raises Invalid when it is no TOML or names no usable mirror."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Invalid(f"registries.conf is not valid TOML: {problem}.") from problem
    registries = [mapping(one) for one in sequence(mapping(document).get("registry"))]
    mirrors = MirrorRegistries(
        registries_conf=text,
        ca_bundle=ca_bundle,
        digest_mirrors=tuple(sources(registries, DIGEST_ONLY)),
        tag_mirrors=tuple(sources(registries, TAG_ONLY)),
        insecure=tuple(dict.fromkeys(insecure(registries))),
    )
    if not mirrors.digest_mirrors and not mirrors.tag_mirrors:
        raise Invalid(
            "registries.conf names no mirror. Add a [[registry]] with a location and at least one [[registry.mirror]]."
        )
    return mirrors


def sources(registries: list[Document], kind: str) -> Iterator[RegistryMirror]:
    """Registries with the mirrors they have for images named by tag, or by digest."""
    for registry in registries:
        location = str(registry.get("location", ""))
        fitting = [
            str(mirror["location"])
            for mirror in map(mapping, sequence(registry.get("mirror")))
            if mirror.get("location") and mirror.get("pull-from-mirror", DIGEST_ONLY) in (kind, ALL)
        ]
        if location and fitting:
            yield RegistryMirror(source=location, mirrors=tuple(dict.fromkeys(fitting)))


def insecure(registries: list[Document]) -> Iterator[str]:
    for registry in registries:
        for mirror in map(mapping, sequence(registry.get("mirror"))):
            if mirror.get("insecure") is True and mirror.get("location"):
                yield str(mirror["location"])
