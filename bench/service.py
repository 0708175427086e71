"""A service of its own for each run, on SQLite or PostgreSQL, in a process that can be measured."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bench.measure import resident_mb, tree_cpu_seconds

SERVE = "from firstlight.server.main import serve; from firstlight.server.settings import Settings; serve(Settings())"


@dataclass(frozen=True)
class Running:
    url: str
    pid: int
    folder: Path
    database_pid: int | None = None

    def service_cpu(self) -> float:
        return tree_cpu_seconds(self.pid)

    def total_cpu(self) -> float:
        """Service and database together."""
        database = tree_cpu_seconds(self.database_pid) if self.database_pid is not None else 0.0
        return self.service_cpu() + database

    def resident_mb(self) -> float:
        return resident_mb(self.pid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def running_service(
    *,
    database_url: str | None = None,
    database_pid: int | None = None,
    images: bool = True,
    settings: Mapping[str, str] | None = None,
) -> AsyncGenerator[Running]:
    """`images`: with the image service beside the API, as `make run` starts it; its CPU counts."""
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        port, images_port = free_port(), free_port()
        environment = {
            **os.environ,
            "FIRSTLIGHT_LISTEN": f"127.0.0.1:{port}",
            "FIRSTLIGHT_IMAGES_LISTEN": f"127.0.0.1:{images_port}",
            "FIRSTLIGHT_DATA_DIR": folder,
            "FIRSTLIGHT_LOG_LEVEL": "warning",
            "FIRSTLIGHT_ENABLE_IMAGE_SERVICE": str(images).lower(),
            # Hosts are polled faster than a minute here; each poll is to hand out its steps.
            "FIRSTLIGHT_POLL_SECONDS": "1",
            "FIRSTLIGHT_HOST_MAX_DISCONNECTION_TIME": "1h",
        }
        environment |= settings or {}
        if database_url is not None:
            environment["FIRSTLIGHT_DATABASE_URL"] = database_url
        command = [sys.executable, "-c", SERVE]
        process = await asyncio.create_subprocess_exec(*command, env=environment)
        url = f"http://127.0.0.1:{port}"
        try:
            await _ready(url, process)
            yield Running(url=url, pid=process.pid, folder=Path(folder), database_pid=database_pid)
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()


async def _ready(url: str, process: asyncio.subprocess.Process) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(600):
            if process.returncode is not None:
                raise RuntimeError(f"the service ended with {process.returncode} before it was ready")
            try:
                async with session.get(f"{url}/ready") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)
    raise RuntimeError("the service did not become ready")
