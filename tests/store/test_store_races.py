"""Whoever decided on something older loses, and leaves no trace."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.database import Database, LostRace
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import (
    AddEvents,
    DeleteCluster,
    DeleteHost,
    MakeDue,
    PutCluster,
    PutHost,
    PutInfraEnv,
    PutOperation,
    PutPlan,
    PutSecret,
    TouchCluster,
    Write,
)
from firstlight.server.store.sql_store import open_store
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.stored import (
    a_check_in,
    a_plan,
    a_report,
    an_event,
    an_id,
    host_writes,
    key_of,
    some_findings,
    stored_cluster,
    whole_host,
)
from tests.store.test_store_operations import an_operation

pytestmark = pytest.mark.anyio


async def loses(store: Store, *writes: Write) -> None:
    """The commit fails and nothing of it is there, not even a number in the sequence of events."""
    seq = await store.last_event_seq()
    traces: Sequence[Write] = (
        PutSecret(subject="trace", name="before", value="x"),
        AddEvents(events=(an_event("trace"),)),
        MakeDue(subject="trace", kind="x", at=NOW),
    )
    with pytest.raises(LostRace):
        await store.commit(*traces, *writes)
    assert await store.secret("trace", "before") is None
    assert await store.last_event_seq() == seq
    assert (await store.events(EventQuery())).total == seq
    assert await store.next_due_at() is None


@pytest.mark.parametrize("difference", [-1, 1])
async def test_a_cluster_of_another_revision(store: Store, difference: int) -> None:
    state = await stored_cluster(store, ())
    other = state.revision + difference
    changed = replace(state.cluster, name="lost")
    for write in (
        PutCluster(cluster=changed, expect_revision=other),
        TouchCluster(cluster_id=CLUSTER_ID, expect_revision=other),
        DeleteCluster(cluster_id=CLUSTER_ID, expect_revision=other, at=NOW),
    ):
        await loses(store, write)
    assert await store.cluster_state(CLUSTER_ID) == state


async def test_what_is_new_must_not_exist(store: Store) -> None:
    state = await stored_cluster(store, ())
    await loses(store, PutCluster(cluster=a_cluster(name="twice"), expect_revision=None))
    await loses(store, PutInfraEnv(infra_env=an_infra_env(name="twice"), expect_revision=None))
    host = a_pool_host(1)
    await store.commit(PutHost(host=host, expect_revision=0))
    await loses(store, PutHost(host=replace(host, requested_hostname="twice"), expect_revision=0))
    assert await store.cluster_state(CLUSTER_ID) == state
    found = await store.host(key_of(host))
    assert found is not None
    assert found.host == host


async def test_what_does_not_exist_cannot_change(store: Store) -> None:
    await loses(store, PutCluster(cluster=a_cluster(), expect_revision=1))
    await loses(store, TouchCluster(cluster_id=CLUSTER_ID, expect_revision=1))
    await loses(store, PutInfraEnv(infra_env=an_infra_env(), expect_revision=1))
    await loses(store, PutHost(host=a_pool_host(), expect_revision=1))
    await loses(store, PutOperation(operation=an_operation(1), expect_epoch=0))


async def test_a_deleted_cluster_cannot_change(store: Store) -> None:
    state = await stored_cluster(store, ())
    await store.commit(DeleteCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision, at=NOW))
    await loses(store, TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision + 1))
    await loses(store, PutCluster(cluster=state.cluster, expect_revision=state.revision + 1))


async def test_an_infra_env_of_another_revision(store: Store) -> None:
    await store.commit(PutInfraEnv(infra_env=an_infra_env(), expect_revision=None))
    stored = await store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    await loses(store, PutInfraEnv(infra_env=an_infra_env(name="x"), expect_revision=stored.revision + 1))
    assert await store.infra_env(INFRA_ENV_ID) == stored


async def test_a_pool_host_of_another_revision(store: Store) -> None:
    await store.commit(PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None))
    await store.commit(PutHost(host=a_pool_host()))
    key = key_of(a_pool_host())
    pool = await store.pool_host(key)
    assert pool is not None
    changed = replace(pool.state.host, status=HostStatus.DISCONNECTED_UNBOUND)
    await store.commit(PutHost(host=changed, expect_revision=pool.revision))
    await loses(store, PutHost(host=pool.state.host, expect_revision=pool.revision))
    found = await store.pool_host(key)
    assert found is not None
    assert (found.state.host, found.revision) == (changed, pool.revision + 1)
    # Binding it needs the same revision; from then on the pool does not know it.
    bound = replace(changed, cluster_id=CLUSTER_ID)
    await store.commit(PutHost(host=bound, expect_revision=found.revision))
    assert await store.pool_host(key) is None
    await loses(store, PutHost(host=changed, expect_revision=found.revision))


async def test_bound_hosts_are_guarded_by_their_cluster(store: Store) -> None:
    state = await stored_cluster(store, (1,))
    host = state.hosts[0].host
    first, second = (replace(host, requested_hostname=name) for name in ("first", "second"))
    touch = TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision)
    await store.commit(touch, PutHost(host=first))
    await loses(store, touch, PutHost(host=second), PutPlan(key=key_of(host), plan=a_plan("second")))
    found = await store.host(key_of(host))
    assert found is not None
    assert (found.host, found.plan) == (first, state.hosts[0].plan)


async def test_one_of_many_wins(database: Database) -> None:
    """Each with caches of its own, as on several replicas."""
    stores = [open_store(database) for _ in range(8)]
    await stored_cluster(stores[0], ())

    async def rename(store: Store, number: int) -> bool:
        state = await store.cluster_state(CLUSTER_ID)
        assert state is not None
        await asyncio.sleep(0)
        try:
            changed = replace(state.cluster, name=str(number))
            event = an_event(str(number), cluster_id=CLUSTER_ID)
            await store.commit(PutCluster(cluster=changed, expect_revision=state.revision), AddEvents(events=(event,)))
        except LostRace:
            return False
        return True

    for _ in range(3):
        won = await asyncio.gather(*(rename(store, number) for number, store in enumerate(stores)))
        assert any(won)
        page = await stores[0].events(EventQuery(cluster_id=CLUSTER_ID))
        found = await asyncio.gather(*(store.cluster(CLUSTER_ID) for store in stores))
        assert {cluster.name for cluster in found if cluster is not None} == {page.events[-1].message}
    assert [event.seq for event in page.events] == list(range(1, page.total + 1))


# --- deleted hosts ----------------------------------------------------------------------------------------------------


async def test_a_deleted_host_is_gone_with_all_that_was_known(store: Store) -> None:
    state = await stored_cluster(store, (1, 2))
    host = state.hosts[0].host
    key = key_of(host)
    await store.commit(PutSecret(subject=host_subject(key), name="token", value="t"))
    await store.commit(TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision), DeleteHost(key=key, at=NOW))
    assert await store.host(key) is None
    assert await store.presence(key) is None
    assert await store.plan(key) is None
    assert await store.findings(host_subject(key)) == ()
    assert await store.secret(host_subject(key), "token") is None
    assert (await store.raw_reports([key]))[key] == {}
    assert list(await store.hosts_by_id(host.id)) == []
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert found.hosts == state.hosts[1:]
    await store.commit(DeleteHost(key=key, at=NOW))  # twice is no error


async def test_a_pool_decision_about_a_deleted_host_loses(store: Store) -> None:
    await store.commit(PutInfraEnv(infra_env=an_infra_env(cluster_id=None), expect_revision=None))
    await store.commit(PutHost(host=a_pool_host()))
    key = key_of(a_pool_host())
    pool = await store.pool_host(key)
    assert pool is not None
    await store.commit(DeleteHost(key=key, at=NOW))
    assert await store.pool_host(key) is None
    for revision in (pool.revision, pool.revision + 1):
        await loses(store, PutHost(host=pool.state.host, expect_revision=revision))


@pytest.mark.parametrize("expected", [None, 0])
async def test_a_deleted_host_that_registers_again_begins_anew(store: Store, expected: int | None) -> None:
    state = await stored_cluster(store, (1,))
    key = key_of(state.hosts[0].host)
    await store.commit(DeleteHost(key=key, at=NOW))
    fresh = a_host(1, status=HostStatus.DISCOVERING, created_at=NOW, registered_at=NOW)
    await store.commit(PutHost(host=fresh, expect_revision=expected))
    found = await store.host(key)
    assert found is not None
    assert found == replace(found, host=fresh, findings=(), plan=None)
    assert found.reports.inventory is None
    assert found.presence.checked_in_at is None


async def test_the_order_of_writes_counts(store: Store) -> None:
    state = whole_host(1)
    key = key_of(state.host)
    ntp = a_report(key, ReportKind.NTP, [["late", "synced"]], digest="late")
    await store.commit(*host_writes(state))
    await store.commit(DeleteHost(key=key, at=NOW), PutHost(host=state.host), ntp, a_check_in(key))
    found = await store.host(key)
    assert found is not None
    assert found.findings == ()
    assert list(found.reports.measured_at) == [ReportKind.NTP]
    assert found.presence.checked_in_at == NOW
    assert found.findings != some_findings()
    await store.commit(ntp, a_report(key, ReportKind.NTP, [], digest="last", measured_at=NOW + timedelta(seconds=1)))
    found = await store.host(key)
    assert found is not None
    assert found.reports.ntp == ()
    assert await store.host((INFRA_ENV_ID, an_id(1))) is None
