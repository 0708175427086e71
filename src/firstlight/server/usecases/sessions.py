"""What the service keeps in mind about each agent between two polls, so that a poll serves and does not compute.

A session is only a memory of stored facts: it is forgotten whenever somebody commits a change of its subject, and made
again from the store when the agent comes back.
"""

from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Final, NamedTuple
from uuid import UUID
from zlib import crc32

import msgspec
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.evaluate.context import band_of
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.plan import ONCE, Step, StepPlan, StepType
from firstlight.core.model.reports import ReportKind
from firstlight.core.steps.replies import REPORT_OF
from firstlight.core.wire import steps as wire
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import PutPresence

_encode = msgspec.json.Encoder().encode
NOTHING_TO_DO: Final = StepPlan()
JUST_REGISTERED: Final = frozenset({HostStatus.DISCOVERING, HostStatus.DISCOVERING_UNBOUND})


class Issued:
    """When a step was last handed out, with which arguments, and whether its answer has come."""

    __slots__ = ("answered", "at", "fingerprint", "unjudged")

    def __init__(self, fingerprint: int, at: float) -> None:
        self.fingerprint = fingerprint
        self.at = at
        self.answered = False
        self.unjudged: StepPlan | None = None
        """The plan that asked for a step that must run once, from its answer until there is another plan."""


class _Piece(NamedTuple):
    """One step as agents get it."""

    step: StepType
    fingerprint: int
    encoded: bytes
    again_seconds: float
    """When it is asked for once more at the latest."""


class Session:
    __slots__ = (
        "checked_in", "clock_band", "cluster_id", "digests", "heard", "issued", "key", "own_notices", "pieces",
        "replies", "state", "tail", "unrecorded", "unwritten",
    )  # fmt: skip

    def __init__(self, state: HostState, digests: dict[ReportKind, str], issued: dict[StepType, Issued]) -> None:
        host = state.host
        self.key: HostKey = (host.infra_env_id, host.id)
        self.state = state
        self.cluster_id: UUID | None = host.cluster_id
        self.digests = digests
        self.issued = issued
        self.replies: dict[StepType, int] = {}
        """Fingerprint of the last reply of each step that was taken in."""
        self.heard = state.presence.agent_version
        self.clock_band: int | None = None
        self.checked_in = 0.0
        """When a check-in was last passed on to be written."""
        self.own_notices = 0
        """Commits of this session's own reports whose notices have not come back yet."""
        self.unwritten: PutPresence | None = None
        """A check-in that the next report takes along, so that both are judged together."""
        self.unrecorded: list[StepType] = []
        """Steps that must run once, handed out in an answer that may leave once they are on record."""
        self.pieces: tuple[_Piece, ...] = ()
        self.tail = b""
        for it in issued.values():
            if it.unjudged is not None and it.unjudged != state.plan:
                it.unjudged = None
        self.take_plan(state.plan or NOTHING_TO_DO)

    def take_plan(self, plan: StepPlan) -> None:
        self.pieces = tuple(_piece(step) for step in plan.steps)
        action = "exit" if plan.exit else "continue"
        self.tail = b'],"next_instruction_seconds":%d,"post_step_action":"%s"}' % (
            plan.next_instruction_seconds,
            action.encode(),
        )

    @property
    def awaits_inventory(self) -> bool:
        return self.state.host.status in JUST_REGISTERED and ReportKind.INVENTORY not in self.digests

    def taken_along(self) -> tuple[PutPresence, ...]:
        presence, self.unwritten = self.unwritten, None
        return () if presence is None else (presence,)

    def render_peers(self, peers: str) -> None:
        """Put the list of peers in the place of its name."""
        plan = self.state.plan or NOTHING_TO_DO
        steps = tuple(
            replace(step, args=(peers,)) if step.type is StepType.CONNECTIVITY_CHECK else step for step in plan.steps
        )
        self.take_plan(replace(plan, steps=steps))

    def instructions(self, now: float, *, repeat_after: float) -> bytes:
        """What the agent is to do now: steps handed out a moment ago are not asked for again."""
        due: list[bytes] = []
        for piece in self.pieces:
            before = self.issued.get(piece.step)
            if before is None or self._is_due(before, piece, now, repeat_after):
                self.issued[piece.step] = Issued(piece.fingerprint, now)
                due.append(piece.encoded)
                if piece.step in ONCE:
                    self.unrecorded.append(piece.step)
        return b'{"instructions":[' + b",".join(due) + self.tail

    def nothing(self) -> bytes:
        """An answer that asks for nothing."""
        return b'{"instructions":[' + self.tail

    @property
    def leaves(self) -> bool:
        """Whether the agent is told to go."""
        return self.state.plan is not None and self.state.plan.exit

    def due_at(self, *, repeat_after: float) -> float:
        """When there will be something to hand out, if nothing changes; what failed is not asked for at once."""
        return min((self._due_at(piece, repeat_after) for piece in self.pieces), default=inf)

    def _due_at(self, piece: _Piece, repeat_after: float) -> float:
        before = self.issued.get(piece.step)
        if before is None or before.fingerprint != piece.fingerprint:
            return -inf
        repeat_after = min(repeat_after, piece.again_seconds)
        if self._brought_nothing(before, piece):
            repeat_after = min(repeat_after, (self.state.plan or NOTHING_TO_DO).next_instruction_seconds)
        return before.at + repeat_after

    def _is_due(self, before: Issued, piece: _Piece, now: float, repeat_after: float) -> bool:
        if before.fingerprint != piece.fingerprint or now - before.at >= min(repeat_after, piece.again_seconds):
            return True
        return self._brought_nothing(before, piece)

    def _brought_nothing(self, before: Issued, piece: _Piece) -> bool:
        """It was answered, and yet nothing is known: it may be asked for again soon, unless it does harm."""
        kind = REPORT_OF.get(piece.step)
        return before.answered and kind is not None and kind not in self.digests and piece.step not in ONCE

    def answered(self, step: StepType, *, now: float) -> None:
        """A step that must run once counts as handed out with its answer: until somebody has thought about that, the
        plan still asks for it, and who has answered would begin anew."""
        issued = self.issued.get(step)
        if issued is not None:
            issued.answered = True
            if step in ONCE:
                issued.at, issued.unjudged = now, self.state.plan
                self.unrecorded.append(step)

    @property
    def subject(self) -> str:
        """Who decides about this host."""
        return host_subject(self.key) if self.cluster_id is None else cluster_subject(self.cluster_id)


