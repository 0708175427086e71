"""What requests cost the thread that serves them, in windows of a steady load."""

import asyncio
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.load import API, Load
from bench.measure import TICK
from bench.service import Running

RATE = 100
"""Requests a second."""
ROUNDS = 2
"""How often everything is asked in one window."""
LIMIT_SECONDS = 1_800
RESTING_SHARE = 0.004
"""A service that nobody asks anything, and that has nothing to do, uses less of a core than this."""
RESTING_SECONDS, LONGEST_REST = 3.0, 60.0


@dataclass(frozen=True)
class Window:
    requests: int
    cpu_seconds: float
    """Of the thread that serves."""
    is_whole: bool


@dataclass
class Served:
    """A stretch of one kind: its windows, and how long each request took."""

    windows: list[Window] = field(default_factory=list[Window])
    took: list[float] = field(default_factory=list[float])
    other_threads_seconds: float = 0.0

    def cpu_ms(self) -> float:
        """Per request, all windows together."""
        requests = sum(window.requests for window in self.windows)
        return sum(window.cpu_seconds for window in self.windows) * 1000 / requests

    def median_cpu_ms(self) -> float:
        """Per request, in the middle one of all whole windows."""
        whole = [window for window in self.windows if window.is_whole] or self.windows
        return statistics.median(window.cpu_seconds * 1000 / window.requests for window in whole)

    def p99_ms(self) -> float:
        return sorted(self.took)[math.ceil(len(self.took) * 0.99) - 1] * 1000


class Serving:
    """The same requests in the same order at the same rate, in every stretch: polls of hosts and reads of clusters."""

    def __init__(self, running: Running, load: Load, clusters: Sequence[str]) -> None:
        self._running = running
        self._load = load
        self._paths: list[str] = []
        for index, cluster_id in enumerate(clusters, start=load.clusters - len(clusters)):
            self._paths += [f"{one.path}/instructions?timestamp=0" for one in load.machines if one.index == index]
            self._paths.append(f"{API}/clusters/{cluster_id}")
        self._group = load.size + 1

    async def rest(self) -> None:
        """Wait until the engine has nothing to do any more."""
        limit = time.monotonic() + LONGEST_REST
        while time.monotonic() < limit:
            before = loop_cpu(self._running)
            await asyncio.sleep(RESTING_SECONDS)
            if loop_cpu(self._running) - before < RESTING_SHARE * RESTING_SECONDS:
                return

    async def serve(self, into: Served, *, until: Callable[[], bool]) -> None:
        limit = time.monotonic() + LIMIT_SECONDS
        before, whole = loop_cpu(self._running), own_cpu(self._running)
        while not until():
            if time.monotonic() > limit:
                raise RuntimeError("what was waited for did not end in time")
            into.windows.append(await self._window(into.took, until=until))
        into.other_threads_seconds += own_cpu(self._running) - whole - (loop_cpu(self._running) - before)

    async def _window(self, took: list[float], *, until: Callable[[], bool]) -> Window:
        waiting: set[asyncio.Task[None]] = set()
        before, started, number = loop_cpu(self._running), time.monotonic(), 0

        async def ask(path: str) -> None:
            asked = time.perf_counter()
            await self._load.call("GET", path)
            took.append(time.perf_counter() - asked)

        whole = ROUNDS * len(self._paths)
        while number < whole and (number % self._group or not until()):
            task = asyncio.create_task(ask(self._paths[number % len(self._paths)]))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            number += 1
            await asyncio.sleep(max(0.0, started + number / RATE - time.monotonic()))
        await asyncio.gather(*waiting)
        return Window(number, loop_cpu(self._running) - before, is_whole=number == whole)


def after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def loop_cpu(running: Running) -> float:
    """Seconds of the first thread, to the nanosecond."""
    return int(Path(f"/proc/{running.pid}/task/{running.pid}/schedstat").read_text().split()[0]) / 1e9


def own_cpu(running: Running) -> float:
    """Seconds of all threads; children do not count."""
    fields = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:13]) / TICK
