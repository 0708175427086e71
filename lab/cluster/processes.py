"""Servers built by `tools/peers`, started on loopback and ended by their process ids."""

import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
START_SECONDS: Final = 90.0
STOP_SECONDS: Final = 15.0


class NotBuilt(Exception):
    """A peer is missing; the text says how to get it."""


class NotStarted(Exception):
    """A server ended, or kept silent, instead of starting; the text has its last words."""


def peer(name: str) -> Path:
    asked = subprocess.run([ROOT / "tools" / "peers", "path", name], check=False, capture_output=True, text=True)
    if asked.returncode:
        raise NotBuilt(asked.stderr.strip())
    return Path(asked.stdout.strip())


def free_ports(count: int) -> list[int]:
    """Ports nobody uses at this moment."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Server:
    """One server; `start` again after `kill` goes on with its data."""

    def __init__(self, command: Sequence[str | Path], *, log: Path, is_ready: Callable[[], bool]) -> None:
        self._command = [str(word) for word in command]
        self._log = log
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None

    def also(self, *arguments: str | Path) -> None:
        """Further arguments for the next start."""
        self._command += map(str, arguments)

    def start(self) -> None:
        self.stop()
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/"
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if self._is_ready():
                return
            time.sleep(0.1)
        self.stop()
        raise NotStarted(f"{self._command[0]} did not start:\n{self._log.read_text(errors='replace')[-3000:]}")

    def kill(self) -> None:
        """At once, as when the power goes."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