def names_peers_only(state: HostState) -> bool:
    """Large clusters: the plan only names the list of peers, which is rendered when the session is opened."""
    steps = state.plan.steps if state.plan is not None else ()
    return any(step.type is StepType.CONNECTIVITY_CHECK and not step.args[0].startswith("[") for step in steps)


def _piece(step: Step) -> _Piece:
    fingerprint = _fingerprint(step)
    shown = wire.Step(step_type=step.type, step_id=step_id(step), args=step.args)
    return _Piece(step.type, fingerprint, _encode(shown), step.again_seconds or inf)


def _fingerprint(step: Step) -> int:
    """The same work asked for anew is another step."""
    return crc32("|".join((*step.args, *([f"try {step.tries}"] if step.tries else []))).encode())


def step_id(step: Step) -> str:
    return f"{step.type}-{_fingerprint(step):08x}"


class Opening:
    """A session being made from the store, or along with a commit."""

    __slots__ = ("outdated", "own_notices")

    def __init__(self, own_notices: int) -> None:
        self.outdated = False
        self.own_notices = own_notices
        """Notices that are expected, since they tell of the very change that the session begins with."""

    def hear(self) -> None:
        """Whose notice came first does not matter: one too many means that somebody else changed something."""
        if self.own_notices:
            self.own_notices -= 1
        else:
            self.outdated = True


