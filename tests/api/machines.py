"""Machines as the service sees them: what their agents send, and how they get from boot to `known`."""

import json
from typing import Any, Final
from uuid import UUID

from firstlight.core.decision import HostKey
from firstlight.core.model.host import HostState
from firstlight.server.usecases.settling import settle_cluster, settle_pool_host
from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, Client
from tests.builders.inventories import GIB, address_of_number
from tests.builders.moments import host_id
from tests.http.client import Answer

AGENT: Final = "quay.io/edge-infrastructure/assisted-installer-agent:latest"
BIG_DISK: Final = "/dev/disk/by-id/wwn-0x5000c50000000001"
SMALL_DISK: Final = "/dev/disk/by-id/wwn-0x5000c50000000002"
OVERRIDE: Final = (
    '{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/hi","contents":{"source":"data:,hi"}}]}}'
)
ONE_HOST: Final = {
    "network_yaml": "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  ipv4:\n    enabled: true\n",
    "mac_interface_map": [{"mac_address": "52:54:00:00:00:01", "logical_nic_name": "eth0"}],
}


def a_document(number: int = 1, **changes: Any) -> dict[str, Any]:
    """An inventory that passes: one good disk, one that is too small, one interface."""
    return {
        "hostname": f"host-{number}",
        "cpu": {"architecture": "x86_64", "count": 8, "flags": ["fpu", "vmx"], "model_name": "Example"},
        "memory": {"physical_bytes": 16 * GIB, "usable_bytes": 15 * GIB, "physical_bytes_method": "dmidecode"},
        "disks": [
            {
                "id": BIG_DISK,
                "by_id": BIG_DISK,
                "by_path": "/dev/disk/by-path/pci-0000:00:01.0",
                "name": "sda",
                "path": "/dev/sda",
                "drive_type": "SSD",
                "size_bytes": 120 * GIB,
                "bootable": True,
            },
            {
                "id": SMALL_DISK,
                "by_id": SMALL_DISK,
                "by_path": "/dev/disk/by-path/pci-0000:00:02.0",
                "name": "sdb",
                "path": "/dev/sdb",
                "drive_type": "SSD",
                "size_bytes": 10 * GIB,
            },
        ],
        "interfaces": [
            {
                "name": "enp1s0",
                "type": "physical",
                "mac_address": f"52:54:00:aa:00:{number:02x}",
                "mtu": 1500,
                "has_carrier": True,
                "ipv4_addresses": [f"{address_of_number(number)}/24"],
            }
        ],
        "routes": [{"interface": "enp1s0", "destination": "0.0.0.0", "gateway": "192.0.2.1", "family": 2}],
        "boot": {"current_boot_mode": "uefi"},
        "system_vendor": {"manufacturer": "QEMU", "product_name": "Standard PC", "virtual": True},
        **changes,
    }


SYNCED: Final = {"ntp_sources": [{"source_name": "ntp.example.com", "source_state": "synced"}]}


class Site:
    """One infra-env and the machines that boot from it."""

    def __init__(self, call: Client, world: World, infra_env: dict[str, Any]) -> None:
        self.call = call
        self.world = world
        self.infra_env = infra_env
        self.path = f"/infra-envs/{infra_env['id']}"

    def key(self, number: int = 1) -> HostKey:
        return (UUID(self.infra_env["id"]), host_id(number))

    def host(self, number: int = 1) -> str:
        return f"{self.path}/hosts/{host_id(number)}"

    async def boot(self, number: int = 1) -> Answer:
        body = {"host_id": str(host_id(number)), "discovery_agent_version": AGENT}
        return await self.call("POST", f"{self.path}/hosts", body)

    async def poll(self, number: int = 1, *, query: str = "") -> Answer:
        return await self.call("GET", f"{self.host(number)}/instructions", query=query)

    async def reply(self, step: str, output: object = None, *, number: int = 1, **parts: Any) -> Answer:
        text = {} if output is None else {"output": output if isinstance(output, str) else json.dumps(output)}
        body = {"step_type": step, "step_id": f"{step}-1", **text, **parts}
        return await self.call("POST", f"{self.host(number)}/instructions", body)

    async def known(self, number: int = 1) -> HostState:
        """A machine that booted and showed what it is."""
        assert (await self.boot(number)).status == 201
        assert (await self.reply("inventory", a_document(number), number=number)).status == 204
        assert (await self.reply("ntp-synchronizer", SYNCED, number=number)).status == 204
        return await self.settle(number)

    async def settle(self, number: int = 1) -> HostState:
        """What the engine does when its time has come."""
        state = await self.state(number)
        if state.host.cluster_id is None:
            await settle_pool_host(self.world, self.key(number))
        else:
            await settle_cluster(self.world, state.host.cluster_id)
        self.world.sessions.forget_all()
        return await self.state(number)

    async def state(self, number: int = 1) -> HostState:
        state = await self.world.store.host(self.key(number))
        assert state is not None
        return state

    async def shown(self, number: int = 1) -> dict[str, Any]:
        answer = await self.call("GET", self.host(number))
        assert answer.status == 200, answer.body
        return answer.json()


async def a_site(call: Client, world: World, **changes: Any) -> Site:
    answer = await call("POST", "/infra-envs", {"name": "lab", "pull_secret": PULL_SECRET, **changes})
    assert answer.status == 201, answer.body
    return Site(call, world, answer.json())


async def told(world: World, infra_env_id: UUID) -> list[str]:
    """Names of the events of an infra-env and its hosts, in order."""
    return [event.name for event in await world.store.events_after(0, limit=1000, infra_env_id=infra_env_id)]
