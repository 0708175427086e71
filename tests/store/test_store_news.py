"""What other replicas hear of a commit: one small notice per channel, and only of what was kept."""

import pytest

from firstlight.server.ports.database import LostRace, Notify
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import (
    CHANGES,
    DUE,
    EVENTS,
    FINDINGS,
    cluster_subject,
    host_subject,
    infra_env_subject,
)
from firstlight.server.ports.writes import (
    AddEvents,
    DeleteHost,
    DeleteInfraEnv,
    MakeDue,
    PurgeCluster,
    PutCluster,
    PutFindings,
    PutHost,
    PutIssued,
    PutSecret,
    TouchCluster,
    Write,
)
from firstlight.server.store.documents import micros
from firstlight.server.store.news import notices
from firstlight.server.store.writes import made_of, work
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, NOW
from tests.store.stored import a_check_in, an_event, an_id, cluster_writes, key_of, whole_cluster

CLUSTER = cluster_subject(CLUSTER_ID)
HOST = host_subject(key_of(a_host()))


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        ([TouchCluster(cluster_id=CLUSTER_ID, expect_revision=1)], []),
        ([PurgeCluster(cluster_id=CLUSTER_ID)], [Notify(CHANGES, CLUSTER)]),
        ([PutHost(host=a_host())], [Notify(CHANGES, HOST)]),
        ([PutHost(host=a_pool_host()), PutHost(host=a_pool_host())], [Notify(CHANGES, HOST)]),
        ([DeleteHost(key=key_of(a_host()), at=NOW)], [Notify(CHANGES, HOST)]),
        ([DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=NOW)], [Notify(CHANGES, infra_env_subject(INFRA_ENV_ID))]),
        ([PutIssued(key=key_of(a_host()), issued={})], [Notify(CHANGES, HOST)]),
        ([PutFindings(subject=HOST, findings=())], [Notify(FINDINGS, HOST)]),
        (
            [TouchCluster(cluster_id=CLUSTER_ID, expect_revision=1), PutFindings(subject=HOST, findings=())],
            [Notify(FINDINGS, f"{CLUSTER} {HOST}")],
        ),
        # Who reaches whom changes without an event.
        ([PutCluster(cluster=a_cluster(), expect_revision=None)], [Notify(FINDINGS, CLUSTER)]),
        ([PutSecret(subject="x", name="n", value=None), a_check_in(key_of(a_host()))], []),
        (
            [MakeDue(subject="a", kind="k", at=NOW), MakeDue(subject="b", kind="k", at=EARLIER)],
            [Notify(DUE, str(micros(EARLIER)))],
        ),
        ([AddEvents(events=())], []),
        ([AddEvents(events=(an_event(),))], [Notify(EVENTS, "service")]),
        (
            [AddEvents(events=(an_event(cluster_id=CLUSTER_ID, infra_env_id=INFRA_ENV_ID),) * 2)],
            [Notify(EVENTS, f"infra-env {CLUSTER} {infra_env_subject(INFRA_ENV_ID)}")],
        ),
        ([PurgeCluster(cluster_id=an_id(number)) for number in range(200)], [Notify(CHANGES, "")]),
        (
            [
                TouchCluster(cluster_id=CLUSTER_ID, expect_revision=1),
                *(PutHost(host=a_host(number)) for number in range(1, 200)),
            ],
            [Notify(CHANGES, CLUSTER)],
        ),
    ],
)
def test_what_is_told(writes: list[Write], expected: list[Notify]) -> None:
    assert list(notices(writes)) == expected


def test_events_come_last_in_a_commit() -> None:
    writes = [AddEvents(events=(an_event(),)), *cluster_writes(whole_cluster()), MakeDue(subject="a", kind="k", at=NOW)]
    everything = work(writes, made_of(writes))
    texts = [str(item.sql) if not isinstance(item, Notify) else "notice" for item in everything]
    assert [place for place, text in enumerate(texts) if "INTO events" in text] == [len(texts) - 1]


def test_hosts_of_one_decision_are_one_statement() -> None:
    writes = [PutHost(host=a_host(number)) for number in range(1, 401)]
    statements = [item for item in work(writes, made_of(writes)) if not isinstance(item, Notify)]
    assert [len(item.rows or ()) for item in statements] == [400]


@pytest.mark.anyio
async def test_only_a_commit_is_heard(store: Store) -> None:
    async with store.listen(CHANGES) as changes, store.listen(EVENTS) as events, store.listen(DUE) as due:
        assert [await anext(each) for each in (changes, events, due)] == ["", "", ""]
        with pytest.raises(LostRace):
            await store.commit(
                AddEvents(events=(an_event("lost"),)),
                MakeDue(subject="lost", kind="k", at=NOW),
                TouchCluster(cluster_id=an_id(1), expect_revision=1),
            )
        await store.commit(
            PutHost(host=a_pool_host()),
            AddEvents(events=(an_event(cluster_id=CLUSTER_ID),)),
            MakeDue(subject="a", kind="k", at=NOW),
        )
        assert await anext(changes) == HOST
        assert await anext(events) == f"cluster {CLUSTER}"
        assert await anext(due) == str(micros(NOW))
        assert await store.last_event_seq() == 1


@pytest.mark.anyio
async def test_nothing_to_write_is_nothing_to_tell(store: Store) -> None:
    await store.commit()
