"""A cable with a delay: joins two bridges through a pair of TAP devices, and lets frames between two machines wait.

    python -m lab.relay LEFT RIGHT SECONDS MAC MAC

This kernel has no netem, which would do the same. Frames of others pass at once, so that one pair alone is slow.
"""

import fcntl
import heapq
import os
import selectors
import struct
import sys
import time
from contextlib import suppress
from typing import Final

TUN: Final = "/dev/net/tun"
SET_INTERFACE: Final = 0x4004_54CA
TAP_WITHOUT_HEADER: Final = 0x0002 | 0x1000
LONGEST_FRAME: Final = 65_536
READY: Final = "ready"


def open_tap(name: str) -> int:
    """A descriptor that reads what the bridge sends to the device and writes what it shall receive."""
    descriptor = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, SET_INTERFACE, struct.pack("16sH", name.encode(), TAP_WITHOUT_HEADER))
    return descriptor


class Queue:
    """Frames on their way, by the time at which they arrive; those of one time keep their order."""

    def __init__(self, *, seconds: float, between: frozenset[bytes]) -> None:
        self._seconds = seconds
        self._between = between
        self._waiting: list[tuple[float, int, int, bytes]] = []
        self._count = 0

    def put(self, frame: bytes, *, to: int, now: float) -> None:
        slow = frozenset({frame[0:6], frame[6:12]}) == self._between
        self._count += 1
        heapq.heappush(self._waiting, (now + self._seconds if slow else now, self._count, to, frame))

    def due(self, now: float) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        while self._waiting and self._waiting[0][0] <= now:
            _, _, to, frame = heapq.heappop(self._waiting)
            found.append((to, frame))
        return found

    def pause(self, now: float) -> float | None:
        """Seconds until the next frame arrives, None if none is on its way."""
        return max(0.0, self._waiting[0][0] - now) if self._waiting else None


def relay(left: int, right: int, queue: Queue) -> None:
    """For ever."""
    with selectors.DefaultSelector() as selector:
        selector.register(left, selectors.EVENT_READ, right)
        selector.register(right, selectors.EVENT_READ, left)
        while True:
            for key, _ in selector.select(queue.pause(time.monotonic())):
                queue.put(os.read(key.fd, LONGEST_FRAME), to=key.data, now=time.monotonic())
            for to, frame in queue.due(time.monotonic()):
                # A device that is not up yet, or no longer, takes nothing: the frame is lost as on any cable.
                with suppress(OSError):
                    os.write(to, frame)


def octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def main() -> None:
    left, right, seconds, first, second = sys.argv[1:]
    ends = open_tap(left), open_tap(right)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    relay(*ends, Queue(seconds=float(seconds), between=frozenset({octets(first), octets(second)})))


if __name__ == "__main__":
    main()
