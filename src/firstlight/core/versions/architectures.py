"""CPU architectures as the API names them, and from which OpenShift version each can be installed."""

from enum import StrEnum
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.versions.levels import SupportLevel
from firstlight.core.versions.numbers import Version, at_least


class CpuArchitecture(StrEnum):
    X86_64 = "x86_64"
    ARM64 = "arm64"
    S390X = "s390x"
    PPC64LE = "ppc64le"
    MULTI = "multi"
    """A release that carries several architectures; never the architecture of one host."""


class ArchitectureId(StrEnum):
    """The keys of the architecture support answer."""

    X86_64 = "X86_64_ARCHITECTURE"
    ARM64 = "ARM64_ARCHITECTURE"
    PPC64LE = "PPC64LE_ARCHITECTURE"
    S390X = "S390X_ARCHITECTURE"
    MULTI = "MULTIARCH_RELEASE_IMAGE"


_OTHER_NAMES: Final = {"aarch64": CpuArchitecture.ARM64, "amd64": CpuArchitecture.X86_64}

# What the kernel, the mirror's folders and the release tags call an architecture.
_KERNEL_NAMES: Final = {CpuArchitecture.ARM64: "aarch64"}

_IDS: Final = {
    ArchitectureId.X86_64: CpuArchitecture.X86_64,
    ArchitectureId.ARM64: CpuArchitecture.ARM64,
    ArchitectureId.PPC64LE: CpuArchitecture.PPC64LE,
    ArchitectureId.S390X: CpuArchitecture.S390X,
    ArchitectureId.MULTI: CpuArchitecture.MULTI,
}

_L: Final = SupportLevel

# From which version on an architecture has which level; the last line that fits counts.
_LEVELS: Final[dict[CpuArchitecture, tuple[tuple[str, SupportLevel], ...]]] = {
    CpuArchitecture.X86_64: (("0.0", _L.SUPPORTED),),
    CpuArchitecture.ARM64: (("4.10", _L.SUPPORTED),),
    CpuArchitecture.S390X: (("4.12", _L.TECH_PREVIEW), ("4.13", _L.SUPPORTED)),
    CpuArchitecture.PPC64LE: (("4.12", _L.TECH_PREVIEW), ("4.13", _L.SUPPORTED)),
    CpuArchitecture.MULTI: (("4.11", _L.TECH_PREVIEW),),
}


def normalise(name: str) -> CpuArchitecture:
    """The architecture called `name` by a user, a kernel or a container registry; Invalid when there is none."""
    lowered = name.strip().lower()
    found = _OTHER_NAMES.get(lowered)
    if found is not None:
        return found
    try:
        return CpuArchitecture(lowered)
    except ValueError:
        known = ", ".join(CpuArchitecture)
        raise Invalid(f"The CPU architecture '{name[:80]}' is not known. Use one of {known}.") from None


def kernel_name(architecture: CpuArchitecture) -> str:
    """The name used by `uname -m`, the image mirror and release tags."""
    return _KERNEL_NAMES.get(architecture, architecture.value)


def architecture_level(architecture: CpuArchitecture, *, version: Version) -> SupportLevel:
    level = SupportLevel.UNAVAILABLE
    for since, given in _LEVELS[architecture]:
        if at_least(version, since):
            level = given
    return level


def architecture_levels(version: Version) -> dict[ArchitectureId, SupportLevel]:
    """The answer of the architecture support endpoint for one OpenShift version."""
    return {id_: architecture_level(architecture, version=version) for id_, architecture in _IDS.items()}
