"""The job inside the new cluster: it tells which nodes joined, how operators settle, and when all is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from firstlight.core import wire
from firstlight.core.wire.words import FinalizingStage, HostStage, OperatorStatus
from firstlight.simulate.archives import controller_logs
from firstlight.simulate.calls import Refused, Service, Unreachable
from firstlight.simulate.control_plane import ControlPlane, Node
from firstlight.simulate.documents import ClusterDocument, HostDocument, OperatorDocument
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.pace import Pace
from firstlight.simulate.telling import tell_progress

READY_SECONDS: Final = 15.0
NODES_SECONDS: Final = 20.0
CLUSTER_SECONDS: Final = 20.0
OPERATORS_SECONDS: Final = 15.0
OPERATOR_SETTLES_SECONDS: Final = 60.0
LAST_WORD_SECONDS: Final = 30.0
"""When the cluster is done, what the controller is about to say is still said."""
SLOW_FACTOR: Final = 8
REBOOTS: Final = 2
OVER: Final = frozenset({"installed", "error", "cancelled", "adding-hosts"})
NODE_STAGES: Final[tuple[tuple[Node, HostStage, frozenset[str]], ...]] = (
    (Node.READY, "Done", frozenset({"Joined"})),
    (Node.JOINED, "Joined", frozenset({"Rebooting", "Configuring", "Waiting for ignition"})),
    (Node.IGNITED, "Configuring", frozenset({"Rebooting", "Waiting for ignition"})),
)
"""What the controller tells of a node that is at least this far while the service knows only that."""


class Controller:
    """One run. `slow_operators` names those that take their time, `*` any."""

    def __init__(
        self, service: Service, plane: ControlPlane, *, pace: Pace, slow_operators: set[str], single_node: bool
    ) -> None:
        self.service = service
        self.plane = plane
        self.pace = pace
        self.slow_operators = slow_operators
        self.single_node = single_node
        self.notes: list[str] = []
        self._started = time.monotonic()
        self._counted: set[str] = set()

    async def run(self) -> None:
        await self.pace.rest(READY_SECONDS)
        await self._until(self._is_seen, every=1.0)
        self.plane.controller_ready.set()
        self._started = time.monotonic()
        loops = [asyncio.create_task(self._nodes()), asyncio.create_task(self._finalize())]
        try:
            await self._until(self._is_over, every=CLUSTER_SECONDS)
            await asyncio.wait(loops, timeout=self.pace.real(LAST_WORD_SECONDS))
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)
        await self._send_logs()

    async def _is_seen(self) -> bool:
        return await self._cluster() is not None

    async def _is_over(self) -> bool:
        cluster = await self._cluster()
        return cluster is not None and cluster.status in OVER

    async def _cluster(self) -> ClusterDocument | None:
        try:
            return await self.service.cluster(self.plane.cluster_id)
        except (Refused, Unreachable) as error:
            self.notes.append(f"could not look at the cluster: {error}")
            return None

    # --- nodes --------------------------------------------------------------------------------------------------------

    async def _nodes(self) -> None:
        while True:
            try:
                hosts = await self.service.cluster_hosts(self.plane.cluster_id)
            except (Refused, Unreachable) as error:
                self.notes.append(f"could not look at the hosts: {error}")
                hosts = ()
            for host in hosts:
                await self._tell_node(host)
            if hosts and all(host.status in ("installed", "error") for host in hosts):
                return
            await self.pace.rest(NODES_SECONDS)

    async def _tell_node(self, host: HostDocument) -> None:
        node = self.plane.nodes.get(host.id, Node.OFF)
        stage = host.reached.current_stage
        for least, told, before in NODE_STAGES:
            # A single node's list of stages has no Configuring.
            if node >= least and stage in before and not (self.single_node and told == "Configuring"):
                await self._tell_stage(host, told)
                if told == "Done":
                    await self._tell_reboots(host)
                elif node is Node.READY:
                    await self._tell_stage(host, "Done")
                    await self._tell_reboots(host)
                return

    async def _tell_stage(self, host: HostDocument, stage: HostStage) -> None:
        if host.infra_env_id is None:
            return
        refusal = await tell_progress(self.service, host.infra_env_id, host.id, stage)
        self.notes.append(refusal or f"{host.requested_hostname} {stage}")

    async def _tell_reboots(self, host: HostDocument) -> None:
        if str(host.id) in self._counted:
            return
        self._counted.add(str(host.id))
        event = wire.EventTriggerParams(
            cluster_id=self.plane.cluster_id,
            host_id=host.id,
            infra_env_id=host.infra_env_id,
            name="reboots_for_node",
            category="user",
            severity="info",
            message=f"Node {host.requested_hostname} has been rebooted {REBOOTS} times before completing installation",
            event_time=datetime.now(UTC),
        )
        await self._try(lambda: self.service.send("POST", "/v2/events", event))

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _finalize(self) -> None:
        await self._until(self._is_finalizing, every=CLUSTER_SECONDS)
        await self._stage("Waiting for cluster operators")
        await self._settle(lambda operator: operator.operator_type == "builtin")
        await self._stage("Adding router ca")
        certificate = ingress_certificate(str(self.plane.cluster_id))
        path = f"/v2/clusters/{self.plane.cluster_id}"
        await self._insist(lambda: self.service.send("POST", f"{path}/uploads/ingress-cert", certificate))
        if any(operator.operator_type == "olm" for operator in await self._operators()):
            await self._stage("Waiting for olm operators csv initialization")
            await self.pace.rest(OPERATORS_SECONDS)
            await self._stage("Applying olm manifests")
            await self._insist(lambda: self.service.cluster_file(self.plane.cluster_id, "custom_manifests.json"))
            await self._stage("Waiting for olm operators csv")
            await self._settle(lambda operator: operator.operator_type == "olm")
        await self._stage("Done")
        completion = wire.CompletionParams(is_success=True)
        await self._insist(lambda: self.service.send("POST", f"{path}/actions/complete-installation", completion))

    async def _is_finalizing(self) -> bool:
        cluster = await self._cluster()
        return cluster is not None and cluster.status == "finalizing"

    async def _stage(self, stage: FinalizingStage) -> None:
        self.notes.append(stage)
        document = wire.ClusterFinalizingProgress(finalizing_stage=stage)
        path = f"/v2/clusters/{self.plane.cluster_id}/progress"
        await self._insist(lambda: self.service.send("PUT", path, document))

    async def _settle(self, concerns: Callable[[OperatorDocument], bool]) -> None:
        """Report the operators of one kind until each is available."""
        while True:
            operators = [operator for operator in await self._operators() if concerns(operator)]
            waiting = [operator for operator in operators if operator.status != "available"]
            if operators and not waiting:
                return
            slow = next(iter(sorted(operator.name for operator in operators)), "") if self.slow_operators else ""
            for operator in waiting:
                await self._report(operator, is_slow=operator.name == slow or operator.name in self.slow_operators)
            await self.pace.rest(OPERATORS_SECONDS)

    async def _report(self, operator: OperatorDocument, *, is_slow: bool) -> None:
        needed = OPERATOR_SETTLES_SECONDS * (SLOW_FACTOR if is_slow else 1)
        passed = (time.monotonic() - self._started) * self.pace.speed
        status: OperatorStatus = "available" if passed >= needed else "progressing"
        share = min(100, int(passed / needed * 100))
        info = "All is well" if status == "available" else f"Working towards the release: {share}% complete"
        report = wire.OperatorMonitorReport(name=operator.name, status=status, status_info=info, version="1.0.0")
        path = f"/v2/clusters/{self.plane.cluster_id}/monitored-operators"
        await self._try(lambda: self.service.send("PUT", path, report))

    async def _operators(self) -> Sequence[OperatorDocument]:
        try:
            return await self.service.operators(self.plane.cluster_id)
        except (Refused, Unreachable) as error:
            self.notes.append(f"could not look at the operators: {error}")
            return ()

    async def _send_logs(self) -> None:
        cluster_id = self.plane.cluster_id
        path = f"/v2/clusters/{cluster_id}/logs-progress"
        requested, completed = (wire.LogsProgressParams(logs_state=state) for state in ("requested", "completed"))
        await self._try(lambda: self.service.send("PUT", path, requested))
        archive = controller_logs(cluster_id, self.notes)
        await self._try(lambda: self.service.upload_logs(cluster_id, archive, query={"logs_type": "controller"}))
        await self._try(lambda: self.service.send("PUT", path, completed))

    # --- patience -----------------------------------------------------------------------------------------------------

    async def _until(self, holds: Callable[[], Awaitable[bool]], *, every: float) -> None:
        while not await holds():
            await self.pace.rest(every)

    async def _try(self, call: Callable[[], Awaitable[object]]) -> bool:
        try:
            await call()
        except (Refused, Unreachable) as error:
            self.notes.append(str(error))
            return False
        return True

    async def _insist(self, call: Callable[[], Awaitable[object]]) -> None:
        """Repeat a call until it is taken, or the cluster is past caring."""
        while not await self._try(call) and not await self._is_over():
            await self.pace.rest(CLUSTER_SECONDS)
