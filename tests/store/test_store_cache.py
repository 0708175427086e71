"""Unchanged rows give the same objects again; changed ones never give old ones."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.model.host import HostState
from firstlight.core.model.reports import NtpSource, ReportKind
from firstlight.server.ports.database import Database, Param, Row, Sql
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import (
    DropReports,
    PurgeCluster,
    PutCluster,
    PutFindings,
    PutHost,
    PutInfraEnv,
    PutPlan,
    TouchCluster,
    Write,
)
from firstlight.server.store.cache import Cache
from firstlight.server.store.sql_store import SqlStore, open_store
from tests.builders.hosts import a_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.stored import a_check_in, a_plan, a_report, host_writes, key_of, some_findings, stored_cluster


async def loaded(store: Store) -> tuple[HostState, ...]:
    state = await store.cluster_state(CLUSTER_ID)
    assert state is not None
    return state.hosts


@pytest.mark.anyio
async def test_nothing_changed_gives_the_same_objects(store: Store) -> None:
    first = await stored_cluster(store)
    second = await store.cluster_state(CLUSTER_ID)
    assert second is not None
    assert second == first
    assert second.cluster is first.cluster
    assert second.findings is first.findings
    assert second.infra_envs[INFRA_ENV_ID] is first.infra_envs[INFRA_ENV_ID]
    assert all(before is after for before, after in zip(first.hosts, second.hosts, strict=True))
    assert await store.host(key_of(first.hosts[0].host)) is first.hosts[0]
    assert (await store.hosts_of_infra_env(INFRA_ENV_ID))[0] is first.hosts[0]


@pytest.mark.anyio
async def test_a_check_in_changes_the_presence_and_nothing_else(store: Store) -> None:
    before, untouched, _ = (await stored_cluster(store)).hosts
    at = NOW + timedelta(seconds=60)
    await store.check_in([a_check_in(key_of(before.host), at=at)])
    after, same, _ = await loaded(store)
    assert after.presence.checked_in_at == at
    assert after.host is before.host
    assert after.reports is before.reports
    assert after.findings is before.findings
    assert after.plan is before.plan
    assert same is untouched


@pytest.mark.anyio
async def test_only_what_changed_is_new(store: Store) -> None:
    before = (await stored_cluster(store, (1,))).hosts[0]
    key = key_of(before.host)
    await store.commit(PutFindings(subject=host_subject(key), findings=some_findings("new")))
    second = (await loaded(store))[0]
    assert second.findings == some_findings("new")
    assert second.host is before.host
    assert second.reports is before.reports
    await store.commit(PutPlan(key=key, plan=a_plan("new")))
    third = (await loaded(store))[0]
    assert third.plan == a_plan("new")
    assert third.findings is second.findings
    await store.commit(PutHost(host=replace(before.host, requested_hostname="new")))
    fourth = (await loaded(store))[0]
    assert fourth.host.requested_hostname == "new"
    assert fourth.reports is before.reports
    assert fourth.plan is third.plan
    await store.commit(a_report(key, ReportKind.NTP, [["new", "synced"]], digest="new"))
    fifth = (await loaded(store))[0]
    assert fifth.reports.ntp == (NtpSource("new", "synced"),)
    assert fifth.reports.inventory is before.reports.inventory
    assert fifth.host is fourth.host
    await store.commit(DropReports(key=key, kinds=frozenset({ReportKind.INVENTORY})))
    assert (await loaded(store))[0].reports.inventory is None


@pytest.mark.anyio
async def test_the_same_digest_measured_again_keeps_the_facts(store: Store, database: Database) -> None:
    host = a_host()
    key = key_of(host)
    await store.commit(PutHost(host=host), a_report(key, ReportKind.NTP, [["a", "synced"]], digest="1"))
    before = await store.host(key)
    again = a_report(key, ReportKind.NTP, [["A", "synced"]], digest="1", measured_at=NOW + timedelta(seconds=1))
    await store.commit(again)
    after = await store.host(key)
    assert before is not None
    assert after is not None
    assert after.reports.ntp is before.reports.ntp
    assert after.reports.measured_at == {ReportKind.NTP: again.measured_at}
    assert (await store.raw_reports([key]))[key] == {ReportKind.NTP: again.raw}
    assert await open_store(database).host(key) == after


@pytest.mark.anyio
async def test_a_write_that_changes_nothing_keeps_the_objects(store: Store) -> None:
    """A pool decision writes the host only to be guarded, and a touched cluster is the same cluster."""
    first = await stored_cluster(store)
    await store.commit(
        TouchCluster(cluster_id=CLUSTER_ID, expect_revision=first.revision), PutHost(host=first.hosts[0].host)
    )
    second = await store.cluster_state(CLUSTER_ID)
    assert second is not None
    assert second.revision == first.revision + 1
    assert second.cluster is first.cluster
    assert second.hosts[0].host is first.hosts[0].host


@pytest.mark.anyio
async def test_two_replicas_never_show_each_other_old_values(database: Database) -> None:
    one, two = open_store(database), open_store(database)
    state = await stored_cluster(one)
    assert await two.cluster_state(CLUSTER_ID) == state
    for number, (writer, reader) in enumerate(((one, two), (two, one), (one, two))):
        seen = await writer.cluster_state(CLUSTER_ID)
        stored = await writer.infra_env(INFRA_ENV_ID)
        assert seen is not None
        assert stored is not None
        word = f"name {number}"
        host = replace(seen.hosts[1].host, requested_hostname=word)
        key = key_of(host)
        await writer.commit(
            PutCluster(cluster=replace(seen.cluster, name=word), expect_revision=seen.revision),
            PutHost(host=host),
            PutFindings(subject=host_subject(key), findings=some_findings(word)),
            PutFindings(subject=cluster_subject(CLUSTER_ID), findings=some_findings(word)),
            PutPlan(key=key, plan=a_plan(word)),
            a_report(key, ReportKind.NTP, [[word, "synced"]], digest=word),
            PutInfraEnv(infra_env=replace(stored.infra_env, name=word), expect_revision=stored.revision),
        )
        found = await reader.cluster_state(CLUSTER_ID)
        assert found is not None
        assert found == await writer.cluster_state(CLUSTER_ID)
        changed = found.hosts[1]
        assert (found.cluster.name, changed.host.requested_hostname) == (word, word)
        assert (found.findings, changed.findings, changed.plan) == (
            some_findings(word),
            some_findings(word),
            a_plan(word),
        )
        assert changed.reports.ntp == (NtpSource(word, "synced"),)
        assert found.infra_envs[INFRA_ENV_ID].name == word


class Meddler:
    """A database in which somebody writes once, after the first read."""

    def __init__(self, inner: Database, *writes: Write) -> None:
        self.inner = inner
        self.writes = writes

    async def fetch(self, sql: Sql, /, *, large: bool = False, **params: Param) -> Sequence[Row]:
        rows = await self.inner.fetch(sql, large=large, **params)
        writes, self.writes = self.writes, ()
        await open_store(self.inner).commit(*writes)
        return rows

    async def fetch_one(self, sql: Sql, /, **params: Param) -> Row | None:
        return await self.inner.fetch_one(sql, **params)


@pytest.mark.anyio
async def test_a_write_between_two_reads_is_not_kept_under_the_wrong_version(database: Database) -> None:
    """The version that was read first comes back later: it must not bring what was read second."""
    writer = open_store(database)
    before = (await stored_cluster(writer, (1,))).hosts[0]
    key = key_of(before.host)
    others: tuple[Write, ...] = (
        PutFindings(subject=host_subject(key), findings=some_findings("between")),
        PutPlan(key=key, plan=a_plan("between")),
        a_report(key, ReportKind.NTP, [["between", "synced"]], digest="between"),
    )
    store = SqlStore(Meddler(database, *others))
    between = await store.host(key)
    assert between is not None
    assert between.findings == some_findings("between")
    await writer.commit(*host_writes(before))
    assert await store.host(key) == before
    assert await store.host(key) == await open_store(database).host(key)


class Overtaken:
    """A database in which another reader of the same store is faster, once, after `armed` further reads."""

    def __init__(self, inner: Database, overtake: Callable[[], Awaitable[object]]) -> None:
        self.inner = inner
        self.overtake: Callable[[], Awaitable[object]] | None = overtake
        self.armed = 0

    async def fetch(self, sql: Sql, /, *, large: bool = False, **params: Param) -> Sequence[Row]:
        rows = await self.inner.fetch(sql, large=large, **params)
        self.armed -= 1
        if self.armed == 0 and self.overtake is not None:
            overtake, self.overtake = self.overtake, None
            await overtake()
        return rows

    async def fetch_one(self, sql: Sql, /, **params: Param) -> Row | None:
        return await self.inner.fetch_one(sql, **params)


@pytest.mark.anyio
async def test_a_reader_that_is_overtaken_by_one_with_newer_reports_loses_none(database: Database) -> None:
    """What it found in the cache at first may be gone from there before it puts the host together."""
    writer = open_store(database)
    before = (await stored_cluster(writer, (1,))).hosts[0]
    key = key_of(before.host)

    async def overtake() -> None:
        await writer.commit(a_report(key, ReportKind.NTP, [["newer", "synced"]], digest="newer"))
        await store.cluster_state(CLUSTER_ID)

    slow = Overtaken(database, overtake)
    store = SqlStore(slow)
    await store.cluster_state(CLUSTER_ID)
    await writer.commit(PutFindings(subject=host_subject(key), findings=some_findings("changed")))
    slow.armed = 2  # the versions, then the findings that changed
    (seen,) = await loaded(store)
    assert seen.reports.inventory == before.reports.inventory
    assert seen.reports.inventory is not None
    assert await loaded(store) == await loaded(open_store(database))


@pytest.mark.anyio
async def test_a_host_deleted_between_two_reads_is_left_out(database: Database) -> None:
    writer = open_store(database)
    state = await stored_cluster(writer, (1, 2))
    purged = SqlStore(Meddler(database, PurgeCluster(cluster_id=CLUSTER_ID)))
    assert await purged.host(key_of(state.hosts[0].host)) is None


# --- the cache itself -------------------------------------------------------------------------------------------------


def test_a_version_is_found_by_itself_only() -> None:
    cache: Cache[str] = Cache(limit=10)
    cache.put("row", 1, "a", size=4)
    assert (cache.get("row", 1), cache.get("row", 2), cache.get("other", 1)) == ("a", None, None)
    cache.put("row", 2, "b", size=5)
    assert (cache.get("row", 1), cache.get("row", 2), cache.any_version("row")) == (None, "b", "b")
    assert (len(cache), cache.size) == (1, 5)


def test_what_was_not_used_goes_first() -> None:
    cache: Cache[str] = Cache(limit=3)
    for name in "abc":
        cache.put(name, 0, name, size=1)
    assert cache.get("a", 0) == "a"
    cache.put("d", 0, "d", size=1)
    assert [cache.get(name, 0) for name in "abcd"] == ["a", None, "c", "d"]
    cache.put("huge", 0, "x", size=4)
    assert (len(cache), cache.size) == (0, 0)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 7))))
def test_it_never_grows_over_its_limit(puts: list[tuple[int, int, int]]) -> None:
    cache: Cache[int] = Cache(limit=20)
    for row, version, size in puts:
        cache.put(row, version, size, size=size)
        assert cache.size <= 20
        assert cache.get(row, version) == size
        assert cache.size == sum(cache.any_version(each) or 0 for each in range(9))
