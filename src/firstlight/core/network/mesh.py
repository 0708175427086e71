"""The largest set of hosts that all reach each other. Hosts are bit positions, sets of hosts are whole numbers."""

from collections.abc import Iterator, Sequence
from typing import Final

EFFORT: Final = 200_000
"""Search steps times hosts. Real faults (dead hosts, split networks, single lost paths) need a few steps; a
search that would need more than this ends with the best mesh found so far."""
DEEPEST: Final = 100


def members_of(bits: int) -> Iterator[int]:
    """The positions in a set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def largest_mesh(rows: Sequence[int], *, smallest: int) -> int:
    """The largest set in which every host reaches every other, in both directions; 0 below `smallest` members.

    `rows[i]` is what host i reached. Among equally large sets the one wins that more hosts see as their whole
    neighbourhood, then the one with the lowest positions.
    """
    universe = sum(1 << position for position, row in enumerate(rows) if row)
    if universe.bit_count() < smallest:
        return 0
    neighbours = _mutual(rows, universe)
    if all(neighbours[position] == universe for position in members_of(universe)):
        return universe
    relevant = sum(1 << position for position in members_of(universe) if neighbours[position].bit_count() >= smallest)
    found = _Search(neighbours, relevant).best(relevant, 0)
    found = _most_agreed(neighbours, found, relevant)
    return found if found.bit_count() >= smallest else 0


def _mutual(rows: Sequence[int], universe: int) -> list[int]:
    """Each host with those it reaches and that reach it.

    Only what is missing gets transposed, and hosts that miss the same peers are handled together: a healthy or
    cleanly split network costs a few operations, not one per pair.
    """
    neighbours = [(row | 1 << position) & universe if row else 0 for position, row in enumerate(rows)]
    alike: dict[int, int] = {}
    for position in members_of(universe):
        alike[neighbours[position]] = alike.get(neighbours[position], 0) | 1 << position
    for reached, sharing in alike.items():
        others = ~sharing
        for unreached in members_of(universe & ~reached):
            neighbours[unreached] &= others
    return neighbours


def _most_agreed(neighbours: Sequence[int], found: int, relevant: int) -> int:
    """Prefer the mesh that most hosts have as their exact neighbourhood.

    A host of a largest mesh whose neighbourhood is that large has no other neighbours, so only neighbourhoods
    themselves can win here.
    """
    size = found.bit_count()
    votes: dict[int, int] = {}
    for position in members_of(relevant):
        if neighbours[position].bit_count() == size:
            votes[neighbours[position]] = votes.get(neighbours[position], 0) + 1
    best, best_votes = found, 0
    for mesh, count in votes.items():
        if count < best_votes or not all(mesh & ~neighbours[member] == 0 for member in members_of(mesh)):
            continue
        if count > best_votes or _precedes(mesh, best):
            best, best_votes = mesh, count
    return best


def _precedes(first: int, second: int) -> bool:
    """Whether `first` has the lower positions: the lowest member they do not share is its own."""
    lowest_difference = (first ^ second) & -(first ^ second)
    return bool(first & lowest_difference)


class _Search:
    """Exact search by taking the graph apart.

    Parts without any edge between them cannot mix: the best of them wins. Parts with every edge between them do
    not disturb each other: their bests unite. What is left is split on the host that misses most peers.
    """

    def __init__(self, neighbours: Sequence[int], universe: int) -> None:
        self.neighbours = neighbours
        self.steps_left = EFFORT // max(1, universe.bit_count())
        self.known: dict[int, int] = {}
        positions = members_of(universe)
        self.by_reach = sorted(positions, key=lambda position: (-neighbours[position].bit_count(), position))

    def best(self, among: int, depth: int) -> int:
        """The largest mesh inside `among`, with the lowest positions if there are several."""
        if among.bit_count() <= 1:
            return among
        if among in self.known:
            return self.known[among]
        self.steps_left -= 1
        if self.steps_left < 0 or depth > DEEPEST:
            return self._greedy(among)
        best = 0
        for part in self._parts(among, joined=True):
            best = _larger(best, self._connected(part, depth))
        self.known[among] = best
        return best

    def _connected(self, among: int, depth: int) -> int:
        parts = self._parts(among, joined=False)
        if len(parts) == 1:
            return self._split(among, depth)
        united = 0
        for part in parts:
            united |= self.best(part, depth + 1)
        return united

    def _split(self, among: int, depth: int) -> int:
        """Decide on one host: in the mesh or out of it."""
        worst = min(members_of(among), key=lambda position: (self.neighbours[position] & among).bit_count())
        without = among & ~(1 << worst)
        outside = self.best(without, depth + 1)
        inside = self.best(without & self.neighbours[worst], depth + 1) | 1 << worst
        return _larger(outside, inside)

    def _parts(self, among: int, *, joined: bool) -> list[int]:
        """Connected parts, of the graph of reached peers or (not joined) of missed ones."""
        parts: list[int] = []
        remaining = among
        while remaining:
            part = frontier = remaining & -remaining
            while frontier and part != remaining:
                lowest = frontier & -frontier
                frontier ^= lowest
                reached = self.neighbours[lowest.bit_length() - 1]
                fresh = (reached if joined else ~reached) & remaining & ~part
                part |= fresh
                frontier |= fresh
            parts.append(part)
            remaining &= ~part
        return parts

    def _greedy(self, among: int) -> int:
        """Some mesh that cannot be extended, best-connected hosts first."""
        mesh = 0
        for position in self.by_reach:
            if among >> position & 1:
                mesh |= 1 << position
                among &= self.neighbours[position]
        return mesh


def _larger(first: int, second: int) -> int:
    if first.bit_count() != second.bit_count():
        return first if first.bit_count() > second.bit_count() else second
    return first if _precedes(first, second) else second
