"""Support levels of features and architectures over HTTP; the levels themselves are tested with the core."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.versions.feature_ids import PLATFORM_IDS, FeatureId
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.http.v2 import support_levels
from tests.http.client import ask
from tests.worlds import a_world

pytestmark = pytest.mark.anyio

LEVELS: Final = "/api/assisted-install/v2/support-levels"
PATHS: Final = ("features", "features/detailed", "architectures")


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[ASGIApp]:
    async with a_world(tmp_path) as world:
        yield build_app(world, operations=operations_of(support_levels))


async def told(app: ASGIApp, path: str, query: str) -> Any:
    answer = await ask(app, "GET", f"{LEVELS}/{path}", query=query)
    assert answer.status == 200
    return answer.json()


async def test_features(app: ASGIApp) -> None:
    found = (await told(app, "features", "openshift_version=4.18"))["features"]
    assert len(found) == 55
    assert found["SNO"] == "supported"
    assert found["VIP_AUTO_ALLOC"] == "unavailable"
    assert found["NVIDIA_GPU"] == "dev-preview"
    assert "PLATFORM_MANAGED_NETWORKING" not in found


async def test_features_of_a_platform(app: ASGIApp) -> None:
    found = (await told(app, "features", "openshift_version=4.18&platform_type=vsphere"))["features"]
    assert not {name.value for name in PLATFORM_IDS} & set(found)
    assert found["PLATFORM_MANAGED_NETWORKING"] == "unsupported"
    assert found["SNO"] == "unavailable"


@pytest.mark.parametrize("name", ["arm64", "aarch64"])
async def test_arm_by_both_names(app: ASGIApp, name: str) -> None:
    query = f"openshift_version=4.18&cpu_architecture={name}"
    assert (await told(app, "features", query))["features"]["ODF"] == "unavailable"
    detailed = await told(app, "features/detailed", query)
    odf = next(operator for operator in detailed["operators"] if operator["name"] == "odf")
    assert odf["reason"] == "cpuArchitecture"


async def test_oracle_cloud(app: ASGIApp) -> None:
    query = "openshift_version=4.18&platform_type=external&external_platform_name=oci"
    assert (await told(app, "features", query))["features"]["FULL_ISO"] == "unavailable"


async def test_detailed_features(app: ASGIApp) -> None:
    found = await told(app, "features/detailed", "openshift_version=4.18")
    operators = {operator["name"]: operator for operator in found["operators"]}
    assert set(operators) == set(OPERATORS)
    assert len(found["features"]) + len(operators) == 55
    assert operators["mtv"] == {
        "feature-support-level-id": "MTV",
        "support_level": "supported",
        "incompatibilities": ["NUTANIX_INTEGRATION", "VSPHERE_INTEGRATION"],
        "name": "mtv",
        "dependencies": ["CNV"],
    }
    vips = next(item for item in found["features"] if item["feature-support-level-id"] == "VIP_AUTO_ALLOC")
    assert (vips["support_level"], vips["reason"]) == ("unavailable", "openshiftVersion")
    named = {name for item in (*found["features"], *found["operators"]) for name in item["incompatibilities"]}
    assert named <= set(FeatureId)


async def test_architectures(app: ASGIApp) -> None:
    assert (await told(app, "architectures", "openshift_version=4.12"))["architectures"] == {
        "X86_64_ARCHITECTURE": "supported",
        "ARM64_ARCHITECTURE": "supported",
        "PPC64LE_ARCHITECTURE": "tech-preview",
        "S390X_ARCHITECTURE": "tech-preview",
        "MULTIARCH_RELEASE_IMAGE": "tech-preview",
    }


@pytest.mark.parametrize("path", PATHS)
async def test_the_version_is_required(app: ASGIApp, path: str) -> None:
    answer = await ask(app, "GET", f"{LEVELS}/{path}")
    assert (answer.status, answer.json()) == (400, {"code": 400, "message": "openshift_version in query is required"})


@pytest.mark.parametrize("path", PATHS)
async def test_a_version_that_is_none(app: ASGIApp, path: str) -> None:
    answer = await ask(app, "GET", f"{LEVELS}/{path}", query="openshift_version=newest")
    assert (answer.status, answer.json()["code"]) == (400, "400")


@pytest.mark.parametrize("path", PATHS[:2])
@pytest.mark.parametrize("query", ["cpu_architecture=sparc", "platform_type=moon"])
async def test_unknown_words(app: ASGIApp, path: str, query: str) -> None:
    answer = await ask(app, "GET", f"{LEVELS}/{path}", query=f"openshift_version=4.18&{query}")
    assert (answer.status, answer.json()["code"]) == (400, 400)
