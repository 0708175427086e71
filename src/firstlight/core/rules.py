"""Checks as small functions: a rule reads facts and returns a verdict, a rule book turns verdicts into findings."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

F = TypeVar("F")

Evidence = dict[str, str | int | float | bool | list[str] | None]
"""What was measured, by name; values are plain so that they survive storage and every client."""


class Status(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    PENDING = "pending"
    """The rule waits for something it names."""
    ERROR = "error"
    """The rule could not be judged: what it reads contradicts itself."""
    DISABLED = "disabled"
    """Switched off for the whole service."""
    SUPPRESSED = "success-suppress-output"
    """Does not concern this subject: counts as success and is not shown."""


class Fix(Struct, frozen=True, kw_only=True):
    """A request the API accepts as it is and that would mend the finding."""

    title: str
    method: str
    path: str
    """Below the API base, with `{cluster_id}`, `{infra_env_id}` and `{host_id}` left for the reader of the finding."""
    body: dict[str, object] | None = None


class Verdict(Struct, frozen=True):
    status: Status
    message: str = ""
    cause: str = ""
    """Stable code of the reason, for programs; empty on success."""
    evidence: Evidence = {}
    measured_at: datetime | None = None
    fixes: tuple[Fix, ...] = ()


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One judged rule about one subject. Equal findings mean that nothing worth telling has changed."""

    id: str
    category: str
    status: Status
    message: str = ""
    cause: str = ""
    evidence: Evidence = {}
    measured_at: datetime | None = None
    fixes: tuple[Fix, ...] = ()

    @property
    def holds(self) -> bool:
        return self.status in HOLDING


HOLDING = frozenset({Status.SUCCESS, Status.SUPPRESSED, Status.DISABLED})
"""Statuses under which a condition built on the finding is true."""


def passed(message: str) -> Verdict:
    return Verdict(Status.SUCCESS, message)


def failed(
    message: str,
    *,
    cause: str,
    evidence: Evidence | None = None,
    measured_at: datetime | None = None,
    fixes: tuple[Fix, ...] = (),
) -> Verdict:
    return Verdict(Status.FAILURE, message, cause, evidence or {}, measured_at, fixes)


def pending(message: str, *, cause: str = "waiting") -> Verdict:
    return Verdict(Status.PENDING, message, cause)


def errored(message: str, *, cause: str, evidence: Evidence | None = None) -> Verdict:
    return Verdict(Status.ERROR, message, cause, evidence or {})


SUPPRESSED = Verdict(Status.SUPPRESSED)


class Rule(Struct, Generic[F], frozen=True):
    id: str
    category: str
    judge: Callable[[F], Verdict]


class RuleBook(Generic[F]):
    """Rules in the order they are shown. Modules register at import; nothing is added later."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule[F]] = {}

    def rule(self, rule_id: str, *, category: str) -> Callable[[Callable[[F], Verdict]], Callable[[F], Verdict]]:
        def register(judge: Callable[[F], Verdict]) -> Callable[[F], Verdict]:
            if rule_id in self._rules:
                raise ValueError(f"rule {rule_id} is registered twice")
            self._rules[rule_id] = Rule(rule_id, category, judge)
            return judge

        return register

    def __iter__(self) -> Iterator[Rule[F]]:
        return iter(self._rules.values())

    def ids(self) -> frozenset[str]:
        return frozenset(self._rules)

    def judge(self, facts: F, *, disabled: Collection[str] = ()) -> tuple[Finding, ...]:
        """Every rule's finding, in book order; suppressed ones included (their value still feeds guards)."""
        return tuple(
            Finding(id=rule.id, category=rule.category, status=Status.DISABLED, message=SWITCHED_OFF)
            if rule.id in disabled
            else finding_of(rule, rule.judge(facts))
            for rule in self._rules.values()
        )


SWITCHED_OFF = "This check is switched off for the whole service."


def finding_of(rule: Rule[F], verdict: Verdict) -> Finding:
    return Finding(
        id=rule.id,
        category=rule.category,
        status=verdict.status,
        message=verdict.message,
        cause=verdict.cause,
        evidence=verdict.evidence,
        measured_at=verdict.measured_at,
        fixes=verdict.fixes,
    )


def holding(findings: Iterable[Finding], *, ignored: Collection[str], never_ignored: Collection[str]) -> frozenset[str]:
    """Ids of the checks that hold: they pass, or the user waived them ("all" waives each one that may be waived)."""
    every = EVERY_CHECK in ignored
    return frozenset(
        finding.id
        for finding in findings
        if finding.holds or (finding.id not in never_ignored and (every or finding.id in ignored))
    )


EVERY_CHECK = "all"
"""In a list of waived checks: each one that may be waived."""
