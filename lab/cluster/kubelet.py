"""A stand-in for the server inside a kubelet: logs of containers, by the node's own certificate.

The API server asks it as it asks a real one, so what is tested includes the certificate that was approved for it.
"""

import ssl
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from lab.cluster.joiner import SERVING_SIGNER, SERVING_USAGES, Identity, Joiner, ask_for_certificate, certificate

LOGS: Final = "/containerLogs/"
ADDRESS: Final = "127.0.0.1"


def flags(tls: Path, *, addresses: str = "ExternalIP") -> list[str]:
    """What an API server needs to trust kubelets and to be trusted by them.

    Nodes without machines have no address to call: without further words nobody beyond loopback is called.
    """
    return [
        f"--kubelet-certificate-authority={tls / 'kubelet-signer.crt'}",
        f"--kubelet-client-certificate={tls / 'kube-apiserver-to-kubelet-client.crt'}",
        f"--kubelet-client-key={tls / 'kube-apiserver-to-kubelet-client.key'}",
        f"--kubelet-preferred-address-types={addresses}",
    ]


class Kubelet:
    """Of a node that has joined. On loopback there is one in a cluster, since all would have the same address."""

    def __init__(self, joiner: Joiner, *, address: str = ADDRESS, port: int = 0) -> None:
        self.logs: dict[str, str] = {}
        """Namespace, pod and container, with slashes → log; `previous/` before it for the life before."""
        self.asked: list[str] = []
        self._joiner = joiner
        self._address = address
        self._server = ThreadingHTTPServer((address, port), self._handler())

    @contextmanager
    def running(self) -> Generator["Kubelet"]:
        """With a certificate for its further address, once somebody approved it."""
        server = self._server
        try:
            server.socket = self._certified().wrap_socket(server.socket, server_side=True)
            thread = threading.Thread(target=server.serve_forever, args=(0.1,))
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()
        finally:
            server.server_close()

    def _certified(self) -> ssl.SSLContext:
        joiner = self._joiner
        assert joiner.api is not None
        addresses = [
            {"type": "InternalIP", "address": joiner.address},
            {"type": "ExternalIP", "address": self._address},
            {"type": "Hostname", "address": joiner.name},
        ]
        port = int(self._server.server_address[1])
        joiner.report({"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}})
        own = tuple(dict.fromkeys((joiner.address, self._address)))
        identity = Identity(f"system:node:{joiner.name}", addresses=own)
        request = ask_for_certificate(joiner.api, identity, signer=SERVING_SIGNER, usages=SERVING_USAGES)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(f"{certificate(joiner.api, request, seconds=joiner.patience)}\n{identity.key}")
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def answer(self, target: str) -> bytes | None:
        self.asked.append(target)
        parts = urlsplit(target)
        life = "previous/" if parse_qs(parts.query).get("previous") == ["true"] else ""
        log = self.logs.get(life + parts.path.removeprefix(LOGS))
        return None if log is None else log.encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        kubelet = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = kubelet.answer(self.path)
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Length", str(len(found or b"")))
                self.end_headers()
                self.wfile.write(found or b"")

            def log_message(self, format: str, *args: object) -> None:
                """Who asked what is in `asked`."""

        return Handler
