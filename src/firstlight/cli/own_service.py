"""A service of one's own for a demonstration: its process, its free ports, its temporary folder."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Final

from firstlight.cli.ending import stop

START_SECONDS: Final = 60
STOP_SECONDS: Final = 15


class OwnService:
    """`with` starts it and waits until it answers; leaving ends it and removes its folder."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="firstlight-demo-")
        self.folder = Path(self._temporary.name)
        self._listen, self._images = (f"127.0.0.1:{_free_port()}" for _ in range(2))
        self.url = f"http://{self._listen}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "OwnService":
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("FIRSTLIGHT_")},
            "FIRSTLIGHT_AUTH_TYPE": "none",
            "FIRSTLIGHT_LISTEN": self._listen,
            "FIRSTLIGHT_IMAGES_LISTEN": self._images,
            "FIRSTLIGHT_DATA_DIR": str(self.folder / "data"),
        }
        with (self.folder / "service.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "firstlight.cli.main", "serve"],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def wait(self) -> None:
        """Until the service ends by itself or the user interrupts."""
        try:
            if self._process is not None:
                self._process.wait()
        except KeyboardInterrupt:
            return

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            try:
                with direct.open(f"{self.url}/ready", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        said = (self.folder / "service.log").read_text(errors="replace").strip().splitlines()
        stop("the service did not start: " + (said[-1] if said else "it said nothing."))

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._temporary.cleanup()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
