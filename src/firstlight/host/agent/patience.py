"""How long to wait before trying again: growing, bounded, and not in step with the neighbours."""

from collections.abc import Callable


class Patience:
    """Never runs out: an agent that gives up is a machine somebody has to walk to."""

    def __init__(
        self, *, first: float, growth: float, most: float, spread: float, chance: Callable[[float, float], float]
    ) -> None:
        """`spread` is the share by which a pause may be longer or shorter; `chance` draws a number between two."""
        self._first = first
        self._growth = growth
        self._most = most
        self._spread = spread
        self._chance = chance
        self._next = first

    @property
    def fresh(self) -> bool:
        return self._next == self._first

    def take(self) -> float:
        """The next pause in seconds."""
        pause = self._next
        self._next = min(self._most, self._next * self._growth)
        return pause * self._chance(1 - self._spread, 1 + self._spread)

    def reset(self) -> None:
        self._next = self._first
