"""Polls that wait: answered when there is something to do, ended when nobody needs them, and nobody else's concern."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import Message
from uvicorn.server import ServerState

from firstlight.core.hosts.short_code import short_code
from firstlight.server.http.listener import Listener
from firstlight.server.ports.subjects import host_subject
from firstlight.server.service import service
from firstlight.server.settings import Settings
from firstlight.server.usecases import waiting
from firstlight.server.usecases.waits import Waits
from firstlight.server.usecases.world import World
from tests.api.calling import Client, an_app
from tests.api.machines import SYNCED, Site, a_document, a_site
from tests.builders.moments import host_id
from tests.http.client import Answer, ask
from tests.worlds import SetClock, a_world

pytestmark = pytest.mark.anyio

PATIENCE = 0.8 * waiting.WAIT_SECONDS
"""Shorter than a poll waits: what comes within it did not come by the poll's end."""


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def world(tmp_path: Path, clock: SetClock, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, clock=clock) as made:
        yield made


@pytest.fixture
async def site(world: World) -> Site:
    """A machine of the pool that has nothing to do: it was asked everything and has answered."""
    site = await a_site(Client(an_app(world)), world)
    await site.known()
    assert types_in(await site.poll()) == ["inventory", "ntp-synchronizer"]
    for step, output in (("inventory", a_document(1)), ("ntp-synchronizer", SYNCED)):
        assert (await site.reply(step, output)).status == 204
    return site


def types_in(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.body
    return [step["step_type"] for step in answer.json()["instructions"]]


async def parked(world: World, polling: asyncio.Task[Answer], *, count: int = 1) -> None:
    """Until this many polls wait; the task must not have been answered before."""
    async with asyncio.timeout(PATIENCE):
        while world.waits.count != count:
            assert not polling.done(), polling.result()
            await asyncio.sleep(0)
        await asyncio.sleep(0)


def waiting_poll(site: Site, seconds: int = 25) -> "asyncio.Task[Answer]":
    return asyncio.ensure_future(site.poll(query=f"wait={seconds}"))


async def test_the_registration_offers_it_with_a_code(site: Site) -> None:
    offer = (await site.boot()).json()["firstlight"]
    assert offer == {
        "wait_seconds": 25,
        "live_log": True,
        "log_piece_bytes": 2**20,
        "short_code": short_code(host_id(1)),
    }


async def test_what_is_due_is_answered_at_once_with_what_the_service_thinks(site: Site, clock: SetClock) -> None:
    clock.forward(timedelta(seconds=60))
    answer = await asyncio.wait_for(waiting_poll(site), PATIENCE)
    assert types_in(answer) == ["inventory", "ntp-synchronizer"]
    standing = answer.json()["firstlight"]
    assert (standing["status"], standing["name"]) == ("known-unbound", "host-1")


async def test_who_does_not_wait_gets_what_agents_always_got(site: Site) -> None:
    assert set((await site.poll()).json()) == {"instructions", "next_instruction_seconds", "post_step_action"}


async def test_a_change_of_the_plan_wakes_the_poll(site: Site, world: World) -> None:
    polling = waiting_poll(site)
    await parked(world, polling)
    assert (await site.boot()).status == 201
    world.waits.wake(host_subject(site.key()))
    assert types_in(await asyncio.wait_for(polling, PATIENCE)) == ["inventory", "ntp-synchronizer"]
    assert world.waits.count == 0


async def test_a_notice_without_a_new_plan_lets_it_wait_on(site: Site, world: World) -> None:
    polling = waiting_poll(site)
    await parked(world, polling)
    for wake in (lambda: world.waits.wake(host_subject(site.key())), world.waits.wake_all):
        wake()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not polling.done()
    world.waits.close()
    assert types_in(await asyncio.wait_for(polling, PATIENCE)) == []


async def test_what_the_agent_knows_of_itself_is_kept_true(site: Site, world: World) -> None:
    polling = waiting_poll(site, seconds=1)
    known = (await asyncio.wait_for(polling, PATIENCE)).json()["firstlight"]
    polling = asyncio.ensure_future(site.poll(query=f"wait=25&seen={known['digest']}"))
    await parked(world, polling)
    assert (await site.call("PATCH", site.host(), {"host_name": "renamed"})).status == 201
    world.sessions.forget_all()
    world.waits.wake_all()
    told = (await asyncio.wait_for(polling, PATIENCE)).json()["firstlight"]
    assert told["name"] == "renamed"
    assert told["digest"] != known["digest"]


async def test_after_its_time_it_is_answered_with_nothing(site: Site) -> None:
    assert types_in(await asyncio.wait_for(waiting_poll(site, seconds=1), PATIENCE)) == []


async def test_a_failed_step_is_asked_for_again_but_not_at_once(world: World, clock: SetClock) -> None:
    site = await a_site(Client(an_app(world)), world)
    await site.boot()
    assert "inventory" in types_in(await site.poll())
    polling = waiting_poll(site)
    await parked(world, polling)
    assert (await site.reply("inventory", exit_code=1, error="no tools")).status == 204
    for _ in range(20):
        await asyncio.sleep(0)
    assert not polling.done()
    clock.forward(timedelta(seconds=2))
    world.waits.wake(host_subject(site.key()))
    assert types_in(await asyncio.wait_for(polling, PATIENCE)) == ["inventory"]


async def test_whoever_hangs_up_frees_the_place(site: Site, world: World) -> None:
    hang_up = asyncio.Event()

    async def receive() -> Message:
        await hang_up.wait()
        return {"type": "http.disconnect"}

    path = f"/api/assisted-install/v2{site.host()}/instructions"
    polling = asyncio.ensure_future(ask(an_app(world), "GET", path, query="wait=25", receive=receive))
    await parked(world, polling)
    hang_up.set()
    with pytest.raises(IndexError):  # nothing was sent
        await asyncio.wait_for(polling, PATIENCE)
    assert world.waits.count == 0


async def test_whoever_hangs_up_a_real_line_frees_the_place_and_no_task_watched_it(site: Site, world: World) -> None:
    state = ServerState()
    config = uvicorn.Config(an_app(world), http=Listener, lifespan="off", log_config=None)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Listener(config, state, {}), "127.0.0.1")
    try:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        before = len(asyncio.all_tasks())
        path = f"/api/assisted-install/v2{site.host()}/instructions?wait=25"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await until_count(world, 1)
        assert len(asyncio.all_tasks()) == before + 1
        writer.close()
        await until_count(world, 0)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*state.tasks)
    finally:
        server.close()


