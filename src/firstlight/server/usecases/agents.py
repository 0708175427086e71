"""Agents call: they register, ask what to do, and answer what they did."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from firstlight.core.commands import registration
from firstlight.core.decision import Decision, HostKey, combined, new_host
from firstlight.core.errors import Error, NotFound
from firstlight.core.evaluate.context import band_of
from firstlight.core.events.host import HostRegistrationFailed
from firstlight.core.events.recorded import record
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.host_status import INVENTORY_ACCEPTED, HostStatus, MediaStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import REPORT_FIELDS
from firstlight.core.steps.limits import limits_of
from firstlight.core.steps.occasion import neighbourhood_of
from firstlight.core.steps.replies import Reading, Reply, Surroundings, read_reply
from firstlight.server.ports.store import (
    AddEvents,
    MakeDue,
    PoolHost,
    PutHost,
    PutPresence,
    PutReport,
    StoredInfraEnv,
)
from firstlight.server.usecases import replies
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    EVALUATE,
    change_cluster,
    change_pool_host,
    no_such_host,
    pool_writes,
)
from firstlight.server.usecases.sessions import Session
from firstlight.server.usecases.world import World

MEDIA_GONE: Final = 256
"""The exit code by which agents say that the discovery medium cannot be read."""
ALREADY_INSTALLING: Final = 125
REPEAT_SHARE: Final = 0.8
"""Share of the poll interval within which an unchanged step is not handed out again."""
SILENT: Final = frozenset({HostStatus.DISCONNECTED, HostStatus.DISCONNECTED_UNBOUND})
_encode = msgspec.json.Encoder().encode


# --- registration


async def register(
    world: World, *, infra_env_id: UUID, host_id: UUID, agent_version: str, caller: Caller
) -> tuple[HostState, ClusterState | None]:
    """A machine calls home, for the first time or again."""
    stored = await world.store.infra_env(infra_env_id)
    if stored is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    key = (infra_env_id, host_id)
    world.sessions.restart(key)
    try:
        return await _register(world, stored, key, agent_version=agent_version, caller=caller)
    except Error as refusal:
        event = HostRegistrationFailed(
            host_id=host_id,
            infra_env_id=infra_env_id,
            cluster_id=stored.infra_env.cluster_id,
            text=str(refusal),
        )
        now = world.clock.now()
        refused = record(event, now=now, actor=caller.name, request_id=caller.request_id)
        await world.store.commit(AddEvents(events=(refused,)))
        raise


async def _register(
    world: World, stored: StoredInfraEnv, key: HostKey, *, agent_version: str, caller: Caller
) -> tuple[HostState, ClusterState | None]:
    known = await world.store.host(key)
    cluster_id = stored.infra_env.cluster_id if known is None else known.host.cluster_id
    if cluster_id is None:
        return await _register_in_pool(world, stored.infra_env, key, agent_version, caller), None

    def command(state: ClusterState, now: datetime) -> Decision:
        host = next((host for host in state.hosts if (host.host.infra_env_id, host.host.id) == key), None)
        if host is None:
            decision = registration.register_new(
                key[1], infra_env=stored.infra_env, cluster=state.cluster, now=now, user_name=caller.name
            )
        else:
            decision = registration.register_again(
                host, infra_env=stored.infra_env, cluster=state.cluster, policy=world.policy, now=now
            )
        return replace(decision, presences={key: _heard(now, agent_version)})

    state = await change_cluster(world, cluster_id, command, caller=caller)
    host = next(host for host in state.hosts if (host.host.infra_env_id, host.host.id) == key)
    return host, state


def _heard(now: datetime, agent_version: str) -> Presence:
    return Presence(checked_in_at=now, agent_version=agent_version)


async def _register_in_pool(
    world: World, infra_env: InfraEnv, key: HostKey, agent_version: str, caller: Caller
) -> HostState:
    def again(pool: PoolHost, now: datetime) -> Decision:
        decision = registration.register_again(
            pool.state, infra_env=infra_env, cluster=None, policy=world.policy, now=now
        )
        return replace(decision, presences={key: _heard(now, agent_version)})

    if await world.store.pool_host(key) is not None:
        return await change_pool_host(world, key, again, caller=caller)
    now = world.clock.now()
    decided = registration.register_new(key[1], infra_env=infra_env, cluster=None, now=now, user_name=caller.name)
    decided = replace(decided, presences={key: _heard(now, agent_version)})
    fresh = new_host(key, decided)
    followed = await world.evaluate_pool_host(fresh, infra_env, now)
    decision = combined(decided, followed)
    pool = PoolHost(state=fresh, infra_env=infra_env, revision=0)
    writes = [write for write in pool_writes(pool, decision, caller=caller, now=now) if not isinstance(write, PutHost)]
    await world.store.commit(PutHost(host=decision.hosts[key]), *writes)
    return new_host(key, decision)


# --- polling


async def next_steps(world: World, key: HostKey, *, agent_version: str, timestamp: int | None) -> bytes:
    """What the agent is to do now, already encoded. Heard-of is remembered; nothing is computed."""
    session = world.sessions.get(key) or await _open_session(world, key)
    now = world.clock.now()
    offset = None if timestamp is None else timestamp - now.timestamp()
    version = agent_version or session.heard
    presence = PutPresence(key=key, checked_in_at=now, clock_offset_seconds=offset, agent_version=version)
    band = band_of(offset)
    if version != session.heard or band != session.clock_band or session.state.host.status in SILENT:
        session.heard, session.clock_band = version, band
        await world.store.commit(presence, MakeDue(subject=session.subject, kind=EVALUATE, at=now))
        world.wake()
    else:
        world.check_ins.add(presence)
    return session.instructions(now.timestamp(), repeat_after=REPEAT_SHARE * world.policy.poll_seconds)


async def _open_session(world: World, key: HostKey) -> Session:
    state = await world.store.host(key)
    row = await world.store.presence(key)
    if state is None or row is None:
        raise no_such_host(key)
    session = Session(state, dict(row.digests), world.sessions.issued(key))
    session.clock_band = band_of(state.presence.clock_offset_seconds)
    if state.host.cluster_id is not None and _peers_are_named_only(state):
        await _render_peers(world, session, state.host.cluster_id)
    world.sessions.put(session)
    return session


def _peers_are_named_only(state: HostState) -> bool:
    steps = state.plan.steps if state.plan is not None else ()
    return any(step.type is StepType.CONNECTIVITY_CHECK and not step.args[0].startswith("[") for step in steps)


async def _render_peers(world: World, session: Session, cluster_id: UUID) -> None:
    """Large clusters: the list of peers is one text for all; an agent gets it without itself."""
    state = await world.store.cluster_state(cluster_id)
    if state is not None:
        session.render_peers(neighbourhood_of(state).without(session.key[1]))


# --- replies


async def take_reply(world: World, key: HostKey, reply: Reply, *, caller: Caller) -> None:
    """What one step brought. A report that tells nothing new costs no write but the check-in's."""
    session = world.sessions.get(key) or await _open_session(world, key)
    if reply.exit_code == MEDIA_GONE:
        await replies.media_gone(world, session, caller=caller)
        return
    if reply.exit_code == 0 and session.state.host.media is MediaStatus.DISCONNECTED:
        await replies.media_back(world, session, caller=caller)
    session.answered(reply.step)
    fingerprint = hash((reply.output, reply.exit_code))
    if session.replies.get(reply.step) == fingerprint:
        return
    reading = _read(world, session, reply)
    if reading is not None:
        await _keep(world, session, reply, reading, caller=caller)
    await replies.follow_up(world, session, reply, caller=caller)
    if reply.exit_code == 0:
        session.replies[reply.step] = fingerprint


