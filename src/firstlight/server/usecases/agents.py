"""Agents call: they ask what to do, and answer what they did. How they register is in `host_registration`."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.errors import Invalid
from firstlight.core.evaluate.context import band_of
from firstlight.core.events.recorded import record
from firstlight.core.model.host_status import INVENTORY_ACCEPTED, HostStatus, MediaStatus
from firstlight.core.model.plan import ONCE, StepType
from firstlight.core.model.reports import REPORT_FIELDS
from firstlight.core.steps.limits import limits_of
from firstlight.core.steps.occasion import neighbourhood_of
from firstlight.core.steps.replies import Reading, Reply, Surroundings, read_reply
from firstlight.server.ports.writes import AddEvents, MakeDue, PutIssued, PutPresence, PutReport
from firstlight.server.usecases import replies
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import EVALUATE, no_such_host
from firstlight.server.usecases.host_registration import LONGEST_VERSION
from firstlight.server.usecases.sessions import Opening, Session, names_peers_only
from firstlight.server.usecases.world import World

MEDIA_GONE: Final = 256
"""The exit code by which agents say that the discovery medium cannot be read."""
REPEAT_SHARE: Final = 0.8
"""Share of the poll interval within which an unchanged step is not handed out again."""
CHECK_IN_SHARE: Final = 0.6
"""Share of the poll interval within which the next check-in of an agent that waits is not written."""
WILDEST_CLOCK: Final = 100.0 * 366 * 24 * 3600
"""Seconds; a clock that is further off is as wrong as this one."""
LONGEST_ERROR: Final = 8_192
"""Characters kept of the error text of a step."""
GATHERING: Final = timedelta(milliseconds=300)
"""Machines are switched on together: the first inventory of one waits a moment for those of its neighbours."""
SILENT: Final = frozenset({HostStatus.DISCONNECTED, HostStatus.DISCONNECTED_UNBOUND})
_encode = msgspec.json.Encoder().encode


# --- polling


async def next_steps(world: World, key: HostKey, *, agent_version: str, timestamp: int | None) -> bytes:
    """What the agent is to do now, already encoded. Heard-of is remembered; nothing is computed."""
    session = await heard_of(world, key, agent_version=agent_version, timestamp=timestamp)
    return await handed_out(world, session, repeat_after=REPEAT_SHARE * world.policy.poll_seconds)


async def handed_out(world: World, session: Session, *, repeat_after: float) -> bytes:
    """The steps that are due. Those that must run once are on record before the answer leaves."""
    answer = session.instructions(world.clock.now().timestamp(), repeat_after=repeat_after)
    if session.unrecorded:
        await _record(world, session)
    return answer


async def _record(world: World, session: Session) -> None:
    handed, session.unrecorded = session.unrecorded, []
    issued = {step: (it.fingerprint, it.at) for step, it in session.issued.items() if step in ONCE}
    session.own_notices += 1
    try:
        await world.store.commit(PutIssued(key=session.key, issued=issued))
    except BaseException:
        # Nothing was handed out, or nothing heard: neither answer leaves.
        for step in handed:
            session.issued.pop(step, None)
        world.sessions.drop(session)
        raise


async def session_of(world: World, key: HostKey) -> Session:
    return world.sessions.get(key) or await _open_session(world, key)


async def heard_of(
    world: World, key: HostKey, *, agent_version: str, timestamp: int | None, waits: bool = False
) -> Session:
    """Remember that the agent called. One that `waits` calls more often than anybody needs to know."""
    session = await session_of(world, key)
    now = world.clock.now()
    offset = None if timestamp is None else _within(timestamp - now.timestamp(), WILDEST_CLOCK)
    version = agent_version[:LONGEST_VERSION] or session.heard
    presence = PutPresence(key=key, checked_in_at=now, clock_offset_seconds=offset, agent_version=version)
    band = band_of(offset)
    if session.awaits_inventory and version == session.heard:
        # The inventory asks for a look anyway, and takes what the clock said along.
        session.clock_band, session.unwritten = band, presence
        _check_in(world, session, presence)
    elif version != session.heard or band != session.clock_band or session.state.host.status in SILENT:
        await world.store.commit(presence, MakeDue(subject=session.subject, kind=EVALUATE, at=now))
        session.heard, session.clock_band = version, band
        world.wake()
    elif not waits or now.timestamp() - session.checked_in >= CHECK_IN_SHARE * world.policy.poll_seconds:
        _check_in(world, session, presence)
    return session


def _check_in(world: World, session: Session, presence: PutPresence) -> None:
    session.checked_in = presence.checked_in_at.timestamp()
    world.check_ins.add(presence)


def _within(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


async def _open_session(world: World, key: HostKey) -> Session:
    with world.sessions.opening(key) as opening:
        return await _open(world, key, opening)


async def _open(world: World, key: HostKey, opening: Opening) -> Session:
    row = await world.store.presence(key)
    if row is None:
        raise no_such_host(key)
    state = row.state
    issued = world.sessions.issued(key, since=state.host.registered_at.timestamp(), recorded=row.issued)
    session = Session(state, dict(row.digests), issued)
    session.clock_band = band_of(state.presence.clock_offset_seconds)
    if state.host.cluster_id is not None and names_peers_only(state):
        await _render_peers(world, session, state.host.cluster_id)
    if not opening.outdated:
        world.sessions.put(session)
    return session


async def _render_peers(world: World, session: Session, cluster_id: UUID) -> None:
    """Large clusters: the list of peers is one text for all; an agent gets it without itself."""
    state = await world.store.cluster_state(cluster_id)
    if state is not None:
        session.render_peers(neighbourhood_of(state).without(session.key[1]))


# --- replies


async def take_reply(world: World, key: HostKey, reply: Reply, *, caller: Caller) -> None:
    """What one step brought. A report that tells nothing new costs no write but the check-in's."""
    reply = replace(reply, error=reply.error[:LONGEST_ERROR])
    session = world.sessions.get(key) or await _open_session(world, key)
    if reply.exit_code == MEDIA_GONE:
        await replies.media_gone(world, session, caller=caller)
        return
    if reply.exit_code == 0 and session.state.host.media is MediaStatus.DISCONNECTED:
        await replies.media_back(world, session, caller=caller)
    session.answered(reply.step, now=world.clock.now().timestamp())
    if session.unrecorded:
        await _record(world, session)
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
    try:
        return read_reply(reply, surroundings=surroundings)
    except Invalid:
        if reply.exit_code:
            # A step that failed need not say anything sensible.
            return None
        raise


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
    look_at = now + GATHERING if session.awaits_inventory else now
    told = replies.news(session.state, reading, policy=world.policy)
    events = tuple(record(event, now=now, actor=caller.name, request_id=caller.request_id) for event in told)
    session.own_notices += 1
    try:
        await world.store.commit(
            report,
            *session.taken_along(),
            MakeDue(subject=session.subject, kind=EVALUATE, at=look_at),
            *((AddEvents(events=events),) if events else ()),
        )
    except BaseException:
        # Whether it was kept, and will be told, is not known: the next call starts from what is stored.
        world.sessions.drop(session)
        raise
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
