"""What machines tell about themselves: an Ignition override that makes them report, and the listener they report to."""

import io
import json
import tarfile
import threading
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lab.machines import GATEWAY

MARKER = "/etc/lab/marker"
MARKED = "Nothing but our own Ignition override has written this: ÄÖÜ ✓\n".encode()
FACTS = "/run/lab"
SCRIPT = """#!/bin/bash
# Sends the files this machine was asked for, and what it knows of itself, then switches off.
set -u
mkdir -p /run/lab
cd /run/lab
cat /proc/cmdline >cmdline
ip -json address >addresses
ls -d /sys/firmware/efi >firmware 2>/dev/null
journalctl --boot --no-pager --output=short-monotonic >journal
for unit in $(cd /etc/systemd/system && ls *.service); do echo "$unit $(systemctl is-enabled "$unit" 2>&1)"; done >units
name=$(cat /sys/class/net/e*/address | head -n 1)
curl -fsS --retry 10 --retry-connrefused "$1/wanted/$name" >wanted
tar --create --file=report.tar --absolute-names --files-from=wanted cmdline addresses firmware units journal 2>problems
curl -fsS --retry 10 -T report.tar "$1/report/$name"
systemctl poweroff
"""
UNIT = """[Unit]
Description=Report to the lab
Wants=network-online.target
After=network-online.target pre-network-manager-config.service

[Service]
Type=oneshot
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/usr/local/bin/lab-report {url}

[Install]
WantedBy=multi-user.target
"""


def override(url: str) -> str:
    """An Ignition config to be merged into an environment's own."""
    files = [
        {"path": MARKER, "mode": 0o640, "overwrite": True, "contents": {"source": _data(MARKED)}},
        {"path": "/usr/local/bin/lab-report", "mode": 0o755, "contents": {"source": _data(SCRIPT.encode())}},
    ]
    unit = {"name": "lab-report.service", "enabled": True, "contents": UNIT.format(url=url)}
    document = {"ignition": {"version": "3.1.0"}, "storage": {"files": files}, "systemd": {"units": [unit]}}
    return json.dumps(document)


def _data(content: bytes) -> str:
    return f"data:;base64,{b64encode(content).decode()}"


@dataclass(frozen=True, slots=True)
class Report:
    """Files by path as they are on the machine, and facts by name."""

    files: dict[str, tuple[bytes, int]]
    facts: dict[str, str]

    @property
    def arguments(self) -> str:
        return self.facts["cmdline"].strip()

    @property
    def is_uefi(self) -> bool:
        return "efi" in self.facts["firmware"]

    @property
    def enabled(self) -> set[str]:
        lines = (line.split() for line in self.facts["units"].splitlines())
        return {words[0] for words in lines if words[1:] == ["enabled"]}

    @property
    def addresses(self) -> set[str]:
        links: list[dict[str, Any]] = json.loads(self.facts["addresses"])
        return {one["local"] for link in links for one in link["addr_info"]}


def read_report(data: bytes) -> Report:
    files: dict[str, tuple[bytes, int]] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                files[member.name] = content.read(), member.mode
    facts = {name: data.decode() for name, (data, _) in files.items() if "/" not in name}
    return Report({name: file for name, file in files.items() if name.startswith("/")}, facts)


@dataclass(slots=True)
class Listener:
    """Machines are told apart by the address of their network card."""

    port: int
    wanted: dict[str, Sequence[str]] = field(default_factory=dict)
    reports: dict[str, bytes] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{GATEWAY}:{self.port}"


@contextmanager
def listening() -> Iterator[Listener]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths = listener.wanted[self.path.rpartition("/")[2]]
            self._answer("".join(f"{path}\n" for path in paths).encode())

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            listener.reports[self.path.rpartition("/")[2]] = body
            self._answer(b"")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: what was sent is looked at instead."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listener = Listener(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown()
            thread.join()
