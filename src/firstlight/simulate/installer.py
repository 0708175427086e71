"""The program that writes a machine's disk: its stages by role, what it waits for, and the reboot at its end."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NoReturn
from uuid import UUID

import msgspec

from firstlight.core import wire
from firstlight.core.wire.words import HostStage
from firstlight.simulate.agent import Agent
from firstlight.simulate.calls import Refused, Unreachable
from firstlight.simulate.control_plane import ControlPlane, Node
from firstlight.simulate.documents import HostDocument
from firstlight.simulate.telling import tell_progress

LOOK_SECONDS: Final = 5.0
CLEANING_SECONDS: Final = 8.0
SERVICES_SECONDS: Final = 30.0
IGNITION_SECONDS: Final = 3.0
WRITING_SECONDS: Final = 100.0
PERCENT_STEP: Final = 5
BOOTKUBE_SECONDS: Final = 60.0
REBOOT_SECONDS: Final = 10.0
ATTEMPTS: Final = 3
MASTERS_FOR_WORKERS: Final = 2


class InstallationFailed(Exception):
    """The installer cannot go on."""


class _Ignition(msgspec.Struct):
    version: str


class _IgnitionConfig(msgspec.Struct):
    ignition: _Ignition


class Installer:
    """One run on one machine. `start_controller` is called when the new cluster can run pods."""

    def __init__(
        self,
        agent: Agent,
        request: wire.InstallCmdRequest,
        *,
        plane: ControlPlane,
        start_controller: Callable[[], None],
    ) -> None:
        self.agent = agent
        self.request = request
        self.plane = plane
        self.start_controller = start_controller
        self.role = request.role
        self.is_single_node = request.control_plane_count == 1 and request.role == "bootstrap"

    async def run(self) -> None:
        self.agent.phase = "installing"
        try:
            await self._tell("Starting installation", self.role)
            await self._rest(CLEANING_SECONDS)
            await self._by_role()()
        except InstallationFailed as failure:
            self.agent.phase = "failed"
            await self._tell("Failed", str(failure))

    def _by_role(self) -> Callable[[], Awaitable[None]]:
        if self.is_single_node:
            return self._single_node
        return {"bootstrap": self._bootstrap, "worker": self._worker}.get(self.role, self._master)

    # --- roles --------------------------------------------------------------------------------------------------------

    async def _bootstrap(self) -> None:
        await self._start_services()
        self.plane.masters.add(self.agent.machine.id)
        await self._tell("Installing", "master")
        await self._fetch_ignition()
        await self._write()
        await self._tell("Waiting for control plane", "waiting for the bootstrap node's own preparation")
        await self._rest(LOOK_SECONDS)
        await self._tell("Waiting for control plane", "waiting for masters to join the bootstrap control plane")
        await self._wait_for_masters()
        await self._tell("Waiting for bootkube", "")
        await self._rest(BOOTKUBE_SECONDS)
        self.plane.bootkube_done.set()
        self.start_controller()
        await self._tell("Waiting for controller", "waiting for the controller to say that it is ready")
        await self._look_until(lambda: self._watched(self.plane.controller_ready.is_set()))
        self.plane.bootstrap_runs = False
        await self._leave(bootstrap=True)

    async def _master(self) -> None:
        self.plane.masters.add(self.agent.machine.id)
        await self._tell("Installing", self.role)
        await self._fetch_ignition()
        await self._write()
        await self._leave(bootstrap=False)

    async def _worker(self) -> None:
        await self._tell("Installing", self.role)
        await self._fetch_ignition()
        await self._write()
        await self._tell("Waiting for control plane", "")
        await self._look_until(self._control_plane_is_up)
        await self._leave(bootstrap=False)

    async def _single_node(self) -> None:
        await self._tell("Installing", "bootstrap")
        await self._start_services()
        self.plane.masters.add(self.agent.machine.id)
        await self._tell("Waiting for bootkube", "")
        await self._rest(BOOTKUBE_SECONDS)
        self.plane.bootkube_done.set()
        await self._fetch_ignition()
        await self._write()
        await self._leave(bootstrap=True)

    # --- pieces -------------------------------------------------------------------------------------------------------

    async def _start_services(self) -> None:
        await self._download("bootstrap.ign", self.agent.service.cluster_file(self.request.cluster_id, "bootstrap.ign"))
        await self._rest(SERVICES_SECONDS)
        self.plane.bootstrap_runs = True
        self.plane.serves.set()

    async def _fetch_ignition(self) -> None:
        agent = self.agent
        await self._download("its Ignition", agent.service.host_ignition(agent.infra_env_id, agent.machine.id))
        await self._rest(IGNITION_SECONDS)

    async def _download(self, what: str, answer: Awaitable[bytes]) -> None:
        try:
            config = msgspec.json.decode(await answer, type=_IgnitionConfig)
        except (Refused, Unreachable, msgspec.DecodeError) as error:
            _fail(f"failed to download {what}: {error}")
        if not config.ignition.version.startswith("3."):
            _fail(f"{what} is of version {config.ignition.version}; only 3.x is understood")

    async def _write(self) -> None:
        if self.request.boot_device not in self._devices():
            _fail(f"there is no disk {self.request.boot_device}")
        await self._tell("Writing image to disk", "")
        breaks_at = self.agent.breaks_at()
        for percent in range(PERCENT_STEP, 101, PERCENT_STEP):
            await self._rest(WRITING_SECONDS * PERCENT_STEP / 100)
            if breaks_at is not None and percent > breaks_at:
                _fail(f"failed to write the image to {self.request.boot_device} after {ATTEMPTS} attempts: I/O error")
            await self._tell("Writing image to disk", f"{percent}%")

    def _devices(self) -> set[str]:
        disks = self.agent.machine.disks
        return {f"/dev/{disk.name}" for disk in disks} | {f"/dev/disk/by-id/wwn-{disk.wwn}" for disk in disks}

    async def _wait_for_masters(self) -> None:
        wanted = min(self.request.control_plane_count - 1, 2)
        await self._look_until(lambda: self._watched(self.plane.ready_masters() >= wanted))

    async def _watched(self, so: bool) -> bool:
        """While it waits, the bootstrap tells what it sees of the others: who asked for Ignition and who joined."""
        for host in await self._hosts():
            if host.id == self.agent.machine.id or host.infra_env_id is None:
                continue
            node, stage = self.plane.nodes.get(host.id, Node.OFF), host.reached.current_stage
            is_master = host.id in self.plane.masters
            if node is Node.WAITING and not is_master and stage == "Rebooting":
                await self._tell_of(host.infra_env_id, host.id, "Waiting for ignition")
            elif node is Node.IGNITED and is_master and stage == "Rebooting":
                await self._tell_of(host.infra_env_id, host.id, "Configuring")
            elif node >= Node.READY and is_master and stage in ("Rebooting", "Configuring"):
                await self._tell_of(host.infra_env_id, host.id, "Joined")
        return so

    async def _control_plane_is_up(self) -> bool:
        """Workers believe the service: two masters must be done. On day 2 the cluster runs already."""
        cluster_id, service = self.request.cluster_id, self.agent.service
        try:
            if (await service.cluster(cluster_id)).kind == "AddHostsCluster":
                self.plane.serves.set()
                return True
            hosts = [*await service.cluster_hosts(cluster_id, role="master")]
            hosts += await service.cluster_hosts(cluster_id, role="arbiter")
        except (Refused, Unreachable) as error:
            self.agent.notes.append(f"could not look at the masters: {error}")
            return False
        return sum(host.reached.current_stage == "Done" for host in hosts) >= MASTERS_FOR_WORKERS

    async def _leave(self, *, bootstrap: bool) -> None:
        await self.agent.send_logs(self.request.cluster_id, bootstrap=bootstrap)
        await self._tell("Rebooting", "")
        await self._rest(REBOOT_SECONDS)
        self.agent.reboot()

    # --- telling and waiting ------------------------------------------------------------------------------------------

    async def _hosts(self) -> Sequence[HostDocument]:
        try:
            return await self.agent.service.cluster_hosts(self.request.cluster_id)
        except (Refused, Unreachable) as error:
            self.agent.notes.append(f"could not look at the hosts: {error}")
            return ()

    async def _look_until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        while not await holds():
            await self._rest(LOOK_SECONDS)

    async def _rest(self, seconds: float) -> None:
        await self.agent.pace.rest(seconds)

    async def _tell(self, stage: HostStage, info: str) -> None:
        self.agent.phase = stage
        self.agent.notes.append(f"{stage} {info}".strip())
        await self._tell_of(self.agent.infra_env_id, self.agent.machine.id, stage, info=info)

    async def _tell_of(self, infra_env_id: UUID, host_id: UUID, stage: HostStage, *, info: str = "") -> None:
        refusal = await tell_progress(self.agent.service, infra_env_id, host_id, stage, info=info)
        if refusal:
            self.agent.notes.append(refusal)


def _fail(reason: str) -> NoReturn:
    raise InstallationFailed(reason)
