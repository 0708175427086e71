"""Speaking to the whole v2 API in-process, as a client would."""

import json
from typing import Any, Final
from uuid import UUID

import msgspec
from starlette.types import ASGIApp

from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.reports import ReportKind
from firstlight.core.roles import key_of
from firstlight.server.http import v2
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.ports.writes import PutReport
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.world import World
from tests.http.client import Answer, ask
from tests.worlds import put_cluster

UNKNOWN: Final = UUID("dddddddd-0000-4000-8000-000000000000")
PULL_SECRET: Final = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'


def an_app(world: World, *, caller: Caller | None = None) -> ASGIApp:
    """With `caller`, that is who asks; without, everybody is the administrator."""

    async def known(*_: object) -> Caller:
        assert caller is not None
        return caller

    operations = operations_of(*v2.MODULES)
    return build_app(world, operations=operations, authenticate=None if caller is None else known)


class Client:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, method: str, path: str, body: object = None, *, query: str = "", **headers: str) -> Answer:
        """`path` follows `/v2`; a body is sent as JSON. Underscores in header names stay."""
        content = b"" if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if content else {}
        return await ask(
            self._app,
            method,
            f"/api/assisted-install/v2{path}",
            query=query,
            body=content,
            headers=sent | {name.replace("if_none_match", "if-none-match"): value for name, value in headers.items()},
        )


def reason(answer: Answer, status: int) -> str:
    """The text of a refusal by a handler, whose whole form is checked."""
    document = answer.json()
    assert answer.status == status
    assert document == {
        "code": str(status),
        "href": "",
        "id": status,
        "kind": "Error",
        "reason": document["reason"],
    }
    return document["reason"]


async def ready_cluster(world: World, state: ClusterState | None = None, **changes: Any) -> ClusterState:
    """A stored cluster whose hosts' inventories can be shown."""
    stored = await put_cluster(world, state, **changes)
    for number, host in enumerate(stored.hosts, start=1):
        known = await world.store.presence(key_of(host))
        assert known is not None
        raw = json.dumps({"hostname": f"host-{number}"}).encode()
        await world.store.commit(
            PutReport(
                key=key_of(host),
                kind=ReportKind.INVENTORY,
                digest=known.digests[ReportKind.INVENTORY],
                facts=msgspec.json.encode(host.reports.inventory),
                raw=raw,
                measured_at=host.reports.measured_at[ReportKind.INVENTORY],
            )
        )
    found = await world.store.cluster_state(stored.cluster.id)
    assert found is not None
    return found


async def event_names(world: World, cluster_id: UUID) -> list[str]:
    """Everything told about a cluster, in order, changes of our own included."""
    return [event.name for event in await world.store.events_after(0, limit=1000, cluster_id=cluster_id)]
