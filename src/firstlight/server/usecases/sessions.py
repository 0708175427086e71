"""What the service keeps in mind about each agent between two polls, so that a poll serves and does not compute.

A session is only a memory of stored facts: it is forgotten whenever somebody commits a change of its subject, and made
again from the store when the agent comes back.
"""

from collections import OrderedDict
from typing import Final
from uuid import UUID
from zlib import crc32

import msgspec
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.model.host import HostState
from firstlight.core.model.reports import ReportKind
from firstlight.core.steps.plan import StepPlan, StepType
from firstlight.core.wire.steps import Step, Steps

_encode = msgspec.json.Encoder().encode
NOTHING_TO_DO: Final = StepPlan()


class Session:
    __slots__ = ("clock_band", "cluster_id", "digests", "heard", "key", "plan", "replies", "state")

    def __init__(self, state: HostState, digests: dict[ReportKind, str]) -> None:
        host = state.host
        self.key: HostKey = (host.infra_env_id, host.id)
        self.state = state
        self.cluster_id: UUID | None = host.cluster_id
        self.plan: bytes = encoded_plan(state.plan or NOTHING_TO_DO)
        self.digests = digests
        self.replies: dict[StepType, int] = {}
        """Fingerprint of the last reply of each step that was taken in."""
        self.heard = state.presence.agent_version
        self.clock_band: int | None = None

    def render_peers(self, peers: str) -> None:
        """Put the list of peers in the place of its name."""
        plan = self.state.plan or NOTHING_TO_DO
        steps = tuple(
            replace(step, args=(peers,)) if step.type is StepType.CONNECTIVITY_CHECK else step for step in plan.steps
        )
        self.plan = encoded_plan(replace(plan, steps=steps))

    @property
    def subject(self) -> str:
        if self.cluster_id is not None:
            return f"cluster:{self.cluster_id}"
        return f"host:{self.key[0]}/{self.key[1]}"


def encoded_plan(plan: StepPlan) -> bytes:
    """The plan as agents get it. Equal plans give equal bytes, step ids included."""
    steps = tuple(
        Step(step_type=step.type, step_id=f"{step.type}-{_short(step.args)}", args=step.args) for step in plan.steps
    )
    return _encode(
        Steps(
            next_instruction_seconds=plan.next_instruction_seconds,
            post_step_action="exit" if plan.exit else "continue",
            instructions=steps,
        )
    )


def _short(args: tuple[str, ...]) -> str:
    return f"{crc32('|'.join(args).encode()):08x}"


class Sessions:
    """Bounded: an agent that is not in here costs one read of the store."""

    def __init__(self, *, most: int = 20_000) -> None:
        self._most = most
        self._by_key: OrderedDict[HostKey, Session] = OrderedDict()
        self._by_subject: dict[str, set[HostKey]] = {}

    def get(self, key: HostKey) -> Session | None:
        return self._by_key.get(key)

    def put(self, session: Session) -> None:
        self._drop(session.key)
        self._by_key[session.key] = session
        self._by_subject.setdefault(session.subject, set()).add(session.key)
        while len(self._by_key) > self._most:
            self._drop(next(iter(self._by_key)))

    def forget(self, subject: str) -> None:
        """Somebody committed a change of this subject."""
        for key in self._by_subject.pop(subject, ()):
            self._by_key.pop(key, None)

    def forget_all(self) -> None:
        """Changes may have been missed."""
        self._by_key.clear()
        self._by_subject.clear()

    def _drop(self, key: HostKey) -> None:
        old = self._by_key.pop(key, None)
        if old is not None:
            keys = self._by_subject.get(old.subject)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._by_subject[old.subject]
