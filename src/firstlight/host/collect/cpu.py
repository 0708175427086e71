"""The processors."""

import os
import re
from collections.abc import Mapping
from typing import Final

from firstlight.core import wire
from firstlight.host.collect.view import View

CPUS: Final = "/sys/devices/system/cpu"
MOST_CPUS: Final = 65_536
_MODEL_NAMES: Final = ("model name", "cpu model", "Processor", "cpu", "machine")
_SPEEDS: Final = ("cpu MHz", "cpu MHz static", "cpu MHz dynamic", "clock")
_NAMED_SPEED: Final = re.compile(r"@ ([0-9]{1,3}(?:\.[0-9]{1,3})?) ?GHz")
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_S390_MACHINE: Final = re.compile(r"machine = ([0-9A-Za-z]+)")


def collect_cpu(view: View) -> wire.Cpu:
    first, listed = parse_cpuinfo(view.root.text("/proc/cpuinfo") or "")
    architecture = view.root.line("/proc/sys/kernel/arch") or os.uname().machine
    count = count_range(view.root.line(f"{CPUS}/present") or "") or listed
    if view.lab is not None and view.lab.cpu_count:
        count = view.lab.cpu_count
    flags = () if architecture == "aarch64" else tuple(first.get("flags", first.get("features", "")).split())
    return wire.Cpu(
        architecture=architecture,
        count=count,
        model_name=_model(first, architecture=architecture),
        frequency=_frequency(view, first),
        flags=flags,
    )


def parse_cpuinfo(text: str) -> tuple[dict[str, str], int]:
    """The first value of each key, and how many processors are listed."""
    first: dict[str, str] = {}
    count = 0
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        key = key.strip()
        if colon and key:
            count += key == "processor" or bool(re.fullmatch(r"processor [0-9]+", key))
            first.setdefault(key, value.strip())
    return first, count


def count_range(text: str) -> int:
    """How many numbers a kernel list such as `0-3,8` has; 0 if it cannot be read."""
    total = 0
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        try:
            begin = int(low)
            end = int(high) if dash else begin
        except ValueError:
            return 0
        total += end - begin + 1 if 0 <= begin <= end else 0
    return total if total <= MOST_CPUS else 0


def _model(first: Mapping[str, str], *, architecture: str) -> str:
    if architecture == "s390x":
        machine = next((found[1] for value in first.values() if (found := _S390_MACHINE.search(value))), "")
        return machine or first.get("machine", "")
    return next((first[name] for name in _MODEL_NAMES if first.get(name)), "")


def _frequency(view: View, first: Mapping[str, str]) -> float:
    """MHz at most. What the first processor runs at this moment counts only where nothing else is told, because it
    may move with the load."""
    limits = [view.root.number(f"{CPUS}/cpu{number}/cpufreq/cpuinfo_max_freq") or 0 for number in (0, 1)]
    if max(limits) > 0:
        return max(limits) / 1000
    if found := _NAMED_SPEED.search(first.get("model name", "")):
        return float(round(float(found[1]) * 1000))
    speeds = [float(found[0]) for name in _SPEEDS if (found := _NUMBER.match(first.get(name, "")))]
    return float(round(max(speeds, default=0.0)))
