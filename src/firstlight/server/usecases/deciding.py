"""Load, decide, commit: the way every change goes.

A request runs its command and what follows from it in one go and commits on the revision it loaded; a lost race loads
again and decides again.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from firstlight.core.decision import Change, Decision, HostKey, applied, combined, host_after
from firstlight.core.errors import Conflict, NotFound
from firstlight.core.events.recorded import Recorded, record
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import OperationRow, PoolHost
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import (
    AddEvents,
    DropReports,
    MakeDue,
    PutCluster,
    PutFindings,
    PutHost,
    PutOperation,
    PutPlan,
    PutPresence,
    TouchCluster,
    Write,
)
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.world import World

EVALUATE: Final = "evaluate"
"""The kind of due row that means: look at this subject."""
TRIES: Final = 3
AT_ONCE: Final = timedelta(0)

BUSY: Final = "busy"
"""The code of a Conflict that is nobody's fault: asking again will do."""

ClusterCommand = Callable[[ClusterState, datetime], Decision]
HostCommand = Callable[[PoolHost, datetime], Decision]


def recorded(change: Change, *, caller: Caller, now: datetime) -> Recorded:
    return record(
        change.event,
        now=now,
        actor=caller.name,
        request_id=caller.request_id,
        before=dict(change.before) or None,
        after=dict(change.after) or None,
    )


def events_of(changes: tuple[Change, ...], *, caller: Caller, now: datetime) -> Iterator[Write]:
    if changes:
        yield AddEvents(events=tuple(recorded(change, caller=caller, now=now) for change in changes))


def _host_writes(decision: Decision) -> Iterator[Write]:
    for key, findings in decision.host_findings.items():
        yield PutFindings(subject=host_subject(key), findings=findings)
    for key, presence in decision.presences.items():
        if presence.checked_in_at is not None:
            yield PutPresence(
                key=key,
                checked_in_at=presence.checked_in_at,
                clock_offset_seconds=presence.clock_offset_seconds,
                agent_version=presence.agent_version,
            )
    for key, kinds in decision.dropped_reports.items():
        yield DropReports(key=key, kinds=kinds)
    for key, plan in decision.plans.items():
        yield PutPlan(key=key, plan=plan)


def cluster_writes(
    state: ClusterState,
    decision: Decision,
    *,
    caller: Caller,
    now: datetime,
    world: World,
    beside: InfraEnv | None = None,
) -> Iterator[Write]:
    """The decision about a cluster as writes, guarded by the revision it was made on."""
    cluster_id = state.cluster.id
    if decision.cluster is not None:
        yield PutCluster(cluster=decision.cluster, expect_revision=state.revision)
    else:
        yield TouchCluster(cluster_id=cluster_id, expect_revision=state.revision, beside=beside)
    for host in decision.hosts.values():
        yield PutHost(host=host)
    if decision.cluster_findings is not None:
        # Beside those of the hosts: writes of one kind that follow each other are one statement.
        yield PutFindings(subject=cluster_subject(cluster_id), findings=decision.cluster_findings)
    yield from _host_writes(decision)
    for effect in decision.effects:
        operation = OperationRow(
            id=world.new_id(),
            kind=effect.kind,
            subject=effect.subject,
            attempt=effect.attempt,
            state="waiting",
            created_at=now,
            updated_at=now,
        )
        yield PutOperation(operation=operation, expect_epoch=None)
    if decision.next_deadline is not None:
        yield MakeDue(subject=cluster_subject(cluster_id), kind=EVALUATE, at=decision.next_deadline)
    yield from events_of(decision.changes, caller=caller, now=now)


def pool_writes(pool: PoolHost, decision: Decision, *, caller: Caller, now: datetime) -> Iterator[Write]:
    """The decision about a pool host as writes, guarded by the host's own revision."""
    key = (pool.state.host.infra_env_id, pool.state.host.id)
    host = decision.hosts.get(key, pool.state.host)
    yield PutHost(host=host, expect_revision=pool.revision)
    yield from _host_writes(decision)
    if decision.next_deadline is not None:
        yield MakeDue(subject=host_subject(key), kind=EVALUATE, at=decision.next_deadline)
    yield from events_of(decision.changes, caller=caller, now=now)


