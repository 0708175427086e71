"""How often a node has booted, for the user's events: counted in the host's own record, read through its kubelet."""

import struct
import time
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from firstlight.core import wire
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.node_reports import nodes_of_hosts
from firstlight.host.controller.objects import Node
from firstlight.host.controller.repeating import repeat
from firstlight.host.controller.site import NODES, Site
from firstlight.host.controller.stages import all_ended

EVENT: Final = "reboots_for_node"
ATTEMPTS: Final = 10
PAUSE_SECONDS: Final = 15.0
BOOT_TIME: Final = 2
RECORD_BYTES: Final = {"arm64": 400}
"""Of the C library's record on this architecture; 384 on all others."""
BIG_ENDIAN: Final = frozenset({"s390x"})


def boots(wtmp: bytes, *, architecture: str) -> int:
    """How many boots a /var/log/wtmp tells of, as `last reboot` would list them."""
    size = RECORD_BYTES.get(architecture, 384)
    kind = struct.Struct(">h" if architecture in BIG_ENDIAN else "<h")
    return sum(kind.unpack_from(wtmp, start)[0] == BOOT_TIME for start in range(0, len(wtmp) - size + 1, size))


class Reboots:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._told: set[UUID] = set()
        self._attempts: dict[UUID, int] = {}
        self._next: dict[UUID, float] = {}

    async def run(self) -> None:
        site = self._site
        if not site.settings.notify_reboots:
            return
        bell = site.bell()
        site.nodes.wakes(bell)
        await repeat(self._look, about="Counting reboots", bell=bell, seconds=self._pause, log=site.log)

    @property
    def _pause(self) -> float:
        return min(PAUSE_SECONDS, self._site.settings.look_seconds)

    async def _look(self) -> bool:
        site = self._site
        nodes = nodes_of_hosts(site.nodes.items.values(), site.hosts)
        ready = [(host, nodes[host.id]) for host in site.hosts if host.id in nodes and nodes[host.id].is_ready]
        now = time.monotonic()
        for host, node in ready:
            # Whatever else rings: a kubelet that has just failed is given its time.
            if host.id not in self._told and self._next.get(host.id, 0.0) <= now:
                self._next[host.id] = now + self._pause
                await self._tell(host, node)
        return all_ended(site.hosts) and all(host.id in self._told for host, _ in ready)

    async def _tell(self, host: HostDocument, node: Node) -> None:
        site = self._site
        name = node.metadata.name
        try:
            async with await site.as_admin() as admin:
                record = await admin.ask("GET", f"{NODES}/{name}/proxy/logs/wtmp")
            count = boots(record, architecture=node.status.node_info.architecture)
            event = wire.EventTriggerParams(
                cluster_id=site.settings.cluster_id,
                host_id=host.id,
                infra_env_id=host.infra_env_id,
                name=EVENT,
                category="user",
                severity="info",
                message=f"The node {name} has booted {count} times so far",
                event_time=datetime.now(UTC),
            )
            await site.service.tell_event(event)
        except (Refused, Unreachable) as trouble:
            self._attempts[host.id] = self._attempts.get(host.id, 0) + 1
            if self._attempts[host.id] < ATTEMPTS:
                site.log.once(f"reboots-{name}", f"The boots of {name} are not counted yet: {trouble}.")
                return
            site.log.warning(f"The boots of {name} cannot be counted: {trouble}.")
        self._told.add(host.id)
