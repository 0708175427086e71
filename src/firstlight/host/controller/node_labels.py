"""Labels that nodes get when they are ready."""

import asyncio
from typing import Final

from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.kube.client import MERGE
from firstlight.host.controller.node_reports import nodes_of_hosts
from firstlight.host.controller.objects import Node
from firstlight.host.controller.repeating import TROUBLE, for_each, repeat
from firstlight.host.controller.site import NODES, Site
from firstlight.host.controller.stages import ENDED

ABOUT: Final = "Labelling nodes"
ATTEMPTS: Final = 60
PAUSE_SECONDS: Final = 2.0
WORKER_POOL: Final = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker"


class NodeLabels:
    """Labels that the user wants on nodes. Hosts of a pool of their own must not be configured as workers first."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.paused = False

    async def run(self) -> None:
        site = self._site
        bell = site.bell()
        site.nodes.wakes(bell)
        seconds = site.settings.look_seconds
        try:
            await repeat(self._look, about=ABOUT, bell=bell, seconds=seconds, log=site.log)
            if self.paused:
                about = "Letting the pool of workers go on"
                await repeat(self._resume, about=about, bell=bell, seconds=seconds, log=site.log)
        finally:
            await self._let_go()

    async def _look(self) -> bool:
        site = self._site
        wanting = [host for host in site.hosts if host.labels]
        if not site.hosts or not wanting:
            return bool(site.hosts)
        if not self.paused and any(host.role == "worker" and host.machine_config_pool_name for host in wanting):
            await self._pause(to=True)
        nodes = nodes_of_hosts(site.nodes.items.values(), site.hosts)
        ready = [(host, nodes[host.id]) for host in wanting if host.id in nodes and nodes[host.id].is_ready]
        late = [host for host in wanting if host.id in nodes or host.status not in ENDED]
        pairs = [(node.metadata.name, (host, node)) for host, node in ready]
        return await for_each(pairs, self._label, about=ABOUT, log=site.log) and len(late) == len(ready)

    async def _label(self, pair: tuple[HostDocument, Node]) -> None:
        host, node = pair
        missing = {name: value for name, value in host.labels.items() if node.metadata.labels.get(name) != value}
        if missing:
            path, patch = f"{NODES}/{node.metadata.name}", {"metadata": {"labels": missing}}
            await self._site.kube.ask("PATCH", path, document=patch, content_type=MERGE)
            self._site.log.info(f"The node {node.metadata.name} has its labels.", labels=", ".join(sorted(missing)))

    async def _resume(self) -> bool:
        await self._pause(to=False)
        return True

    async def _let_go(self) -> None:
        """Also when the installation ends before a host came: nobody else would ever let the pool go on."""
        for _ in range(ATTEMPTS if self.paused else 0):
            try:
                await self._pause(to=False)
            except TROUBLE as trouble:
                self._site.log.once(WORKER_POOL, f"The pool of workers is still paused: {trouble}.")
                await asyncio.sleep(min(PAUSE_SECONDS, self._site.settings.look_seconds))
            else:
                return

    async def _pause(self, *, to: bool) -> None:
        await self._site.kube.ask("PATCH", WORKER_POOL, document={"spec": {"paused": to}}, content_type=MERGE)
        self.paused = to
