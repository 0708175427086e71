"""Our own API beside the stream: what the service is, findings in full, lasting operations."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from uuid import UUID

import pytest
from starlette.types import ASGIApp

from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import Recorded
from firstlight.core.rules import Finding, Fix, Status
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import AddEvents, DeleteHost, PutFindings, PutOperation
from firstlight.server.usecases.about import is_loopback, warnings
from firstlight.server.usecases.world import ServiceFacts, World
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, NOW, host_id
from tests.http.client import ask
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

V1: Final = "/api/firstlight/v1"
OTHER: Final = UUID("c0000000-0000-4000-8000-000000000009")
OPERATION: Final = UUID("d0000000-0000-4000-8000-000000000001")
FAR: Final = {"service_url": "https://hub.example.com", "image_service_url": "https://images.example.com"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        await put_cluster(made)
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(*v1.MODULES))


# --- about


async def test_about(world: World, app: ASGIApp) -> None:
    await world.store.commit(DeleteHost(key=(INFRA_ENV_ID, host_id(3)), at=NOW))
    told = Recorded(event_time=NOW, severity=Severity.INFO, message="x")
    await world.store.commit(AddEvents(events=(told, told)))
    answer = await ask(app, "GET", f"{V1}/about")
    assert answer.status == 200
    found = answer.json()
    assert {warning["code"] for warning in found.pop("warnings")} == {
        "service-unreachable-for-hosts",
        "images-unreachable-for-hosts",
    }
    assert found == {
        "version": "0.1.0",
        "release_tag": "",
        "auth_type": "none",
        "service_url": "http://127.0.0.1:8090",
        "image_service_url": "http://127.0.0.1:8888",
        "storage": {"database": "sqlite", "files": "folder"},
        "counts": {"clusters": 1, "infra_envs": 1, "hosts": 2},
        "last_event": 2,
    }


@pytest.mark.parametrize(
    ("facts", "codes"),
    [
        pytest.param(FAR, set(), id="loopback-behind-a-proxy"),
        pytest.param(FAR | {"listen": "0.0.0.0:8090"}, {"open-to-everybody"}, id="every-interface"),
        pytest.param(FAR | {"listen": ":8090"}, {"open-to-everybody"}, id="empty-host-is-every-interface"),
        pytest.param(FAR | {"listen": "[::]:8090"}, {"open-to-everybody"}, id="every-ipv6-interface"),
        pytest.param(FAR | {"listen": "192.0.2.1:8090"}, {"open-to-everybody"}, id="one-interface"),
        pytest.param(FAR | {"listen": "[::1]:8090"}, set(), id="ipv6-loopback"),
        pytest.param(FAR | {"listen": "0.0.0.0:8090", "auth_type": "local"}, set(), id="with-a-login"),
        pytest.param(
            FAR | {"image_service_url": "http://localhost:8888"},
            {"images-unreachable-for-hosts"},
            id="images-only-here",
        ),
        pytest.param(
            FAR | {"image_service_url": "http://localhost:8888", "image_service": False}, set(), id="no-images-at-all"
        ),
        pytest.param(
            FAR | {"service_url": "http://[::1]:8090"}, {"service-unreachable-for-hosts"}, id="service-only-here"
        ),
    ],
)
def test_warnings(facts: dict[str, object], codes: set[str]) -> None:
    found = tuple(warnings(ServiceFacts(**facts)))  # pyright: ignore[reportArgumentType]
    assert {warning.code for warning in found} == codes
    assert all(warning.setting.startswith("FIRSTLIGHT_") and warning.message.endswith(".") for warning in found)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((name, True) for name in ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "LOCALHOST", "a.localhost")),
        *((name, False) for name in ("128.0.0.1", "localhost.example.com", "", "hub", "::2")),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


# --- findings

ON_CLUSTER: Final = Finding(
    id="api-vips-defined",
    category="network",
    status=Status.FAILURE,
    message="No VIP.",
    cause="missing",
    evidence={"networks": ["192.0.2.0/24"], "free": 3},
    measured_at=EARLIER,
    fixes=(Fix(title="Use it", method="PATCH", path="/v2/clusters/{cluster_id}", body={"api_vips": [{"ip": "a"}]}),),
)
ON_HOST: Final = Finding(
    id="hostname-unique",
    category="network",
    status=Status.FAILURE,
    message="Twice.",
    fixes=(
        Fix(title="Rename", method="PATCH", path="/v2/infra-envs/{infra_env_id}/hosts/{host_id}"),
        Fix(title="Wait", method="PATCH", path="/v2/clusters/{cluster_id}", body={}),
    ),
)
FINE: Final = Finding(id="fine", category="hardware", status=Status.SUCCESS, message="Good.")
HIDDEN: Final = Finding(id="hidden", category="hardware", status=Status.SUPPRESSED)
HOST: Final = f"{V1}/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(1)}/findings"


async def test_cluster_findings(world: World, app: ASGIApp) -> None:
    findings = PutFindings(subject=cluster_subject(CLUSTER_ID), findings=(FINE, ON_CLUSTER, HIDDEN))
    await world.store.commit(findings)
    answer = await ask(app, "GET", f"{V1}/clusters/{CLUSTER_ID}/findings")
    assert answer.status == 200
    fine, failing = answer.json()
    assert fine["id"] == "fine"
    assert failing == {
        "id": "api-vips-defined",
        "category": "network",
        "status": "failure",
        "message": "No VIP.",
        "cause": "missing",
        "evidence": {"networks": ["192.0.2.0/24"], "free": 3},
        "next_check": None,
        "measured_at": "2025-06-01T11:59:00Z",
        "fixes": [
            {
                "title": "Use it",
                "method": "PATCH",
                "path": f"/api/assisted-install/v2/clusters/{CLUSTER_ID}",
                "body": {"api_vips": [{"ip": "a"}]},
            }
        ],
    }
    chosen = await ask(app, "GET", f"{V1}/clusters/{CLUSTER_ID}/findings", query="status=failure,error")
    assert [finding["id"] for finding in chosen.json()] == ["api-vips-defined"]


async def test_host_findings(world: World, app: ASGIApp) -> None:
    key = (INFRA_ENV_ID, host_id(1))
    await world.store.commit(PutFindings(subject=host_subject(key), findings=(FINE, HIDDEN, ON_HOST)))
    answer = await ask(app, "GET", HOST)
    assert answer.status == 200
    assert [finding["id"] for finding in answer.json()] == ["fine", "hostname-unique"]
    assert [fix["path"] for fix in answer.json()[1]["fixes"]] == [
        f"/api/assisted-install/v2/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(1)}",
        f"/api/assisted-install/v2/clusters/{CLUSTER_ID}",
    ]
    assert (await ask(app, "GET", HOST, query="status=pending")).json() == []


@pytest.mark.parametrize(
    "path",
    [
        f"clusters/{OTHER}/findings",
        f"clusters/{OTHER}/operations",
        f"infra-envs/{INFRA_ENV_ID}/hosts/{OTHER}/findings",
        f"infra-envs/{OTHER}/hosts/{host_id(1)}/findings",
    ],
)
async def test_about_nothing_known(app: ASGIApp, path: str) -> None:
    answer = await ask(app, "GET", f"{V1}/{path}")
    assert (answer.status, answer.json()["code"]) == (404, "404")
    assert str(OTHER) in answer.json()["reason"]


async def test_malformed_questions(app: ASGIApp) -> None:
    assert (await ask(app, "GET", HOST, query="status=odd")).status == 400
    assert (await ask(app, "GET", f"{V1}/clusters/x/findings")).status == 400


# --- lasting operations


async def test_operations(world: World, app: ASGIApp) -> None:
    path = f"{V1}/clusters/{CLUSTER_ID}/operations"
    assert (await ask(app, "GET", path)).json() == []
    row = OperationRow(
        id=OPERATION,
        kind="prepare-installation",
        subject=cluster_subject(CLUSTER_ID),
        attempt=2,
        state="running",
        progress="Making keys.",
        owner="replica-1",
        created_at=EARLIER,
        updated_at=NOW,
    )
    await world.store.commit(PutOperation(operation=row, expect_epoch=None))
    (found,) = (await ask(app, "GET", path)).json()
    assert found == {
        "id": str(OPERATION),
        "kind": "prepare-installation",
        "attempt": 2,
        "state": "running",
        "progress": "Making keys.",
        "created_at": "2025-06-01T11:59:00Z",
        "updated_at": "2025-06-01T12:00:00Z",
        "heartbeat_at": None,
    }


def test_every_operation_of_our_own_is_told_and_no_other() -> None:
    """The page names methods and paths in the first column of its table."""
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    told: set[tuple[str, str]] = set()
    for row in re.findall(r"^\| (`(?:GET|POST|PUT|DELETE)[^|]*) \|", page, re.MULTILINE):
        methods: list[str] = []
        for part in re.findall(r"`([^`]*)`", row):
            method, _, path = part.partition(" ")
            methods.append(method)
            if path:
                told |= {(each, path.partition("?")[0]) for each in methods}
                methods = []
    served = operations_of(*v1.MODULES)
    assert told == {(one.method, one.path.removeprefix("/v1").replace(":uuid", "")) for one in served}
