"""A bell between those who make something due and the engine that comes later to serve it."""

from collections.abc import Callable


class Bell:
    def __init__(self) -> None:
        self._heard: list[Callable[[], None]] = []

    def ring(self) -> None:
        for heard in self._heard:
            heard()

    def listen(self, heard: Callable[[], None]) -> None:
        self._heard.append(heard)
