"""Problems by cause, checking now, and waiving with a reason."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

from firstlight.core.rules import Finding, Fix, Status
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import PutFindings
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import Answer, ask
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

CLUSTER: Final = f"/api/firstlight/v1/clusters/{CLUSTER_ID}"
JSON: Final = {"content-type": "application/json"}
FIX: Final = Fix(title="Rename", method="PATCH", path="/v2/infra-envs/{infra_env_id}/hosts/{host_id}", body={})


def failing(check: str, *, category: str = "network", cause: str = "why", fixes: tuple[Fix, ...] = ()) -> Finding:
    status = Status.FAILURE
    return Finding(id=check, category=category, status=status, message="No.", cause=cause, measured_at=NOW, fixes=fixes)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        await put_cluster(made)
        await made.store.commit(
            PutFindings(
                subject=cluster_subject(CLUSTER_ID),
                findings=(
                    failing("api-vips-valid"),
                    Finding(id="pull-secret-set", category="configuration", status=Status.SUCCESS),
                ),
            ),
            *(
                PutFindings(subject=host_subject((INFRA_ENV_ID, host_id(number))), findings=found)
                for number, found in (
                    (1, (failing("ntp-synced"), failing("hostname-unique", fixes=(FIX,)))),
                    (2, (failing("ntp-synced"),)),
                    (3, (failing("ntp-synced", cause="other"),)),
                )
            ),
        )
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(*v1.MODULES))


async def problems(app: ASGIApp) -> list[dict[str, Any]]:
    return (await ask(app, "GET", f"{CLUSTER}/problems")).json()


async def send(app: ASGIApp, method: str, path: str, body: object) -> Answer:
    return await ask(app, method, CLUSTER + path, body=json.dumps(body).encode(), headers=JSON)


async def test_problems_are_told_by_cause_the_urgent_first(app: ASGIApp) -> None:
    found = await problems(app)
    told = [(one["check"], one["scope"], one["cause"], one["count"], one["blocking"]) for one in found]
    assert told == [
        ("hostname-unique", "host", "why", 1, True),
        ("api-vips-valid", "cluster", "why", 1, True),
        ("ntp-synced", "host", "why", 2, False),
        ("ntp-synced", "host", "other", 1, False),
    ]
    assert [one["waivable"] for one in found] == [False, True, True, True]


async def test_a_fix_is_ready_to_be_sent(app: ASGIApp) -> None:
    (case,) = (await problems(app))[0]["cases"]
    path = f"/api/assisted-install/v2/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(1)}"
    assert case["fixes"] == [{"title": "Rename", "method": "PATCH", "path": path, "body": {}}]
    assert case["host_id"] == str(host_id(1))


async def test_waived_for_a_reason_and_back(app: ASGIApp, world: World) -> None:
    assert (
        await send(app, "PUT", "/waivers/host/ntp-synced", {"reason": " The lab has its own clock. "})
    ).status == 204
    cluster = await world.store.cluster(CLUSTER_ID)
    assert cluster is not None
    assert cluster.ignored_host_validations == ("ntp-synced",)
    assert cluster.waiver_reasons == {"ntp-synced": "The lab has its own clock."}
    (told,) = [event for event in await world.store.events_after(0, limit=50) if event.name == "cluster_updated"]
    assert told.after is not None
    assert told.after["waiver_reasons"] == {"ntp-synced": "The lab has its own clock."}
    assert (await ask(app, "DELETE", f"{CLUSTER}/waivers/host/ntp-synced")).status == 204
    cluster = await world.store.cluster(CLUSTER_ID)
    assert cluster is not None
    assert (cluster.ignored_host_validations, cluster.waiver_reasons) == ((), {})


@pytest.mark.parametrize(
    ("path", "reason", "status"),
    [
        ("/waivers/host/hostname-unique", "because", 400),
        ("/waivers/cluster/pull-secret-set", "because", 400),
        ("/waivers/host/ntp-synced", "  ", 400),
        ("/waivers/host/ntp-synced", "x" * 501, 400),
        ("/waivers/rack/ntp-synced", "because", 404),
    ],
)
async def test_what_cannot_be_waived(app: ASGIApp, path: str, reason: str, status: int) -> None:
    assert (await send(app, "PUT", path, {"reason": reason})).status == status


async def test_check_now_asks_the_hosts_named(app: ASGIApp, world: World) -> None:
    key = (INFRA_ENV_ID, host_id(1))
    asked_before = world.sessions.issued(key, since=0)
    answer = await send(app, "POST", "/actions/check", {"check": "ntp-synced", "host_ids": [str(host_id(1))]})
    assert (answer.status, answer.json()) == (202, {"hosts": 1})
    # What the agent was asked before is void, so its next call is asked everything anew.
    assert world.sessions.issued(key, since=0) is not asked_before
    assert (await send(app, "POST", "/actions/check", {})).json() == {"hosts": 3}
    due = await world.store.next_due_at()
    assert due is not None
    assert due <= world.clock.now()


async def test_an_unknown_cluster(app: ASGIApp) -> None:
    assert (await ask(app, "GET", f"/api/firstlight/v1/clusters/{UNKNOWN}/problems")).status == 404
