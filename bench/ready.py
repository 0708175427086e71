"""How long five machines take from their first call to a cluster that can be installed."""

import asyncio
import time

from bench.load import API, Load
from bench.service import running_service


async def seconds_to_ready() -> float:
    async with running_service() as running, Load(running.url, clusters=1, size=5) as load:
        await load.create_clusters()
        started = time.monotonic()
        await load.register_all()
        return round(await _wait(load, started), 2)


async def _wait(load: Load, started: float) -> float:
    while time.monotonic() - started < 60:
        for machine in load.machines:
            await load.poll(machine)
        cluster = await load.call("GET", f"{API}/clusters/{load.cluster_ids[0]}")
        if cluster["status"] == "ready":
            return time.monotonic() - started
        await asyncio.sleep(0.2)
    raise RuntimeError("the cluster did not become ready within a minute")
