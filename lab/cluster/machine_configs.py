"""A stand-in for the machine-config server: it hands machines their configuration and logs who asked, as the real one.

What it serves is ours: the kubeconfig of new machines out of bootstrap.ign, wrapped in Ignition.
"""

import base64
import json
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

POOLS: Final = ("master", "worker", "arbiter")
PREFIX: Final = "/config/"
KUBECONFIG: Final = "/etc/kubernetes/kubeconfig"
SECURE_PORT: Final = 22623
PLAIN_PORT: Final = 22624


def machine_config(kubeconfig: str) -> bytes:
    source = f"data:;base64,{base64.b64encode(kubeconfig.encode()).decode()}"
    file = {"path": KUBECONFIG, "mode": 0o600, "overwrite": True, "contents": {"source": source}}
    return json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}).encode()


class MachineConfigServer:
    """`log` grows by a line for each request, in the real server's words."""

    def __init__(self, home: Path, *, secure_port: int = SECURE_PORT, plain_port: int = PLAIN_PORT) -> None:
        config = machine_config((home / "auth" / "kubeconfig-kubelet").read_text())
        self._lines: list[str] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(home / "tls/machine-config-server.crt", home / "tls/machine-config-server.key")
        self._servers = [
            ThreadingHTTPServer(("127.0.0.1", port), self._handler(config)) for port in (secure_port, plain_port)
        ]
        self._servers[0].socket = context.wrap_socket(self._servers[0].socket, server_side=True)

    @property
    def ports(self) -> tuple[int, int]:
        secure, plain = (int(server.server_address[1]) for server in self._servers)
        return secure, plain

    @property
    def log(self) -> str:
        return "".join(self._lines)

    def _handler(self, config: bytes) -> type[BaseHTTPRequestHandler]:
        lines = self._lines

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pool = self.path.removeprefix(PREFIX) if self.path.startswith(PREFIX) else ""
                agent, accept = self.headers.get("User-Agent", ""), self.headers.get("Accept", "")
                now = datetime.now(UTC).strftime("%m%d %H:%M:%S.%f")
                lines.append(
                    f'I{now}       1 api.go:109] Pool {pool} requested by address:"{self.client_address[0]}:'
                    f'{self.client_address[1]}" User-Agent:"{agent}" Accept-Header: "{accept}"\n'
                )
                known = pool in POOLS
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(config) if known else 0))
                self.end_headers()
                if known:
                    self.wfile.write(config)

            def log_message(self, format: str, *args: object) -> None:
                """The log is kept above."""

        return Handler

    @contextmanager
    def running(self) -> Generator["MachineConfigServer"]:
        threads = [threading.Thread(target=server.serve_forever, args=(0.1,)) for server in self._servers]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            for server, thread in zip(self._servers, threads, strict=True):
                server.shutdown()
                thread.join()
                server.server_close()
