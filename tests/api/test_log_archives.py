"""Archives of logs in pieces: resumable, true to their digest, and in the end what one sent whole would be."""

import asyncio
import hashlib
from typing import Any, Final

import pytest

from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.usecases import log_uploads
from firstlight.server.usecases.object_names import LOG_UPLOADS, logs_object
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, event_names
from tests.api.machines import a_site
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.http.client import Answer, ask
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

HOST: Final = host_id(1)
CONTENT: Final = bytes(range(256)) * 40


class Archives:
    def __init__(self, world: World) -> None:
        self.world = world
        self._app = build_app(world, operations=operations_of(*v1.MODULES))

    async def ask(self, method: str, query: str, *, content: bytes = CONTENT, body: bytes = b"", **of: Any) -> Answer:
        place = f"/infra-envs/{of.get('infra_env', INFRA_ENV_ID)}/hosts/{of.get('host', HOST)}"
        name = of.get("sha256", hashlib.sha256(content).hexdigest())
        return await ask(self._app, method, f"/api/firstlight/v1{place}/log-archives/{name}", query=query, body=body)

    async def put(self, offset: int, body: bytes, *, content: bytes = CONTENT, **of: Any) -> Answer:
        return await self.ask("PUT", f"size={len(content)}&offset={offset}", content=content, body=body, **of)

    async def reached(self, content: bytes = CONTENT) -> dict[str, Any]:
        answer = await self.ask("GET", f"size={len(content)}", content=content)
        assert answer.status == 200, answer.body
        return dict(answer.json())

    async def waiting(self) -> int:
        return sum(blob.size for blob in await self.world.blobs.list_under(LOG_UPLOADS))


@pytest.fixture
async def archives(world: World) -> Archives:
    await put_cluster(world)
    return Archives(world)


async def test_pieces_become_what_one_upload_would(archives: Archives, world: World) -> None:
    assert await archives.reached() == {"next": 0, "complete": False}
    assert (await archives.put(0, CONTENT[:4000])).json() == {"next": 4000, "complete": False}
    assert await archives.reached() == {"next": 4000, "complete": False}
    assert (await archives.put(4000, CONTENT[4000:])).json() == {"next": len(CONTENT), "complete": True}
    assert await world.blobs.get(logs_object(CLUSTER_ID, HOST)) == CONTENT
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    [member] = [one for one in state.hosts if one.host.id == HOST]
    assert member.host.logs is not None
    assert member.host.logs_collected_at is not None
    assert "host_logs_uploaded" in await event_names(world, CLUSTER_ID)
    assert await archives.waiting() == 0
    assert await archives.reached() == {"next": len(CONTENT), "complete": True}
    assert (await archives.put(4000, CONTENT[4000:])).json()["complete"]


async def test_what_is_known_is_passed_over_and_gaps_are_not_taken(archives: Archives, world: World) -> None:
    assert (await archives.put(0, CONTENT[:1000])).json()["next"] == 1000
    assert (await archives.put(1001, CONTENT[1001:2000])).json()["next"] == 1000
    assert (await archives.put(0, CONTENT[:500])).json()["next"] == 1000
    assert (await archives.put(900, CONTENT[900:2000])).json()["next"] == 2000
    assert (await archives.put(2000, CONTENT[2000:])).json()["complete"]
    assert await world.blobs.get(logs_object(CLUSTER_ID, HOST)) == CONTENT


async def test_a_false_archive_is_refused_and_the_old_one_stays(archives: Archives, world: World) -> None:
    await world.blobs.put(logs_object(CLUSTER_ID, HOST), b"old")
    answer = await archives.put(0, CONTENT[:-1] + b"?")
    assert (answer.status, "digest" in answer.body.decode()) == (400, True)
    assert await world.blobs.get(logs_object(CLUSTER_ID, HOST)) == b"old"
    assert await archives.reached() == {"next": 0, "complete": False}
    assert (await archives.put(0, CONTENT)).json()["complete"]


async def test_a_newer_archive_takes_the_place_of_one_that_was_given_up(archives: Archives) -> None:
    await archives.put(0, CONTENT[:4000])
    other = CONTENT[::-1]
    assert (await archives.put(0, other[:10], content=other)).json()["next"] == 10
    assert await archives.waiting() == 10
    assert (await archives.reached())["next"] == 0


async def test_the_same_piece_twice_at_once_counts_once(archives: Archives, world: World) -> None:
    await asyncio.gather(*(archives.put(0, CONTENT[:4000]) for _ in range(4)))
    assert (await archives.reached())["next"] == 4000
    await asyncio.gather(*(archives.put(4000, CONTENT[4000:]) for _ in range(4)))
    assert await world.blobs.get(logs_object(CLUSTER_ID, HOST)) == CONTENT


@pytest.mark.parametrize(
    ("query", "body", "of", "status"),
    [
        (f"size={log_uploads.MOST_BYTES}&offset=0", b"x", {}, 200),
        (f"size={log_uploads.MOST_BYTES + 1}&offset=0", b"x", {}, 413),
        ("size=9999999&offset=0", bytes(log_uploads.PIECE_BYTES), {}, 200),
        ("size=9999999&offset=0", bytes(log_uploads.PIECE_BYTES + 1), {}, 413),
        ("size=4&offset=0", b"12345", {}, 400),
        ("size=4&offset=4", b"5", {}, 400),
        ("size=4&offset=-1", b"5", {}, 400),
        ("size=4", b"5", {}, 400),
        ("size=4&offset=0", b"5", {"sha256": "x" * 64}, 400),
        ("size=4&offset=0", b"5", {"sha256": "a" * 63}, 400),
        ("size=4&offset=0", b"5", {"host": UNKNOWN}, 404),
    ],
)
async def test_bounds(archives: Archives, query: str, body: bytes, of: dict[str, Any], status: int) -> None:
    assert (await archives.ask("PUT", query, body=body, **of)).status == status


async def test_hosts_of_no_cluster_have_no_place_for_logs(world: World, call: Client) -> None:
    site = await a_site(call, world)
    await site.boot()
    answer = await Archives(world).put(0, CONTENT[:4], infra_env=site.key()[0], host=site.key()[1])
    assert (answer.status, "no cluster" in answer.body.decode()) == (409, True)


async def test_what_was_begun_goes_with_the_host(archives: Archives, call: Client) -> None:
    await archives.put(0, CONTENT[:4000])
    assert await archives.waiting() == 4000
    assert (await call("DELETE", f"/infra-envs/{INFRA_ENV_ID}/hosts/{HOST}")).status == 204
    assert await archives.waiting() == 0
