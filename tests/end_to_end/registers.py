"""What may be read of something that was written over and over while the service died and came back.

Every write has a beginning and an end. One that was answered with success counts; one that was cut off may count or
not. A value may be read as long as no write that counts began after its own had ended.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

MISSING: Final = "nothing"
"""What is read of something that is not there."""
MOMENTS: Final = itertools.count(1)


@dataclass(slots=True)
class Written:
    value: object
    began: int
    ended: int | None = None
    """None while it is under way."""
    acknowledged: bool = False
    refused: bool = False


@dataclass(slots=True)
class Register:
    """The history of one thing."""

    writes: list[Written] = field(default_factory=lambda: [Written(MISSING, began=0, ended=0, acknowledged=True)])

    @contextmanager
    def writing(self, value: object) -> Iterator[Written]:
        write = Written(value, next(MOMENTS))
        self.writes.append(write)
        try:
            yield write
        finally:
            write.ended = next(MOMENTS)

    def possible(self) -> list[object]:
        """Everything that may be read now."""
        newest = max(write.began for write in self.writes if write.acknowledged)
        lasting = (write for write in self.writes if write.ended is None or write.ended >= newest)
        return [write.value for write in lasting if not write.refused]

    @property
    def counts(self) -> int:
        """How many writes were acknowledged."""
        return sum(write.acknowledged for write in self.writes) - 1
