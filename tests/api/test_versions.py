"""Versions of the service and of OpenShift, release sources, managed domains."""

import dataclasses
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

from firstlight.core.versions.configured import configured_catalogue
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.http.v2 import versions
from firstlight.server.usecases.world import World
from tests.http.client import ask
from tests.worlds import a_world

pytestmark = pytest.mark.anyio

V2: Final = "/api/assisted-install/v2"


def a_release(version: str, *architectures: str, **more: object) -> dict[str, object]:
    line = ".".join(version.split(".")[:2])
    multi = len(architectures) > 1
    return {
        "openshift_version": f"{line}-multi" if multi else line,
        "cpu_architecture": "multi" if multi else architectures[0],
        "cpu_architectures": architectures,
        "url": f"quay.io/release:{version}-{'-'.join(architectures)}",
        "version": version,
        **more,
    }


def an_image(line: str, architecture: str) -> dict[str, str]:
    return {"openshift_version": line, "cpu_architecture": architecture, "url": "http://a/b.iso", "version": "1"}


RELEASES: Final = (
    a_release("4.17.5", "x86_64"),
    a_release("4.18.3", "x86_64", default=True),
    a_release("4.18.3", "arm64"),
    a_release("4.18.2", "x86_64", support_level="maintenance"),
    a_release("4.18.3-multi", "x86_64", "arm64"),
    a_release("4.19.0-ec.2", "x86_64"),
    a_release("4.18.3", "s390x"),
)
IMAGES: Final = tuple(an_image(line, arch) for line in ("4.17", "4.18", "4.19") for arch in ("x86_64", "arm64"))
SOURCES: Final = [
    {
        "openshift_version": "4.18",
        "multi_cpu_architectures": ["x86_64", "arm64"],
        "upgrade_channels": [{"cpu_architecture": "x86_64", "channels": ["stable", "candidate"]}],
    }
]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    facts: dict[str, Any] = {"release_tag": "v1", "version": "9.9", "managed_domains": {"example.com": "route53"}}
    catalogue = configured_catalogue(
        release_images=json.dumps(RELEASES), os_images=json.dumps(IMAGES), release_sources=json.dumps(SOURCES)
    )
    async with a_world(tmp_path, **facts) as made:
        yield dataclasses.replace(made, catalogue=catalogue)


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(versions))


async def test_component_versions(app: ASGIApp, world: World) -> None:
    answer = await ask(app, "GET", f"{V2}/component-versions")
    assert answer.status == 200
    assert answer.json() == {
        "release_tag": "v1",
        "versions": {
            "assisted-installer-service": "9.9",
            "discovery-agent": world.policy.agent_image,
            "assisted-installer": world.policy.installer_image,
            "assisted-installer-controller": world.policy.controller_image,
        },
    }


async def offered(app: ASGIApp, query: str = "") -> dict[str, dict[str, Any]]:
    answer = await ask(app, "GET", f"{V2}/openshift-versions", query=query)
    assert answer.status == 200
    return answer.json()


async def test_openshift_versions(app: ASGIApp) -> None:
    found = await offered(app)
    assert list(found) == ["4.19.0-ec.2", "4.18.3-multi", "4.18.3", "4.18.2", "4.17.5"]
    assert found["4.18.3"] == {
        "display_name": "4.18.3",
        "support_level": "production",
        "cpu_architectures": ["x86_64", "arm64"],
        "default": True,
    }
    assert found["4.18.2"]["support_level"] == "maintenance"
    assert found["4.19.0-ec.2"]["support_level"] == "beta"
    assert found["4.18.3-multi"]["cpu_architectures"] == ["x86_64", "arm64"]
    assert [name for name, version in found.items() if version.get("default")] == ["4.18.3"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("version=4.18", {"4.18.3-multi", "4.18.3", "4.18.2"}, id="substring"),
        pytest.param("version=8.2", {"4.18.2"}, id="substring-anywhere"),
        pytest.param("version=9.9", set(), id="none"),
        pytest.param("only_latest=true", {"4.19.0-ec.2", "4.18.3-multi", "4.18.3", "4.17.5"}, id="newest-per-line"),
        pytest.param("only_latest=true&version=4.18", {"4.18.3-multi", "4.18.3"}, id="both"),
        pytest.param("only_latest=", {"4.19.0-ec.2", "4.18.3-multi", "4.18.3", "4.18.2", "4.17.5"}, id="empty"),
    ],
)
async def test_filters(app: ASGIApp, query: str, expected: set[str]) -> None:
    assert set(await offered(app, query)) == expected


async def test_no_os_image_is_needed_where_no_images_are_served(tmp_path: Path, world: World) -> None:
    service = type(world.service)(image_service=False)
    app = build_app(dataclasses.replace(world, service=service), operations=operations_of(versions))
    assert (await offered(app))["4.18.3"]["cpu_architectures"] == ["x86_64", "arm64", "s390x"]


async def test_malformed_question(app: ASGIApp) -> None:
    answer = await ask(app, "GET", f"{V2}/openshift-versions", query="only_latest=perhaps")
    assert (answer.status, answer.json()["code"]) == (400, 400)


async def test_release_sources(app: ASGIApp) -> None:
    answer = await ask(app, "GET", f"{V2}/release-sources")
    assert (answer.status, answer.json()) == (200, SOURCES)


async def test_domains(app: ASGIApp) -> None:
    answer = await ask(app, "GET", f"{V2}/domains")
    assert (answer.status, answer.json()) == (200, [{"domain": "example.com", "provider": "route53"}])
