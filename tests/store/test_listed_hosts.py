"""Hosts for tables: as whole as tables need them, the same objects while nothing they show changed."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.listed_hosts import HostsOf, ListedHost, Place
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import DeleteHost, PutFindings, PutHost
from firstlight.server.store.sql_store import SqlStore
from tests.builders.inventories import an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.stored import a_check_in, a_report, key_of, some_findings, stored_cluster

OF_CLUSTER = HostsOf(Place.CLUSTER, CLUSTER_ID)
OF_INFRA_ENV = HostsOf(Place.INFRA_ENV, INFRA_ENV_ID)
LATER = NOW + timedelta(seconds=30)


@pytest.mark.anyio
async def test_a_listed_host_shows_what_the_whole_one_does(store: SqlStore) -> None:
    await stored_cluster(store)
    whole = {state.host.id: state for state in await store.hosts_of_infra_env(INFRA_ENV_ID)}
    for listed in (
        await store.listed_hosts(OF_CLUSTER),
        await store.listed_hosts(OF_INFRA_ENV),
    ):
        assert {host.state.host.id for host in listed} == set(whole) != set()
        for host in listed:
            state = whole[host.state.host.id]
            assert host.state.host == state.host
            assert host.state.findings == state.findings
            assert host.state.reports.inventory == state.reports.inventory
            assert host.checked_in_at == state.presence.checked_in_at


@pytest.mark.anyio
async def test_only_what_is_shown_makes_a_host_new(store: SqlStore) -> None:
    state = await stored_cluster(store, (1,))
    key = key_of(state.hosts[0].host)

    async def shown() -> ListedHost:
        (found,) = await store.listed_hosts(OF_CLUSTER)
        return found

    first = await shown()
    await store.commit(a_check_in(key, at=LATER))
    heard = await shown()
    assert heard.state is first.state
    assert heard.checked_in_at == LATER

    await store.commit(a_report(key, ReportKind.NTP, (), digest="other"))
    assert (await shown()).state is first.state

    await store.commit(a_report(key, ReportKind.INVENTORY, an_inventory(9, hostname="other"), digest="new"))
    inventory = (await shown()).state.reports.inventory
    assert inventory is not None
    assert inventory.hostname == "other"

    judged = some_findings("judged anew")
    await store.commit(PutFindings(subject=host_subject(key), findings=judged))
    assert (await shown()).state.findings == judged

    named = replace(state.hosts[0].host, requested_hostname="renamed")
    await store.commit(PutHost(host=named))
    assert (await shown()).state.host.requested_hostname == "renamed"

    await store.commit(PutHost(host=replace(named, cluster_id=None)))
    assert await store.listed_hosts(OF_CLUSTER) == []
    assert len(await store.listed_hosts(OF_INFRA_ENV)) == 1
    await store.commit(DeleteHost(key=key, at=NOW))
    assert await store.listed_hosts(OF_INFRA_ENV) == []
