"""What a reply costs: one that changes facts shows by itself, one that changes nothing leaves no trace but itself."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from firstlight.server.service import service
from firstlight.server.settings import Settings
from tests.api.calling import PULL_SECRET, Client
from tests.api.machines import SYNCED, Site, a_document, a_site
from tests.builders.moments import host_id
from tests.databases import fresh_sqlite
from tests.faults.lives import Life, a_life
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio

HOT: Final = frozenset({"presence", "listening"})
"""Tables of check-ins and signs of life."""
PATIENCE_SECONDS: Final = 60


@pytest.fixture
def url(tmp_path: Path) -> str:
    return fresh_sqlite(tmp_path)


@pytest.fixture
async def life(url: str, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Life]:
    async with a_life(url, tmp_path, clock=SetClock()) as life:
        await life.listening.renew()
        yield life


def everything(url: str, *, besides: frozenset[str] = HOT) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables; of reports only what rules read."""
    with closing(sqlite3.connect(url.removeprefix("sqlite://"))) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: sorted(
                file.execute(
                    f"SELECT {'infra_env_id, host_id, kind, digest, facts' if table == 'reports' else '*'} FROM {table}"
                ),
                key=repr,
            )
            for table in tables
            if table not in besides
        }


async def a_cluster_of_two(life: Life) -> Site:
    """Two bound hosts that have told everything they were asked."""
    cluster = {"name": "lab", "openshift_version": "4.19", "pull_secret": PULL_SECRET, "base_dns_domain": "example.com"}
    made = await life.call("POST", "/clusters", cluster)
    assert made.status == 201, made.body
    site = await a_site(life.call, life.world, cluster_id=made.json()["id"])
    for number in (1, 2):
        assert (await site.boot(number)).status == 201
        assert (await site.reply("inventory", a_document(number), number=number)).status == 204
        assert (await site.reply("ntp-synchronizer", SYNCED, number=number)).status == 204
        assert (await site.reply("connectivity-check", seen_by(number, rtt=0.3), number=number)).status == 204
    await come_to_rest(life)
    return site


async def come_to_rest(life: Life) -> None:
    clock = life.world.clock
    assert isinstance(clock, SetClock)
    for _ in range(5):
        await life.work()
        clock.forward(timedelta(seconds=5))
        await life.listening.renew()
    for number in (1, 2):
        life.world.sessions.forget_all()
        assert number


def seen_by(number: int, *, rtt: float) -> dict[str, Any]:
    other = 3 - number
    peer = {
        "host_id": str(host_id(other)),
        "l2_connectivity": [],
        "l3_connectivity": [
            {
                "outgoing_nic": "enp1s0",
                "remote_ip_address": f"192.0.2.{10 + other}",
                "successful": True,
                "average_rtt_ms": rtt,
                "packet_loss_percentage": 0,
            }
        ],
    }
    return {"remote_hosts": [peer]}


async def test_a_trembling_round_trip_is_only_noted(life: Life, url: str) -> None:
    site = await a_cluster_of_two(life)
    before = everything(url)
    for rtt in (0.31, 0.42, 0.29):
        answer = await site.reply("connectivity-check", seen_by(1, rtt=rtt))
        assert answer.status == 204, answer.body
        await life.world.check_ins.flush()
    assert await life.work() == 0, "nothing was made due"
    assert everything(url) == before, "no event, no evaluation, no new revision"
    assert "0.29" in (await site.shown())["connectivity"], "the newest value is there to be looked at"


async def test_the_same_words_again_are_not_even_noted(life: Life, url: str) -> None:
    site = await a_cluster_of_two(life)
    assert (await site.reply("inventory", a_document(1))).status == 204
    await life.world.check_ins.flush()
    before = everything(url, besides=frozenset())
    for _ in range(3):
        assert (await site.reply("inventory", a_document(1))).status == 204
    await life.world.check_ins.flush()
    assert everything(url, besides=frozenset()) == before


async def test_a_poll_writes_its_check_in_and_nothing_else(life: Life, url: str) -> None:
    site = await a_cluster_of_two(life)
    stamp = f"timestamp={int(life.world.clock.now().timestamp())}"
    await site.poll(query=stamp)
    await come_to_rest(life)
    before, hot = everything(url), everything(url, besides=frozenset())["presence"]
    with closing(sqlite3.connect(url.removeprefix("sqlite://"))) as watching:
        version = watching.execute("PRAGMA data_version").fetchone()
        stamp = f"timestamp={int(life.world.clock.now().timestamp())}"
        for _ in range(10):
            assert (await site.poll(query=stamp)).status == 200
        assert watching.execute("PRAGMA data_version").fetchone() == version, "a poll commits nothing"
        await life.world.check_ins.flush()
        assert watching.execute("PRAGMA data_version").fetchone() != version
    assert everything(url) == before
    assert everything(url, besides=frozenset())["presence"] != hot


async def test_values_measured_meanwhile_do_not_cover_newer_facts(life: Life, url: str) -> None:
    """Another replica took a changed report between a reply that changed nothing and its batch."""
    site = await a_cluster_of_two(life)
    assert (await site.reply("connectivity-check", seen_by(1, rtt=0.5))).status == 204
    life.world.sessions.forget_all()
    assert (await site.reply("connectivity-check", seen_by(1, rtt=5000))).status == 204
    before = everything(url)
    await life.world.check_ins.flush()
    assert everything(url) == before
    assert "5000" in (await site.shown())["connectivity"]


# --- the running service ----------------------------------------------------------------------------------------------


async def eventually(ask: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await ask()
            if holds(found):
                return found
            await asyncio.sleep(0.02)


async def test_a_changed_reply_shows_by_itself(tmp_path: Path) -> None:
    """The service runs whole; the test only asks for what everybody sees."""
    settings = Settings.model_construct(**Settings(data_dir=tmp_path).model_dump())
    async with service(settings, environment={}) as running:
        call = Client(running.app)
        cluster = {
            "name": "lab",
            "openshift_version": "4.19",
            "pull_secret": PULL_SECRET,
            "base_dns_domain": "example.com",
        }
        made = (await call("POST", "/clusters", cluster)).json()
        site = await a_site(call, running.world, cluster_id=made["id"])

        async def host() -> dict[str, Any]:
            shown = (await call("GET", f"/clusters/{made['id']}")).json()
            return next(iter(shown["hosts"]), {})

        assert (await site.boot()).status == 201
        assert (await host())["status"] == "discovering"
        assert (await site.reply("inventory", a_document(1))).status == 204
        await eventually(host, lambda found: found["status"] in ("insufficient", "known", "pending-for-input"))
        small = a_document(1, memory={"physical_bytes": 2**30, "usable_bytes": 2**30})
        assert (await site.reply("inventory", small)).status == 204
        found = await eventually(host, lambda found: '"has-min-memory","status":"failure"' in found["validations_info"])
        assert found["status"] == "insufficient"
