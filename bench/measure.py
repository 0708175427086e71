"""CPU time and memory of a process and its children, read from /proc."""

import json
import os
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of the process and of the children it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15]) / TICK


def tree(pid: int) -> list[int]:
    """The process and all that came from it."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found.extend(tree(int(child)))
    return found


def tree_cpu_seconds(pid: int) -> float:
    total = 0.0
    for member in tree(pid):
        try:
            total += cpu_seconds(member)
        except FileNotFoundError:
            continue
    return total


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def loads_100_inventories_ms(document: bytes) -> float:
    """CPU of 100 `json.loads` of one inventory: the yardstick between machines."""
    started = time.process_time()
    for _ in range(100):
        json.loads(document)
    return (time.process_time() - started) * 1000
