"""`make bench-images`: our image service beside nginx and a copy loop on loopback, in one run; prints JSON.

nginx sends the plain file, the others the same file; only ours has an environment's Ignition config in it.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from bench.downloads import Target, hold_many, ranges, time_to_first_byte, whole_files
from bench.measure import resident_mb, tree, tree_cpu_seconds
from bench.service import free_port
from tests.builders.live_isos import write_large
from tests.imaging.api import ID, running_api
from tests.imaging.conftest import BUILD, os_images

SIZE = 1_200_000_000
GIB = 1024**3

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; keepalive_requests 10000000;
  client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


class Server:
    """A running server and how to measure it."""

    def __init__(self, name: str, pid: int, target: Target) -> None:
        self.name, self.pid, self.target = name, pid, target

    def cpu(self) -> float:
        return tree_cpu_seconds(self.pid)

    def memory_mb(self) -> float:
        return sum(resident_mb(pid) for pid in tree(self.pid))


@asynccontextmanager
async def process(*command: str, **environment: str) -> AsyncGenerator[int]:
    running = await asyncio.create_subprocess_exec(*command, env={**os.environ, **environment})
    try:
        yield running.pid
    finally:
        if running.returncode is None:
            running.terminate()
        await running.wait()


async def ready(target: Target) -> None:
    for _ in range(400):
        try:
            await asyncio.to_thread(time_to_first_byte, target)
            return
        except (OSError, ValueError):
            await asyncio.sleep(0.05)
    raise RuntimeError(f"nothing answers on port {target.port}")


def prepared(folder: Path) -> int:
    folder.chmod(0o755)  # nginx reads as another user
    return write_large(folder / "live.iso", SIZE)


async def servers(stack: AsyncExitStack, folder: Path) -> list[Server]:
    image, size = folder / "live.iso", prepared(folder)
    api = await stack.enter_async_context(running_api())
    port = free_port()
    pid = await stack.enter_async_context(
        process(
            sys.executable,
            "-m",
            "firstlight.server.imaging",
            FIRSTLIGHT_IMAGES_LISTEN=f"127.0.0.1:{port}",
            FIRSTLIGHT_IMAGES_API_URL=api.url,
            FIRSTLIGHT_DATA_DIR=str(folder / "data"),
            FIRSTLIGHT_OS_IMAGES=os_images({"url": image.as_uri()}),
            FIRSTLIGHT_LOG_LEVEL="warning",
        )
    )
    found = [Server("firstlight", pid, Target(port, f"/byid/{ID}/{BUILD}/x86_64/full.iso", size))]
    port = free_port()
    loop = [sys.executable, "-m", "bench.copy_loop", str(port), str(image)]
    found.append(Server("copy_loop", await stack.enter_async_context(process(*loop)), Target(port, "/", size)))
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx:
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        pid = await stack.enter_async_context(process(nginx, "-c", str(folder / "nginx.conf")))
        found.append(Server("nginx", pid, Target(port, "/live.iso", size)))
    for server in found:
        await ready(server.target)
    return found


async def measured(server: Server, work: Callable[[Target], tuple[int, float]]) -> tuple[float, int, float]:
    """CPU seconds of the server, units of work done, seconds."""
    before = server.cpu()
    done, seconds = await asyncio.to_thread(work, server.target)
    return server.cpu() - before, done, seconds


async def streaming(all_servers: list[Server], *, clients: int, each: int, rounds: int) -> dict[str, Any]:
    cost: dict[str, list[float]] = {server.name: [] for server in all_servers}
    speed: dict[str, list[float]] = {server.name: [] for server in all_servers}
    for _ in range(rounds):
        for server in all_servers:
            cpu, sent, seconds = await measured(server, lambda target: whole_files(target, clients=clients, each=each))
            cost[server.name].append(cpu / sent * GIB)
            speed[server.name].append(sent / seconds / 1e6)
    return compared(
        cpu_seconds_per_gib={name: round(statistics.median(values), 4) for name, values in cost.items()},
        megabytes_per_second={name: round(statistics.median(values)) for name, values in speed.items()},
    )


async def small_ranges(all_servers: list[Server], *, connections: int, requests: int, rounds: int) -> dict[str, Any]:
    cost: dict[str, list[float]] = {server.name: [] for server in all_servers}
    for _ in range(rounds):
        for server in all_servers:
            work = ranges(connections=connections, requests=requests, length=65_536)
            cpu, done, _ = await measured(server, work)
            cost[server.name].append(cpu / done * 1e6)
    return compared(cpu_microseconds_per_range={name: round(statistics.median(v), 1) for name, v in cost.items()})


def compared(**figures: dict[str, float]) -> dict[str, Any]:
    """The figures, and ours as a multiple of each other server's."""
    result: dict[str, Any] = dict(figures)
    for name, values in figures.items():
        for other in values.keys() - {"firstlight"}:
            if values[other]:
                result[f"{name}_of_{other}"] = round(values["firstlight"] / values[other], 2)
    return result


async def run(options: argparse.Namespace) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstlight-bench-images-")))
        found = await servers(stack, folder)
        ours, rounds = found[0], options.rounds
        for server in found:
            await asyncio.to_thread(whole_files, server.target, clients=1, each=server.target.size)
        latencies = sorted([await asyncio.to_thread(time_to_first_byte, ours.target) for _ in range(200)])
        result: dict[str, Any] = {
            "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0]},
            "servers": [server.name for server in found],
            "one_client": await streaming(found, clients=1, each=ours.target.size, rounds=rounds),
            "64_clients": await streaming(found, clients=64, each=ours.target.size // 16, rounds=rounds),
            "64_kib_ranges_1_connection": await small_ranges(found, connections=1, requests=8_000, rounds=rounds),
            "64_kib_ranges_8_connections": await small_ranges(found, connections=8, requests=16_000, rounds=rounds),
            "first_byte_ms": {
                "median": round(statistics.median(latencies) * 1e3, 2),
                "p99": round(latencies[197] * 1e3, 2),
            },
        }
        quiet = ours.memory_mb()
        held = await asyncio.to_thread(hold_many, ours.target, 1_000, ours.memory_mb)
        result["1000_streams"] = {"resident_mb_before": round(quiet, 1), "resident_mb": round(held, 1)}
        return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.images", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    json.dump(asyncio.run(run(parser.parse_args())), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
