"""A single node that is real from its first boot on: our image, our agent, the install step, our installer."""

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from lab.machines import Firmware, RunningMachine
from tests.lab.guests.guests import Guest, read_disk, run_installed
from tests.lab.guests.releases import VERSION
from tests.lab.guests.scenario import KERNEL_ARGUMENT
from tests.lab.guests.scripts import AGENT_AT_WORK, asking, discovery_override, single_files
from tests.lab.guests.wards import Ward, a_machine
from tests.lab.images.environments import Environment

MAC = "52:54:00:6f:6e:65"
WWN = "0x5000c500aa000001"
LOOK_SECONDS = 1.0
REGISTER_SECONDS, READY_SECONDS, INSTALL_SECONDS = 1200, 600, 1800


class SingleNode:
    """The user's side: what is asked for, and what the service shows."""

    def __init__(self, ward: Ward, service: Service, guest: Guest) -> None:
        self.ward = ward
        self.guest = guest
        self.host: dict[str, Any] = {}
        self.cluster: dict[str, Any] = {}
        self._service = service
        self._done = threading.Event()

    async def create(self) -> None:
        new = user.NewCluster(name="alone", control_plane_count=1, version=VERSION)
        self.cluster_id, self.infra_env_id = await user.create_cluster(self._service, new)
        override = discovery_override(self.ward.courier.url, files=single_files(), with_agent=True)
        wishes = {"ignition_config_override": override, "image_type": "full-iso"}
        await self._service.send("PATCH", f"/v2/infra-envs/{self.infra_env_id}", wishes)

    async def follow(self) -> None:
        """Do what a user does when it is time for it, and note what the service shows, until the machine is done."""
        started = False
        while not self._done.is_set():
            await self.look()
            if self.host and not self.host.get("installer_args"):
                await self.ask_for_more()
            elif self.cluster["status"] == "ready" and not started:
                started = True
                await user.install(self._service, self.cluster_id)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        self.cluster = json.loads(await self._service.ask("GET", f"/v2/clusters/{self.cluster_id}"))
        self.host = next(iter(self.cluster.get("hosts") or ()), {})
        progress = self.host.get("progress") or {}
        self.guest.notice(progress.get("current_stage", ""), progress.get("progress_info", ""))

    async def ask_for_more(self) -> None:
        place = f"/v2/infra-envs/{self.infra_env_id}/hosts/{self.host['id']}"
        url = self.ward.courier.url
        arguments = ["--image-url", f"{url}/file/disk.raw.gz", "--append-karg", KERNEL_ARGUMENT]
        await self._service.send("PATCH", f"{place}/installer-args", {"args": arguments})
        await self._service.send("PATCH", f"{place}/ignition", {"config": json.dumps(asking(url))})

    def run(self) -> None:
        """In a thread: the machine, live and installed."""
        try:
            self._run()
        except BaseException:
            self.ward.over.set()
            raise
        finally:
            self._done.set()

    def _run(self) -> None:
        ward, guest = self.ward, self.guest
        ward.courier.expect(guest.machine.mac, AGENT_AT_WORK)
        with ward.running(guest.machine) as started:
            guest.live = ward.report_of(guest.machine, started)
            assert guest.live.code == 0, guest.live.text("said")
            ward.wait(started, lambda: bool(self.host.get("inventory")), "told its inventory", seconds=REGISTER_SECONDS)
            guest.inventory = json.loads(self.host["inventory"])
            self._wait(started, "Starting installation", seconds=READY_SECONDS)
            ward.wait(started, lambda: not started.is_on, "installed", seconds=INSTALL_SECONDS)
            started.wait_until_off()
        guest.on_disk = read_disk(guest.machine.disks[1].image)
        run_installed(ward, guest)

    def _wait(self, started: RunningMachine, stage: str, *, seconds: float) -> None:
        def reached() -> bool:
            failed = self.host.get("status") in ("error", "insufficient") and self.cluster["status"] == "error"
            assert not failed, self.host
            return stage in self.guest.stage_names

        self.ward.wait(started, reached, f"been told to install ({stage})", seconds=seconds)


async def install_single(ward: Ward) -> Guest:
    async with connect(ward.service.url) as service:
        machine = a_machine(ward, "single", mac=MAC, firmware=Firmware.UEFI, wwn=WWN, memory_mib=2048)
        node = SingleNode(ward, service, Guest(role="bootstrap", name="alone", machine=machine))
        await node.create()
        environment = Environment(ward.service, str(node.infra_env_id), "x86_64")
        image = await asyncio.to_thread(environment.image, "full.iso", ward.folder / machine.name)
        node.guest.machine = replace(machine, cdrom=image)
        following = asyncio.create_task(node.follow())
        try:
            await asyncio.to_thread(node.run)
        finally:
            await following
        return node.guest
