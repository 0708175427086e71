"""How long a changed reply takes to be visible in GET cluster."""

import asyncio
import json
import time
from typing import Any

from bench.load import API, Load
from bench.machines import Machine, inventory
from bench.service import running_service

PATIENCE = 60.0


async def seconds_to_visible(hosts: int) -> float:
    """One host of a settled cluster of this size sends another hostname; when does the cluster show it?"""
    async with running_service() as running, Load(running.url, clusters=1, size=hosts) as load:
        await load.create_clusters()
        await load.register_all()
        for _ in range(4):
            await load.poll_all()
        await asyncio.sleep(3)
        started = time.monotonic()
        await _send_other_name(load, load.machines[1])
        while time.monotonic() - started < PATIENCE:
            cluster = await load.call("GET", f"{API}/clusters/{load.cluster_ids[0]}")
            if any(host["requested_hostname"] == "changed" and _judged(host) for host in cluster["hosts"]):
                return round(time.monotonic() - started, 2)
            await asyncio.sleep(0.02)
    raise RuntimeError("the change never became visible")


def _judged(host: dict[str, Any]) -> bool:
    """The rules have seen the change as well: one core is too few."""
    checks = json.loads(host["validations_info"])["hardware"]
    return any(check["id"] == "has-min-cpu-cores" and check["status"] == "failure" for check in checks)


async def _send_other_name(load: Load, machine: Machine) -> None:
    document = {**inventory(machine.index, machine.number), "hostname": "changed"}
    document["cpu"] = {"architecture": "x86_64", "count": 1, "flags": []}
    reply = {"step_type": "inventory", "step_id": "x", "output": json.dumps(document)}
    await load.call("POST", f"{machine.path}/instructions", reply)
