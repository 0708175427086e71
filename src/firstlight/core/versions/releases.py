"""Releases, OS images and release sources in the JSON form operators configure them with."""

import re
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.versions.architectures import CpuArchitecture, normalise
from firstlight.core.versions.numbers import Version, parse

FULL_ISO: Final = "full-iso"
DISCONNECTED_ISO: Final = "disconnected-iso"
_SHA256: Final = re.compile(r"[0-9a-f]{64}|")


class ReleaseImage(msgspec.Struct, frozen=True, kw_only=True):
    """One installable OpenShift release: a pull spec and what it contains."""

    openshift_version: str
    """The line it is offered under: `4.18`, or `4.18-multi` for a release of several architectures."""
    cpu_architecture: str = "x86_64"
    cpu_architectures: tuple[str, ...] = ()
    url: str
    version: str
    default: bool = False
    support_level: str = ""

    @property
    def number(self) -> Version:
        return parse(self.version)

    @property
    def line(self) -> Version:
        return parse(self.openshift_version)

    @property
    def is_multi(self) -> bool:
        return self.cpu_architecture == CpuArchitecture.MULTI or self.number.multi or self.line.multi

    @property
    def architectures(self) -> tuple[CpuArchitecture, ...]:
        """The architectures of the hosts it can install."""
        names = self.cpu_architectures or (self.cpu_architecture,)
        return tuple(CpuArchitecture(name) for name in names)

    @property
    def cluster_architecture(self) -> CpuArchitecture:
        """The architecture a cluster of this release gets: `multi` when hosts of several kinds may join."""
        return self.architectures[0] if len(self.architectures) == 1 else CpuArchitecture.MULTI

    def serves(self, architecture: CpuArchitecture) -> bool:
        return architecture in self.architectures or architecture == self.cpu_architecture


class OsImage(msgspec.Struct, frozen=True, kw_only=True):
    """The live system that hosts of one architecture boot for discovery."""

    openshift_version: str
    cpu_architecture: str = "x86_64"
    url: str
    version: str
    type: str = FULL_ISO
    sha256: str = ""
    """Of the file; empty when it is not to be checked."""

    @property
    def number(self) -> Version:
        """The OpenShift version it belongs to; `version` is the build id of the system itself."""
        return parse(self.openshift_version)


class UpgradeChannel(msgspec.Struct, frozen=True, kw_only=True):
    cpu_architecture: str
    channels: tuple[str, ...]


class ReleaseSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where releases of one minor version are looked for: channels of the upgrade graph."""

    openshift_version: str
    multi_cpu_architectures: tuple[str, ...]
    upgrade_channels: tuple[UpgradeChannel, ...]


def checked_release(release: ReleaseImage) -> ReleaseImage:
    """The release with architectures as the API names them; Invalid when a version or architecture is malformed."""
    number, line = parse(release.version), parse(release.openshift_version)
    if not release.url:
        raise Invalid(f"The release image {release.version} has no URL. Give the pull spec of the release.")
    if number.is_minor:
        raise Invalid(f"The release image version '{release.version}' must name one release, for example {number}.0.")
    if (number.major, number.minor) != (line.major, line.minor):
        raise Invalid(f"The release image {release.version} cannot be offered as {release.openshift_version}.")
    architecture = normalise(release.cpu_architecture)
    architectures = tuple(dict.fromkeys(normalise(name).value for name in release.cpu_architectures))
    if not architectures and architecture is CpuArchitecture.MULTI:
        raise Invalid(f"The multi-architecture release image {release.version} must list its cpu_architectures.")
    if CpuArchitecture.MULTI in architectures:
        raise Invalid(f"The cpu_architectures of release image {release.version} must name real architectures.")
    return msgspec.structs.replace(
        release, cpu_architecture=architecture.value, cpu_architectures=architectures or (architecture.value,)
    )


def checked_os_image(image: OsImage) -> OsImage:
    """The image with its architecture as the API names it; Invalid when something is missing or malformed."""
    parse(image.openshift_version)
    architecture = normalise(image.cpu_architecture)
    if not image.url or not image.version:
        raise Invalid(f"The OS image for {image.openshift_version} {architecture} needs both a URL and a version.")
    if architecture is CpuArchitecture.MULTI:
        raise Invalid(f"The OS image for {image.openshift_version} must be of one architecture, not multi.")
    if image.type not in (FULL_ISO, DISCONNECTED_ISO):
        raise Invalid(f"The OS image {image.version} has the unknown type '{image.type[:40]}'. Use {FULL_ISO}.")
    if not _SHA256.fullmatch(image.sha256.lower()):
        raise Invalid(f"The sha256 of OS image {image.version} is not one. Give 64 hexadecimal digits or leave it out.")
    return msgspec.structs.replace(image, cpu_architecture=architecture.value, sha256=image.sha256.lower())
