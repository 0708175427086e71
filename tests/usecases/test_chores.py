"""Housekeeping: what goes, what stays, at the moment itself and a moment before, and what is told of it."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.policy import Timeouts
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.ports.subjects import SERVICE_SUBJECT
from firstlight.server.ports.writes import DeleteHost, DeleteInfraEnv, PutCluster, PutHost, PutInfraEnv, PutPresence
from firstlight.server.usecases import chores
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.chores import BEING_INSTALLED, CHORES, EVERY, MOST, PURGED, plan_chores
from firstlight.server.usecases.cluster_changes import deregister
from firstlight.server.usecases.world import World
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_pool_host
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, host_id
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio

TIMEOUTS: Final = Timeouts()
MOMENT: Final = timedelta(milliseconds=1)


def cluster_number(number: int) -> UUID:
    return UUID(f"c0000000-0000-4000-8000-{number:012x}")


async def put(world: World, number: int = 1, **changes: Any) -> UUID:
    """A cluster without hosts, last changed at EARLIER."""
    cluster = a_cluster(id=cluster_number(number), name=f"c{number}", **changes)
    await world.store.commit(PutCluster(cluster=cluster, expect_revision=None))
    return cluster.id


async def names(world: World) -> list[str]:
    return [event.name for event in await world.store.events_after(0, limit=1000)]


async def told_by_service(world: World) -> list[tuple[str, str]]:
    """Events that belong to no cluster."""
    page = await world.store.events(EventQuery())
    return [(event.name, event.message) for event in page.events if event.cluster_id is None]


# --- clusters nobody uses


@pytest.mark.parametrize(("after", "stays"), [(-MOMENT, True), (timedelta(0), True), (MOMENT, False)])
async def test_a_cluster_goes_when_its_time_is_over(
    world: World, clock: SetClock, after: timedelta, stays: bool
) -> None:
    cluster_id = await put(world)
    clock.moment = EARLIER + TIMEOUTS.inactive_cluster + after
    assert await chores.deregister_inactive(world) == clock.moment + EVERY
    assert (await world.store.cluster(cluster_id) is not None) is stays
    expected = ["cluster_deregistered", "after_inactivity_cluster_deregistered", "inactive_clusters_deregistered"]
    assert await names(world) == ([] if stays else expected)


async def test_what_is_told_of_it(world: World, clock: SetClock) -> None:
    await put(world, 1)
    await put(world, 2)
    clock.forward(TIMEOUTS.inactive_cluster)
    await chores.deregister_inactive(world)
    ((name, message),) = await told_by_service(world)
    assert name == "inactive_clusters_deregistered"
    assert "c1" in message
    assert "c2" in message
    events = await world.store.events(EventQuery(cluster_id=cluster_number(1)))
    assert [event.name for event in events.events] == ["cluster_deregistered", "after_inactivity_cluster_deregistered"]
    assert {event.actor for event in events.events} == {"service"}


@pytest.mark.parametrize("status", ClusterStatus)
async def test_an_installation_is_never_ended(world: World, clock: SetClock, status: ClusterStatus) -> None:
    cluster_id = await put(world, status=status)
    clock.forward(TIMEOUTS.inactive_cluster)
    await chores.deregister_inactive(world)
    assert (await world.store.cluster(cluster_id) is not None) is (status in BEING_INSTALLED)


async def test_a_cluster_whose_hosts_still_call_stays(world: World, clock: SetClock) -> None:
    await put_cluster(world)
    clock.forward(TIMEOUTS.inactive_cluster)
    await world.store.check_in([_heard(host_id(2), clock.moment)])
    await chores.deregister_inactive(world)
    assert await world.store.cluster(CLUSTER_ID) is not None
    clock.forward(TIMEOUTS.inactive_cluster + MOMENT)
    await chores.deregister_inactive(world)
    assert await world.store.cluster(CLUSTER_ID) is None
    assert not await world.store.hosts_of_infra_env(INFRA_ENV_ID)


def _heard(host: UUID, at: datetime) -> PutPresence:
    return PutPresence(key=(INFRA_ENV_ID, host), checked_in_at=at, clock_offset_seconds=0.0, agent_version="")


async def test_many_go_in_several_turns(world: World, clock: SetClock) -> None:
    for number in range(1, MOST + 2):
        await put(world, number)
    clock.forward(TIMEOUTS.inactive_cluster)
    assert await chores.deregister_inactive(world) == clock.moment, "there is more to do"
    assert await chores.deregister_inactive(world) == clock.moment + EVERY
    assert (await world.store.counts()).clusters == 0


# --- for good


@pytest.mark.parametrize(("after", "stays"), [(timedelta(0), True), (MOMENT, False)])
async def test_a_deleted_cluster_is_purged(world: World, clock: SetClock, after: timedelta, stays: bool) -> None:
    cluster_id = await put(world)
    other = await put(world, 2)
    await world.blobs.put(f"{cluster_id}/kubeconfig", b"x")
    await world.blobs.put(f"{cluster_id}/logs/controller/logs.tar.gz", b"x")
    await world.blobs.put(f"{other}/kubeconfig", b"x")
    await deregister(world, cluster_id, caller=SERVICE)
    clock.forward(TIMEOUTS.purge_deleted + after)
    assert await chores.purge_deleted(world) == clock.moment + EVERY
    assert (await world.store.cluster(cluster_id, with_deleted=True) is not None) is stays
    assert len(await world.blobs.list_under(str(cluster_id))) == (2 if stays else 0)
    assert len(await world.blobs.list_under(str(other))) == 1
    assert await world.store.cluster(other) is not None
    expected = f"Cluster {cluster_id} was permanently deleted, with 2 files"
    assert await told_by_service(world) == ([] if stays else [("clusters_permanently_deleted", expected)])


@pytest.mark.parametrize(("count", "turns"), [(PURGED, 1), (PURGED + 1, 2)])
async def test_few_are_purged_in_one_turn(world: World, clock: SetClock, count: int, turns: int) -> None:
    gone = [await put(world, number) for number in range(1, count + 1)]
    for cluster_id in gone:
        await deregister(world, cluster_id, caller=SERVICE)
    clock.forward(TIMEOUTS.purge_deleted + MOMENT)
    for _ in range(turns - 1):
        assert await chores.purge_deleted(world) == clock.moment, "there is more to do"
    assert await chores.purge_deleted(world) == clock.moment + EVERY
    assert [await world.store.cluster(cluster_id, with_deleted=True) for cluster_id in gone] == [None] * count


async def test_a_purge_that_was_cut_short_begins_again(world: World, clock: SetClock) -> None:
    """The files are gone, the rows are not: the next turn takes them."""
    cluster_id = await put(world)
    await deregister(world, cluster_id, caller=SERVICE)
    await world.blobs.delete_under(str(cluster_id))
    clock.forward(TIMEOUTS.purge_deleted + MOMENT)
    await chores.purge_deleted(world)
    assert await world.store.cluster(cluster_id, with_deleted=True) is None
    await chores.purge_deleted(world)
    assert len(await told_by_service(world)) == 1


@pytest.mark.parametrize(("after", "stays"), [(timedelta(0), True), (MOMENT, False)])
async def test_deleted_hosts_of_the_pool_and_infra_envs_are_purged(
    world: World, clock: SetClock, after: timedelta, stays: bool
) -> None:
    hosts = [a_pool_host(number) for number in range(1, MOST + 1)]
    await world.store.commit(
        PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None),
        *(PutHost(host=host) for host in hosts),
    )
    keys = [(host.infra_env_id, host.id) for host in hosts]
    await world.store.commit(
        *(DeleteHost(key=key, at=clock.moment) for key in keys),
        DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=clock.moment),
    )
    clock.forward(TIMEOUTS.purge_deleted + after)
    assert await chores.purge_deleted(world) == (clock.moment + EVERY if stays else clock.moment), "as many as fit"
    later = clock.moment + EVERY
    assert len(await world.store.deleted_pool_hosts_before(later, limit=MOST)) == (MOST if stays else 0)
    assert await world.store.deleted_infra_envs_before(later, limit=1) == []
    assert await chores.purge_deleted(world) == clock.moment + EVERY


async def test_a_living_cluster_is_never_purged(world: World, clock: SetClock) -> None:
    cluster_id = await put(world)
    clock.forward(TIMEOUTS.purge_deleted * 100)
    await chores.purge_deleted(world)
    assert await world.store.cluster(cluster_id) is not None


# --- infra-envs


@pytest.mark.parametrize(("after", "stays"), [(timedelta(0), True), (MOMENT, False)])
async def test_an_infra_env_goes_when_its_time_is_over(
    world: World, clock: SetClock, after: timedelta, stays: bool
) -> None:
    await world.store.commit(PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None))
    clock.moment = EARLIER + TIMEOUTS.inactive_infra_env + after
    assert await chores.deregister_inactive_infra_envs(world) == clock.moment + EVERY
    assert (await world.store.infra_env(INFRA_ENV_ID) is not None) is stays
    assert await names(world) == ([] if stays else ["infra_env_deregistered"])


async def test_silent_pool_hosts_go_with_their_infra_env(world: World, clock: SetClock) -> None:
    await world.store.commit(
        PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None), PutHost(host=a_pool_host())
    )
    clock.forward(TIMEOUTS.inactive_infra_env)
    await world.store.check_in([_heard(host_id(1), clock.moment)])
    await chores.deregister_inactive_infra_envs(world)
    assert await world.store.infra_env(INFRA_ENV_ID) is not None, "a host called just now"
    clock.forward(TIMEOUTS.inactive_infra_env + MOMENT)
    await chores.deregister_inactive_infra_envs(world)
    assert await world.store.infra_env(INFRA_ENV_ID) is None
    assert await world.store.host((INFRA_ENV_ID, host_id(1))) is None
    assert await names(world) == ["host_deregistered", "infra_env_deregistered"]


async def test_an_infra_env_that_a_cluster_counts_on_stays(world: World, clock: SetClock) -> None:
    await put_cluster(world)
    clock.forward(TIMEOUTS.inactive_infra_env * 2)
    await chores.deregister_inactive_infra_envs(world)
    assert await world.store.infra_env(INFRA_ENV_ID) is not None


async def test_an_infra_env_that_lent_a_host_to_a_cluster_stays(world: World, clock: SetClock) -> None:
    lender = an_infra_env(id=cluster_number(77), cluster_id=None)
    guest = a_pool_host(9, infra_env_id=lender.id, cluster_id=CLUSTER_ID)
    await put_cluster(world)
    await world.store.commit(PutInfraEnv(infra_env=lender, expect_revision=None), PutHost(host=guest))
    clock.forward(TIMEOUTS.inactive_infra_env * 2)
    await chores.deregister_inactive_infra_envs(world)
    assert await world.store.infra_env(lender.id) is not None


# --- the rows


async def due(world: World, clock: SetClock) -> set[tuple[str, str]]:
    rows = await world.store.claim_due(owner="x", now=clock.moment, lease=timedelta(seconds=1), limit=10)
    return {(row.subject, row.kind) for row in rows}


@pytest.mark.parametrize(
    ("inactive", "purge", "kinds"),
    [
        (True, True, {"deregister-inactive", "inactive-infra-envs", "purge-deleted"}),
        (True, False, {"deregister-inactive", "inactive-infra-envs"}),
        (False, True, {"purge-deleted"}),
        (False, False, set[str]()),
    ],
)
async def test_planning(world: World, clock: SetClock, inactive: bool, purge: bool, kinds: set[str]) -> None:
    await plan_chores(world, inactive=True, purge=True)
    await plan_chores(world, inactive=inactive, purge=purge)
    assert await due(world, clock) == {(SERVICE_SUBJECT, kind) for kind in kinds}


def test_every_planned_chore_is_known() -> None:
    assert set(CHORES) == {"deregister-inactive", "inactive-infra-envs", "purge-deleted"}


async def test_chores_with_nothing_to_do_write_nothing(world: World, clock: SetClock) -> None:
    await put(world)
    assert {await chore(world) for chore in CHORES.values()} == {clock.moment + EVERY}
    assert await names(world) == []
