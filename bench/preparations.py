"""What the API notices while many installations are prepared by the real openshift-install of a release.

The API's cost is the CPU of the one thread that serves all requests. The installers are processes, and what the service
itself does for preparations runs in other threads.
"""

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from bench.load import API, Load
from bench.measure import TICK, cpu_seconds, tree
from bench.service import Running, running_service
from tests.peers import Missing, peer_path
from tests.registries import Registry, layer, running_registry

VERSION: Final = "4.18.3"
PREPARED: Final = 50
"""Clusters whose installation is prepared, of five hosts each,"""
BYSTANDERS: Final = 40
"""and clusters whose hosts go on polling meanwhile."""
SIZE: Final = 5
RATE: Final = 100
"""Requests a second."""
IDLE_SECONDS: Final = 30
LIMIT_SECONDS: Final = 1_800
SAMPLE_SECONDS: Final = 0.05


async def preparation_costs(*, count: int = PREPARED) -> dict[str, Any]:
    try:
        program = peer_path("openshift-install")
        with running_registry() as registry:
            return await _measured(registry, _release(registry, program), count=count)
    except Missing as reason:
        return {"left out": str(reason)}


def _release(registry: Registry, program: Path) -> str:
    """A release image in the true layout. Its installer calls the real one, which is too large to push every time."""
    script = f'#!/bin/sh\nOPENSHIFT_INSTALL_DATA={program.parent}/data exec {program} "$@"\n'
    installer = registry.push("ocp/installer", [layer({"usr/bin/openshift-install": script.encode()})])
    tag = {"name": "installer", "from": {"kind": "DockerImage", "name": installer}}
    references = {"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": VERSION}}
    metadata = {"kind": "cincinnati-metadata-v0", "version": VERSION}
    files = {
        "release-manifests/image-references": json.dumps({**references, "spec": {"tags": [tag]}}).encode(),
        "release-manifests/release-metadata": json.dumps(metadata).encode(),
    }
    return registry.push("ocp/release", [layer(files)], tag=f"{VERSION}-x86_64")


async def _measured(registry: Registry, image: str, *, count: int) -> dict[str, Any]:
    release = {"openshift_version": "4.18", "cpu_architecture": "x86_64", "cpu_architectures": ["x86_64"]}
    release |= {"url": image, "version": VERSION, "default": True, "support_level": "production"}
    settings = {
        "FIRSTLIGHT_RELEASE_IMAGES": json.dumps([release]),
        "FIRSTLIGHT_PLAIN_REGISTRIES": registry.host,
        "FIRSTLIGHT_PUBLIC_CONTAINER_REGISTRIES": f"{registry.host},quay.io",
        "FIRSTLIGHT_PREPARE_FOR_INSTALLATION_TIMEOUT": f"{LIMIT_SECONDS}s",
    }
    async with (
        running_service(images=False, settings=settings) as running,
        Load(running.url, clusters=count + BYSTANDERS, size=SIZE) as load,
    ):
        await load.create_clusters()
        await load.register_all()
        statuses = await load.settle()
        prepared, others = await _divided(load, count=count)
        idle = await _served(running, load, others, until=_after(IDLE_SECONDS))
        with _watching(running) as watch:
            before, started = running_children_cpu(running), time.monotonic()
            for cluster_id in prepared:
                await load.call("POST", f"{API}/clusters/{cluster_id}/actions/install", {})
            busy = await _served(running, load, others, until=lambda: _finished(running) >= count)
            seconds, children = time.monotonic() - started, running_children_cpu(running) - before
        reasons = await _results(load, prepared)
        after = await _served(running, load, others, until=_after(IDLE_SECONDS))
    quiet = (idle["cpu_ms"] + after["cpu_ms"]) / 2
    return {
        "statuses_before": statuses,
        "preparations": count,
        "results": reasons,
        "seconds": round(seconds, 1),
        "installer_cpu_seconds_each": round(children / count, 2),
        "installers_at_once": watch["at_once"],
        "installer_niceness": sorted(watch["niceness"]),
        "installer_resident_mb": round(watch["resident_mb"]),
        "service_cpu_seconds_beside_the_api_each": round(busy["other_threads_seconds"] / count, 2),
        "api_cpu_ms_per_request": {"idle": idle["cpu_ms"], "busy": busy["cpu_ms"], "idle again": after["cpu_ms"]},
        "api_cpu_busy_over_idle": round(busy["cpu_ms"] / quiet, 2),
        "api_p99_ms": {"idle": idle["p99_ms"], "busy": busy["p99_ms"], "idle again": after["p99_ms"]},
        "api_requests": {"idle": idle["requests"], "busy": busy["requests"], "idle again": after["requests"]},
    }


