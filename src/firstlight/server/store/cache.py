"""Decoded documents kept by row and version.

A version (a revision or a digest) never stands for two contents, so what is found here is right on every replica, and
an unchanged row gives the very same object again.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """The newest version of each row, least recently used rows out first. `limit` counts the sizes given to `put`."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._slots: OrderedDict[Hashable, tuple[Hashable, T, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def size(self) -> int:
        return self._size

    def get(self, row: Hashable, version: Hashable) -> T | None:
        slot = self._slots.get(row)
        if slot is None or slot[0] != version:
            return None
        self._slots.move_to_end(row)
        return slot[1]

    def any_version(self, row: Hashable) -> T | None:
        slot = self._slots.get(row)
        return None if slot is None else slot[1]

    def put(self, row: Hashable, version: Hashable, value: T, *, size: int) -> None:
        old = self._slots.pop(row, None)
        self._size += size - (old[2] if old is not None else 0)
        self._slots[row] = (version, value, size)
        while self._size > self._limit and self._slots:
            self._size -= self._slots.popitem(last=False)[1][2]
