"""A host by the code on its console, and the growing log of its agent: places that never move, bounded, resumable."""

import asyncio
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from firstlight.core.hosts.short_code import short_code
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.usecases import live_logs
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client
from tests.api.machines import Site, a_site
from tests.builders.moments import host_id
from tests.http.client import Answer, ask

pytestmark = pytest.mark.anyio


class Machines:
    def __init__(self, world: World, site: Site) -> None:
        self.app = build_app(world, operations=operations_of(*v1.MODULES))
        self.world = world
        self.site = site

    async def ask(self, method: str, path: str, *, query: str = "", body: bytes = b"") -> Answer:
        return await ask(self.app, method, f"/api/firstlight/v1{path}", query=query, body=body)

    def log_path(self, number: int = 1) -> str:
        return f"{self.site.path}/hosts/{host_id(number)}/log"

    async def add(self, text: bytes, offset: int | None = None) -> int:
        query = "" if offset is None else f"offset={offset}"
        answer = await self.ask("POST", self.log_path(), query=query, body=text)
        assert answer.status == 200, answer.body
        return int(answer.json()["next"])

    async def read(self, query: str = "") -> dict[str, Any]:
        answer = await self.ask("GET", self.log_path(), query=query)
        assert answer.status == 200, answer.body
        return dict(answer.json())


@pytest.fixture
async def machines(world: World, call: Client) -> Machines:
    site = await a_site(call, world)
    await site.boot()
    await site.boot(2)
    return Machines(world, site)


@pytest.mark.parametrize("typed", [lambda code: code, lambda code: f"{code[:2].lower()}-{code[2:]} "])
async def test_a_host_is_found_by_its_code(machines: Machines, typed: Any) -> None:
    code = typed(short_code(host_id(2)))
    answer = await machines.ask("GET", "/hosts", query=f"code={quote(code)}")
    assert [row["id"] for row in answer.json()["hosts"]] == [str(host_id(2))]


async def test_a_code_of_nobody_finds_nobody(machines: Machines) -> None:
    code = short_code(UUID(int=12345))
    assert (await machines.ask("GET", "/hosts", query=f"code={code}")).json() == {"hosts": []}


@pytest.mark.parametrize("code", ["", "ABC", "22222222", "2222!", "AEIOU"])
async def test_what_is_no_code_is_refused(machines: Machines, code: str) -> None:
    assert (await machines.ask("GET", "/hosts", query=f"code={code}")).status == 400


async def test_a_log_grows_and_is_read_from_any_place(machines: Machines) -> None:
    assert await machines.add(b"one\n") == 4
    assert await machines.add(b"two\n", offset=4) == 8
    assert await machines.read() == {"offset": 0, "next": 8, "end": 8, "text": "one\ntwo\n"}
    assert await machines.read("offset=4") == {"offset": 4, "next": 8, "end": 8, "text": "two\n"}
    assert await machines.read("offset=8") == {"offset": 8, "next": 8, "end": 8, "text": ""}
    assert (await machines.read("limit=4"))["text"] == "two\n"
    assert (await machines.read("offset=0&limit=4"))["next"] == 4


async def test_a_reader_may_wait_for_more(machines: Machines) -> None:
    end = await machines.add(b"one\n")
    waiting = asyncio.create_task(machines.read(f"offset={end}&wait=30"))
    await asyncio.sleep(0)
    await machines.add(b"two\n")
    assert (await waiting)["text"] == "two\n"
    assert (await machines.read(f"offset={end + 4}&wait=1"))["text"] == ""
    assert (await machines.ask("GET", machines.log_path(), query="wait=31")).status == 400


async def test_a_service_that_ends_lets_its_readers_go(machines: Machines) -> None:
    end = await machines.add(b"one\n")
    waiting = asyncio.create_task(machines.read(f"offset={end}&wait=30"))
    await asyncio.sleep(0)
    machines.world.waits.close()
    async with asyncio.timeout(15):
        assert (await waiting)["text"] == ""


async def test_what_was_sent_before_is_not_kept_twice(machines: Machines) -> None:
    await machines.add(b"one\ntwo\n")
    assert await machines.add(b"one\ntwo\nthree\n", offset=0) == 14
    assert await machines.add(b"one\n", offset=0) == 14
    assert (await machines.read("offset=0"))["text"] == "one\ntwo\nthree\n"


async def test_an_agent_that_starts_anew_goes_on_behind_its_earlier_life(machines: Machines) -> None:
    await machines.add(b"before\n")
    assert await machines.add(b"after\n") == 13
    assert (await machines.read("offset=0"))["text"] == "before\nafter\n"


async def test_a_gap_shows_in_the_numbers(machines: Machines) -> None:
    await machines.add(b"one\n")
    assert await machines.add(b"far\n", offset=100) == 104
    assert (await machines.read("offset=0"))["text"] == "one\n"
    assert await machines.read("offset=4") == {"offset": 100, "next": 104, "end": 104, "text": "far\n"}


async def test_a_log_is_bounded_and_its_pieces_are_few(machines: Machines) -> None:
    line = b"x" * 999 + b"\n"
    end = 0
    for _ in range(50):
        end = await machines.add(line * 100, offset=end)
    kept = await machines.world.blobs.list_under(live_logs.folder_of(machines.site.key()))
    size = sum(blob.size for blob in kept)
    assert live_logs.MOST_BYTES <= size <= live_logs.MOST_BYTES + 2 * len(line) * 100
    assert len(kept) <= size // live_logs.FULL_PIECE + 1
    part = await machines.read("offset=0&limit=1000")
    assert part["offset"] == end - size
    assert part["text"] == line.decode()
    for _ in range(100):
        end = await machines.add(b"short\n", offset=end)
    assert len(await machines.world.blobs.list_under(live_logs.folder_of(machines.site.key()))) <= len(kept) + 1


async def test_too_much_at_once_is_refused_and_so_are_strangers(machines: Machines) -> None:
    answer = await machines.ask("POST", machines.log_path(), body=b"x" * (live_logs.LARGEST_POST + 1))
    assert answer.status == 413
    for method in ("GET", "POST"):
        assert (await machines.ask(method, f"{machines.site.path}/hosts/{UNKNOWN}/log", body=b"x")).status == 404
    assert (await machines.ask("GET", machines.log_path(), query="offset=-1")).status == 400


async def test_logs_go_with_their_infra_env(machines: Machines, call: Client) -> None:
    await machines.add(b"one\n")
    for number in (1, 2):
        assert (await call("DELETE", machines.site.host(number))).status == 204
    assert (await call("DELETE", machines.site.path)).status == 204
    assert not await machines.world.blobs.list_under("live-logs")


async def test_a_log_goes_with_its_host(machines: Machines, call: Client) -> None:
    await machines.add(b"one\n")
    other = f"{machines.site.path}/hosts/{host_id(2)}/log"
    assert (await machines.ask("POST", other, body=b"two\n")).status == 200
    assert (await call("DELETE", machines.site.host(1))).status == 204
    assert not await machines.world.blobs.list_under(live_logs.folder_of(machines.site.key(1)))
    assert (await machines.ask("GET", other)).json()["text"] == "two\n"
    await machines.site.boot(1)
    assert (await machines.read("offset=0"))["text"] == ""
