"""Polls that wait: an agent is answered when there is something for it to do, or when its time is up.

Only agents that were offered it ask this way. What wakes a poll is the same notice that makes sessions forgotten, so it
works for changes of every replica.
"""

import asyncio
from collections.abc import Callable
from typing import Final
from zlib import crc32

import msgspec
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.hosts.short_code import short_code
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.rules import Status
from firstlight.core.wire.offers import Offer, Standing
from firstlight.server.usecases import agents
from firstlight.server.usecases.log_uploads import PIECE_BYTES
from firstlight.server.usecases.sessions import Session
from firstlight.server.usecases.world import World

WAIT_SECONDS: Final = 25
"""Shorter than the patience of the usual proxies."""
MOST_PROBLEMS: Final = 8
"""Sentences that fit on the page of a machine's console."""
_FAILING: Final = frozenset({Status.FAILURE, Status.ERROR})
_encode: Final = msgspec.json.Encoder().encode


class Left(Exception):
    """The agent hung up while its poll waited."""


def offer_for(state: HostState) -> Offer:
    """What this service can do beyond what agents have always known."""
    return Offer(
        wait_seconds=WAIT_SECONDS, live_log=True, log_piece_bytes=PIECE_BYTES, short_code=short_code(state.host.id)
    )


async def awaited_steps(
    world: World,
    key: HostKey,
    *,
    agent_version: str,
    timestamp: int | None,
    seconds: int,
    seen: str,
    when_gone: Callable[[Callable[[], None]], Callable[[], object]],
) -> bytes:
    """What the agent is to do, as soon as there is something, after `seconds` at the latest. Raises `Left`.

    `seen` is the digest of the standing it was told last: one that changed is worth an answer, too.
    """
    session = await agents.heard_of(world, key, agent_version=agent_version, timestamp=timestamp, waits=True)
    if not world.waits.open:
        return await _answer(world, session)
    clock = asyncio.get_running_loop().time
    end = clock() + max(0, min(seconds, WAIT_SECONDS))
    with world.waits.joined(key, session.subject) as ticket:
        forget = when_gone(ticket.leave)
        try:
            session = await agents.session_of(world, key)
            while (left := end - clock()) > 0 and not world.waits.closed:
                due_in = _due_in(world, session)
                if due_in <= 0 or (seen and seen != standing_of(session.state).digest):
                    break
                await ticket.parked(min(left, due_in))
                if ticket.left:
                    raise Left
                if ticket.replaced:
                    return session.nothing()
                if ticket.heard:
                    ticket.heard = False
                    session = await agents.session_of(world, key)
        finally:
            forget()
    return await _answer(world, session)


def _due_in(world: World, session: Session) -> float:
    """Seconds until there is something to hand out, as far as is known."""
    if session.leaves:
        return 0.0
    return session.due_at(repeat_after=world.policy.poll_seconds) - world.clock.now().timestamp()


async def _answer(world: World, session: Session) -> bytes:
    steps = await agents.handed_out(world, session, repeat_after=world.policy.poll_seconds)
    return b'%s,"firstlight":%s}' % (steps[:-1], _encode(standing_of(session.state)))


def standing_of(state: HostState) -> Standing:
    """What the service thinks of a host, for the page on its console."""
    host = state.host
    failing = [it.message for it in shown_findings(state.findings, host) if it.status in _FAILING]
    stage = host.progress.stage
    standing = Standing(
        status=host.status.value,
        status_info=host.status_info,
        name=hostname_of(host, state.reports),
        role=host.effective_role.value,
        stage="" if stage is None else stage.value,
        problems=tuple(failing[:MOST_PROBLEMS]),
        more_problems=max(0, len(failing) - MOST_PROBLEMS),
    )
    return replace(standing, digest=f"{crc32(_encode(standing)):08x}")
