"""Hosts, nodes and machines are settled one by one: what is refused for one of them keeps no other waiting."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from uuid import UUID

import pytest

from firstlight.host.controller.baremetal import BareMetal
from firstlight.host.controller.dns import settle_dns_address
from firstlight.host.controller.documents import ClusterDocument, HostDocument, HostProgress, Platform
from firstlight.host.controller.node_labels import NodeLabels
from firstlight.host.controller.node_reports import NodeReports
from firstlight.host.controller.objects import (
    BareMetalHost,
    Condition,
    Metadata,
    Node,
    NodeSpec,
    NodeStatus,
    Taint,
)
from firstlight.host.controller.site import Site
from firstlight.host.controller.taints import UNINITIALIZED, let_nodes_in
from tests.host.agent.scripted import Asked, Said, document
from tests.host.controller.sites import CLUSTER, said, site_at

pytestmark = pytest.mark.anyio
FIRST, SECOND = "first", "second"
IDS = {FIRST: UUID(int=1), SECOND: UUID(int=2)}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def a_host(name: str) -> HostDocument:
    return HostDocument(
        id=IDS[name],
        infra_env_id=UUID(int=9),
        requested_hostname=name,
        status="installing-in-progress",
        progress=HostProgress(current_stage="Configuring"),
        node_labels='{"example.com/site": "north"}',
    )


def a_node(name: str, *, ready: bool) -> Node:
    status = NodeStatus(conditions=(Condition(type="Ready", status=str(ready)),))
    return Node(metadata=Metadata(name=name), spec=NodeSpec(taints=(Taint(key=UNINITIALIZED),)), status=status)


def furnish(site: Site, *, ready: bool = True) -> None:
    site.cluster = ClusterDocument(id=CLUSTER, platform=Platform(type="nutanix" if not ready else "baremetal"))
    site.hosts = tuple(a_host(name) for name in IDS)
    site.nodes.items = {name: a_node(name, ready=ready) for name in IDS}
    site.bare_metal.items = {
        name: BareMetalHost(metadata=Metadata(name=name, annotations={"baremetalhost.metal3.io/status": "{}"}))
        for name in IDS
    }


LOOPS = {
    "stages": (lambda site: NodeReports(site).run(), f"{IDS[FIRST]}/progress", f"{IDS[SECOND]}/progress"),
    "bare-metal": (lambda site: BareMetal(site).run(), f"{FIRST}/status", f"baremetalhosts/{SECOND}"),
    "labels": (lambda site: NodeLabels(site).run(), f"nodes/{FIRST}", f"nodes/{SECOND}"),
    "taints": (let_nodes_in, f"nodes/{FIRST}", f"nodes/{SECOND}"),
}
"""The loop, the call that is always refused, and one that has to come all the same."""


@pytest.mark.parametrize("loop", list(LOOPS))
async def test_one_that_is_refused(loop: str, tmp_path: Path) -> None:
    run, refused, wanted = LOOPS[loop]

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/provisioning-configuration"):
            return document({}, status=404)
        return document({"message": "out of the question"}, status=422 if asked.path.endswith(refused) else 200)

    async with site_at(script, tmp_path) as (site, server):
        furnish(site, ready=loop != "taints")
        work: Coroutine[None, None, None] = run(site)
        task = asyncio.create_task(work)
        try:
            await server.until(lambda asked: any(one.path.endswith(wanted) for one in asked), seconds=60)
            assert not task.done(), "the first one is not settled yet"
            assert "out of the question" in said(site)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_pool_goes_on_however_long_the_api_server_is_away(tmp_path: Path) -> None:
    """Nobody else would ever let it go on."""
    paused: list[bool] = []
    away = 100

    def script(asked: Asked) -> Said:
        if not asked.path.endswith("/machineconfigpools/worker"):
            return document({})
        paused.append(asked.json()["spec"]["paused"])
        return document({"message": "later"}, status=503 if 1 < len(paused) <= away else 200)

    async with site_at(script, tmp_path, look_seconds=0.01) as (site, _):
        furnish(site)
        worker = {"role": "worker", "machine_config_pool_name": "edge", "node_labels": '{"a": "b"}'}
        site.hosts = (HostDocument(id=IDS[FIRST], requested_hostname=FIRST, status="installed", **worker),)
        async with asyncio.timeout(60):
            await NodeLabels(site).run()
    assert paused == [True] + [False] * away


async def test_the_address_of_the_dns_is_looked_after_until_it_is_there(tmp_path: Path) -> None:
    """Its operator may come late; on a slow machine later than a quarter of an hour."""
    looks: list[str] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/cluster-config-v1"):
            return document({"data": {"install-config": '{"networking": {"serviceNetwork": ["172.30.0.0/16"]}}'}})
        looks.append(asked.path)
        dns = {"metadata": {"name": "dns-default", "namespace": "openshift-dns"}, "spec": {}}
        return document({"items": [dns] if len(looks) > 60 else []})

    async with site_at(script, tmp_path, look_seconds=0.001) as (site, _):
        async with asyncio.timeout(60):
            await settle_dns_address(site)
    assert len(looks) == 61
