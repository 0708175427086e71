"""CPU architectures: names and the version each begins with."""

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.versions.architectures import (
    ArchitectureId,
    CpuArchitecture,
    architecture_levels,
    kernel_name,
    normalise,
)
from firstlight.core.versions.numbers import parse


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x86_64", CpuArchitecture.X86_64),
        ("amd64", CpuArchitecture.X86_64),
        ("arm64", CpuArchitecture.ARM64),
        ("aarch64", CpuArchitecture.ARM64),
        ("AARCH64 ", CpuArchitecture.ARM64),
        ("s390x", CpuArchitecture.S390X),
        ("ppc64le", CpuArchitecture.PPC64LE),
        ("multi", CpuArchitecture.MULTI),
    ],
)
def test_normalise(name: str, expected: CpuArchitecture) -> None:
    assert normalise(name) is expected


@pytest.mark.parametrize("name", ["", "riscv64", "x86", "i" * 100_000])
def test_unknown(name: str) -> None:
    with pytest.raises(Invalid, match="x86_64, arm64"):
        normalise(name)


def test_kernel_names() -> None:
    assert [kernel_name(each) for each in CpuArchitecture] == ["x86_64", "aarch64", "s390x", "ppc64le", "multi"]


@pytest.mark.parametrize(
    ("version", "x86_64", "arm64", "power_and_z", "multi"),
    [
        ("4.9", "supported", "unavailable", "unavailable", "unavailable"),
        ("4.10.0-rc.1", "supported", "supported", "unavailable", "unavailable"),
        ("4.11", "supported", "supported", "unavailable", "tech-preview"),
        ("4.12.9", "supported", "supported", "tech-preview", "tech-preview"),
        ("4.13", "supported", "supported", "supported", "tech-preview"),
        ("4.22-multi", "supported", "supported", "supported", "tech-preview"),
    ],
)
def test_levels(version: str, x86_64: str, arm64: str, power_and_z: str, multi: str) -> None:
    assert architecture_levels(parse(version)) == {
        ArchitectureId.X86_64: x86_64,
        ArchitectureId.ARM64: arm64,
        ArchitectureId.PPC64LE: power_and_z,
        ArchitectureId.S390X: power_and_z,
        ArchitectureId.MULTI: multi,
    }
