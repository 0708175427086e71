"""The real service for tests: a process of its own on free loopback ports, with its data in a temporary folder."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 180
STOP_SECONDS = 60
LOGGED = 4000
COMMAND = (str(Path(sys.executable).parent / "firstlight"), "serve")


@dataclass(frozen=True, slots=True)
class RunningService:
    """`url` has no path: clients add `/api/assisted-install` themselves."""

    url: str
    images_url: str
    folder: Path
    log: Path
    pid: int

    @property
    def api(self) -> str:
        return f"{self.url}/api/assisted-install"

    def complaints(self) -> str:
        """What the service logged about the first error nobody foresaw."""
        logged = self.log.read_text()
        return logged[logged.find("Traceback") :][:LOGGED] if "Traceback" in logged else ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def run_service(folder: Path, **settings: str) -> Iterator[RunningService]:
    """`settings` are environment variables; the process ends with the block, if it has not been killed before."""
    settings = {**loopback_listeners(), **settings}
    process, log = spawn_service(folder, settings)
    listen = settings["FIRSTLIGHT_LISTEN"]
    try:
        scheme = "https" if settings.get("HTTPS_CERT_FILE") else "http"
        _wait_until_ready(f"{scheme}://{listen}/ready", process, log)
        images = settings["FIRSTLIGHT_IMAGES_LISTEN"]
        yield RunningService(f"{scheme}://{listen}", f"{scheme}://{images}", folder, log, process.pid)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def loopback_listeners() -> dict[str, str]:
    """Settings that keep a service, also one that is started again and again, on free ports of its own."""
    names = ("FIRSTLIGHT_LISTEN", "FIRSTLIGHT_IMAGES_LISTEN")
    return {name: f"127.0.0.1:{free_port()}" for name in names}


def spawn_service(folder: Path, settings: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], Path]:
    """The process, which is not ready yet, and its log, which goes on where an earlier life ended."""
    log = folder / "service.log"
    place = {"FIRSTLIGHT_DATA_DIR": str(folder / "data"), "FIRSTLIGHT_LOG_LEVEL": "warning"}
    # Hosts that tests play by hand look real, but there is no registry with their release.
    place |= {"FIRSTLIGHT_INSTALLER": "built-in"}
    environment = {**os.environ, **place, **settings}
    with log.open("ab") as output:
        return subprocess.Popen(COMMAND, env=environment, stdout=output, stderr=subprocess.STDOUT), log


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    anybody = urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), anybody)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"The service ended with {process.returncode} before it was ready:\n{log.read_text()}")
        try:
            with direct.open(url, timeout=30):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise RuntimeError(f"The service was not ready after {START_SECONDS} s:\n{log.read_text()}")