async def until_count(world: World, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while world.waits.count != count:
            await asyncio.sleep(0.01)


async def test_a_newer_poll_replaces_the_older_which_is_told_nothing(site: Site, world: World, clock: SetClock) -> None:
    older = waiting_poll(site)
    await parked(world, older)
    clock.forward(timedelta(seconds=60))
    newer = waiting_poll(site)
    assert types_in(await asyncio.wait_for(newer, PATIENCE)) == ["inventory", "ntp-synchronizer"]
    assert types_in(await asyncio.wait_for(older, PATIENCE)) == []


async def test_beyond_the_bound_polls_do_not_wait(site: Site, world: World) -> None:
    polling = waiting_poll(site)
    await parked(world, polling)
    world.waits._most = 1
    assert not world.waits.open
    await site.boot(2)
    await site.poll(2)
    answer = await asyncio.wait_for(asyncio.ensure_future(site.poll(2, query="wait=25")), PATIENCE)
    assert types_in(answer) == []
    world.waits.close()
    await polling


async def test_a_second_wait_in_a_row_is_no_news_to_the_database(
    site: Site, world: World, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    check_in = world.store.check_in

    async def counting(batch: Any) -> None:
        written.append(len(batch))
        await check_in(batch)

    async def wait_once() -> int:
        await site.poll(query="wait=1")
        await world.check_ins.flush()
        clock.forward(timedelta(seconds=25))
        return written[-1]

    await world.check_ins.flush()
    monkeypatch.setattr(world.store, "check_in", counting)
    assert [await wait_once() for _ in range(5)] == [0, 0, 1, 0, 1]


def test_tickets_leave_nothing_behind() -> None:
    async def use() -> None:
        waits = Waits()
        key = (host_id(1), host_id(2))
        with waits.joined(key, "cluster:a") as ticket, waits.joined(key, "cluster:a") as second:
            assert ticket.replaced
            assert not second.replaced
            assert waits.count == 2
        assert waits.count == 0
        assert not waits._by_subject

    asyncio.run(use())


async def test_the_running_service_answers_as_soon_as_it_has_decided(tmp_path: Path) -> None:
    """Everything real but the socket: the reply to one step makes the engine plan others, and the poll hears of it."""
    settings = Settings.model_construct(**Settings(data_dir=tmp_path).model_dump())
    async with service(settings, environment={}) as running:
        call = Client(running.app)
        body = {"name": "lab", "openshift_version": "4.19", "base_dns_domain": "example.com"}
        secret = {"pull_secret": json.dumps({"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}})}
        cluster = (await call("POST", "/clusters", body | secret)).json()
        site = await a_site(call, running.world, cluster_id=cluster["id"])
        await site.boot()
        assert types_in(await site.poll(query="wait=25")) == ["inventory"]
        polling = waiting_poll(site)
        await parked(running.world, polling)
        assert (await site.reply("inventory", a_document(1))).status == 204
        assert "domain-resolution" in types_in(await asyncio.wait_for(polling, PATIENCE))
