"""One after the other: changes of one subject inside this process take turns instead of racing each other.

Between replicas the revision decides. Here, hundreds of hosts that register or report at the same moment would make
each other decide again and again; a queue lets everybody decide once, in the order they came.
"""

import asyncio
from weakref import WeakValueDictionary


class Turns:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, subject: str) -> asyncio.Lock:
        """Hold it from loading the subject until its change is committed; never two at once."""
        lock = self._locks.get(subject)
        if lock is None:
            lock = self._locks[subject] = asyncio.Lock()
        return lock
