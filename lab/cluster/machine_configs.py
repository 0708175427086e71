"""A stand-in for the machine-config server: it hands machines their configuration and logs who asked, as the real one.

What it serves is ours: the kubeconfig of new machines out of bootstrap.ign, wrapped in Ignition, and around it the
little of a rendered machine config that installers and joining machines look at.
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

from lab.cluster.api import Json

POOLS: Final = ("master", "worker", "arbiter")
PREFIX: Final = "/config/"
KUBECONFIG: Final = "/etc/kubernetes/kubeconfig"
ENCAPSULATED: Final = "/etc/ignition-machine-config-encapsulated.json"
NAME_SERVER: Final = "/etc/kubernetes/manifests/coredns.yaml"
KUBELET: Final = "kubelet.service"
CURRENT: Final = "machineconfiguration.openshift.io/currentConfig"
DESIRED: Final = "machineconfiguration.openshift.io/desiredConfig"
SECURE_PORT: Final = 22623
PLAIN_PORT: Final = 22624
OS_IMAGE: Final = "registry.example.com/ocp/rhel-coreos:lab"


def rendered_name(pool: str) -> str:
    return f"rendered-{pool}-lab"


def role_labels(annotations: Json) -> Json:
    """A node's labels by the machine config it runs. OpenShift's kubelets set them; this API server forbids that."""
    pool = str(annotations.get(CURRENT, "")).removeprefix("rendered-").removesuffix("-lab")
    roles = ("control-plane", "master") if pool == "master" else (pool,)
    return {f"node-role.kubernetes.io/{role}": "" for role in roles if role}


def machine_config(kubeconfig: str, pool: str) -> bytes:
    unit = f"[Service]\nExecStart=/usr/bin/kubelet --bootstrap-kubeconfig={KUBECONFIG}\n"
    encapsulated: Json = {"metadata": {"name": rendered_name(pool)}, "spec": {"osImageURL": OS_IMAGE}}
    files = {
        KUBECONFIG: kubeconfig,
        ENCAPSULATED: json.dumps(encapsulated),
        # As on bare metal, where the nodes themselves know the names of the cluster.
        NAME_SERVER: "kind: Pod\n",
    }
    document: Json = {
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [_file(path, content) for path, content in files.items()]},
        "systemd": {"units": [{"name": KUBELET, "enabled": True, "contents": unit}]},
    }
    return json.dumps(document).encode()


def _file(path: str, content: str) -> Json:
    source = f"data:;base64,{base64.b64encode(content.encode()).decode()}"
    return {"path": path, "mode": 0o600, "overwrite": True, "contents": {"source": source}}


class MachineConfigServer:
    """`log` grows by a line for each request, in the real server's words; so does the file `also_in`."""

    def __init__(
        self,
        home: Path,
        *,
        address: str = "127.0.0.1",
        secure_port: int = SECURE_PORT,
        plain_port: int = PLAIN_PORT,
        also_in: Path | None = None,
    ) -> None:
        kubeconfig = (home / "auth" / "kubeconfig-kubelet").read_text()
        self._configs = {pool: machine_config(kubeconfig, pool) for pool in POOLS}
        self._lines: list[str] = []
        self._file = also_in
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(home / "tls/machine-config-server.crt", home / "tls/machine-config-server.key")
        self._servers = [ThreadingHTTPServer((address, port), self._handler()) for port in (secure_port, plain_port)]
        self._servers[0].socket = context.wrap_socket(self._servers[0].socket, server_side=True)

    @property
    def ports(self) -> tuple[int, int]:
        secure, plain = (int(server.server_address[1]) for server in self._servers)
        return secure, plain

    @property
    def log(self) -> str:
        return "".join(self._lines)

    def _asked(self, pool: str, address: tuple[str, int], *, agent: str, accept: str) -> None:
        now = datetime.now(UTC).strftime("%m%d %H:%M:%S.%f")
        line = (
            f'I{now}       1 api.go:109] Pool {pool} requested by address:"{address[0]}:{address[1]}"'
            f' User-Agent:"{agent}" Accept-Header: "{accept}"\n'
        )
        self._lines.append(line)
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(line)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pool = self.path.removeprefix(PREFIX) if self.path.startswith(PREFIX) else ""
                if pool:
                    agent, accept = self.headers.get("User-Agent", ""), self.headers.get("Accept", "")
                    server._asked(pool, self.client_address, agent=agent, accept=accept)
                config = server._configs.get(pool)
                self.send_response(200 if config or self.path == "/healthz" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(config or b"")))
                self.end_headers()
                self.wfile.write(config or b"")

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
