"""Simulated machines up to their reboot: from there on the laboratory's stand-ins and the real controller act."""

import base64
from collections.abc import Callable
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from firstlight.core import wire
from firstlight.simulate import user
from firstlight.simulate.agent import Agent
from firstlight.simulate.calls import Service
from firstlight.simulate.ends import cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import GB, GIB, Machine, Plan, make_machines
from firstlight.simulate.telling import tell_progress

SPEED = 150.0
LIMIT = 120.0
STAGES = {
    "worker": ("Starting installation", "Installing", "Writing image to disk", "Rebooting"),
    "single": ("Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting"),
}


class RebootingFleet(Fleet):
    """Its installers tell their stages in one go and leave; nothing boots from disk here."""

    async def _install(self, agent: Agent, request: wire.InstallCmdRequest) -> None:
        single = request.control_plane_count == 1 and request.role == "bootstrap"
        for stage in STAGES["single" if single else "worker"]:
            refusal = await tell_progress(agent.service, agent.infra_env_id, agent.machine.id, stage)
            assert refusal == ""
        agent.reboot()

    async def _disk_boot(self, agent: Agent) -> None:
        return


async def reboot_all(
    service: Service,
    name: str,
    plan: Plan,
    *,
    of_host: Callable[[Machine], dict[str, Any]] = lambda machine: {},
    manifest: str = "",
    **wishes: Any,
) -> tuple[UUID, tuple[Machine, ...]]:
    """A new cluster whose hosts have all reported that they reboot; `wishes` are the cluster's, `of_host` theirs."""
    new = user.NewCluster(name=name, control_plane_count=plan.masters)
    cluster_id, infra_env_id = await user.create_cluster(service, new)
    if wishes:
        await service.send("PATCH", f"/v2/clusters/{cluster_id}", wishes)
    if manifest:
        content = base64.b64encode(manifest.encode()).decode()
        file = {"folder": "openshift", "file_name": "user.yaml", "content": content}
        await service.send("POST", f"/v2/clusters/{cluster_id}/manifests", file)
    machines = tuple(map(ample, make_machines(plan, seed=7, salt=str(infra_env_id))))
    fleet = RebootingFleet(service.url, infra_env_id, machines, speed=SPEED, seed=7, service=service, look_seconds=0.2)
    async with fleet.powered():
        assert (await fleet.wait(user.inventories_are_in, limit=LIMIT)).reached
        for machine in machines:
            if wish := of_host(machine):
                await service.send("PATCH", f"/v2/infra-envs/{infra_env_id}/hosts/{machine.id}", wish)
        if plan.masters > 1:
            await user.set_vips(service, cluster_id, fleet.site.network)
        assert (await fleet.wait(cluster_is("ready"), limit=LIMIT)).reached
        await user.install(service, cluster_id)
        assert (await fleet.wait(_all_reboot, limit=LIMIT)).reached
    return cluster_id, machines


def ample(machine: Machine) -> Machine:
    """With room for every operator: a second disk, memory and processors."""
    first = machine.disks[0]
    second = replace(first, name="sdb", serial=f"{first.serial}B", wwn=f"{first.wwn}b", size_bytes=2_000 * GB)
    return replace(machine, disks=(first, second), memory_bytes=64 * GIB, cpu_cores=16)


def _all_reboot(snapshot: Any) -> bool:
    return bool(snapshot.hosts) and all(host.reached.current_stage == "Rebooting" for host in snapshot.hosts.values())
