"""What our agent costs: to start, at rest, and what its waiting poll costs the service. Real processes on loopback."""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

from bench.load import API, PULL_SECRET
from bench.measure import resident_mb, tree_cpu_seconds
from tests.host.agent.machines import IMAGE, a_machine, running_agent
from tests.services import RunningService, run_service

WAITS = 500
SETTLED_SECONDS = 15
START = "import firstlight.host.main, firstlight.host.agent.running"


def start_cpu_seconds() -> float:
    """User and system time of loading everything the agent is made of; the best of three."""
    found: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", START], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def at_rest(*, seconds: int) -> dict[str, Any]:
    """CPU of an agent that has nothing to do but what it is asked every minute, its programs included."""
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
        folder = Path(name)
        a_machine(folder / "root")
        with run_service(folder) as service:
            infra_env = asyncio.run(_an_infra_env(service))
            with running_agent(folder, url=service.url, infra_env_id=infra_env) as agent:
                time.sleep(SETTLED_SECONDS)
                before, service_before = tree_cpu_seconds(agent.process.pid), tree_cpu_seconds(service.pid)
                time.sleep(seconds)
                used = tree_cpu_seconds(agent.process.pid) - before
                served = tree_cpu_seconds(service.pid) - service_before
                return {
                    "agent_cpu_seconds_per_idle_minute": round(used * 60 / seconds, 3),
                    "service_cpu_seconds_meanwhile": round(served * 60 / seconds, 3),
                    "agent_resident_mb": round(resident_mb(agent.process.pid), 1),
                }


async def _an_infra_env(service: RunningService) -> str:
    async with aiohttp.ClientSession(service.url) as session:
        body = {"name": "bench", "pull_secret": PULL_SECRET}
        async with session.post(f"{API}/infra-envs", json=body) as answer:
            return str((await answer.json())["id"])


async def waiting_kilobytes(service: RunningService, *, waits: int = WAITS) -> float:
    """Memory of the service for each poll that waits, its connection included."""
    infra_env = await _an_infra_env(service)
    paths = [f"{API}/infra-envs/{infra_env}/hosts/{UUID(int=number + 1)}" for number in range(waits)]
    async with aiohttp.ClientSession(service.url, connector=aiohttp.TCPConnector(limit=8)) as session:
        for path in paths:
            body = {"host_id": path.rpartition("/")[2], "discovery_agent_version": IMAGE}
            async with session.post(path.rpartition("/")[0], json=body) as answer:
                answer.raise_for_status()
            # Asked once, everything is under way, and there is nothing to be told for a minute.
            async with session.get(f"{path}/instructions", headers={"discovery_agent_version": IMAGE}) as answer:
                answer.raise_for_status()
    await asyncio.sleep(3)
    before = resident_mb(service.pid)
    host, _, port = service.url.removeprefix("http://").partition(":")
    lines = [await asyncio.open_connection(host, int(port)) for _ in paths]
    for path, (_, writer) in zip(paths, lines, strict=True):
        head = f"GET {path}/instructions?timestamp={int(time.time())}&wait=25 HTTP/1.1"
        rest = f"Host: {host}:{port}\r\nX-Secret-Key:\r\ndiscovery_agent_version: {IMAGE}\r\n\r\n"
        writer.write(f"{head}\r\n{rest}".encode())
    await asyncio.sleep(3)
    held = resident_mb(service.pid)
    answered = sum(bool(reader._buffer) for reader, _ in lines)  # pyright: ignore
    for _, writer in lines:
        writer.close()
    if answered:
        raise RuntimeError(f"{answered} of {waits} polls did not wait")
    return (held - before) * 1024 / waits


def measure(*, seconds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name, run_service(Path(name)) as service:
        kilobytes = asyncio.run(waiting_kilobytes(service))
    return {
        "start_cpu_seconds": round(start_cpu_seconds(), 3),
        **at_rest(seconds=seconds),
        "service_kilobytes_per_waiting_poll": round(kilobytes, 1),
    }
