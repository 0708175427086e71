"""What is written comes back as it was."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import (
    NO_REPORTS,
    ApiVipReply,
    BrokenMtu,
    Connectivity,
    DiskSpeed,
    ImageStatus,
    LossyPath,
    NtpSource,
    PartialPeer,
    ReportKind,
    Reports,
    Resolution,
    SlowPath,
    TangReply,
)
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.ports.rows import ClusterQuery, Listened
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import cluster_subject, host_subject, infra_env_subject
from firstlight.server.ports.writes import (
    AddEvents,
    Cancel,
    DeleteCluster,
    DeleteHost,
    DeleteInfraEnv,
    DeleteManifest,
    DropReports,
    MakeDue,
    PurgeCluster,
    PutCluster,
    PutHost,
    PutInfraEnv,
    PutIssued,
    PutManifest,
    PutPresence,
    PutSecret,
    TouchCluster,
)
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.inventories import an_inventory
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, NOW, host_id
from tests.store.stored import (
    a_check_in,
    a_plan,
    a_report,
    an_event,
    an_id,
    cluster_writes,
    host_writes,
    key_of,
    report_writes,
    some_findings,
    stored_cluster,
    whole_cluster,
    whole_host,
)

pytestmark = pytest.mark.anyio

EVERYTHING = Reports(
    inventory=an_inventory(1),
    connectivity=Connectivity(
        asked=bytes(range(32)),
        layer2={"192.0.2.0/24": b"\xff" * 16},
        layer3={4: b"\0" * 16, 6: b""},
        partial=(PartialPeer(host_id(2), 4, ("192.0.2.12",)),),
        slow=(SlowPath(host_id(2), "192.0.2.12", 101.25),),
        lossy=(LossyPath(host_id(2), "192.0.2.12", 0.5),),
        broken_mtu=(BrokenMtu(host_id(2), "eth0", "192.0.2.12"),),
        collisions={"192.0.2.9": ("aa", "bb")},
    ),
    ntp=(NtpSource("ntp", "synced"),),
    domains={"api.example.com": Resolution(("192.0.2.5",), ("a",)), "none": Resolution()},
    images={"quay.io/x": ImageStatus(success=True, size_bytes=1.5, seconds=2.0)},
    disk_speeds={"/dev/sda": DiskSpeed(speed_ms=7)},
    tang=TangReply(success=False, error="no"),
    api_vip=ApiVipReply(success=True, ignition="{}"),
    free_addresses={"192.0.2.0/24": b"\x01\xfe"},
    vips={"192.0.2.5": False},
    measured_at={kind: NOW - timedelta(microseconds=place) for place, kind in enumerate(ReportKind)},
)


async def test_a_whole_cluster(store: Store) -> None:
    state = whole_cluster(first_only := (3, 1, 2))
    await store.commit(*cluster_writes(state))
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert found.revision > 0
    hosts = tuple(sorted(state.hosts, key=lambda host: host.host.id))
    assert found == replace(state, revision=found.revision, hosts=hosts)
    assert len(first_only) == len(found.hosts)
    assert await store.cluster(CLUSTER_ID) == state.cluster
    assert await store.cluster_state(an_id(1)) is None
    assert await store.cluster(an_id(1)) is None


async def test_every_kind_of_report(store: Store) -> None:
    host = a_host()
    await store.commit(PutHost(host=host), *report_writes(key_of(host), EVERYTHING))
    found = await store.host(key_of(host))
    assert found is not None
    assert found.reports == EVERYTHING
    raw = await store.raw_reports([key_of(host)])
    assert raw == {key_of(host): {kind: b"raw " + kind.encode() for kind in ReportKind}}
    some = await store.raw_reports([key_of(host), (INFRA_ENV_ID, an_id(9))], kinds=[ReportKind.NTP])
    assert some == {key_of(host): {ReportKind.NTP: b"raw ntp"}, (INFRA_ENV_ID, an_id(9)): {}}
    assert await store.raw_reports([]) == {}


async def test_dropped_reports_are_gone(store: Store) -> None:
    host = a_host()
    await store.commit(PutHost(host=host), *report_writes(key_of(host), EVERYTHING))
    await store.host(key_of(host))
    await store.commit(DropReports(key=key_of(host), kinds=frozenset({ReportKind.INVENTORY, ReportKind.VIPS})))
    found = await store.host(key_of(host))
    assert found is not None
    assert found.reports.inventory is None
    assert ReportKind.VIPS not in found.reports.measured_at
    assert found.reports.ntp == EVERYTHING.ntp
    await store.commit(DropReports(key=key_of(host), kinds=frozenset(ReportKind)))
    found = await store.host(key_of(host))
    assert found is not None
    assert found.reports == NO_REPORTS


async def test_hosts_come_in_the_order_they_registered(store: Store) -> None:
    late = a_host(1, registered_at=NOW, created_at=EARLIER)
    others = [a_host(number) for number in (3, 2)]
    await store.commit(
        PutCluster(cluster=a_cluster(), expect_revision=None), *(PutHost(host=host) for host in (late, *others))
    )
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert [state.host for state in found.hosts] == [*reversed(others), late]
    assert found.infra_envs == {}


async def test_infra_envs_of_a_cluster_are_its_own_and_those_of_its_hosts(store: Store) -> None:
    bound = an_infra_env(id=an_id(1))
    of_host = an_infra_env(id=an_id(2), cluster_id=None)
    unrelated = an_infra_env(id=an_id(3), cluster_id=an_id(77), user_name="eve")
    gone = an_infra_env(id=an_id(4))
    await store.commit(
        PutCluster(cluster=a_cluster(), expect_revision=None),
        *(PutInfraEnv(infra_env=each, expect_revision=None) for each in (bound, of_host, unrelated, gone)),
        PutHost(host=a_host(infra_env_id=of_host.id)),
    )
    await store.commit(DeleteInfraEnv(infra_env_id=gone.id, at=NOW))
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert found.infra_envs == {bound.id: bound, of_host.id: of_host}
    await store.commit(DeleteHost(key=(of_host.id, a_host().id), at=NOW))
    without = await store.cluster_state(CLUSTER_ID)
    assert without is not None
    assert without.infra_envs == {bound.id: bound}
    assert list(await store.infra_envs()) == [bound, of_host, unrelated]
    assert list(await store.infra_envs(cluster_id=CLUSTER_ID)) == [bound]
    assert list(await store.infra_envs(owner="eve")) == [unrelated]
    assert await store.infra_env(gone.id) is None
    stored = await store.infra_env(bound.id)
    assert stored is not None
    assert stored.infra_env == bound
    changed = replace(bound, name="other")
    await store.commit(PutInfraEnv(infra_env=changed, expect_revision=stored.revision))
    again = await store.infra_env(bound.id)
    assert again is not None
    assert (again.infra_env, again.revision) == (changed, stored.revision + 1)


async def test_a_pool_host(store: Store) -> None:
    infra_env = an_infra_env(cluster_id=None)
    pool, bound = whole_host(1, **unbound()), whole_host(2)
    await store.commit(PutInfraEnv(infra_env=infra_env, expect_revision=None), *host_writes(pool), *host_writes(bound))
    found = await store.pool_host(key_of(pool.host))
    assert found is not None
    assert (found.state, found.infra_env) == (pool, infra_env)
    assert await store.pool_host(key_of(bound.host)) is None
    assert await store.pool_host((INFRA_ENV_ID, an_id(5))) is None
    assert await store.host(key_of(pool.host)) == pool
    assert await store.host((INFRA_ENV_ID, an_id(5))) is None
    assert list(await store.hosts_of_infra_env(INFRA_ENV_ID)) == [pool, bound]
    assert list(await store.hosts_of_infra_env(an_id(5))) == []


def unbound() -> dict[str, object]:
    return {"cluster_id": None, "status": HostStatus.KNOWN_UNBOUND, "suggested_role": None}


async def test_one_machine_in_two_infra_envs(store: Store) -> None:
    here, there = a_host(1), a_host(1, infra_env_id=an_id(2), status=HostStatus.INSUFFICIENT)
    await store.commit(
        PutHost(host=here),
        PutHost(host=there),
        a_report(key_of(here), ReportKind.NTP, [["a", "synced"]], digest="1"),
        a_report(key_of(there), ReportKind.NTP, [["b", "synced"]], digest="1"),
    )
    assert sorted(await store.hosts_by_id(here.id), key=lambda host: host.infra_env_id) == [there, here]
    for host, name in ((here, "a"), (there, "b")):
        found = await store.host(key_of(host))
        assert found is not None
        assert (found.host, found.reports.ntp) == (host, (NtpSource(name, "synced"),))


async def test_presence_keeps_the_newer(store: Store) -> None:
    host = a_host()
    key = key_of(host)
    await store.commit(PutHost(host=host))
    found = await store.host(key)
    assert found is not None
    assert found.presence == Presence()
    await store.check_in([a_check_in(key, at=NOW, version="2"), a_check_in(key, at=EARLIER, version="1")])
    await store.check_in([a_check_in(key, at=EARLIER, version="0")])
    await store.commit(a_check_in(key, at=EARLIER, version="0"))
    found = await store.host(key)
    assert found is not None
    assert found.presence == Presence(checked_in_at=NOW, clock_offset_seconds=0.25, agent_version="2")
    later = PutPresence(
        key=key, checked_in_at=NOW + timedelta(seconds=1), clock_offset_seconds=None, agent_version="nul\0"
    )
    await store.commit(later)
    row = await store.presence(key)
    assert row is not None
    assert row.state.presence.checked_in_at == later.checked_in_at
    assert row.state.presence.clock_offset_seconds is None
    assert row.state.presence.agent_version == "nul\N{REPLACEMENT CHARACTER}"
    await store.check_in([])


async def test_what_one_poll_reads(store: Store) -> None:
    state = whole_host(1)
    key = key_of(state.host)
    await store.commit(*host_writes(state))
    row = await store.presence(key)
    assert row is not None
    assert row.state == state
    assert row.digests == {write.kind: write.digest for write in report_writes(key, state.reports)}
    assert await store.plan(key) == state.plan
    assert await store.plan((INFRA_ENV_ID, an_id(4))) is None
    assert await store.presence((INFRA_ENV_ID, an_id(4))) is None
    bare = a_host(2)
    await store.commit(PutHost(host=bare))
    row = await store.presence(key_of(bare))
    assert row is not None
    assert (row.state, row.digests) == (HostState(host=bare), {})


async def test_steps_on_record_outlast_check_ins_but_not_the_host(store: Store) -> None:
    state = whole_host(1)
    key = key_of(state.host)
    await store.commit(*host_writes(state))
    issued = {StepType.INSTALL: (7, NOW.timestamp()), StepType.DISK_SPEED: (2**32 - 1, 0.5)}
    await store.commit(PutIssued(key=key, issued={StepType.UPGRADE_AGENT: (1, 1.0)}))
    await store.commit(PutIssued(key=key, issued={**issued, StepType.INVENTORY: (1, 1.0)}))
    await store.commit(a_check_in(key, at=NOW + timedelta(seconds=1)))
    await store.check_in([a_check_in(key, at=NOW + timedelta(seconds=2))])
    row = await store.presence(key)
    assert row is not None
    assert row.issued == issued, "of steps that may be repeated nobody keeps a record"
    await store.commit(DeleteHost(key=key, at=NOW))
    await store.commit(*host_writes(state))
    row = await store.presence(key)
    assert row is not None
    assert row.issued == {}


async def test_findings_and_secrets(store: Store) -> None:
    subject = cluster_subject(CLUSTER_ID)
    state = await stored_cluster(store)
    assert await store.findings(subject) == state.findings
    assert await store.findings("cluster:none") == ()
    await store.commit(PutSecret(subject=subject, name="pull", value="{ünï\0}"))
    await store.commit(
        PutSecret(subject=subject, name="pull", value="second"), PutSecret(subject=subject, name="b", value="")
    )
    assert await store.secret(subject, "pull") == "second"
    assert await store.secret(subject, "b") == ""
    await store.commit(PutSecret(subject=subject, name="pull", value=None))
    assert await store.secret(subject, "pull") is None
    assert await store.secret("none", "pull") is None


async def test_manifests(store: Store) -> None:
    def a_manifest(name: str, *, size: int = 1) -> PutManifest:
        return PutManifest(cluster_id=CLUSTER_ID, folder="openshift", file_name=name, source="user", size=size, at=NOW)

    await store.commit(a_manifest("b.yaml"), a_manifest("a.yaml"), a_manifest("b.yaml", size=7))
    assert [(row.file_name, row.size, row.source) for row in await store.manifests(CLUSTER_ID)] == [
        ("a.yaml", 1, "user"),
        ("b.yaml", 7, "user"),
    ]
    await store.commit(DeleteManifest(cluster_id=CLUSTER_ID, folder="openshift", file_name="b.yaml"))
    assert [row.file_name for row in await store.manifests(CLUSTER_ID)] == ["a.yaml"]
    assert list(await store.manifests(an_id(4))) == []


async def test_lists_of_clusters(store: Store) -> None:
    first = await stored_cluster(store, openshift_cluster_id=an_id(50), ams_subscription_id="s1")
    later = a_cluster(id=an_id(2), created_at=NOW, user_name="eve", ams_subscription_id="s2")
    gone = a_cluster(id=an_id(3), created_at=NOW + timedelta(seconds=1))
    await store.commit(*(PutCluster(cluster=each, expect_revision=None) for each in (later, gone)))
    state = await store.cluster_state(gone.id)
    assert state is not None
    await store.commit(DeleteCluster(cluster_id=gone.id, expect_revision=state.revision, at=NOW))

    async def ids(query: ClusterQuery) -> list[object]:
        return [state.cluster.id for state in await store.clusters(query)]

    assert await ids(ClusterQuery()) == [later.id, first.cluster.id]
    assert await ids(ClusterQuery(with_deleted=True)) == [gone.id, later.id, first.cluster.id]
    assert await ids(ClusterQuery(owner="eve")) == [later.id]
    assert await ids(ClusterQuery(openshift_cluster_id=an_id(50))) == [first.cluster.id]
    assert await ids(ClusterQuery(ams_subscription_ids=("s1", "s2", "x"))) == [later.id, first.cluster.id]
    assert await ids(ClusterQuery(ams_subscription_ids=("x",))) == []
    brief = (await store.clusters(ClusterQuery()))[1]
    assert brief.findings == first.findings
    assert [(host.host, host.presence) for host in brief.hosts] == [(host.host, host.presence) for host in first.hosts]
    assert all(host.reports == NO_REPORTS and host.findings == () for host in brief.hosts)
    assert (await store.clusters(ClusterQuery(with_hosts=True)))[1] == first
    assert await store.cluster_state(gone.id) is None
    assert await store.cluster(gone.id) is None
    assert await store.cluster(gone.id, with_deleted=True) == replace(gone, deleted_at=NOW)


async def test_every_put_raises_the_revision_by_one(store: Store) -> None:
    state = await stored_cluster(store)
    changed = replace(state.cluster, status=ClusterStatus.INSTALLING, name="nul\0")
    await store.commit(PutCluster(cluster=changed, expect_revision=state.revision))
    await store.commit(TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision + 1))
    found = await store.cluster_state(CLUSTER_ID)
    assert found == replace(state, cluster=changed, revision=state.revision + 2)


async def test_a_purged_cluster_leaves_nothing(store: Store) -> None:
    state = await stored_cluster(store)
    host = state.hosts[0].host
    other = a_pool_host(9)
    subjects = (cluster_subject(CLUSTER_ID), host_subject(key_of(host)))
    await store.commit(
        *(PutSecret(subject=subject, name="s", value="v") for subject in (*subjects, host_subject(key_of(other)))),
        *(MakeDue(subject=subject, kind="evaluate", at=NOW) for subject in subjects),
        PutManifest(cluster_id=CLUSTER_ID, folder="f", file_name="n", source="user", size=1, at=NOW),
        PutHost(host=other),
    )
    await store.commit(AddEvents(events=(an_event(cluster_id=CLUSTER_ID), an_event(infra_env_id=INFRA_ENV_ID))))
    await store.commit(PurgeCluster(cluster_id=CLUSTER_ID))
    assert await store.cluster(CLUSTER_ID, with_deleted=True) is None
    assert await store.host(key_of(host)) is None
    assert await store.plan(key_of(host)) is None
    assert await store.next_due_at() is None
    assert list(await store.manifests(CLUSTER_ID)) == []
    assert (await store.raw_reports([key_of(host)]))[key_of(host)] == {}
    for subject in subjects:
        assert await store.secret(subject, "s") is None
        assert await store.findings(subject) == ()
    assert await store.secret(host_subject(key_of(other)), "s") == "v"
    assert await store.host(key_of(other)) is not None
    left = await store.events(EventQuery())
    assert [event.seq for event in left.events] == [2]
    await store.commit(DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=NOW))
    # The same machine comes back with the same id: nothing old may show, from no cache either.
    fresh = whole_cluster((1,), name="again")
    fresh = replace(fresh, hosts=(replace(fresh.hosts[0], host=a_host(1, requested_hostname="again")),))
    await store.commit(*cluster_writes(fresh))
    again = await store.cluster_state(CLUSTER_ID)
    assert again is not None
    assert again == replace(fresh, revision=again.revision)


async def test_a_deleted_infra_env_loses_its_secrets_and_makes_room(store: Store) -> None:
    infra_env = an_infra_env()
    subject = infra_env_subject(infra_env.id)
    await store.commit(
        PutInfraEnv(infra_env=infra_env, expect_revision=None), PutSecret(subject=subject, name="pull", value="x")
    )
    await store.commit(DeleteInfraEnv(infra_env_id=infra_env.id, at=NOW))
    assert await store.secret(subject, "pull") is None
    new = replace(infra_env, name="new")
    await store.commit(PutInfraEnv(infra_env=new, expect_revision=None))
    found = await store.infra_env(infra_env.id)
    assert found is not None
    assert found.infra_env == new


async def test_cancelled_subjects_are_not_due(store: Store) -> None:
    await store.commit(
        MakeDue(subject="a", kind="x", at=NOW),
        MakeDue(subject="a", kind="y", at=NOW),
        MakeDue(subject="b", kind="x", at=NOW),
    )
    await store.commit(Cancel(subject="a"))
    rows = await store.claim_due(owner="me", now=NOW, lease=timedelta(seconds=5), limit=9)
    assert [row.subject for row in rows] == ["b"]


async def test_old_and_forgotten_things(store: Store) -> None:
    quiet, busy, gone = (a_cluster(id=an_id(number)) for number in (1, 2, 3))
    environments = [an_infra_env(id=an_id(number), cluster_id=None) for number in (11, 12)]
    heard = a_host(1, cluster_id=busy.id, infra_env_id=an_id(12))
    await store.commit(
        *(PutCluster(cluster=each, expect_revision=None) for each in (quiet, busy, gone)),
        *(PutInfraEnv(infra_env=each, expect_revision=None) for each in environments),
        PutHost(host=heard),
        a_check_in(key_of(heard), at=NOW),
    )
    state = await store.cluster_state(gone.id)
    assert state is not None
    await store.commit(DeleteCluster(cluster_id=gone.id, expect_revision=state.revision, at=EARLIER))
    assert list(await store.inactive_clusters_before(NOW, limit=10)) == [quiet]
    later = NOW + timedelta(microseconds=1)
    assert list(await store.inactive_clusters_before(later, limit=10)) == [quiet, busy]
    assert list(await store.inactive_clusters_before(later, limit=1)) == [quiet]
    assert list(await store.inactive_clusters_before(EARLIER, limit=10)) == []
    assert list(await store.inactive_infra_envs_before(NOW, limit=10)) == environments[:1]
    assert list(await store.inactive_infra_envs_before(later, limit=10)) == environments
    assert list(await store.deleted_clusters_before(EARLIER)) == []
    assert list(await store.deleted_clusters_before(NOW)) == [gone.id]


async def test_who_listens(store: Store) -> None:
    later = NOW + timedelta(minutes=2)
    assert await store.listened() == Listened()
    await store.renew_listening("a", NOW, forgiven_until=None)
    await store.renew_listening("b", EARLIER, forgiven_until=later)
    await store.renew_listening("a", EARLIER, forgiven_until=None)
    assert await store.listened() == Listened(until=NOW, forgiven_until=later)
    await store.renew_listening("c", NOW + timedelta(days=1), forgiven_until=None)
    assert await store.listened() == Listened(until=NOW + timedelta(days=1)), "b was heard of more than a day before"


async def test_many_hosts_in_one_commit(store: Store) -> None:
    """More than one statement may carry, each key once in its batch."""
    numbers = range(1, 61)
    state = await stored_cluster(store, numbers)
    assert len(state.hosts) == 60
    first, second = (replace(state.hosts[0].host, requested_hostname=name) for name in ("one", "two"))
    await store.commit(
        TouchCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision),
        PutHost(host=first),
        PutHost(host=state.hosts[1].host),
        PutHost(host=second),
        *(MakeDue(subject="x", kind="evaluate", at=NOW) for _ in range(3)),
    )
    found = await store.cluster_state(CLUSTER_ID)
    assert found is not None
    assert found.hosts[0].host == second
    assert [host.host for host in found.hosts[1:]] == [host.host for host in state.hosts[1:]]
    rows = await store.claim_due(owner="me", now=NOW, lease=timedelta(seconds=5), limit=9)
    assert [row.generation for row in rows] == [3]
    assert found.hosts[0].plan == a_plan("1")
    assert found.hosts[0].findings == some_findings("host 1")
