"""How tests talk to machines: each fetches a script once, runs it and sends back the folder in which it ran."""

import io
import shutil
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lab.machines import GATEWAY

RUNNER = """#!/bin/bash
# Does what the laboratory wants of this machine, and sends back what came of it.
set -u
mkdir -p /run/lab/report && cd /run/lab/report
name=$(cat /sys/class/net/e*/address | head -n 1)
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused "$1/task/$name" >../task
bash -eux ../task 2>&1 | tee said
echo "${PIPESTATUS[0]}" >code
journalctl --boot --no-pager --output=short-monotonic >journal
tar --create --file=../report.tar .
curl -fsS --retry 10 -T ../report.tar "$1/report/$name"
[ ! -e ../after ] || bash -eu ../after
"""
RUNNER_PATH = "/usr/local/bin/lab-run"
UNIT_NAME = "lab-run.service"
UNIT = """[Unit]
Description=Do what the laboratory wants
Wants=network-online.target
After=network-online.target pre-network-manager-config.service

[Service]
Type=oneshot
StandardOutput=journal+console
StandardError=journal+console
ExecStart={path} {url}

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True)
class Report:
    """Files by their names in the folder where the script ran."""

    files: dict[str, bytes]

    @property
    def code(self) -> int:
        return int(self.files["code"])

    def text(self, name: str) -> str:
        return self.files[name].decode(errors="replace")

    def lines(self, name: str) -> list[str]:
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]


def read_report(data: bytes) -> Report:
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                files[member.name.removeprefix("./")] = content.read()
    return Report(files)


@dataclass(slots=True)
class Courier:
    """Machines are told apart by the address of their network card."""

    port: int
    tasks: dict[str, str] = field(default_factory=dict)
    reports: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    """What machines may download, by name."""

    @property
    def url(self) -> str:
        return f"http://{GATEWAY}:{self.port}"

    def expect(self, mac: str, script: str) -> None:
        self.tasks[mac] = script
        self.reports.pop(mac, None)


@contextmanager
def courier() -> Iterator[Courier]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, kind, name = self.path.split("/")
            if kind == "task" and name in own.tasks:
                self._answer(own.tasks[name].encode())
            elif kind == "file" and name in own.files:
                self._head(200, own.files[name].stat().st_size)
                with own.files[name].open("rb") as file:
                    shutil.copyfileobj(file, self.wfile)
            else:
                self._head(404, 0)

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            own.reports[self.path.rpartition("/")[2]] = body
            self._answer(b"")

        def _answer(self, body: bytes) -> None:
            self._head(200, len(body))
            self.wfile.write(body)

        def _head(self, status: int, length: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: what was sent is looked at instead."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        own = Courier(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield own
        finally:
            server.shutdown()
            thread.join()
