"""Stages of hosts, told when their nodes change or ask for their configuration."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from firstlight.core import wire
from firstlight.core.wire.words import HostStage
from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.matching import host_of, ignited
from firstlight.host.controller.mcs_logs import McsLogs
from firstlight.host.controller.objects import Node
from firstlight.host.controller.repeating import for_each, repeat
from firstlight.host.controller.service import RefusedIt
from firstlight.host.controller.site import Site
from firstlight.host.controller.stages import BEFORE_CONFIGURING, REBOOTED, all_ended, stages_to_tell
from firstlight.host.recognising import Address

CONFLICT: Final = 409
ABOUT: Final = "Telling the stages of hosts"


class NodeReports:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._settled: set[tuple[UUID, str]] = set()
        """Host and stage that the service has answered, with yes or with no."""
        self._ignited: frozenset[Address] = frozenset()
        self._logs = McsLogs(site)

    async def run(self) -> None:
        site = self._site
        bell = site.bell()
        site.nodes.wakes(bell)
        seconds = site.settings.look_seconds
        await repeat(self._look, about=ABOUT, bell=bell, seconds=seconds, log=site.log)

    async def _look(self) -> bool:
        site = self._site
        self._forget_earlier_lives(site.hosts)
        nodes = nodes_of_hosts(site.nodes.items.values(), site.hosts)
        waiting = [host for host in site.hosts if host.stage in BEFORE_CONFIGURING and host.id not in nodes]
        if waiting and not site.is_single_node:
            self._ignited = await self._logs.addresses()
        have_ignited = {host.id for host in ignited(site.hosts, self._ignited)}

        async def tell(host: HostDocument) -> None:
            for stage in stages_to_tell(
                host, nodes.get(host.id), has_ignited=host.id in have_ignited, single_node=site.is_single_node
            ):
                await self._tell(host, stage)

        await for_each(((str(host.id), host) for host in site.hosts), tell, about=ABOUT, log=site.log)
        return all_ended(site.hosts)

    def _forget_earlier_lives(self, hosts: tuple[HostDocument, ...]) -> None:
        """A host that is tried again will ask for its configuration again; that it did before says nothing."""
        for host in hosts:
            if host.stage not in REBOOTED:
                self._settled.discard((host.id, "Configuring"))
                self._logs.forget(host.addresses)
                self._ignited -= host.addresses

    async def _tell(self, host: HostDocument, stage: HostStage) -> None:
        if (host.id, stage) in self._settled:
            return
        try:
            await self._site.service.tell_stage(host, wire.HostProgress(current_stage=stage))
        except RefusedIt as refusal:
            if refusal.status != CONFLICT:
                raise
            # Somebody told a later stage meanwhile: the service knows more than we do.
        self._settled.add((host.id, stage))
        self._site.log.info(f"The host {host.requested_hostname} has reached the stage {stage}.")


def nodes_of_hosts(nodes: Iterable[Node], hosts: tuple[HostDocument, ...]) -> dict[UUID, Node]:
    found: dict[UUID, Node] = {}
    for node in nodes:
        host = host_of(node, hosts)
        if host is not None:
            found[host.id] = node
    return found
