"""The catalogue used when nothing is configured: one release per minor version, from the public registry and mirror."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from firstlight.core.versions.architectures import CpuArchitecture, kernel_name
from firstlight.core.versions.catalogue import Catalogue, build_catalogue
from firstlight.core.versions.numbers import at_least, parse
from firstlight.core.versions.releases import OsImage, ReleaseImage

HOST_ARCHITECTURES: Final = (
    CpuArchitecture.X86_64,
    CpuArchitecture.ARM64,
    CpuArchitecture.PPC64LE,
    CpuArchitecture.S390X,
)

# Release, the RHCOS folder on the mirror that serves its line, and the build in that folder.
_LINES: Final = (
    ("4.14.71", "4.14.34", "414.92.202407091253-0"),
    ("4.15.58", "4.15.23", "415.92.202407091355-0"),
    ("4.16.51", "4.16.51", "416.94.202510081640-0"),
    ("4.17.42", "4.17.41", "417.94.202507291008-0"),
    ("4.18.30", "4.18.30", "418.94.202511191518-0"),
    ("4.19.19", "4.19.19", "9.6.20251023-0"),
    ("4.20.13", "4.20.13", "9.6.20260112-0"),
    ("4.21.0", "4.21.0", "9.6.20251212-1"),
    ("4.22.0", "4.22.0", "9.8.20260520-0"),
)

# Lines whose aarch64 images stand in another folder than the rest.
_ARM64_FOLDERS: Final = {
    "4.16": ("4.16.36", "416.94.202501270445-0"),
    "4.17": ("4.17.38", "417.94.202507291008-0"),
}

_RELEASE_REPOSITORY: Final = "quay.io/openshift-release-dev/ocp-release"
_MIRROR: Final = "https://mirror.openshift.com/pub/openshift-v4"


@lru_cache(maxsize=1)
def default_catalogue() -> Catalogue:
    return build_catalogue(default_releases(), os_images=default_os_images())


def default_releases() -> Iterator[ReleaseImage]:
    for version, _, _ in _LINES:
        line = str(parse(version).to_minor())
        for architecture in HOST_ARCHITECTURES:
            yield ReleaseImage(
                openshift_version=line,
                cpu_architecture=architecture,
                cpu_architectures=(architecture,),
                url=release_url(version, architecture=architecture),
                version=version,
                support_level="production",
            )
        yield ReleaseImage(
            openshift_version=f"{line}-multi",
            cpu_architecture=CpuArchitecture.MULTI,
            cpu_architectures=HOST_ARCHITECTURES,
            url=release_url(version, architecture=CpuArchitecture.MULTI),
            version=f"{version}-multi",
            support_level="production",
        )


def default_os_images() -> Iterator[OsImage]:
    for version, common_folder, common_build in _LINES:
        line = str(parse(version).to_minor())
        for architecture in HOST_ARCHITECTURES:
            folder, build = common_folder, common_build
            if architecture is CpuArchitecture.ARM64:
                folder, build = _ARM64_FOLDERS.get(line, (folder, build))
            yield OsImage(
                openshift_version=line,
                cpu_architecture=architecture,
                url=live_iso_url(folder, architecture=architecture),
                version=build,
            )


def release_url(version: str, *, architecture: CpuArchitecture) -> str:
    """The public pull spec of a release."""
    return f"{_RELEASE_REPOSITORY}:{version}-{kernel_name(architecture)}"


def live_iso_url(folder: str, *, architecture: CpuArchitecture) -> str:
    """The live ISO in a folder of the public mirror; from 4.19 on its name says `live-iso`."""
    number = parse(folder)
    kind = "live-iso" if at_least(number, "4.19") else "live"
    name = kernel_name(architecture)
    return f"{_MIRROR}/{name}/dependencies/rhcos/{number.to_minor()}/{folder}/rhcos-{folder}-{name}-{kind}.{name}.iso"
