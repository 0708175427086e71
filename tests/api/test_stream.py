"""The stream over HTTP: its form, resuming, filters, heartbeats, and its end when the caller goes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp, Message

from firstlight.core.events.event import Category, Severity
from firstlight.core.events.recorded import Recorded
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.http.v1 import events
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.stream import follow
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import ask
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

STREAM: Final = "/api/firstlight/v1/events"
OTHER: Final = UUID("c0000000-0000-4000-8000-000000000009")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        await put_cluster(made)
        running = asyncio.create_task(made.broadcast.run(made.store))
        yield made
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(events))


def an_event(**changes: Any) -> Recorded:
    event = Recorded(event_time=NOW, name="cluster_updated", severity=Severity.INFO, message="It changed.")
    return replace(event, **({"cluster_id": CLUSTER_ID} | changes))


async def keep(world: World, *kept: Recorded) -> None:
    await world.store.commit(AddEvents(events=kept))


class Listener:
    """A browser, more or less: it splits what it hears at empty lines."""

    def __init__(self) -> None:
        self.heard = b""
        self.start: Message = {}
        self.more = asyncio.Event()
        self.gone = asyncio.Event()

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        self.heard += message.get("body", b"")
        self.more.set()

    @property
    def blocks(self) -> list[dict[str, str]]:
        """What was heard after the greeting."""
        whole = self.heard.decode().split("\n\n")[1:-1]
        return [dict(line.split(": ", 1) for line in block.split("\n")) for block in whole]

    async def until(self, count: int) -> list[dict[str, str]]:
        async with asyncio.timeout(60):
            while len(self.blocks) < count:
                self.more.clear()
                await self.more.wait()
        return self.blocks


@asynccontextmanager
async def listening(app: ASGIApp, query: str = "", headers: dict[str, str] | None = None) -> AsyncIterator[Listener]:
    listener = Listener()
    scope = {
        "type": "http",
        "method": "GET",
        "path": STREAM,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
    }
    task = asyncio.create_task(_serve(app, scope, listener))
    async with asyncio.timeout(60):
        while b"\n\n" not in listener.heard:
            listener.more.clear()
            await listener.more.wait()
    try:
        yield listener
    finally:
        listener.gone.set()
        await asyncio.wait_for(task, 60)


async def _serve(app: ASGIApp, scope: dict[str, Any], listener: Listener) -> None:
    await app(scope, listener.receive, listener.send)


async def test_the_form_of_an_event(world: World, app: ASGIApp) -> None:
    async with listening(app) as listener:
        assert listener.start["status"] == 200
        headers = dict(listener.start["headers"])
        assert headers[b"content-type"] == b"text/event-stream"
        assert (headers[b"cache-control"], headers[b"x-accel-buffering"]) == (b"no-store", b"no")
        assert listener.heard == b"retry: 2000\nid: 0\n\n"
        await keep(
            world,
            an_event(
                category=Category.CHANGE,
                host_id=host_id(1),
                infra_env_id=INFRA_ENV_ID,
                actor="admin",
                before={"name": "a"},
                after={"name": "b\n\ndata: x"},
            ),
        )
        (block,) = await listener.until(1)
    assert (block["id"], block["event"]) == ("1", "cluster_updated")
    assert json.loads(block["data"]) == {
        "seq": 1,
        "event_time": "2025-06-01T12:00:00Z",
        "name": "cluster_updated",
        "severity": "info",
        "category": "change",
        "message": "It changed.",
        "cluster_id": str(CLUSTER_ID),
        "host_id": str(host_id(1)),
        "infra_env_id": str(INFRA_ENV_ID),
        "actor": "admin",
        "before": {"name": "a"},
        "after": {"name": "b\n\ndata: x"},
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [("host_status_updated", "host_status_updated"), ("", "change"), ("a\nid: 99", "change"), ("ü", "change")],
)
async def test_names_cannot_leave_their_line(world: World, app: ASGIApp, name: str, shown: str) -> None:
    await keep(world, an_event(name=name))
    async with listening(app, "last_event_id=0") as listener:
        (block,) = await listener.until(1)
    assert (block["event"], block["id"]) == (shown, "1")


@pytest.mark.parametrize(
    ("query", "headers", "expected"),
    [
        pytest.param("", {}, ["4"], id="from-now-on"),
        pytest.param("last_event_id=0", {}, ["1", "2", "3", "4"], id="from-the-beginning"),
        pytest.param("last_event_id=2", {}, ["3", "4"], id="query"),
        pytest.param("", {"last-event-id": "1"}, ["2", "3", "4"], id="header"),
        pytest.param("last_event_id=0", {"last-event-id": "2"}, ["3", "4"], id="header-beats-query"),
        pytest.param("last_event_id=900", {}, ["4"], id="number-of-another-database"),
    ],
)
async def test_where_it_begins(
    world: World, app: ASGIApp, query: str, headers: dict[str, str], expected: list[str]
) -> None:
    await keep(world, an_event(), an_event(), an_event())
    async with listening(app, query, headers) as listener:
        await keep(world, an_event())
        assert [block["id"] for block in await listener.until(len(expected))] == expected


async def test_a_caller_who_is_cut_off_misses_nothing(world: World, app: ASGIApp) -> None:
    seen: list[str] = []
    last = "0"
    for round_ in range(5):
        async with listening(app, headers={"last-event-id": last}) as listener:
            await keep(world, an_event(), an_event())
            blocks = await listener.until(1 if round_ < 4 else 2)
            seen.extend(block["id"] for block in blocks)
            last = seen[-1]
        await keep(world, an_event())
    async with listening(app, headers={"last-event-id": last}) as listener:
        newest = await world.store.last_event_seq()
        seen.extend(block["id"] for block in await listener.until(newest - int(last)))
    assert seen == [str(number) for number in range(1, newest + 1)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(f"cluster_id={CLUSTER_ID}", ["1", "3", "4"], id="cluster"),
        pytest.param(f"infra_env_id={INFRA_ENV_ID}", ["2", "3"], id="infra-env"),
        pytest.param(f"cluster_id={CLUSTER_ID}&infra_env_id={INFRA_ENV_ID}", ["3"], id="both"),
        pytest.param("about=infra-env", ["2", "3"], id="about-infra-envs"),
        pytest.param(f"about=infra-env,host&cluster_id={CLUSTER_ID}", ["3"], id="about-two-kinds-of-one-cluster"),
    ],
)
async def test_filters(world: World, app: ASGIApp, query: str, expected: list[str]) -> None:
    await keep(world, an_event(), an_event(cluster_id=None, infra_env_id=INFRA_ENV_ID))
    async with listening(app, f"{query}&last_event_id=0") as listener:
        await keep(world, an_event(infra_env_id=INFRA_ENV_ID), an_event(), an_event(cluster_id=OTHER))
        assert [block["id"] for block in await listener.until(len(expected))] == expected


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        pytest.param(f"cluster_id={OTHER}", {}, 404, id="unknown-cluster"),
        pytest.param("cluster_id=x", {}, 400, id="no-uuid"),
        pytest.param("about=infra-env,planet", {}, 400, id="no-such-kind"),
        pytest.param("last_event_id=x", {}, 400, id="no-number"),
        pytest.param("last_event_id=-1", {}, 400, id="negative"),
        pytest.param("", {"last-event-id": "abc"}, 400, id="header-no-number"),
        pytest.param("", {"last-event-id": "-1"}, 400, id="header-negative"),
        pytest.param("", {"last-event-id": "9" * 30}, 400, id="header-too-large"),
    ],
)
async def test_refusals(app: ASGIApp, query: str, headers: dict[str, str], status: int) -> None:
    assert (await ask(app, "GET", STREAM, query=query, headers=headers)).status == status


async def test_the_stream_ends_when_the_service_does(world: World, app: ASGIApp) -> None:
    listener = Listener()
    scope = {"type": "http", "method": "GET", "path": STREAM, "query_string": b"", "headers": []}
    task = asyncio.create_task(_serve(app, scope, listener))
    while not listener.heard:
        await asyncio.sleep(0.001)
    world.broadcast.close()
    await asyncio.wait_for(task, 60)


async def test_a_heartbeat_is_a_comment_with_the_place_to_go_on_from(
    world: World, app: ASGIApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "__kwdefaults__", {**follow.__kwdefaults__, "heartbeat": 0.01})
    await keep(world, an_event(), an_event())
    async with listening(app, "about=infra-env&last_event_id=0") as listener:
        blocks = await listener.until(1)
    assert blocks[0] == {"": "still here", "id": "2"}