def _read(world: World, session: Session, reply: Reply) -> Reading | None:
    state = session.state
    if reply.step is StepType.INVENTORY and state.host.status not in INVENTORY_ACCEPTED:
        return None
    surroundings = Surroundings(
        earlier=state.reports,
        limits=limits_of(world.policy),
        virtual_interfaces=world.policy.virtual_interfaces,
        asked_disk=state.host.installation_disk_id or state.host.installation_disk_path,
    )
    return read_reply(reply, surroundings=surroundings)


async def _keep(world: World, session: Session, reply: Reply, reading: Reading, *, caller: Caller) -> None:
    now = world.clock.now()
    raw = reading.document or (reply.output if isinstance(reply.output, bytes) else reply.output.encode())
    report = PutReport(
        key=session.key,
        kind=reading.kind,
        digest=reading.digest,
        facts=_encode(reading.facts),
        raw=raw,
        measured_at=now,
    )
    if session.digests.get(reading.kind) == reading.digest:
        world.check_ins.measured(report)
        return
    told = replies.news(session.state, reading, policy=world.policy)
    events = tuple(record(event, now=now, actor=caller.name, request_id=caller.request_id) for event in told)
    await world.store.commit(
        report,
        MakeDue(subject=session.subject, kind=EVALUATE, at=now),
        *((AddEvents(events=events),) if events else ()),
    )
    _remember(session, reading, now)
    world.wake()


def _remember(session: Session, reading: Reading, now: datetime) -> None:
    """The session goes on until the engine's commit makes it forgotten."""
    session.digests[reading.kind] = reading.digest
    reports = session.state.reports
    measured = {**reports.measured_at, reading.kind: now}
    session.state = replace(
        session.state,
        reports=replace(reports, measured_at=measured, **{REPORT_FIELDS[reading.kind]: reading.facts}),
    )
