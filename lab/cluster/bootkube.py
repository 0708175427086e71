"""A stand-in for bootkube: it takes our bootstrap.ign and starts the control plane from the certificates in it."""

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

import httpx2

from lab.cluster.api import Api, Json
from lab.cluster.laying import lay_over
from lab.cluster.processes import Server, free_ports, peer

HOME: Final = "/opt/openshift"
DONE: Final = ".bootkube.done"
ADMIN: Final = "kube-control-plane-kube-controller-manager-client"
"""A master's certificate that bootstrap.ign has; the administrator's own is in no file of it."""
LOOPBACK: Final = "127.0.0.1"
API_PORT: Final = 6443
CONTROLLERS: Final = (
    "certificatesigningrequest-signing-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "namespace-controller",
    "garbage-collector-controller",
)
"""None of them approves certificate requests: that is left to the code under test."""


def unpack(bootstrap: bytes, into: Path) -> Path:
    """The files below /opt/openshift; the folder that stands for it."""
    lay_over(cast("Json", json.loads(bootstrap)), into, below=f"{HOME}/")
    return into / HOME.lstrip("/")


class ControlPlane:
    """etcd, API server and controller manager of one cluster, by its own certificates."""

    def __init__(self, home: Path, *, data: Path, address: str = LOOPBACK, port: int = 0) -> None:
        """Other machines reach the API at an `address` beyond loopback; `port` 0 is any free one."""
        self.home = home
        self._address = address
        free, etcd, peers, manager = free_ports(4)
        self.port = port or free
        self.server = f"https://localhost:{self.port}"
        self.admin = self._client(ADMIN)
        address = f"http://127.0.0.1:{etcd}"
        self.etcd = Server(
            [
                *(peer("etcd"), "--name=lab", f"--data-dir={data / 'etcd'}", "--unsafe-no-fsync"),
                *(f"--listen-client-urls={address}", f"--advertise-client-urls={address}"),
                f"--listen-peer-urls=http://127.0.0.1:{peers}",
                f"--initial-advertise-peer-urls=http://127.0.0.1:{peers}",
                f"--initial-cluster=lab=http://127.0.0.1:{peers}",
            ],
            log=data / "etcd.log",
            is_ready=lambda: _answers(f"{address}/health"),
        )
        self.api_server = Server(self._api_server(address), log=data / "api.log", is_ready=self.admin.is_ready)
        kubeconfig = data / "manager.kubeconfig"
        kubeconfig.write_text(self.kubeconfig(ADMIN))
        self.manager = Server(
            self._manager(kubeconfig, manager), log=data / "manager.log", is_ready=lambda: _listens(manager)
        )

    def tls(self, name: str) -> Path:
        return self.home / "tls" / name

    def authorities(self) -> str:
        return self.tls("kube-apiserver-localhost-ca-bundle.crt").read_text()

    def start(self) -> None:
        for server in (self.etcd, self.api_server, self.manager):
            server.start()

    def finish(self) -> None:
        """As bootkube says that it has done its part."""
        (self.home / DONE).write_text("")

    def stop(self) -> None:
        for server in (self.manager, self.api_server, self.etcd):
            server.stop()
        self.admin.close()

    def _client(self, name: str) -> Api:
        return Api(
            self.server,
            authorities=self.authorities(),
            certificate=self.tls(f"{name}.crt").read_text(),
            key=self.tls(f"{name}.key").read_text(),
        )

    def bootstrapper(self) -> Api:
        """Whoever holds the kubeconfig that machines get with their configuration."""
        return self._client("kubelet-client")

    def with_token(self, token: str) -> Api:
        return Api(self.server, authorities=self.authorities(), token=token)

    def kubeconfig(self, client: str = "", *, token: str = "") -> str:
        proof = {"token": token}
        if client:
            parts = {"certificate": f"{client}.crt", "key": f"{client}.key"}
            proof = {f"client-{part}-data": _encoded(self.tls(name).read_text()) for part, name in parts.items()}
        cluster = {"server": self.server, "certificate-authority-data": _encoded(self.authorities())}
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "lab", "cluster": cluster}],
                "users": [{"name": "lab", "user": proof}],
                "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
                "current-context": "lab",
            }
        )

    def _api_server(self, etcd: str) -> list[str | Path]:
        ways = [f"kube-apiserver-{way}-server" for way in ("lb", "internal-lb")]
        bind = self._address if self._address == LOOPBACK else "0.0.0.0"
        return [
            *(peer("kube-apiserver"), f"--etcd-servers={etcd}", f"--bind-address={bind}"),
            *(f"--secure-port={self.port}", f"--advertise-address={self._address}"),
            f"--tls-cert-file={self.tls('kube-apiserver-localhost-server.crt')}",
            f"--tls-private-key-file={self.tls('kube-apiserver-localhost-server.key')}",
            *(f"--tls-sni-cert-key={self.tls(f'{way}.crt')},{self.tls(f'{way}.key')}" for way in ways),
            f"--client-ca-file={self.tls('kube-apiserver-complete-client-ca-bundle.crt')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.tls('service-account.pub')}",
            f"--service-account-signing-key-file={self.tls('service-account.key')}",
            *("--service-cluster-ip-range=172.30.0.0/16", "--authorization-mode=Node,RBAC"),
            *("--endpoint-reconciler-type=none", "--enable-admission-plugins=NodeRestriction"),
        ]

    def _manager(self, kubeconfig: Path, port: int) -> list[str | Path]:
        return [
            *(peer("kube-controller-manager"), f"--kubeconfig={kubeconfig}"),
            *(f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}"),
            *("--bind-address=127.0.0.1", f"--secure-port={port}", "--leader-elect=false"),
            *("--use-service-account-credentials", f"--controllers={','.join(CONTROLLERS)}"),
            f"--cluster-signing-cert-file={self.tls('kubelet-signer.crt')}",
            f"--cluster-signing-key-file={self.tls('kubelet-signer.key')}",
            f"--root-ca-file={self.tls('kube-apiserver-complete-server-ca-bundle.crt')}",
            f"--service-account-private-key-file={self.tls('service-account.key')}",
        ]


@contextmanager
def running_cluster(bootstrap: bytes, folder: Path) -> Generator[ControlPlane]:
    """A control plane with the certificates of this bootstrap.ign; it ends with the block."""
    plane = ControlPlane(unpack(bootstrap, folder), data=folder)
    try:
        plane.start()
        plane.finish()
        yield plane
    finally:
        plane.stop()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _answers(url: str) -> bool:
    try:
        return httpx2.get(url, trust_env=False).is_success
    except httpx2.HTTPError:
        return False


def _listens(port: int) -> bool:
    try:
        # Whatever it says: it is there.
        httpx2.get(f"https://127.0.0.1:{port}/healthz", verify=False, trust_env=False)
    except httpx2.HTTPError:
        return False
    return True
