"""A fleet: many machines, one process, one session. Nothing here knows the service but by its wire API."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core import wire
from firstlight.simulate.agent import Agent, Ended
from firstlight.simulate.calls import Refused, Service, Unreachable, connect
from firstlight.simulate.control_plane import ControlPlane
from firstlight.simulate.controller import Controller
from firstlight.simulate.documents import HostDocument, InfraEnvDocument
from firstlight.simulate.ends import Snapshot, Until, is_hopeless, never, scenario_shows
from firstlight.simulate.first_boot import boot_from_disk
from firstlight.simulate.installer import Installer
from firstlight.simulate.machines import Machine
from firstlight.simulate.pace import Pace
from firstlight.simulate.scenarios import Scenario, parse_scenario

HOSTS_LOOKED_AT_PER_SECOND: Final = 500
LAST_WORDS_SECONDS: Final = 300.0
ARRIVALS_PER_SECOND: Final = 200
"""Machines do not all start in the same instant."""


class Result(Struct, frozen=True, kw_only=True):
    """How a run ended."""

    reached: bool
    snapshot: Snapshot
    seconds: float


class Fleet:
    """Machines of one infra-env. `async with` powers them on; `run` waits for an end."""

    def __init__(
        self,
        url: str,
        infra_env_id: UUID,
        machines: Sequence[Machine],
        *,
        scenario: str | Scenario = "",
        speed: float = 1.0,
        seed: int = 0,
        service: Service | None = None,
        observe: Callable[[Snapshot], None] | None = None,
        look_seconds: float = 0.5,
    ) -> None:
        """`service` shares a session among fleets; `observe` is called with every look at the service."""
        self.url = url
        self.infra_env_id = infra_env_id
        self.scenario = parse_scenario(scenario, machines, seed=seed) if isinstance(scenario, str) else scenario
        self.site = self.scenario.applied(machines, seed=seed)
        self.pace = Pace(speed)
        self.agents: dict[UUID, Agent] = {}
        self.controllers: dict[UUID, Controller] = {}
        self._planes: dict[UUID, ControlPlane] = {}
        self._service = service
        self._machines_service: Service | None = None
        self._observe = observe
        # Looking at a large fleet costs the service more than the fleet does: it is done less often.
        self._look_seconds = max(look_seconds, len(machines) / HOSTS_LOOKED_AT_PER_SECOND)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        """Controllers, which have more to say after their cluster is installed."""
        self._image_version = ""
        self._fixed: set[UUID] = set()

    @property
    def machines(self) -> Sequence[Machine]:
        return self.site.machines

    async def run(self, until: Until | None = None, *, limit: float | None = None) -> Result:
        """Power on, wait for the end, power off. Without `until`, the end is that the scenario's faults show.

        `limit` is in real seconds. The run also ends when the cluster failed and `until` does not hold then.
        """
        async with self.powered():
            return await self.wait(until, limit=limit)

    @asynccontextmanager
    async def powered(self) -> AsyncGenerator["Fleet"]:
        """All machines on; they are cut off when the block is left."""
        if self._service is not None:
            async with self._on(self._service):
                yield self
            return
        async with connect(self.url) as service:
            self._service = service
            try:
                async with self._on(service):
                    yield self
            finally:
                self._service = None

    @asynccontextmanager
    async def _on(self, service: Service) -> AsyncGenerator[None]:
        self._image_version = await agent_image(service)
        self._machines_service = await service.for_machines(self.infra_env_id)
        for place, machine in enumerate(self.machines):
            agent = Agent(
                machine,
                infra_env_id=self.infra_env_id,
                service=self._machines_service,
                site=self.site,
                pace=self.pace,
                install=self._install,
            )
            self.agents[machine.id] = agent
            self._start(self._life(agent, after=place / ARRIVALS_PER_SECOND))
        try:
            yield
        finally:
            tasks = [*self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def wait(
        self, until: Until | None = None, *, limit: float | None = None, despite_failure: bool = False
    ) -> Result:
        """Look until `until` holds, the cluster failed (unless that is no reason), or the time is over."""
        holds = until or (scenario_shows(self.scenario, self.machines) if self.scenario.hits else never)
        was_hopeless = False
        started = time.monotonic()
        while True:
            snapshot = await self.look()
            seconds = time.monotonic() - started
            if self._observe is not None:
                self._observe(snapshot)
            if holds(snapshot):
                return Result(reached=True, snapshot=snapshot, seconds=seconds)
            # Hosts are read before their cluster: one more look tells whether they follow.
            gives_up = was_hopeless and is_hopeless(snapshot) and not despite_failure
            if gives_up or (limit is not None and seconds > limit):
                return Result(reached=False, snapshot=snapshot, seconds=seconds)
            was_hopeless = is_hopeless(snapshot)
            await asyncio.sleep(self._look_seconds)

    async def look(self) -> Snapshot:
        """The fleet as the service shows it now."""
        service = self.connected
        try:
            hosts = await service.read(tuple[HostDocument, ...], f"/v2/infra-envs/{self.infra_env_id}/hosts")
            ours = {host.id: host for host in hosts if host.id in self.site.by_id}
            cluster_id = next((host.cluster_id for host in ours.values() if host.cluster_id), None)
            if cluster_id is None:
                found = await service.read(InfraEnvDocument, f"/v2/infra-envs/{self.infra_env_id}")
                cluster_id = found.cluster_id
            cluster = await service.cluster(cluster_id) if cluster_id is not None else None
            names = await self._event_names(cluster_id) if cluster_id is not None else frozenset[str]()
        except (Refused, Unreachable):
            return Snapshot(hosts={}, wanted=len(self.machines))
        return Snapshot(hosts=ours, cluster=cluster, event_names=names, wanted=len(self.machines))

    @property
    def connected(self) -> Service:
        if self._service is None:
            raise RuntimeError("The fleet is off: use it inside `powered()`.")
        return self._service

    async def last_words(self) -> None:
        """Let the controllers complete the installation and send their logs."""
        if self._ending:
            await asyncio.wait(self._ending, timeout=self.pace.real(LAST_WORDS_SECONDS))

    def join(self, other: "Fleet") -> None:
        """Machines that come later see the new clusters of those that were there before."""
        self._planes, self.controllers = other._planes, other.controllers

    def fix_boot_order(self) -> None:
        """What the user does when machines start the wrong medium: they are restarted from their disks."""
        for agent in self.agents.values():
            if agent.machine.boots_wrong and agent.machine.id not in self._fixed:
                self._fixed.add(agent.machine.id)
                self._start(self._disk_boot(agent))

    # --- lives --------------------------------------------------------------------------------------------------------

    def _start(self, life: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(life)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _life(self, agent: Agent, *, after: float) -> None:
        await asyncio.sleep(after)
        while await agent.live(image_version=self._image_version) is Ended.REBOOTED:
            if not agent.machine.boots_wrong or agent.machine.id in self._fixed:
                await self._disk_boot(agent)
                return
            # The firmware starts the discovery medium again, and the agent registers as if nothing had happened.
            await self.pace.rest(30)

    async def _disk_boot(self, agent: Agent) -> None:
        if agent.cluster_id is None:
            return
        plane = self._plane(agent.cluster_id)
        await boot_from_disk(agent, plane, start_controller=lambda: self._start_controller(plane, single_node=True))

    async def _install(self, agent: Agent, request: wire.InstallCmdRequest) -> None:
        plane = self._plane(request.cluster_id)
        installer = Installer(
            agent,
            request,
            plane=plane,
            start_controller=lambda: self._start_controller(plane, single_node=False),
        )
        plane.single_node = plane.single_node or installer.is_single_node
        await installer.run()

    def _plane(self, cluster_id: UUID) -> ControlPlane:
        return self._planes.setdefault(cluster_id, ControlPlane(cluster_id))

    def _start_controller(self, plane: ControlPlane, *, single_node: bool) -> None:
        if plane.cluster_id in self.controllers:
            return
        controller = Controller(
            self._machines_service or self.connected,
            plane,
            pace=self.pace,
            slow_operators=self.site.slow_operators,
            single_node=single_node,
        )
        self.controllers[plane.cluster_id] = controller
        self._ending.add(self._start(controller.run()))

    async def _event_names(self, cluster_id: UUID) -> frozenset[str]:
        """Only scenarios that expect an event cost the service this question."""
        wanted = sorted({hit.fault.expected.event for hit in self.scenario.hits if hit.fault.expected.event})
        if not wanted:
            return frozenset()
        answer = await self.connected.ask("GET", "/v2/events", query={"cluster_id": str(cluster_id)})
        events = msgspec.json.decode(answer, type=tuple[_Named, ...])
        return frozenset(event.name for event in events)


class _Named(Struct):
    name: str = ""


class _Versions(Struct):
    versions: dict[str, str]


async def agent_image(service: Service) -> str:
    """The agent that the discovery image carries; the service names it."""
    found = await service.read(_Versions, "/v2/component-versions")
    return found.versions.get("discovery-agent", "")
