"""The release catalogue: lookups, the list offered to users, the built-in default."""

import msgspec
import pytest

from firstlight.core.errors import Invalid
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.catalogue import Catalogue, build_catalogue
from firstlight.core.versions.defaults import HOST_ARCHITECTURES, default_catalogue
from firstlight.core.versions.releases import OsImage, ReleaseImage, ReleaseSource

X86, ARM, Z, MULTI = CpuArchitecture.X86_64, CpuArchitecture.ARM64, CpuArchitecture.S390X, CpuArchitecture.MULTI


def a_release(version: str, architecture: str = "x86_64", *, default: bool = False, level: str = "") -> ReleaseImage:
    multi = architecture == "multi"
    line = ".".join(version.split(".")[:2]) + ("-multi" if multi else "")
    return ReleaseImage(
        openshift_version=line,
        cpu_architecture=architecture,
        cpu_architectures=("x86_64", "aarch64") if multi else (),
        url=f"registry.example.com/release:{version}-{architecture}",
        version=f"{version}-multi" if multi else version,
        default=default,
        support_level=level,
    )


def an_os_image(version: str, architecture: str = "x86_64") -> OsImage:
    return OsImage(
        openshift_version=version, cpu_architecture=architecture, url=f"https://x/{version}.iso", version="418.94.1-0"
    )


def a_catalogue(*, ignored: tuple[str, ...] = ()) -> Catalogue:
    return build_catalogue(
        [
            a_release("4.17.9"),
            a_release("4.18.3"),
            a_release("4.18.10", default=True),
            a_release("4.18.10", "aarch64"),
            a_release("4.18.10", "multi"),
            a_release("4.19.0-rc.2"),
            a_release("4.19.0-rc.10"),
            a_release("4.18.11-rc.1"),
        ],
        os_images=[
            an_os_image("4.17.3"),
            an_os_image("4.17.12"),
            an_os_image("4.18"),
            an_os_image("4.18.3"),
            an_os_image("4.18", "aarch64"),
            an_os_image("4.19"),
        ],
        must_gather_images={"4.18": {"ocp": "mg:4.18"}, "4.18.3": {"ocp": "mg:4.18.3"}},
        ignored=ignored,
    )


@pytest.mark.parametrize(
    ("asked", "architecture", "found"),
    [
        pytest.param("4.18.3", X86, "4.18.3", id="exact"),
        pytest.param("4.18", X86, "4.18.10", id="newest-final-of-line-by-number"),
        pytest.param("4.18", ARM, "4.18.10", id="architecture-normalised"),
        pytest.param("4.18-multi", X86, "4.18.10-multi", id="multi-line-for-one-architecture"),
        pytest.param("4.18.10-multi", ARM, "4.18.10-multi", id="multi-exact"),
        pytest.param("4.18", MULTI, "4.18.10-multi", id="multi-architecture-implies-multi-line"),
        pytest.param("4.18.10", MULTI, "4.18.10-multi", id="multi-architecture-implies-multi-version"),
        pytest.param("4.19.0-rc.2", X86, "4.19.0-rc.2", id="pre-release-by-full-name"),
    ],
)
def test_release(asked: str, architecture: CpuArchitecture, found: str) -> None:
    assert a_catalogue().release(asked, architecture=architecture).version == found


