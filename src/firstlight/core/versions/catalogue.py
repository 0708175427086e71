"""Which releases can be installed and which live images exist for them: lookups over configured lists."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.numbers import Version, parse
from firstlight.core.versions.releases import (
    FULL_ISO,
    OsImage,
    ReleaseImage,
    ReleaseSource,
    checked_os_image,
    checked_release,
)

_NO_IMAGES: Final[Mapping[str, str]] = {}


class OpenshiftVersion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the version list offered to users."""

    display_name: str
    support_level: str
    cpu_architectures: tuple[str, ...]
    default: bool = False


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """Built with `build_catalogue`, which checks the lists, sorts releases newest first and marks one default."""

    releases: tuple[ReleaseImage, ...]
    os_images: tuple[OsImage, ...]
    sources: tuple[ReleaseSource, ...] = ()
    must_gather_images: Mapping[str, Mapping[str, str]] = {}

    @property
    def default_release(self) -> ReleaseImage:
        for release in self.releases:
            if release.default:
                return release
        raise Invalid("No release image is configured. Add one to RELEASE_IMAGES.")

    def release(self, version: str, *, architecture: CpuArchitecture) -> ReleaseImage:
        """The release `x.y.z` exactly, or the newest final release of the line `x.y`."""
        asked = parse(version)
        if architecture is CpuArchitecture.MULTI and not asked.multi:
            asked = parse(f"{version}-multi")
        serving = [release for release in self.releases if release.serves(architecture)]
        if not asked.is_minor:
            matching = [release for release in serving if _number(release) == asked]
        else:
            line = [r for r in serving if r.line.to_minor() == asked.to_minor() and r.is_multi == asked.multi]
            matching = [release for release in line if not release.number.is_prerelease]
            if line and not matching:
                raise Invalid(
                    f"OpenShift {version} has only pre-releases for {architecture}."
                    f" Ask for one of them by its full version, for example {line[0].version}."
                )
        if not matching:
            known = ", ".join(dict.fromkeys(release.openshift_version for release in serving)) or "none"
            raise Invalid(
                f"There is no release image of OpenShift {version} for {architecture}."
                f" Versions known for this architecture: {known}."
            )
        return matching[0]

    def release_by_url(self, url: str) -> ReleaseImage:
        for release in self.releases:
            if release.url == url:
                return release
        raise Invalid(f"The release image '{url[:200]}' is not one of the configured release images.")

    def os_image(self, version: str, *, architecture: CpuArchitecture) -> OsImage:
        """The image of this very version, else of its line, else the newest of that line; `""` is the newest of all."""
        found = self._find_os_image(version, architecture)
        if found is None:
            what = f"OpenShift {version}" if version else "any OpenShift version"
            raise Invalid(f"There is no OS image of {what} for {architecture}. Add one to OS_IMAGES.")
        return found

    def has_os_image(self, version: str, *, architecture: CpuArchitecture) -> bool:
        return self._find_os_image(version, architecture) is not None

    def must_gather(self, version: str) -> Mapping[str, str]:
        """Must-gather images by product name, for this release or its line; empty when none are configured."""
        number = parse(version).single()
        for key in (str(number), str(number.to_minor())):
            if key in self.must_gather_images:
                return self.must_gather_images[key]
        return _NO_IMAGES

    def openshift_versions(
        self, *, version_filter: str = "", only_latest: bool = False, need_os_image: bool = True
    ) -> dict[str, OpenshiftVersion]:
        """What a user may choose from, newest first, keyed by display name.

        Architectures without an OS image are left out unless `need_os_image` is off.
        """
        chosen = _latest_per_line(self.releases) if only_latest else self.releases
        default = next((release for release in self.releases if release.default), None)
        answer: dict[str, OpenshiftVersion] = {}
        for release in chosen:
            architectures = [
                architecture.value
                for architecture in release.architectures
                if not need_os_image or self.has_os_image(release.version, architecture=architecture)
            ]
            if version_filter not in release.version or not architectures:
                continue
            known = answer.get(release.version)
            before = known.cpu_architectures if known else ()
            is_default = default is not None and (
                _same_line(release, default) if only_latest else release.version == default.version
            )
            answer[release.version] = OpenshiftVersion(
                display_name=release.version,
                support_level=support_level(release),
                cpu_architectures=tuple(dict.fromkeys((*before, *architectures))),
                default=is_default,
            )
        return answer

    def with_release(self, release: ReleaseImage) -> "Catalogue":
        """The catalogue with one more release (Kubernetes users bring their own pull specs)."""
        others = tuple(known for known in self.releases if known.url != release.url)
        added = msgspec.structs.replace(checked_release(release), default=False)
        return msgspec.structs.replace(self, releases=_ordered((*others, added)))

    def _find_os_image(self, version: str, architecture: CpuArchitecture) -> OsImage | None:
        images = [one for one in self.os_images if one.cpu_architecture == architecture and one.type == FULL_ISO]
        if not version:
            return max(images, key=lambda image: image.number, default=None)
        asked = parse(version).single()
        line = [image for image in images if image.number.to_minor() == asked.to_minor()]
        for exact in (asked, asked.to_minor()):
            for image in line:
                if image.number == exact:
                    return image
        return max(line, key=lambda image: image.number, default=None)


