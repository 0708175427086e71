"""The largest mesh: compared with looking at every subset."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.core.network import mesh as subject
from firstlight.core.network.mesh import largest_mesh, members_of

Matrix = list[int]


@st.composite
def matrices(draw: st.DrawFn, most: int = 7) -> Matrix:
    size = draw(st.integers(0, most))
    return [draw(st.integers(0, (1 << size) - 1)) & ~(1 << row) for row in range(size)]


def reach(rows: Matrix, first: int, second: int) -> bool:
    return bool(rows[first] >> second & 1 and rows[second] >> first & 1)


def by_looking_at_every_subset(rows: Matrix, smallest: int) -> int:
    """Largest; then most members without any other neighbour; then lowest positions."""
    size = len(rows)
    closed = [frozenset({i} | {j for j in range(size) if j != i and reach(rows, i, j)}) for i in range(size)]
    best: tuple[int, int, list[int]] | None = None
    for count in range(max(smallest, 1), size + 1):
        for chosen in combinations(range(size), count):
            if all(reach(rows, a, b) for a, b in combinations(chosen, 2)):
                agreed = sum(closed[member] == frozenset(chosen) for member in chosen)
                key = (count, agreed, [-member for member in chosen])
                best = key if best is None or key > best else best
    return 0 if best is None else sum(1 << -member for member in best[2])


def test_members_come_lowest_first() -> None:
    assert list(members_of(0b101001)) == [0, 3, 5]
    assert list(members_of(0)) == []


@pytest.mark.parametrize(("size", "smallest", "found"), [(3, 3, 0b111), (2, 3, 0), (2, 2, 0b11), (1, 2, 0), (0, 3, 0)])
def test_everybody_reaches_everybody(size: int, smallest: int, found: int) -> None:
    everyone = (1 << size) - 1
    assert largest_mesh([everyone & ~(1 << row) for row in range(size)], smallest=smallest) == found


def test_one_deaf_host_is_left_out() -> None:
    assert largest_mesh([0b1110, 0b1101, 0b1011, 0], smallest=3) == 0b0111


def test_one_way_paths_do_not_count() -> None:
    assert largest_mesh([0b110, 0b101, 0b001], smallest=2) == 0b011


def test_equal_halves_go_to_the_lower_positions() -> None:
    assert largest_mesh([0b001110, 0b001101, 0b001011, 0b110111, 0b101000, 0b011000], smallest=3) == 0b001111
    assert largest_mesh([0b000110, 0b000101, 0b000011, 0b110000, 0b101000, 0b011000], smallest=3) == 0b000111


def test_a_closed_group_beats_an_equally_large_one_with_other_neighbours() -> None:
    # 0, 1, 2 reach each other and each one stranger; 6, 7, 8 reach only each other.
    rows = [0b000001110, 0b000010101, 0b000100011, 0b1, 0b10, 0b100, 0b110000000, 0b101000000, 0b011000000]
    assert largest_mesh(rows, smallest=3) == 0b111000000


@settings(max_examples=400)
@given(matrices(), st.integers(2, 3))
def test_agrees_with_every_subset(rows: Matrix, smallest: int) -> None:
    # A single host is no group, so the floor is two.
    assert largest_mesh(rows, smallest=smallest) == by_looking_at_every_subset(rows, smallest)


@given(st.integers(3, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60))
def test_a_few_lost_paths_still_give_a_maximal_mesh(size: int, lost: list[tuple[int, int]]) -> None:
    rows = [(1 << size) - 1 & ~(1 << row) for row in range(size)]
    for source, target in lost:
        if source < size and target < size:
            rows[source] &= ~(1 << target)
    found = list(members_of(largest_mesh(rows, smallest=2)))
    assert all(reach(rows, a, b) for a, b in combinations(found, 2))
    outside = [host for host in range(size) if host not in found]
    assert not any(all(reach(rows, host, member) for member in found) for host in outside if found)


@given(matrices(most=12))
def test_giving_up_early_still_gives_a_mesh(rows: Matrix) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "EFFORT", 12)
        found = list(members_of(largest_mesh(rows, smallest=2)))
    assert all(reach(rows, a, b) for a, b in combinations(found, 2))