@pytest.mark.parametrize(
    ("asked", "architecture", "sentence"),
    [
        ("4.18.4", X86, "no release image of OpenShift 4.18.4 for x86_64"),
        ("4.17", ARM, "Versions known for this architecture: 4.18-multi, 4.18"),
        ("4.18", Z, "known for this architecture: none"),
        ("4.19", X86, "only pre-releases for x86_64. .* for example 4.19.0-rc.10"),
        ("four", X86, "is not an OpenShift version"),
    ],
)
def test_release_refused(asked: str, architecture: CpuArchitecture, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        a_catalogue().release(asked, architecture=architecture)


def test_cluster_architecture_follows_the_release() -> None:
    catalogue = a_catalogue()
    assert catalogue.release("4.18-multi", architecture=X86).cluster_architecture is MULTI
    assert catalogue.release("4.18", architecture=ARM).cluster_architecture is ARM


def test_release_by_url() -> None:
    catalogue = a_catalogue()
    assert catalogue.release_by_url("registry.example.com/release:4.18.3-x86_64").version == "4.18.3"
    with pytest.raises(Invalid, match="not one of the configured"):
        catalogue.release_by_url("registry.example.com/release:other")


@pytest.mark.parametrize(
    ("asked", "architecture", "found"),
    [
        ("4.18.3", X86, "4.18.3"),
        ("4.18.4", X86, "4.18"),
        ("4.18", X86, "4.18"),
        ("4.18.10-multi", ARM, "4.18"),
        ("4.17", X86, "4.17.12"),
        ("4.17.3", X86, "4.17.3"),
        ("4.17.4", X86, "4.17.12"),
        ("", X86, "4.19"),
        ("", ARM, "4.18"),
    ],
)
def test_os_image(asked: str, architecture: CpuArchitecture, found: str) -> None:
    image = a_catalogue().os_image(asked, architecture=architecture)
    assert (image.openshift_version, image.cpu_architecture) == (found, architecture)


@pytest.mark.parametrize(("asked", "architecture"), [("4.16", X86), ("4.19", ARM), ("", Z)])
def test_no_os_image(asked: str, architecture: CpuArchitecture) -> None:
    catalogue = a_catalogue()
    assert not catalogue.has_os_image(asked, architecture=architecture)
    with pytest.raises(Invalid, match=r"Add one to OS_IMAGES\."):
        catalogue.os_image(asked, architecture=architecture)


def test_openshift_versions() -> None:
    answer = msgspec.json.decode(msgspec.json.encode(a_catalogue().openshift_versions()))
    assert list(answer) == [
        "4.19.0-rc.10", "4.19.0-rc.2", "4.18.11-rc.1", "4.18.10-multi", "4.18.10", "4.18.3", "4.17.9",
    ]  # fmt: skip
    assert answer["4.18.10"] == {
        "display_name": "4.18.10",
        "support_level": "production",
        "cpu_architectures": ["x86_64", "arm64"],
        "default": True,
    }
    assert answer["4.19.0-rc.2"]["support_level"] == "beta"
    assert [name for name, entry in answer.items() if entry.get("default")] == ["4.18.10"]


def test_versions_need_an_os_image_unless_told_otherwise() -> None:
    catalogue = build_catalogue([a_release("4.16.1"), a_release("4.18.3", "multi")], os_images=[an_os_image("4.18")])
    answer = catalogue.openshift_versions()
    assert {name: entry.cpu_architectures for name, entry in answer.items()} == {"4.18.3-multi": ("x86_64",)}
    assert list(catalogue.openshift_versions(need_os_image=False)) == ["4.18.3-multi", "4.16.1"]


def test_only_latest_keeps_one_per_line_and_one_default() -> None:
    answer = a_catalogue().openshift_versions(only_latest=True)
    assert list(answer) == ["4.19.0-rc.10", "4.18.10-multi", "4.18.10", "4.17.9"]
    assert [name for name, entry in answer.items() if entry.default] == ["4.18.10"]
    older_default = build_catalogue(
        [a_release("4.18.3", default=True), a_release("4.18.10")], os_images=[an_os_image("4.18")]
    )
    latest = older_default.openshift_versions(only_latest=True)
    assert {name: entry.default for name, entry in latest.items()} == {"4.18.10": True}


def test_version_filter_is_a_substring() -> None:
    assert list(a_catalogue().openshift_versions(version_filter="multi")) == ["4.18.10-multi"]
    assert list(a_catalogue().openshift_versions(version_filter="4.17")) == ["4.17.9"]
    assert a_catalogue().openshift_versions(version_filter="3.11") == {}


@pytest.mark.parametrize(
    ("ignored", "gone"),
    [
        (("4.18.3",), {"4.18.3"}),
        (("4.18",), {"4.18.3", "4.18.10", "4.18.10-multi", "4.18.11-rc.1"}),
        (("4.19.0-rc.2", "4.17"), {"4.19.0-rc.2", "4.17.9"}),
    ],
)
def test_ignored_versions(ignored: tuple[str, ...], gone: set[str]) -> None:
    everything = set(a_catalogue().openshift_versions())
    assert everything - set(a_catalogue(ignored=ignored).openshift_versions()) == gone


@pytest.mark.parametrize(
    ("releases", "default"),
    [
        pytest.param([a_release("4.17.9"), a_release("4.18.3")], "4.18.3", id="none-marked"),
        pytest.param([a_release("4.17.9"), a_release("4.19.0-rc.1")], "4.17.9", id="final-before-pre-release"),
        pytest.param([a_release("4.17.9"), a_release("4.18.3", "multi")], "4.17.9", id="x86-before-multi"),
        pytest.param([a_release("4.17.9", default=True), a_release("4.18.3")], "4.17.9", id="marked"),
        pytest.param([a_release("4.17.9", default=True), a_release("4.18.3", default=True)], "4.18.3", id="two-marked"),
        pytest.param([a_release("4.19.0-rc.1")], "4.19.0-rc.1", id="nothing-else"),
    ],
)
def test_exactly_one_default(releases: list[ReleaseImage], default: str) -> None:
    catalogue = build_catalogue(releases, os_images=[])
    assert [release.version for release in catalogue.releases if release.default] == [default]
    assert catalogue.default_release.version == default


def test_empty_catalogue_has_no_default() -> None:
    with pytest.raises(Invalid, match="RELEASE_IMAGES"):
        _ = build_catalogue([], os_images=[]).default_release


def test_with_release_adds_and_replaces_but_keeps_the_default() -> None:
    catalogue = a_catalogue().with_release(a_release("4.21.0", default=True))
    assert catalogue.release("4.21", architecture=X86).version == "4.21.0"
    assert catalogue.default_release.version == "4.18.10"
    again = catalogue.with_release(a_release("4.21.0", level="maintenance"))
    assert len(again.releases) == len(catalogue.releases)
    assert again.openshift_versions(need_os_image=False)["4.21.0"].support_level == "maintenance"


@pytest.mark.parametrize(
    ("version", "image"), [("4.18.3", "mg:4.18.3"), ("4.18.3-multi", "mg:4.18.3"), ("4.18.4", "mg:4.18")]
)
def test_must_gather(version: str, image: str) -> None:
    assert a_catalogue().must_gather(version) == {"ocp": image}


def test_no_must_gather() -> None:
    assert a_catalogue().must_gather("4.17.9") == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": "4.18"}, "must name one release"),
        ({"version": "4.17.1"}, "cannot be offered as 4.18"),
        ({"url": ""}, "has no URL"),
        ({"cpu_architecture": "vax"}, "'vax' is not known"),
        ({"cpu_architecture": "multi"}, "must list its cpu_architectures"),
        ({"cpu_architectures": ("multi",)}, "must name real architectures"),
    ],
)
def test_bad_release(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        build_catalogue([msgspec.structs.replace(a_release("4.18.3"), **change)], os_images=[])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"openshift_version": "x"}, "is not an OpenShift version"),
        ({"url": ""}, "needs both a URL and a version"),
        ({"version": ""}, "needs both a URL and a version"),
        ({"cpu_architecture": "multi"}, "not multi"),
    ],
)
def test_bad_os_image(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        build_catalogue([], os_images=[msgspec.structs.replace(an_os_image("4.18"), **change)])


def test_configured_form_decodes() -> None:
    text = """[{"openshift_version":"4.18-multi","cpu_architecture":"multi","cpu_architectures":["x86_64","arm64"],
      "url":"quay.io/r:4.18.3-multi","version":"4.18.3-multi","default":true,"support_level":"production"}]"""
    release = msgspec.json.decode(text, type=list[ReleaseImage])[0]
    assert release.is_multi
    assert release.architectures == (X86, ARM)
    source = """{"openshift_version":"4.18","multi_cpu_architectures":["x86_64"],
      "upgrade_channels":[{"cpu_architecture":"x86_64","channels":["stable"]}]}"""
    assert msgspec.json.decode(source, type=ReleaseSource).upgrade_channels[0].channels == ("stable",)


def test_default_catalogue_is_whole() -> None:
    catalogue = default_catalogue()
    answer = catalogue.openshift_versions()
    assert len(answer) == 2 * 9
    assert [name for name, entry in answer.items() if entry.default] == ["4.22.0"]
    assert all(set(entry.cpu_architectures) == set(HOST_ARCHITECTURES) for entry in answer.values())
    for minor in range(14, 23):
        for architecture in HOST_ARCHITECTURES:
            assert catalogue.release(f"4.{minor}", architecture=architecture).cluster_architecture is architecture
            assert catalogue.os_image(f"4.{minor}", architecture=architecture).cpu_architecture == architecture
        assert catalogue.release(f"4.{minor}", architecture=MULTI).cluster_architecture is MULTI


@pytest.mark.parametrize(
    ("version", "architecture", "url"),
    [
        (
            "4.16",
            X86,
            "https://mirror.openshift.com/pub/openshift-v4/x86_64/dependencies/rhcos/4.16/4.16.51/"
            "rhcos-4.16.51-x86_64-live.x86_64.iso",
        ),
        (
            "4.16",
            Z,
            "https://mirror.openshift.com/pub/openshift-v4/s390x/dependencies/rhcos/4.16/4.16.51/"
            "rhcos-4.16.51-s390x-live.s390x.iso",
        ),
        (
            "4.16",
            ARM,
            "https://mirror.openshift.com/pub/openshift-v4/aarch64/dependencies/rhcos/4.16/4.16.36/"
            "rhcos-4.16.36-aarch64-live.aarch64.iso",
        ),
        (
            "4.22",
            X86,
            "https://mirror.openshift.com/pub/openshift-v4/x86_64/dependencies/rhcos/4.22/4.22.0/"
            "rhcos-4.22.0-x86_64-live-iso.x86_64.iso",
        ),
    ],
)
def test_default_image_urls(version: str, architecture: CpuArchitecture, url: str) -> None:
    assert default_catalogue().os_image(version, architecture=architecture).url == url


def test_default_release_urls() -> None:
    catalogue = default_catalogue()
    assert (
        catalogue.release("4.18", architecture=ARM).url == "quay.io/openshift-release-dev/ocp-release:4.18.30-aarch64"
    )
    assert (
        catalogue.release("4.18", architecture=MULTI).url == "quay.io/openshift-release-dev/ocp-release:4.18.30-multi"
    )