async def change_cluster(
    world: World,
    cluster_id: UUID,
    command: ClusterCommand,
    *,
    caller: Caller,
    also: Callable[[ClusterState, datetime], Iterator[Write]] | None = None,
) -> ClusterState:
    """Run a command on a cluster together with all that follows; answers with the state as committed.

    `also` adds writes of the same commit that are no decision (secrets, manifests).
    """
    async with world.turns.of(cluster_subject(cluster_id)):
        for _ in range(TRIES):
            state = await load_cluster(world, cluster_id)
            now = world.clock.now()
            decided = command(state, now)
            middle = applied(state, decided)
            followed = await world.evaluate_cluster(middle, now)
            decision = combined(decided, followed)
            extra = tuple(also(middle, now)) if also is not None else ()
            if decision.empty and not extra:
                return state
            try:
                await world.store.commit(*cluster_writes(state, decision, caller=caller, now=now, world=world), *extra)
            except LostRace:
                continue
            if extra:
                world.recent.forget(cluster_id)  # They may concern hosts, too.
            else:
                world.recent.follow(state, decision)
            if decision.effects:
                world.wake()
            return applied(middle, followed)
    raise busy(f"Cluster {cluster_id}")


async def note_in_cluster(
    world: World, cluster_id: UUID, command: ClusterCommand, *, caller: Caller, look_in: timedelta = AT_ONCE
) -> ClusterState:
    """Run a command and nothing else; what follows from it is left to the engine, after `look_in`.

    For what hosts and installers tell: many of them speak at the same moment, and nobody reads their answers.
    """
    subject = cluster_subject(cluster_id)
    async with world.turns.of(subject):
        for _ in range(TRIES):
            state = await load_cluster(world, cluster_id)
            now = world.clock.now()
            decision = command(state, now)
            if decision.empty:
                return state
            writes = cluster_writes(state, decision, caller=caller, now=now, world=world)
            try:
                await world.store.commit(*writes, MakeDue(subject=subject, kind=EVALUATE, at=now + look_in))
            except LostRace:
                continue
            world.recent.follow(state, decision)
            world.wake()
            return applied(state, decision)
    raise busy(f"Cluster {cluster_id}")


def busy(what: str) -> Conflict:
    return Conflict(f"{what} is being changed by somebody else at the same time. Try again.", code=BUSY)


async def change_pool_host(
    world: World,
    key: HostKey,
    command: HostCommand,
    *,
    caller: Caller,
    also: Callable[[PoolHost, datetime], Iterator[Write]] | None = None,
) -> HostState:
    """The same for a host that belongs to no cluster."""
    for _ in range(TRIES):
        pool = await load_pool_host(world, key)
        now = world.clock.now()
        decided = command(pool, now)
        middle = host_after(pool.state, decided)
        followed = await world.evaluate_pool_host(middle, pool.infra_env, now)
        decision = combined(decided, followed)
        extra = tuple(also(pool, now)) if also is not None else ()
        if decision.empty and not extra:
            return pool.state
        try:
            await world.store.commit(*pool_writes(pool, decision, caller=caller, now=now), *extra)
        except LostRace:
            continue
        return host_after(middle, followed)
    raise busy(f"Host {key[1]}")


async def load_cluster(world: World, cluster_id: UUID) -> ClusterState:
    state = await world.store.cluster_state(cluster_id)
    if state is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    return state


async def load_pool_host(world: World, key: HostKey) -> PoolHost:
    pool = await world.store.pool_host(key)
    if pool is None:
        raise no_such_host(key)
    return pool


def no_such_host(key: HostKey) -> NotFound:
    return NotFound(f"There is no host {key[1]} in infra-env {key[0]}.")
