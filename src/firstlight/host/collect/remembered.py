"""An answer that is dear to find out and seldom changes: asked anew only after a while."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._kept: tuple[float, T] | None = None

    async def get(self, ask: Callable[[], Awaitable[T]]) -> T:
        if self._kept is None or monotonic() - self._kept[0] >= self._seconds:
            answer = await ask()
            self._kept = (monotonic(), answer)
        return self._kept[1]
