"""Check now, and let a check pass for a reason: what a person does about findings."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from firstlight.core.commands.actions import retry_check
from firstlight.core.commands.cluster_waivers import waive_one
from firstlight.core.decision import Decision, combined
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.roles import key_of
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import MakeDue
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import EVALUATE, change_cluster
from firstlight.server.usecases.hosts import REPEATABLE_CHECKS
from firstlight.server.usecases.world import World


async def check_again(world: World, cluster_id: UUID, *, check: str, host_ids: tuple[UUID, ...], caller: Caller) -> int:
    """Judge the cluster now, and have its agents measure anew at their next call; answers how many are asked.

    Without `host_ids` every host is asked. Agents that speak to another replica measure when their turn comes.
    """
    kind = REPEATABLE_CHECKS.get(check)
    asked: list[UUID] = []

    def command(state: ClusterState, _: datetime) -> Decision:
        asked.clear()
        decision = Decision()
        for host in state.hosts:
            if host_ids and host.host.id not in host_ids:
                continue
            asked.append(host.host.id)
            world.sessions.restart(key_of(host))
            if kind is not None:
                decision = combined(decision, retry_check(host, kind=kind))
        return decision

    await change_cluster(world, cluster_id, command, caller=caller)
    await world.store.commit(MakeDue(subject=cluster_subject(cluster_id), kind=EVALUATE, at=world.clock.now()))
    world.wake()
    return len(asked)


async def waive(
    world: World,
    cluster_id: UUID,
    *,
    scope: Literal["cluster", "host"],
    check: str,
    reason: str | None,
    caller: Caller,
) -> Cluster:
    """With a reason the check may fail from now on; without one it counts again."""

    def command(state: ClusterState, now: datetime) -> Decision:
        return waive_one(state, of_hosts=scope == "host", check=check, reason=reason, now=now)

    return (await change_cluster(world, cluster_id, command, caller=caller)).cluster
