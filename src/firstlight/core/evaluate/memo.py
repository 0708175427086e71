"""What an evaluation may remember of the one before, so that five hundred unchanged hosts cost next to nothing.

A memo never changes an answer: it is keyed by every fact the answer was made from.
"""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from firstlight.core.decision import HostKey
from firstlight.core.hosts.facts import HostContext
from firstlight.core.model.plan import StepPlan
from firstlight.core.network.connectivity import ConnectivityMemo
from firstlight.core.rules import Finding


class Judged(Struct, frozen=True):
    """A host that was judged and did not move."""

    read: tuple[object, ...]
    """What rules read: the same gives the same findings."""
    guarded: tuple[object, ...]
    """What only guards of transitions read."""
    findings: tuple[Finding, ...]
    deadline: datetime | None
    """Until then time alone changes nothing, unless the host falls silent."""


class Memo:
    """Kept by whoever evaluates the same cluster again; forget it at any time."""

    def __init__(self) -> None:
        self.hosts: dict[HostKey, Judged] = {}
        self.context: HostContext | None = None
        self.connectivity = ConnectivityMemo()
        self.plans: dict[HostKey, tuple[tuple[object, ...], StepPlan]] = {}

    def shared_context(self, context: HostContext) -> HostContext:
        """The equal context of last time, so that unchanged hosts compare by identity."""
        if self.context is None or self.context != context:
            self.context = context
            self.hosts.clear()
        return self.context

    def plan(self, key: HostKey, facts: tuple[object, ...], make: Callable[[], StepPlan]) -> StepPlan:
        """The plan made from equal facts last time, else a new one."""
        known = self.plans.get(key)
        if known is not None and known[0] == facts:
            return known[1]
        plan = make()
        self.plans[key] = (facts, plan)
        return plan
