"""A watch outlives whatever an API server, or something in its place, answers."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from firstlight.host.controller.bells import Bell
from firstlight.host.controller.kube import watching
from firstlight.host.controller.kube.watching import Watched
from firstlight.host.controller.objects import Node
from tests.host.agent.scripted import Asked, Said, document
from tests.host.controller.sites import said, site_at

pytestmark = pytest.mark.anyio
PATH = "/api/v1/nodes"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(watching, "SHORTEST_WATCH", 0.0)


def nodes(*names: str, version: str = "5") -> Said:
    listed = [{"metadata": {"name": name, "resourceVersion": version}} for name in names]
    return document({"metadata": {"resourceVersion": version}, "items": listed})


def event(kind: str, value: object) -> bytes:
    return json.dumps({"type": kind, "object": value}).encode() + b"\n"


def stream(*events: bytes) -> Said:
    return Said(body=b"".join(events))


GONE = {"kind": "Status", "code": 410, "message": "too old resource version: 1 (2)"}
NODE = {"metadata": {"name": "late", "resourceVersion": "6"}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
WRONG_WATCHES = {
    "expired": document(GONE, status=410),
    "expired-on-the-way": stream(event("ADDED", NODE), event("ERROR", GONE)),
    "failed-on-the-way": stream(event("ERROR", {"code": 500, "message": "etcd is away"})),
    "nonsense": stream(b"<html>maintenance</html>\n"),
    "no-event": stream(b'{"kind": "Status"}\n'),
    "no-text": stream(b'{"type": "\xff", "object": {}}\n'),
    "torn": Said(raw=HEAD + event("ADDED", NODE) + b'{"type": "ADD'),
    "hung-up": Said(raw=b""),
    "forbidden": document({"message": "no"}, status=403),
    "unauthorized": document({"message": "who?"}, status=401),
    "overloaded": document({"message": "later"}, status=429),
}
WRONG_LISTS = {
    "away": document({"message": "starting"}, status=503),
    "page": Said(body=b"<html></html>", headers={"Content-Type": "text/html"}),
    "hung-up": Said(raw=b""),
}


def after_trouble(trouble: dict[str, Said], *, held: asyncio.Event) -> Callable[[Asked], Said | asyncio.Future[Said]]:
    """List, watch; each goes wrong the first time if told so. From then on all is well and another node is there."""
    seen: list[str] = []

    async def hold() -> Said:
        await held.wait()
        return stream()

    def script(asked: Asked) -> Said | asyncio.Future[Said]:
        kind = "watch" if "watch=true" in asked.query else "list"
        seen.append(kind)
        if seen.count(kind) == 1 and kind in trouble:
            return trouble[kind]
        if kind == "watch":
            return asyncio.ensure_future(hold())
        return nodes("one", "two") if seen.count("list") > 1 else nodes("one")

    return script


@pytest.mark.parametrize(
    "trouble",
    [
        *(pytest.param({"watch": one}, id=f"watch-{name}") for name, one in WRONG_WATCHES.items()),
        *(pytest.param({"list": one}, id=f"list-{name}") for name, one in WRONG_LISTS.items()),
    ],
)
async def test_it_starts_over(trouble: dict[str, Said], tmp_path: Path) -> None:
    held = asyncio.Event()
    async with site_at(after_trouble(trouble, held=held), tmp_path) as (site, server):
        watched, bell = Watched(site.kube, PATH, Node, log=site.log), Bell()
        watched.wakes(bell)
        task = asyncio.create_task(watched.run())
        try:
            async with asyncio.timeout(60):
                while set(watched.items) != {"one", "two"}:
                    await bell.wait(seconds=60)
            await server.until(lambda asked: "watch=true" in asked[-1].query, seconds=60)
            assert not task.done()
            assert "Traceback" not in said(site)
            nonsense = [WRONG_WATCHES[name] for name in ("nonsense", "no-event", "no-text")]
            assert ("something else than changes" in said(site)) is (trouble.get("watch") in nonsense)
        finally:
            held.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_changes_are_taken_and_the_watch_goes_on_where_it_was(tmp_path: Path) -> None:
    held = asyncio.Event()
    follows: list[str] = []

    async def hold() -> Said:
        await held.wait()
        return stream()

    def script(asked: Asked) -> Said | asyncio.Future[Said]:
        if "watch=true" not in asked.query:
            return nodes("one")
        follows.append(asked.query)
        bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "9"}})
        unreadable = event("ADDED", {"metadata": {"name": "odd", "resourceVersion": "7"}, "status": 5})
        gone = event("DELETED", {"metadata": {"name": "one", "resourceVersion": "8"}})
        first = stream(event("ADDED", NODE), unreadable, gone, bookmark)
        return first if len(follows) == 1 else asyncio.ensure_future(hold())

    async with site_at(script, tmp_path) as (site, server):
        watched = Watched(site.kube, PATH, Node, log=site.log)
        task = asyncio.create_task(watched.run())
        try:
            await server.until(lambda asked: len(asked) == 3, seconds=60)
            assert set(watched.items) == {"late"}
            assert "resourceVersion=9" in follows[1]
        finally:
            held.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_kind_that_is_not_there_yet_is_an_empty_one(tmp_path: Path) -> None:
    async with site_at(lambda asked: document({}, status=404), tmp_path) as (site, _):
        watched, bell = Watched(site.kube, PATH, Node, log=site.log), Bell()
        watched.wakes(bell)
        task = asyncio.create_task(watched.run())
        await bell.wait(seconds=60)
        assert watched.synced
        assert watched.items == {}
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
