"""Guards, their combinations, and the moments at which time alone changes their answers."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.machine import Guard, Moments, NoTransition, Transition, all_of, any_of, moments, not_, step

START = datetime(2025, 6, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    now: datetime
    flags: frozenset[str] = frozenset()


def flag(name: str) -> Guard[Facts]:
    return Guard(name, lambda facts: name in facts.flags)


def after(seconds: int) -> Guard[Facts]:
    at = START + timedelta(seconds=seconds)

    def moment(_: Facts) -> Moments:
        return (at,)

    return Guard(f"after {seconds}", lambda facts: facts.now >= at, moment)


a, b = flag("a"), flag("b")
NOW = Facts(START, frozenset({"a"}))


def test_guards_combine_like_logic() -> None:
    assert all_of(a, a)(NOW)
    assert not all_of(a, b)(NOW)
    assert any_of(b, a)(NOW)
    assert not any_of(b, b)(NOW)
    assert not_(b)(NOW)
    assert all_of()(NOW)
    assert not any_of()(NOW)


def test_names_tell_the_rule() -> None:
    assert all_of(a, any_of(b, not_(a))).name == "a and (b or not a)"
    assert not_(all_of(a, b)).name == "not (a and b)"
    assert not_(all_of(a)).name == "not a"
    assert not_(any_of(a, b)).name == "not (a or b)"


def test_no_guard_is_asked_once_the_answer_is_known() -> None:
    def never(_: Facts) -> bool:
        raise AssertionError

    trap = Guard("trap", never)
    assert not all_of(b, trap)(NOW)
    assert any_of(a, trap)(NOW)


@pytest.mark.parametrize(
    ("guard", "seconds"),
    [
        pytest.param(after(5), [5], id="itself"),
        pytest.param(not_(after(5)), [5], id="not"),
        pytest.param(all_of(a, after(5)), [5], id="true-and"),
        pytest.param(all_of(b, after(5)), [], id="false-and"),
        pytest.param(all_of(after(5), b), [], id="and-false"),
        pytest.param(any_of(a, after(5)), [], id="true-or"),
        pytest.param(any_of(b, after(5)), [5], id="false-or"),
        pytest.param(any_of(after(5), a), [], id="or-true"),
        pytest.param(all_of(after(5), after(9)), [5, 9], id="both"),
        pytest.param(a, [], id="facts-only"),
    ],
)
def test_only_moments_that_matter_are_named(guard: Guard[Facts], seconds: list[int]) -> None:
    assert [int((at - START).total_seconds()) for at in guard.moments(NOW)] == seconds


def guards() -> st.SearchStrategy[Guard[Facts]]:
    leaves = st.one_of(st.sampled_from([a, b]), st.integers(1, 20).map(after))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda some: all_of(*some)),
            st.lists(inner, min_size=1, max_size=3).map(lambda some: any_of(*some)),
            inner.map(not_),
        ),
        max_leaves=6,
    )


Row = Transition[str, str, Facts, str, str]


@given(guard=guards(), flags=st.sets(st.sampled_from("ab")).map(frozenset))
def test_answers_change_at_named_moments_only(guard: Guard[Facts], flags: frozenset[str]) -> None:
    facts = Facts(START, flags)
    named = set(guard.moments(facts))
    answers = [guard(Facts(START + timedelta(seconds=second), flags)) for second in range(25)]
    flips = {START + timedelta(seconds=second) for second in range(1, 25) if answers[second] != answers[second - 1]}
    assert flips <= named


@given(some=st.lists(guards(), min_size=1, max_size=5), flags=st.sets(st.sampled_from("ab")).map(frozenset))
def test_rows_change_at_named_moments_only(some: list[Guard[Facts]], flags: frozenset[str]) -> None:
    """Whoever waits for the named moments misses no change of row."""
    table = [Row(str(number), "go", frozenset({"x"}), "y", "why", guard) for number, guard in enumerate(some)]

    def taken(second: int) -> str | None:
        try:
            return step(table, "x", "go", Facts(START + timedelta(seconds=second), flags)).id
        except NoTransition:
            return None

    named = set(moments(table, "x", "go", Facts(START, flags)))
    flips = {START + timedelta(seconds=second) for second in range(1, 25) if taken(second) != taken(second - 1)}
    assert flips <= named


def test_the_first_row_that_fits_wins() -> None:
    table = [
        Row("other trigger", "stop", frozenset({"x"}), "y", ""),
        Row("other state", "go", frozenset({"z"}), "y", ""),
        Row("guarded", "go", frozenset({"x"}), "y", "", b),
        Row("first", "go", frozenset({"x", "z"}), "y", "", a),
        Row("second", "go", frozenset({"x"}), "y", ""),
    ]
    assert step(table, "x", "go", NOW).id == "first"
    assert step(table, "x", "go", Facts(START)).id == "second"
    with pytest.raises(NoTransition, match="fly does nothing in x"):
        step(table, "x", "fly", NOW)
    assert list(moments(table, "x", "fly", NOW)) == []


def test_rows_below_a_certain_one_cannot_be_reached_by_waiting() -> None:
    table = [
        Row("1", "go", frozenset({"x"}), "y", "", after(9)),
        Row("2", "go", frozenset({"x"}), "y", ""),
        Row("3", "go", frozenset({"x"}), "y", "", after(3)),
    ]
    assert list(moments(table, "x", "go", NOW)) == [START + timedelta(seconds=9)]
