"""Installed and usable memory."""

import re
from typing import Final

from firstlight.core import wire
from firstlight.host.collect import dmi_table
from firstlight.host.collect.view import View

TABLE: Final = "/sys/firmware/dmi/tables/DMI"
BLOCKS: Final = "/sys/devices/system/memory"
_TOTAL: Final = re.compile(r"^MemTotal:\s*([0-9]{1,15})\s*kB\s*$", re.MULTILINE)


def collect_memory(view: View) -> wire.Memory:
    """The firmware knows what is installed; else the kernel knows what is online; else what it may use."""
    usable = usable_bytes(view.root.text("/proc/meminfo") or "")
    if view.lab is not None and view.lab.memory_bytes:
        size = view.lab.memory_bytes
        return wire.Memory(physical_bytes=size, usable_bytes=size, physical_bytes_method="dmidecode")
    installed = dmi_table.memory_bytes(dmi_table.structures(view.root.bytes(TABLE) or b""))
    if installed:
        return wire.Memory(physical_bytes=installed, usable_bytes=usable, physical_bytes_method="dmidecode")
    online = online_bytes(view)
    if online:
        return wire.Memory(physical_bytes=online, usable_bytes=usable, physical_bytes_method="ghw")
    return wire.Memory(physical_bytes=usable, usable_bytes=usable, physical_bytes_method="meminfo")


def usable_bytes(meminfo: str) -> int:
    found = _TOTAL.search(meminfo)
    return int(found[1]) * 1024 if found else 0


def online_bytes(view: View) -> int:
    """Memory blocks that are in use, times their size; 0 where the kernel has no such blocks."""
    try:
        size = int(view.root.line(f"{BLOCKS}/block_size_bytes") or "", 16)
    except ValueError:
        return 0
    names = (name for name in view.root.names(BLOCKS) if name.startswith("memory"))
    return size * sum(view.root.line(f"{BLOCKS}/{name}/state") == "online" for name in names)
