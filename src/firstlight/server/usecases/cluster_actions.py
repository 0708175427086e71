"""Users install, cancel and reset clusters; controllers report how far they are."""

from datetime import datetime
from uuid import UUID

from firstlight.core.clusters import texts
from firstlight.core.commands import actions, cluster_reports, progress
from firstlight.core.decision import Decision, applied, combined
from firstlight.core.errors import Invalid
from firstlight.core.events.cluster import CancelFailed, ResetFailed
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import FinalizingStage, OperatorStatus
from firstlight.core.model.host import hostname_of
from firstlight.core.model.host_status import HostStatus, LogsState
from firstlight.core.wire.views.findings import cluster_validations
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import TRIES, busy, change_cluster, cluster_writes, load_cluster
from firstlight.server.usecases.generated_files import clear_generated
from firstlight.server.usecases.object_names import logs_of_cluster
from firstlight.server.usecases.refusals import telling
from firstlight.server.usecases.world import World


async def install(world: World, cluster_id: UUID, *, caller: Caller) -> ClusterState:
    """Fix the roles, look again, then start: all of it or nothing."""
    async with world.turns.of(cluster_subject(cluster_id)):
        for _ in range(TRIES):
            state = await load_cluster(world, cluster_id)
            now = world.clock.now()
            after, decision = await _started(world, state, now)
            try:
                await world.store.commit(*cluster_writes(state, decision, caller=caller, now=now, world=world))
            except LostRace:
                continue
            await world.blobs.delete_under(logs_of_cluster(cluster_id))
            world.wake()
            return after
    raise busy(f"Cluster {cluster_id}")


async def _started(world: World, state: ClusterState, now: datetime) -> tuple[ClusterState, Decision]:
    known = all(host.reports.inventory is not None for host in state.hosts)
    fixed = actions.fix_roles(state, now=now) if known else Decision()
    middle = applied(state, fixed)
    refreshed = await world.evaluate_cluster(middle, now)
    ready = applied(middle, refreshed)
    if fixed.hosts:
        _check_hosts(ready)
    why_not = f"validation_info={cluster_validations(ready.findings)}"
    begun = actions.install_cluster(ready, policy=world.policy, now=now, why_not=why_not)
    going = applied(ready, begun)
    followed = await world.evaluate_cluster(going, now)
    decision = combined(combined(combined(fixed, refreshed), begun), followed)
    return applied(going, followed), decision


def _check_hosts(state: ClusterState) -> None:
    for host in state.hosts:
        if host.host.status is not HostStatus.KNOWN and not host.host.is_day_two:
            raise Invalid(
                f"Host {hostname_of(host.host, host.reports)} is in status {host.host.status} and not ready for"
                " install. Look at its validations."
            )


async def cancel(world: World, cluster_id: UUID, *, caller: Caller) -> ClusterState:
    def command(state: ClusterState, now: datetime) -> Decision:
        return actions.cancel(state, policy=world.policy, now=now)

    async with telling(world, lambda why: CancelFailed(cluster_id=cluster_id, error=why), caller=caller):
        return await change_cluster(world, cluster_id, command, caller=caller)


async def reset(world: World, cluster_id: UUID, *, caller: Caller) -> ClusterState:
    def command(state: ClusterState, now: datetime) -> Decision:
        return actions.reset(state, policy=world.policy, now=now)

    async with telling(world, lambda why: ResetFailed(cluster_id=cluster_id, error=why), caller=caller):
        state = await change_cluster(world, cluster_id, command, caller=caller)
    await clear_generated(world, cluster_id)
    return state


async def allow_adding_hosts(world: World, cluster_id: UUID, *, caller: Caller) -> ClusterState:
    def command(state: ClusterState, now: datetime) -> Decision:
        return actions.transform_to_adding_hosts(state.cluster, now=now, info=texts.ADDING_HOSTS)

    return await change_cluster(world, cluster_id, command, caller=caller)


async def complete(world: World, cluster_id: UUID, *, operators: bytes | None, caller: Caller) -> ClusterState:
    """The controller is done; `operators` is its report on those that failed."""

    def command(state: ClusterState, _now: datetime) -> Decision:
        return cluster_reports.report_completion(state.cluster, operators=operators)

    return await change_cluster(world, cluster_id, command, caller=caller)


async def report_finalizing(world: World, cluster_id: UUID, *, stage: FinalizingStage, caller: Caller) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        return progress.report_finalizing(state.cluster, stage=stage, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)


async def report_logs(world: World, cluster_id: UUID, *, logs: LogsState, caller: Caller) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        return cluster_reports.report_logs(state.cluster, logs=logs, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)


async def report_operator(
    world: World,
    cluster_id: UUID,
    *,
    name: str,
    status: OperatorStatus | None,
    info: str,
    version: str,
    caller: Caller,
) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        return progress.report_operator(state.cluster, name=name, status=status, info=info, version=version, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)
