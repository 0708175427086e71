"""A cluster of simulated machines two of which are real: when the service tells those to install, QEMU starts.

Discovery, waiting and joining are simulated; the installer, the disk and the first boot from it are not.
"""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec

from firstlight.core import wire
from firstlight.host.actions.action import Site
from firstlight.host.actions.install_command import InstallRequest, check, install_command
from firstlight.host.fetching import fetcher
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root
from firstlight.simulate.agent import Agent
from firstlight.simulate.ends import Snapshot
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Machine as Simulated
from lab.cluster.bootkube import unpack
from lab.cluster.machine_configs import MachineConfigServer
from lab.machines import Address, Firmware
from tests.lab.guests.guests import Guest, read_disk, run_installed
from tests.lab.guests.scripts import installing
from tests.lab.guests.wards import IMAGE_NAMES, Ward, a_machine
from tests.lab.images.environments import Environment, fetch

SIBLINGS = {"master": 0, "worker": 25}
"""Role → disks between the first, which is installed, and the last, whose name begins with the first's."""
FIRMWARES = dict.fromkeys(("master", "worker"), Firmware.BIOS)
"""The single node has UEFI."""


class GuestFleet(Fleet):
    def __init__(self, *words: Any, ward: Ward, roles: set[str], stack: ExitStack, **settings: Any) -> None:
        super().__init__(*words, observe=self._notice, **settings)
        self.ward = ward
        self.guests: dict[UUID, Guest] = {}
        self.failures: list[BaseException] = []
        self._roles = set(roles)
        self._stack = stack
        self._lock = asyncio.Lock()
        self.machine_configs: MachineConfigServer | None = None

    def _notice(self, snapshot: Snapshot) -> None:
        for host_id, guest in self.guests.items():
            reached = snapshot.hosts[host_id].reached if host_id in snapshot.hosts else None
            if reached is not None:
                guest.notice(reached.current_stage, reached.progress_info)

    async def _install(self, agent: Agent, request: wire.InstallCmdRequest) -> None:
        if request.role not in self._roles:
            await super()._install(agent, request)
            return
        self._roles.discard(request.role)
        if request.role == "master":
            self._plane(request.cluster_id).masters.add(agent.machine.id)
        try:
            port = await self._serve_machine_configs(request.cluster_id)
            guest = await asyncio.to_thread(self._prepare, agent.machine, request, port)
            self.guests[agent.machine.id] = guest
            await asyncio.to_thread(self._run_live, guest, request)
        except BaseException as failure:
            self._fail(failure)
            raise
        agent.reboot()

    async def _disk_boot(self, agent: Agent) -> None:
        guest = self.guests.get(agent.machine.id)
        if guest is not None:
            try:
                await asyncio.to_thread(run_installed, self.ward, guest)
            except BaseException as failure:
                self._fail(failure)
                raise
        await super()._disk_boot(agent)

    def _fail(self, failure: BaseException) -> None:
        """A cancellation is the service's order to stop installing, which has a reason too."""
        if isinstance(failure, asyncio.CancelledError):
            failure = AssertionError(f"an installation was stopped: {[guest.stages for guest in self.guests.values()]}")
        self.failures.append(failure)
        self.ward.over.set()

    async def _serve_machine_configs(self, cluster_id: UUID) -> int:
        """At the cluster's address for its API, with the certificate that pointer configs trust."""
        async with self._lock:
            if self.machine_configs is None:
                home = unpack(await self.connected.cluster_file(cluster_id, "bootstrap.ign"), self.ward.folder)
                server = MachineConfigServer(home, secure_port=0, plain_port=0)
                self.machine_configs = self._stack.enter_context(server.running())
            return self.machine_configs.ports[0]

    # --- in threads ---------------------------------------------------------------------------------------------------

    def _prepare(self, simulated: Simulated, request: wire.InstallCmdRequest, port: int) -> Guest:
        environment = Environment(self.ward.service, str(self.infra_env_id), "x86_64")
        vip = Address(ip=simulated.network.api_vip, port=22623, leads_to=port)
        machine = a_machine(
            self.ward,
            request.role,
            mac=simulated.mac,
            firmware=FIRMWARES[request.role],
            wwn=simulated.disks[0].wwn,
            fillers=SIBLINGS[request.role],
            addresses=[vip],
        )
        ignition = fetch(
            f"{self.ward.service.api}/v2/infra-env/{self.infra_env_id}/hosts/{simulated.id}/downloads/ignition"
        )
        image = environment.image("full.iso", self.ward.folder / request.role)
        return Guest(
            role=request.role,
            name=simulated.name,
            machine=replace(machine, cdrom=image),
            ignition=ignition,
        )

    def _run_live(self, guest: Guest, told: wire.InstallCmdRequest) -> None:
        """The agent's own command, in a machine that was started from the discovery image."""
        request = msgspec.convert(msgspec.to_builtins(told), InstallRequest, strict=False)
        check(request)
        command = install_command(request, site=self._site(request))
        script = installing(command, device=request.boot_device, siblings=SIBLINGS[guest.role] > 0)
        self.ward.courier.expect(guest.machine.mac, script)
        with self.ward.running(guest.machine) as started:
            guest.live = self.ward.report_of(guest.machine, started)
            assert guest.live.code == 0, guest.live.text("said")
            started.wait_until_off()
        guest.on_disk = read_disk(guest.machine.disks[1].image)

    def _site(self, request: InstallRequest) -> Site:
        root, port = Root(), self.ward.service.url.rpartition(":")[2]
        return Site(
            root=root,
            programs=LocalPrograms(),
            host=LocalPrograms(),
            fetch=fetcher(root=root, environment={}),
            service_url=self.ward.courier.url.rpartition(":")[0] + f":{port}",
            infra_env_id=request.infra_env_id,
            host_id=request.host_id,
            agent_image=IMAGE_NAMES["AGENT_DOCKER_IMAGE"],
        )
