"""What the API notices while many installations are prepared by the real openshift-install of a release.

The API's cost is the CPU of the one thread that serves all requests, whatever it spends it on. Times without
preparations come before, between and after them, some of them beside two programs that are busy with something else:
those tell how much dearer the same requests are on a machine whose cores and caches are in use.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from bench.load import API, Load
from bench.measure import cpu_seconds, tree
from bench.service import Running, running_service
from bench.serving import LIMIT_SECONDS, Served, Serving, after, own_cpu
from tests.peers import Missing, peer_path
from tests.registries import Registry, layer, running_registry

VERSION: Final = "4.18.3"
PREPARED: Final = 50
"""Clusters whose installation is prepared, of five hosts each, asked for in two halves,"""
HALVES: Final = 2
BYSTANDERS: Final = 40
"""and clusters whose hosts go on polling meanwhile."""
SIZE: Final = 5
WARM_UP_SECONDS: Final = 5
IDLE_SECONDS: Final = 25
CROWDED_SECONDS: Final = 15
PARALLEL, NICENESS = 2, 10
"""Of the service's installers."""
BUSY: Final = "while True: {str(number): number for number in range(100_000)}"
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
        "FIRSTLIGHT_INSTALLER_PARALLEL": str(PARALLEL),
        "FIRSTLIGHT_INSTALLER_NICENESS": str(NICENESS),
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
        serving = Serving(running, load, others)
        idle, crowded, preparing = Served(), Served(), Served()
        # Whatever the first reading of a cluster leaves behind for later ones is there before anything counts.
        await serving.rest()
        await serving.serve(Served(), until=after(WARM_UP_SECONDS))
        seconds, before = 0.0, installers_cpu(running)
        with _watching(running) as watch:
            for half in range(HALVES):
                await _without(serving, idle=idle, crowded=crowded)
                started = time.monotonic()
                await _prepare(running, load, serving, preparing, prepared[half::HALVES])
                seconds += time.monotonic() - started
        await _without(serving, idle=idle, crowded=crowded)
        return {
            "statuses_before": statuses,
            "preparations": count,
            "results": await _results(load, prepared),
            "seconds": round(seconds, 1),
            "installer_cpu_seconds_each": round((installers_cpu(running) - before) / count, 2),
            "installers_at_once": watch["at_once"],
            "installer_niceness": sorted(watch["niceness"]),
            "installer_resident_mb": round(watch["resident_mb"]),
            "service_cpu_seconds_beside_the_api_each": round(preparing.other_threads_seconds / count, 2),
            **_compared(idle, crowded, preparing, count=count),
        }


def _compared(idle: Served, crowded: Served, preparing: Served, *, count: int) -> dict[str, Any]:
    kinds = {"idle": idle, "beside busy programs": crowded, "preparing": preparing}
    requests = sum(window.requests for window in preparing.windows)
    own = (preparing.cpu_ms() - crowded.cpu_ms()) * requests / count
    return {
        "api_cpu_ms_per_request": {name: round(kind.median_cpu_ms(), 3) for name, kind in kinds.items()},
        "api_cpu_ms_per_request_in_all": {name: round(kind.cpu_ms(), 3) for name, kind in kinds.items()},
        "api_cpu_preparing_over_idle": round(preparing.median_cpu_ms() / idle.median_cpu_ms(), 2),
        "api_cpu_preparing_over_idle_in_all": round(preparing.cpu_ms() / idle.cpu_ms(), 2),
        "api_cpu_beside_busy_programs_over_idle": round(crowded.median_cpu_ms() / idle.median_cpu_ms(), 2),
        "serving_thread_ms_each_beyond_busy_programs": round(own, 1),
        "api_p99_ms": {name: round(kind.p99_ms(), 1) for name, kind in kinds.items()},
        "api_requests": {name: len(kind.took) for name, kind in kinds.items()},
        "api_cpu_ms_by_window": {
            name: [round(one.cpu_seconds * 1000 / one.requests, 3) for one in kind.windows]
            for name, kind in kinds.items()
        },
    }


async def _without(serving: Serving, *, idle: Served, crowded: Served) -> None:
    await serving.rest()
    await serving.serve(idle, until=after(IDLE_SECONDS))
    async with _busy_programs():
        await serving.serve(crowded, until=after(CROWDED_SECONDS))


async def _prepare(running: Running, load: Load, serving: Serving, preparing: Served, clusters: Sequence[str]) -> None:
    """From the first request to install until the last preparation is over."""
    goal = _finished(running) + len(clusters)

    async def ask() -> None:
        for cluster_id in clusters:
            await load.call("POST", f"{API}/clusters/{cluster_id}/actions/install", {})

    async with asyncio.TaskGroup() as group:
        group.create_task(ask())
        await serving.serve(preparing, until=lambda: _finished(running) >= goal)


@asynccontextmanager
async def _busy_programs() -> AsyncGenerator[None]:
    """As many and as polite as installers."""
    command = ["nice", "-n", str(NICENESS), sys.executable, "-c", BUSY]
    processes = [await asyncio.create_subprocess_exec(*command) for _ in range(PARALLEL)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            await process.wait()


async def _divided(load: Load, *, count: int) -> tuple[list[str], list[str]]:
    """The first clusters, and the others, by the numbers in their names: they were made side by side."""
    listed = await load.call("GET", f"{API}/clusters")
    ids = {int(cluster["name"].rpartition("-")[2]): str(cluster["id"]) for cluster in listed}
    ordered = [ids[number] for number in sorted(ids)]
    return ordered[:count], ordered[count:]


def installers_cpu(running: Running) -> float:
    """Of children that ended: the installers."""
    return cpu_seconds(running.pid) - own_cpu(running)


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
