"""The catalogue as an administrator configures it: JSON texts, each with the built-in list behind it."""

from typing import Final, TypeVar

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.versions.catalogue import Catalogue, build_catalogue
from firstlight.core.versions.defaults import default_os_images, default_releases
from firstlight.core.versions.releases import OsImage, ReleaseImage, ReleaseSource

_Wanted = TypeVar("_Wanted")

_EXAMPLES: Final = {
    "RELEASE_IMAGES": '[{"openshift_version": "4.18", "cpu_architecture": "x86_64", "url": "…", "version": "4.18.3"}]',
    "OS_IMAGES": '[{"openshift_version": "4.18", "cpu_architecture": "x86_64", "url": "…", "version": "418.94.…"}]',
    "RELEASE_SOURCES": '[{"openshift_version": "4.18", "multi_cpu_architectures": [], "upgrade_channels": []}]',
    "MUST_GATHER_IMAGES": '{"4.18": {"ocp": "…"}}',
    "IGNORED_OPENSHIFT_VERSIONS": '["4.18.3"]',
}


def configured_catalogue(
    *,
    release_images: str = "",
    os_images: str = "",
    release_sources: str = "",
    must_gather_images: str = "",
    ignored_versions: str = "",
) -> Catalogue:
    """Each argument is the text of the variable of that name; Invalid names the variable that cannot be read."""
    releases = _decode(release_images, "RELEASE_IMAGES", type_=list[ReleaseImage])
    images = _decode(os_images, "OS_IMAGES", type_=list[OsImage])
    return build_catalogue(
        default_releases() if releases is None else releases,
        os_images=default_os_images() if images is None else images,
        sources=_decode(release_sources, "RELEASE_SOURCES", type_=list[ReleaseSource]) or (),
        must_gather_images=_decode(must_gather_images, "MUST_GATHER_IMAGES", type_=dict[str, dict[str, str]]),
        ignored=_decode(ignored_versions, "IGNORED_OPENSHIFT_VERSIONS", type_=list[str]) or (),
    )


def _decode(text: str, variable: str, *, type_: type[_Wanted]) -> _Wanted | None:
    if not text.strip():
        return None
    try:
        return msgspec.json.decode(text, type=type_)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Invalid(f"{variable} cannot be read: {error}. Write it as {_EXAMPLES[variable]}.") from None
