"""A service that was away does not blame the hosts: their silence counts only while somebody listened."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.policy import Policy
from tests.api.machines import Site, a_site
from tests.databases import fresh_sqlite
from tests.faults.lives import Life, a_life
from tests.worlds import Ids, SetClock

pytestmark = pytest.mark.anyio

POLL: Final = timedelta(seconds=Policy().poll_seconds)
GRACE: Final = 2 * POLL
TICK: Final = timedelta(milliseconds=1)
AWAY: Final = timedelta(minutes=30)
HEARD, SILENT = HostStatus.KNOWN_UNBOUND, HostStatus.DISCONNECTED_UNBOUND


@pytest.fixture
def url(tmp_path: Path) -> str:
    return fresh_sqlite(tmp_path)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


async def a_known_host(life: Life) -> Site:
    await life.listening.renew()
    site = await a_site(life.call, life.world)
    assert (await site.known()).host.status is HEARD
    return site


async def status_after_work(life: Life, site: Site) -> HostStatus:
    await life.work()
    state = await life.world.store.host(site.key())
    assert state is not None
    return state.host.status


async def settled(life: Life, site: Site) -> HostStatus:
    """As if somebody had asked for a look at the host just now."""
    there = Site(life.call, life.world, site.infra_env)
    return (await there.settle()).host.status


async def listen_for(life: Life, clock: SetClock, time: timedelta) -> None:
    """The clock goes on while somebody listens."""
    end = clock.moment + time
    while clock.moment < end:
        clock.moment = min(end, clock.moment + timedelta(seconds=5))
        await life.listening.renew()


async def test_a_silent_host_is_missed_while_somebody_listens(url: str, tmp_path: Path, clock: SetClock) -> None:
    async with a_life(url, tmp_path, clock=clock) as life:
        site = await a_known_host(life)
        limit = Policy().timeouts.silence
        await listen_for(life, clock, limit + timedelta(seconds=10))
        assert await status_after_work(life, site) is SILENT


async def test_hosts_have_two_polls_to_come_back_after_a_pause(url: str, tmp_path: Path, clock: SetClock) -> None:
    ids = Ids()
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        site = await a_known_host(life)
    clock.forward(AWAY)
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        assert await settled(life, site) is HEARD, "nobody has looked for a gap yet"
        await life.listening.renew()
        await listen_for(life, clock, GRACE - TICK)
        assert await settled(life, site) is HEARD
        clock.forward(TICK)
        assert await settled(life, site) is SILENT


async def test_the_pause_is_remembered_by_the_next_life(url: str, tmp_path: Path, clock: SetClock) -> None:
    """The service comes back, gives a sign of life, and dies at once: the hosts are still forgiven."""
    ids = Ids()
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        site = await a_known_host(life)
    clock.forward(AWAY)
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        await life.listening.renew()
    clock.forward(timedelta(seconds=3))
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        await life.listening.renew()
        assert await settled(life, site) is HEARD
        await listen_for(life, clock, GRACE - timedelta(seconds=3))
        assert await settled(life, site) is SILENT, "and for no longer than they were"


async def test_a_short_pause_is_none(url: str, tmp_path: Path, clock: SetClock) -> None:
    ids, limit = Ids(), Policy().timeouts.silence
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        site = await a_known_host(life)
        await listen_for(life, clock, limit)
    clock.forward(timedelta(seconds=15))
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        await life.listening.renew()
        assert await settled(life, site) is SILENT


async def test_a_service_that_could_not_look_blames_nobody(url: str, tmp_path: Path, clock: SetClock) -> None:
    """The process lived, but its database or the whole machine stood still."""
    async with a_life(url, tmp_path, clock=clock) as life:
        site = await a_known_host(life)
        clock.forward(AWAY)
        assert await settled(life, site) is HEARD
        await life.listening.renew()
        await listen_for(life, clock, GRACE)
        assert await settled(life, site) is SILENT


async def test_a_host_that_was_silent_before_stays_so(url: str, tmp_path: Path, clock: SetClock) -> None:
    ids = Ids()
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        site = await a_known_host(life)
        await listen_for(life, clock, timedelta(minutes=10))
        assert await settled(life, site) is SILENT
    clock.forward(AWAY)
    async with a_life(url, tmp_path, clock=clock, ids=ids) as life:
        await life.listening.renew()
        assert await settled(life, site) is SILENT
        assert (await Site(life.call, life.world, site.infra_env).poll()).status == 200
        assert await settled(life, site) is HEARD, "until it speaks"
