"""State machines as tables: the first row that fits wins, and every guard can say when time alone would change it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")
F = TypeVar("F")
R = TypeVar("R")
E = TypeVar("E")

Moments = tuple[datetime, ...]
"""Moments, past or future, at which a guard's answer flips although no fact changes."""


def _no_moments(_: object) -> Moments:
    return ()


@dataclass(frozen=True, slots=True)
class Guard(Generic[F]):
    """A named predicate over facts."""

    name: str
    test: Callable[[F], bool]
    moments: Callable[[F], Moments] = _no_moments
    compound: bool = False
    """Whether the name needs brackets where it is only a part."""

    def __call__(self, facts: F) -> bool:
        return self.test(facts)


def all_of(*guards: Guard[F]) -> Guard[F]:
    """True when every guard is, asked from left to right."""
    return Guard(
        " and ".join(guard.name for guard in guards),
        lambda facts: all(guard.test(facts) for guard in guards),
        lambda facts: _reached_moments(guards, facts, stop_on=False),
        compound=len(guards) > 1,
    )


def any_of(*guards: Guard[F]) -> Guard[F]:
    return Guard(
        f"({' or '.join(map(_part, guards))})",
        lambda facts: any(guard.test(facts) for guard in guards),
        lambda facts: _reached_moments(guards, facts, stop_on=True),
    )


def not_(guard: Guard[F]) -> Guard[F]:
    return Guard(f"not {_part(guard)}", lambda facts: not guard.test(facts), guard.moments)


def _part(guard: Guard[F]) -> str:
    return f"({guard.name})" if guard.compound else guard.name


def _reached_moments(guards: Iterable[Guard[F]], facts: F, *, stop_on: bool) -> Moments:
    """Moments that matter: a guard fixed at the deciding value by facts, not by time, makes its neighbours' moot."""
    moments: list[datetime] = []
    for guard in guards:
        own = guard.moments(facts)
        if not own and guard.test(facts) is stop_on:
            return ()
        moments.extend(own)
    return tuple(moments)


def always(_: object) -> bool:
    return True


@dataclass(frozen=True)
class Transition(Generic[S, T, F, R, E]):
    """One row: on this trigger, from these states, when the guard holds, go to the target."""

    id: str
    """Name of the row in documents, tests and the debugging page."""
    on: T
    source: frozenset[S]
    target: S | None
    """None: stay where you are."""
    why: str
    when: Guard[F] = field(default_factory=lambda: Guard("always", always))
    info: Callable[[F], str] | None = None
    """What to tell as status_info; None keeps the old text."""
    apply: Callable[[F], R] | None = None
    """Further changes of the record, made before the status is set."""
    tell: Callable[[F], tuple[E, ...]] | None = None
    """Events besides the change of status."""


class NoTransition(LookupError):
    """No row of the table fits."""


def step(table: Iterable[Transition[S, T, F, R, E]], state: S, trigger: T, facts: F) -> Transition[S, T, F, R, E]:
    """The first row that fits; raises NoTransition when none does."""
    for row in table:
        if row.on == trigger and state in row.source and row.when.test(facts):
            return row
    raise NoTransition(f"{trigger} does nothing in {state}")


def moments(table: Iterable[Transition[S, T, F, R, E]], state: S, trigger: T, facts: F) -> Iterator[datetime]:
    """Every moment at which time alone may change which row fits."""
    for row in table:
        if row.on == trigger and state in row.source:
            own = row.when.moments(facts)
            yield from own
            if not own and row.when.test(facts):
                # Facts alone make this row fit; the rows below it cannot be reached by waiting.
                return