class Sessions:
    """Bounded: an agent that is not in here costs one read of the store."""

    def __init__(self, *, most: int = 20_000) -> None:
        self._most = most
        self._by_key: OrderedDict[HostKey, Session] = OrderedDict()
        self._by_subject: dict[str, set[HostKey]] = {}
        self._issued: OrderedDict[HostKey, dict[StepType, Issued]] = OrderedDict()
        self._openings: dict[str, set[Opening]] = {}

    def issued(
        self, key: HostKey, *, since: float, recorded: Mapping[StepType, tuple[int, float]] | None = None
    ) -> dict[StepType, Issued]:
        """What this agent was asked; outlives the session, since a change of facts does not stop a running step.

        `since` is when it registered: what it was asked before is void, also when it told another replica, unless it
        has answered and nobody has thought about that yet. `recorded` is what is on record, perhaps by another replica.
        """
        known = self._issued.setdefault(key, {})
        for step, (fingerprint, at) in (recorded or {}).items():
            before = known.get(step)
            if before is None or before.at < at:
                known[step] = Issued(fingerprint, at)
        for step in [step for step, issued in known.items() if issued.at < since and issued.unjudged is None]:
            del known[step]
        self._issued.move_to_end(key)
        while len(self._issued) > self._most:
            self._issued.popitem(last=False)
        return known

    @contextmanager
    def opening(self, key: HostKey, *, own_notices: int = 0) -> Generator["Opening"]:
        """While a session is made: what changes meanwhile makes it outdated."""
        subject, opening = host_subject(key), Opening(own_notices)
        self._openings.setdefault(subject, set()).add(opening)
        try:
            yield opening
        finally:
            others = self._openings[subject]
            others.discard(opening)
            if not others:
                del self._openings[subject]

    def _outdate(self, subject: str) -> None:
        """Whose hosts a cluster has is not known here: its news concern every session being made."""
        concerned = [self._openings.get(subject, set())] if subject.startswith("host:") else self._openings.values()
        for openings in concerned:
            for opening in openings:
                opening.outdated = True

    def restart(self, key: HostKey) -> None:
        """The agent registered anew: whatever it was asked before is void."""
        self._outdate(host_subject(key))
        known = self._issued.pop(key, {})
        answered = {step: issued for step, issued in known.items() if issued.unjudged is not None}
        if answered:
            self._issued[key] = answered
        self._drop(key)

    def get(self, key: HostKey) -> Session | None:
        return self._by_key.get(key)

    def drop(self, session: Session) -> None:
        """Make it anew when the agent comes back; what it was asked stays known."""
        self._outdate(host_subject(session.key))
        if self._by_key.get(session.key) is session:
            self._drop(session.key)

    def put(self, session: Session) -> None:
        self._drop(session.key)
        self._by_key[session.key] = session
        for subject in {session.subject, host_subject(session.key)}:
            self._by_subject.setdefault(subject, set()).add(session.key)
        while len(self._by_key) > self._most:
            self._drop(next(iter(self._by_key)))

    def begin(self, state: HostState, opening: Opening) -> None:
        """With a host that was registered just now: nothing was asked and nothing reported before."""
        if opening.outdated or names_peers_only(state):
            return
        key = (state.host.infra_env_id, state.host.id)
        session = Session(state, {}, self.issued(key, since=state.host.registered_at.timestamp()))
        session.clock_band = band_of(state.presence.clock_offset_seconds)
        session.own_notices = opening.own_notices
        self.put(session)

    def forget(self, subject: str) -> None:
        """Somebody committed a change of this subject."""
        if subject.startswith("host:"):
            for opening in self._openings.get(subject, ()):
                opening.hear()
        else:
            self._outdate(subject)
        for key in tuple(self._by_subject.get(subject, ())):
            session = self._by_key[key]
            if session.own_notices and subject == host_subject(key):
                # What the session reported itself it knows. Whose notice came first does not matter: of two, one drops.
                session.own_notices -= 1
            else:
                self._drop(key)

    def forget_all(self) -> None:
        """Changes may have been missed."""
        self._outdate("")
        self._by_key.clear()
        self._by_subject.clear()

    def _drop(self, key: HostKey) -> None:
        old = self._by_key.pop(key, None)
        if old is None:
            return
        for subject in {old.subject, host_subject(key)}:
            keys = self._by_subject[subject]
            keys.discard(key)
            if not keys:
                del self._by_subject[subject]
