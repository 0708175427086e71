"""What is deleted goes for good: hosts of the pool and infra-envs, with what is theirs alone."""

from datetime import timedelta

import pytest

from firstlight.server.ports.database import LostRace
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import (
    AddEvents,
    DeleteHost,
    DeleteInfraEnv,
    PurgeHost,
    PurgeInfraEnv,
    PutHost,
    PutInfraEnv,
)
from tests.builders.clusters import an_infra_env
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.stored import an_event, key_of

pytestmark = pytest.mark.anyio

LATER = NOW + timedelta(microseconds=1)


async def test_deleted_hosts_of_the_pool_are_found_in_order(store: Store) -> None:
    first, second, bound, living = a_pool_host(1), a_pool_host(2), a_host(3), a_pool_host(4)
    await store.commit(*(PutHost(host=host) for host in (first, second, bound, living)))
    await store.commit(DeleteHost(key=key_of(second), at=NOW - timedelta(seconds=1)))
    await store.commit(*(DeleteHost(key=key_of(host), at=NOW) for host in (first, bound)))
    assert list(await store.deleted_pool_hosts_before(NOW, limit=9)) == [key_of(second)]
    assert list(await store.deleted_pool_hosts_before(LATER, limit=9)) == [key_of(second), key_of(first)]
    assert list(await store.deleted_pool_hosts_before(LATER, limit=1)) == [key_of(second)]


async def test_a_host_goes_with_its_events_and_no_others(store: Store) -> None:
    host = a_pool_host(1)
    key = key_of(host)
    theirs = {"host_id": key[1], "infra_env_id": key[0]}
    await store.commit(PutHost(host=host))
    await store.commit(
        AddEvents(
            events=(
                an_event("own", **theirs),
                an_event("of its time in a cluster", **theirs, cluster_id=CLUSTER_ID),
                an_event("of its infra-env", infra_env_id=key[0]),
            )
        ),
        DeleteHost(key=key, at=NOW),
    )
    await store.commit(PurgeHost(key=key))
    assert list(await store.deleted_pool_hosts_before(LATER, limit=9)) == []
    left = [event.message for event in await store.events_after(0, limit=9)]
    assert left == ["of its time in a cluster", "of its infra-env"]
    with pytest.raises(LostRace):
        await store.commit(PurgeHost(key=key))


async def test_who_is_back_stays(store: Store) -> None:
    host = a_pool_host(1)
    await store.commit(PutHost(host=host), PutInfraEnv(infra_env=an_infra_env(), expect_revision=None))
    for write in (PurgeHost(key=key_of(host)), PurgeInfraEnv(infra_env_id=INFRA_ENV_ID)):
        with pytest.raises(LostRace):
            await store.commit(write)
    assert await store.host(key_of(host)) is not None
    assert await store.infra_env(INFRA_ENV_ID) is not None


async def test_an_infra_env_goes_after_the_last_of_its_hosts(store: Store) -> None:
    host = a_pool_host(1)
    await store.commit(PutHost(host=host), PutInfraEnv(infra_env=an_infra_env(), expect_revision=None))
    await store.commit(DeleteHost(key=key_of(host), at=NOW), DeleteInfraEnv(infra_env_id=INFRA_ENV_ID, at=NOW))
    await store.commit(AddEvents(events=(an_event("own", infra_env_id=INFRA_ENV_ID), an_event("of nobody"))))
    assert list(await store.deleted_infra_envs_before(LATER, limit=9)) == []
    await store.commit(PurgeHost(key=key_of(host)))
    assert list(await store.deleted_infra_envs_before(NOW, limit=9)) == []
    assert list(await store.deleted_infra_envs_before(LATER, limit=9)) == [INFRA_ENV_ID]
    await store.commit(PurgeInfraEnv(infra_env_id=INFRA_ENV_ID))
    assert list(await store.deleted_infra_envs_before(LATER, limit=9)) == []
    assert [event.message for event in await store.events_after(0, limit=9)] == ["of nobody"]
    await store.commit(PutInfraEnv(infra_env=an_infra_env(name="again"), expect_revision=None))
    stored = await store.infra_env(INFRA_ENV_ID)
    assert stored is not None
    assert stored.infra_env.name == "again"