def build_catalogue(
    releases: Iterable[ReleaseImage],
    *,
    os_images: Iterable[OsImage],
    sources: Iterable[ReleaseSource] = (),
    must_gather_images: Mapping[str, Mapping[str, str]] | None = None,
    ignored: Iterable[str] = (),
) -> Catalogue:
    """A checked catalogue. `ignored` hides single versions (`4.18.3`) or whole lines (`4.18`)."""
    hidden = frozenset(parse(version).single() for version in ignored)
    kept = [
        release
        for release in map(checked_release, releases)
        if hidden.isdisjoint((release.number.single(), release.number.to_minor()))
    ]
    return Catalogue(
        releases=_ordered(kept),
        os_images=tuple(map(checked_os_image, os_images)),
        sources=tuple(sources),
        must_gather_images=must_gather_images or {},
    )


def support_level(release: ReleaseImage) -> str:
    """As configured; otherwise `beta` for a pre-release and `production` for the rest."""
    return release.support_level or ("beta" if release.number.is_prerelease else "production")


def _ordered(releases: Iterable[ReleaseImage]) -> tuple[ReleaseImage, ...]:
    """Newest first, each URL once, exactly one default: clients rely on finding one."""
    unique = {release.url: release for release in releases}.values()
    ordered = sorted(unique, key=lambda release: release.number, reverse=True)
    default = _choose_default(ordered)
    return tuple(msgspec.structs.replace(release, default=release is default) for release in ordered)


def _choose_default(releases: list[ReleaseImage]) -> ReleaseImage | None:
    """The newest of those marked; with none marked, the newest final x86_64 release if there is one."""

    def rank(release: ReleaseImage) -> tuple[bool, bool, bool, Version]:
        common = release.cpu_architecture == CpuArchitecture.X86_64
        return release.default, not release.number.is_prerelease, common, release.number

    return max(releases, key=rank, default=None)


def _number(release: ReleaseImage) -> Version:
    """The full version, marked multi when the release is, so that `4.18.3` with `multi` finds `4.18.3-multi`."""
    number = release.number
    return parse(f"{number}-multi") if release.is_multi and not number.multi else number


def _latest_per_line(newest_first: Iterable[ReleaseImage]) -> list[ReleaseImage]:
    """Releases of the newest version of each line; a pre-release only where the line has nothing final."""
    newest: dict[tuple[Version, bool], Version] = {}
    releases = list(newest_first)
    for release in sorted(releases, key=lambda release: release.number.is_prerelease):
        newest.setdefault(_line(release), release.number)
    return [release for release in releases if newest[_line(release)] == release.number]


def _line(release: ReleaseImage) -> tuple[Version, bool]:
    return release.number.to_minor(), release.is_multi


def _same_line(release: ReleaseImage, other: ReleaseImage) -> bool:
    return _line(release) == _line(other)
