"""Bringing a subject in line with the facts. Safe to call at any time, twice, anywhere."""

from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.deciding import cluster_writes, pool_writes
from firstlight.server.usecases.world import World


async def settle_cluster(world: World, cluster_id: UUID) -> datetime | None:
    """Decide what follows from the facts; answers when to look again. A lost race means: look again at once.

    The deadline is for whoever holds the due row: written here as well, it would ask for a second look at once.
    """
    async with world.turns.of(cluster_subject(cluster_id)):
        state = await world.store.cluster_state(cluster_id)
        if state is None:
            return None
        now = world.clock.now()
        decision = await world.evaluate_cluster(state, now)
        if decision.empty:
            return decision.next_deadline
        try:
            decided = replace(decision, next_deadline=None)
            await world.store.commit(*cluster_writes(state, decided, caller=SERVICE, now=now, world=world))
        except LostRace:
            return now
        world.recent.follow(state, decision)
    if decision.effects:
        world.wake()
    return decision.next_deadline


async def settle_pool_host(world: World, key: HostKey) -> datetime | None:
    pool: PoolHost | None = await world.store.pool_host(key)
    if pool is None:
        return None
    now = world.clock.now()
    decision = await world.evaluate_pool_host(pool.state, pool.infra_env, now)
    if decision.empty:
        return decision.next_deadline
    try:
        decided = replace(decision, next_deadline=None)
        await world.store.commit(*pool_writes(pool, decided, caller=SERVICE, now=now))
    except LostRace:
        return now
    return decision.next_deadline
