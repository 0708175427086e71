"""Operators on offer and their bundles."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from starlette.types import ASGIApp

from firstlight.core.operators.catalogue import OPERATORS
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.http.v2 import operators
from tests.http.client import ask
from tests.worlds import a_world

pytestmark = pytest.mark.anyio

V2: Final = "/api/assisted-install/v2"
BUNDLES: Final = f"{V2}/operators/bundles"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[ASGIApp]:
    async with a_world(tmp_path) as world:
        yield build_app(world, operations=operations_of(operators))


async def test_names(app: ASGIApp) -> None:
    answer = await ask(app, "GET", f"{V2}/supported-operators")
    assert answer.status == 200
    assert answer.json() == sorted(OPERATORS)
    assert len(answer.json()) == 28


@pytest.mark.parametrize("name", [*OPERATORS, "ocs"])
async def test_no_operator_has_settings(app: ASGIApp, name: str) -> None:
    answer = await ask(app, "GET", f"{V2}/supported-operators/{name}")
    assert (answer.status, answer.json()) == (200, [])


@pytest.mark.parametrize("name", ["nothing", "LSO", "%20", "lso%00"])
async def test_an_unknown_operator_is_answered_without_words(app: ASGIApp, name: str) -> None:
    answer = await ask(app, "GET", f"{V2}/supported-operators/{name}")
    assert (answer.status, answer.body) == (404, b"")


async def bundles(app: ASGIApp, query: str = "") -> dict[str, dict[str, list[str]]]:
    answer = await ask(app, "GET", BUNDLES, query=query)
    assert answer.status == 200
    return {bundle["id"]: bundle for bundle in answer.json()}


async def test_all_bundles(app: ASGIApp) -> None:
    found = await bundles(app)
    assert list(found) == ["virtualization", "openshift-ai"]
    virtualization, intelligence = found.values()
    assert virtualization["title"] == "Virtualization"
    assert {"cnv", "mtv", "nmstate", "metallb"} <= set(virtualization["operators"])
    assert virtualization["operators"] == sorted(virtualization["operators"])
    assert virtualization["optional_operators"] == []
    assert intelligence["optional_operators"] == ["amd-gpu", "nvidia-gpu"]
    assert "odf" in intelligence["operators"]


async def test_bundles_of_a_single_node(app: ASGIApp) -> None:
    intelligence = (await bundles(app, "feature_ids=SNO"))["openshift-ai"]
    assert "lvm" in intelligence["operators"]
    assert "odf" not in intelligence["operators"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("openshift_version=4.18", {"virtualization", "openshift-ai"}, id="new-version"),
        pytest.param("openshift_version=4.18.3-multi", {"virtualization", "openshift-ai"}, id="full-version"),
        pytest.param("openshift_version=4.16", {"openshift-ai"}, id="before-logging-existed"),
        pytest.param("openshift_version=4.11", set(), id="old-version"),
        pytest.param("openshift_version=4.18&cpu_architecture=arm64", set(), id="arm"),
        pytest.param("openshift_version=4.18&cpu_architecture=aarch64", set(), id="arm-by-its-other-name"),
        pytest.param("openshift_version=4.18&platform_type=baremetal", {"virtualization", "openshift-ai"}, id="metal"),
        pytest.param("openshift_version=4.18&platform_type=vsphere", {"openshift-ai"}, id="vsphere"),
        pytest.param("openshift_version=4.18&platform_type=external&external_platform_name=oci", set(), id="oracle"),
        pytest.param("cpu_architecture=s390x", {"virtualization", "openshift-ai"}, id="no-version-no-filter"),
    ],
)
async def test_bundles_for_a_cluster(app: ASGIApp, query: str, expected: set[str]) -> None:
    assert set(await bundles(app, query)) == expected


@pytest.mark.parametrize(
    "query",
    [
        "openshift_version=new",
        "openshift_version=4.18&cpu_architecture=sparc",
        "openshift_version=4.18&platform_type=moon",
        "feature_ids=TNA",
    ],
)
async def test_malformed_questions(app: ASGIApp, query: str) -> None:
    assert (await ask(app, "GET", BUNDLES, query=query)).status == 400


async def test_one_bundle(app: ASGIApp) -> None:
    whole = await ask(app, "GET", f"{BUNDLES}/openshift-ai")
    assert whole.status == 200
    assert whole.json() == (await bundles(app))["openshift-ai"]
    single = await ask(app, "GET", f"{BUNDLES}/openshift-ai", query="feature_ids=SNO")
    assert "lvm" in single.json()["operators"]


async def test_an_unknown_bundle(app: ASGIApp) -> None:
    answer = await ask(app, "GET", f"{BUNDLES}/toolbox")
    assert (answer.status, answer.json()["code"], answer.json()["kind"]) == (404, "404", "Error")
    assert "virtualization" in answer.json()["reason"]
    assert (await ask(app, "GET", f"{BUNDLES}/openshift-ai", query="feature_ids=TNA")).status == 400
