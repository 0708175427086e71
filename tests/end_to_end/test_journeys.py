"""Whole installations by simulated machines on both kinds of storage: every shape, a kill half-way, a second try."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.course import add_hosts
from firstlight.simulate.ends import Snapshot, Until, all_known, cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.end_to_end.conftest import Place
from tests.end_to_end.mortal import Mortal

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEED: Final = 120.0
LIMIT: Final = 300.0
SHAPES: Final = {
    "three-and-two": Plan(masters=3, workers=2),
    "single-node": Plan(masters=1),
    "compact": Plan(masters=3),
}


@pytest.fixture
async def mortal(tmp_path: Path, place: Place, anyio_backend: str) -> AsyncIterator[Mortal]:
    service = Mortal(tmp_path / "service", **place)
    await service.start()
    yield service
    await service.stop()
    assert "Traceback" not in service.log


@dataclass(frozen=True, slots=True)
class Journey:
    service: Service
    fleet: Fleet
    cluster_id: UUID

    async def until(self, holds: Until) -> Snapshot:
        result = await self.fleet.wait(holds, limit=LIMIT)
        hosts = {host.requested_hostname: (host.status, host.status_info) for host in result.snapshot.hosts.values()}
        assert result.reached, (result.snapshot.cluster, hosts)
        return result.snapshot

    async def become_ready(self, *, single_node: bool = False) -> None:
        await self.until(user.inventories_are_in)
        if not single_node:
            await user.set_vips(self.service, self.cluster_id, self.fleet.site.network)
        await self.until(lambda snapshot: all_known(snapshot) and cluster_is("ready")(snapshot))

    async def act(self, action: str) -> None:
        await self.service.ask("POST", f"/v2/clusters/{self.cluster_id}/actions/{action}")

    async def file(self, name: str) -> bytes:
        return await self.service.cluster_file(self.cluster_id, name)

    async def check_what_remains(self) -> None:
        """What a person takes home: a way in, the logs of every machine, and the story."""
        kubeconfig = await self.service.credentials(self.cluster_id, "kubeconfig")
        assert b"certificate-authority-data" in kubeconfig
        password = await self.service.ask("GET", f"/v2/clusters/{self.cluster_id}/credentials")
        assert msgspec.json.decode(password)["username"] == "kubeadmin"
        for machine in self.fleet.machines:
            query = {"logs_type": "host", "host_id": str(machine.id)}
            assert await self.service.ask("GET", f"/v2/clusters/{self.cluster_id}/logs", query=query)
        events: list[dict[str, Any]] = msgspec.json.decode(
            await self.service.ask("GET", "/v2/events", query={"cluster_id": str(self.cluster_id)})
        )
        told = [event["name"] for event in events]
        assert {"cluster_registration_succeeded", "cluster_installation_completed"} <= set(told)
        assert told.count("cluster_installation_completed") == 1


@asynccontextmanager
async def a_journey(mortal: Mortal, plan: Plan, *, speed: float = SPEED) -> AsyncIterator[Journey]:
    async with connect(mortal.url) as service:
        new = user.NewCluster(name="journey", control_plane_count=plan.masters)
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        fleet = Fleet(mortal.url, infra_env_id, make_machines(plan, seed=3), speed=speed, service=service)
        async with fleet.powered():
            yield Journey(service, fleet, cluster_id)


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_cluster_is_installed(mortal: Mortal, shape: str) -> None:
    async with a_journey(mortal, SHAPES[shape]) as journey:
        await journey.become_ready(single_node=shape == "single-node")
        await user.install(journey.service, journey.cluster_id)
        await journey.until(cluster_is("installed"))
        await journey.fleet.last_words()
        await journey.check_what_remains()


async def test_hosts_join_a_running_cluster(mortal: Mortal) -> None:
    async with connect(mortal.url) as service:
        new = user.NewCluster(name="grown")
        _, infra_env_id = await user.import_cluster(service, new, openshift_cluster_id=uuid4())
        fleet = Fleet(mortal.url, infra_env_id, make_machines(Plan(workers=2), seed=4), speed=SPEED, service=service)
        async with fleet.powered():
            result = await add_hosts(fleet, limit=LIMIT, say=lambda _: None)
        assert result.reached, result.snapshot
        assert result.snapshot.status_counts() == {"added-to-existing-cluster": 2}


async def test_a_kill_during_preparation_only_delays(mortal: Mortal) -> None:
    async with a_journey(mortal, SHAPES["three-and-two"]) as journey:
        await journey.become_ready()
        await user.install(journey.service, journey.cluster_id)
        await mortal.kill()
        await mortal.start()
        snapshot = await journey.fleet.look()
        assert snapshot.cluster_status in ("preparing-for-installation", "installing")
        await journey.until(cluster_is("installed"))
        await journey.fleet.last_words()
        await journey.check_what_remains()


async def test_a_cancelled_installation_is_tried_again(mortal: Mortal) -> None:
    async with a_journey(mortal, SHAPES["compact"], speed=40) as journey:
        await journey.become_ready()
        await user.install(journey.service, journey.cluster_id)
        await journey.until(cluster_is("installing"))
        first = await journey.file("bootstrap.ign")
        await journey.act("cancel")
        await journey.until(cluster_is("cancelled"))
        await mortal.kill()
        await mortal.start()
        await journey.act("reset")
        await journey.until(lambda snapshot: set(snapshot.status_counts()) == {"resetting-pending-user-action"})
    async with restarted(mortal, journey) as again:
        await again.until(lambda snapshot: all_known(snapshot) and cluster_is("ready")(snapshot))
        await user.install(again.service, again.cluster_id)
        await again.until(cluster_is("installed"))
        await again.fleet.last_words()
        await again.check_what_remains()
        assert await again.file("bootstrap.ign") != first, "a second attempt has keys of its own"


@asynccontextmanager
async def restarted(mortal: Mortal, journey: Journey) -> AsyncIterator[Journey]:
    """Somebody starts the machines from the discovery image once more."""
    async with connect(mortal.url) as service:
        before = journey.fleet
        fleet = Fleet(mortal.url, before.infra_env_id, before.machines, speed=SPEED, service=service)
        async with fleet.powered():
            yield Journey(service, fleet, journey.cluster_id)