async def _divided(load: Load, *, count: int) -> tuple[list[str], list[str]]:
    """The first clusters, and the others, by the numbers in their names: they were made side by side."""
    listed = await load.call("GET", f"{API}/clusters")
    ids = {int(cluster["name"].rpartition("-")[2]): str(cluster["id"]) for cluster in listed}
    ordered = [ids[number] for number in sorted(ids)]
    return ordered[:count], ordered[count:]


def _after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


async def _served(running: Running, load: Load, clusters: list[str], *, until: Callable[[], bool]) -> dict[str, Any]:
    """Polls and reads at a steady rate; what each took, and what it cost the thread that serves them."""
    machines = [machine for machine in load.machines if machine.index >= load.clusters - len(clusters)]
    paths = [f"{machine.path}/instructions?timestamp=0" for machine in machines]
    paths += [f"{API}/clusters/{cluster_id}" for cluster_id in clusters]
    took: list[float] = []
    limit = time.monotonic() + LIMIT_SECONDS
    waiting: set[asyncio.Task[None]] = set()
    before, whole = _loop_cpu(running), _own_cpu(running)

    async def ask(path: str) -> None:
        asked = time.perf_counter()
        await load.call("GET", path)
        took.append(time.perf_counter() - asked)

    started, number = time.monotonic(), 0
    while not until():
        if time.monotonic() > limit:
            raise RuntimeError("the preparations did not end in time")
        task = asyncio.create_task(ask(paths[number % len(paths)]))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
        number += 1
        await asyncio.sleep(max(0.0, started + number / RATE - time.monotonic()))
    await asyncio.gather(*waiting)
    loop = _loop_cpu(running) - before
    return {
        "requests": len(took),
        "cpu_ms": round(loop * 1000 / len(took), 3),
        "p99_ms": round(sorted(took)[int(len(took) * 0.99)] * 1000, 1),
        "other_threads_seconds": _own_cpu(running) - whole - loop,
    }


def _loop_cpu(running: Running) -> float:
    """Seconds of the first thread, to the nanosecond."""
    return int(Path(f"/proc/{running.pid}/task/{running.pid}/schedstat").read_text().split()[0]) / 1e9


def _own_cpu(running: Running) -> float:
    fields = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:13]) / TICK


def running_children_cpu(running: Running) -> float:
    """Of children that ended: the installers."""
    return cpu_seconds(running.pid) - _own_cpu(running)


def _finished(running: Running) -> int:
    """Read beside the service: asking it would cost what is being measured."""
    connection = sqlite3.connect(f"file:{running.folder / 'firstlight.sqlite'}?mode=ro", uri=True)
    try:
        return int(
            connection.execute("SELECT count(*) FROM operations WHERE state IN ('done', 'failed')").fetchone()[0]
        )
    finally:
        connection.close()


async def _results(load: Load, clusters: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for cluster_id in clusters:
        cluster = await load.call("GET", f"{API}/clusters/{cluster_id}")
        last = cluster["last-installation-preparation"]
        told = (
            str(last["status"]) if last["status"] == "success" else f"{last['status']}: {last.get('reason', '')[:200]}"
        )
        counts[told] = counts.get(told, 0) + 1
    return counts


@contextmanager
def _watching(running: Running) -> Generator[dict[str, Any]]:
    """How many installers there are at once, how polite and how large they are."""
    seen: dict[str, Any] = {"at_once": 0, "niceness": set(), "resident_mb": 0.0}

    async def watch() -> None:
        while True:
            installers = [found for child in tree(running.pid)[1:] if (found := _installer(child)) is not None]
            seen["at_once"] = max(seen["at_once"], len(installers))
            for niceness, resident in installers:
                seen["niceness"] |= niceness
                seen["resident_mb"] = max(seen["resident_mb"], resident)
            await asyncio.sleep(SAMPLE_SECONDS)

    task = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        task.cancel()


def _installer(pid: int) -> tuple[set[int], float] | None:
    with suppress(OSError, ValueError):
        status = Path(f"/proc/{pid}/status").read_text()
        if "Name:\topenshift-insta" not in status:
            return None
        peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
        threads = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
        return {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}, peak / 1024
    return None
