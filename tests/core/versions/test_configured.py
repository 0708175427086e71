"""The catalogue from configuration texts."""

import json

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.configured import configured_catalogue
from firstlight.core.versions.defaults import default_catalogue

RELEASE = {"openshift_version": "4.18", "cpu_architecture": "aarch64", "url": "r.io/x:1", "version": "4.18.3"}
IMAGE = {"openshift_version": "4.18", "cpu_architecture": "aarch64", "url": "https://x/y.iso", "version": "418.94.1-0"}
SOURCE = {"openshift_version": "4.18", "multi_cpu_architectures": ["x86_64"], "upgrade_channels": []}


def test_nothing_configured() -> None:
    assert configured_catalogue() == default_catalogue()
    assert configured_catalogue(release_images=" ", os_images="\n") == default_catalogue()


def test_everything_configured() -> None:
    catalogue = configured_catalogue(
        release_images=json.dumps([RELEASE, {**RELEASE, "version": "4.18.4", "url": "r.io/x:2"}]),
        os_images=json.dumps([IMAGE]),
        release_sources=json.dumps([SOURCE]),
        must_gather_images='{"4.18": {"ocp": "mg"}}',
        ignored_versions='["4.18.4"]',
    )
    assert list(catalogue.openshift_versions()) == ["4.18.3"]
    assert catalogue.os_image("4.18.3", architecture=CpuArchitecture.ARM64).version == "418.94.1-0"
    assert catalogue.sources[0].multi_cpu_architectures == ("x86_64",)
    assert catalogue.must_gather("4.18.3") == {"ocp": "mg"}


def test_releases_alone_keep_the_default_images() -> None:
    catalogue = configured_catalogue(release_images=json.dumps([RELEASE]))
    assert list(catalogue.openshift_versions()) == ["4.18.3"]
    assert catalogue.os_images == default_catalogue().os_images


def test_an_empty_list_is_a_choice() -> None:
    assert configured_catalogue(release_images="[]").releases == ()


@pytest.mark.parametrize(
    ("argument", "variable", "text"),
    [
        ("release_images", "RELEASE_IMAGES", "{"),
        ("release_images", "RELEASE_IMAGES", '[{"url": "x"}]'),
        ("os_images", "OS_IMAGES", '{"a": 1}'),
        ("os_images", "OS_IMAGES", "[" * 100_000),
        ("release_sources", "RELEASE_SOURCES", "[1]"),
        ("must_gather_images", "MUST_GATHER_IMAGES", "[]"),
        ("ignored_versions", "IGNORED_OPENSHIFT_VERSIONS", "4.18"),
    ],
)
def test_unreadable(argument: str, variable: str, text: str) -> None:
    with pytest.raises(Invalid, match=f"{variable} cannot be read: .* Write it as "):
        configured_catalogue(**{argument: text})
