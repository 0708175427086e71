"""What one inventory costs on the host: this machine, a recorded server, and one with more disks than anybody lists."""

import asyncio
import os
import tempfile
from pathlib import Path

from bench.measure import cpu_seconds
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.view import View
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root
from tests.host.collect.trees import a_disk, planted_view, recorded_view, udev, unpack

ROUNDS = 50
MANY_DISKS = 15_000


def inventory_costs() -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        here, server, many = (Path(folder) / name for name in ("here", "server", "many"))
        for path in (here, server, many):
            path.mkdir()
        return {
            "this_machine": _cost(View(root=Root(), programs=LocalPrograms()), rounds=ROUNDS),
            "recorded_server": _cost(recorded_view(unpack("server", server)), rounds=ROUNDS),
            f"{MANY_DISKS}_disks": _cost(_many(many), rounds=1),
        }


def _cost(view: View, *, rounds: int) -> dict[str, float]:
    async def measure() -> tuple[float, int]:
        before, size = cpu_seconds(os.getpid()), 0
        for _ in range(rounds):
            size = len(await inventory_document(view))
        return (cpu_seconds(os.getpid()) - before) / rounds, size

    seconds, size = asyncio.run(measure())
    return {"cpu_ms": round(seconds * 1000, 1), "bytes": size}


def _many(folder: Path) -> View:
    """Paths to a storage network."""
    adapter = "devices/pci0000:00/0000:00:03.0/host1"
    tree: dict[str, str | bytes] = {}
    for number in range(MANY_DISKS):
        name = f"sd{number:05}"
        tree |= a_disk(name, number=f"8:{number}", place=f"{adapter}/rport-1:0-{number}/target/block/{name}")
        tree |= udev(f"8:{number}", ID_PATH=f"pci-0000:00:03.0-fc-{number}-lun-0")
        tree[f"dev/disk/by-id/wwn-0x{number:016x}"] = f"-> ../../{name}"
    return planted_view(folder, tree)
