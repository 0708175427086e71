"""Names of container images, such as `registry.example:5000/ocp/release:4.19.1` or `…/release@sha256:…`."""

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Invalid

_REGISTRY: Final = (
    r"(?P<registry>\[[0-9a-fA-F:.]+\](?::[0-9]{1,5})?|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?)"
)
_PART: Final = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_NAME: Final = re.compile(
    rf"{_REGISTRY}/(?P<repository>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)
LONGEST: Final = 1024


class ImageReference(Struct, frozen=True, kw_only=True):
    """One image in one registry. A digest says exactly which; a tag may move."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def version(self) -> str:
        """What the registry is asked for: the digest where there is one."""
        return self.digest or self.tag or "latest"

    @property
    def path(self) -> str:
        return f"{self.registry}/{self.repository}"

    def at(self, digest: str) -> "ImageReference":
        """The same repository, another manifest."""
        return replace(self, tag="", digest=digest)

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.path}{tag}{'@' + self.digest if self.digest else ''}"


def parse_reference(text: str) -> ImageReference:
    """Read a full name. Raises Invalid: short names would mean another image on every machine."""
    found = _NAME.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise Invalid(
            f"'{text[:200]}' is not the full name of a container image. "
            "Write registry, repository and a tag or digest, such as registry.example/ocp/release:4.19.1."
        )
    return ImageReference(
        registry=found["registry"],
        repository=found["repository"],
        tag=found["tag"] or "",
        digest=found["digest"] or "",
    )
