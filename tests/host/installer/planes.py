"""The new cluster for the bootstrap: a scripted API server behind TLS, and a kubeconfig that leads to it."""

import base64
import json
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.host.agent.authorities import authority_and_server
from tests.host.agent.scripted import Asked, Said, document

CONFIG = "rendered-master-1"


def a_node(name: str, *, ready: bool = True, address: str = "", config: str = CONFIG) -> dict[str, Any]:
    notes = {f"machineconfiguration.openshift.io/{word}Config": config for word in ("current", "desired")}
    return {
        "metadata": {"name": name, "annotations": notes if config else {}},
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "addresses": [{"type": "InternalIP", "address": address}] if address else [],
        },
    }


@dataclass
class Plane:
    nodes: list[dict[str, Any]] = field(default_factory=lambda: [a_node("master-1"), a_node("master-2")])
    events: list[dict[str, Any]] = field(default_factory=lambda: [{"metadata": {"name": "AssistedControllerIsReady"}}])
    pods: list[dict[str, Any]] = field(
        default_factory=lambda: [{"metadata": {"name": "controller-x"}, "status": {"phase": "Running"}}]
    )
    asked: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Said:
        self.asked.append(f"{asked.method} {asked.path}")
        if asked.path.endswith("/log"):
            return Said(200, b"controller speaks\n", {"Content-Type": "text/plain"})
        lists = {
            "/api/v1/nodes": self.nodes,
            "/api/v1/namespaces/assisted-installer/events": self.events,
            "/api/v1/namespaces/assisted-installer/pods": self.pods,
            "/apis/machineconfiguration.openshift.io/v1/machineconfigs": [{"metadata": {"name": CONFIG}}],
        }
        found = lists.get(asked.path)
        return Said(404, b"{}") if found is None else document({"items": found})


def tls(folder: Path) -> tuple[str, ssl.SSLContext]:
    """The authority in PEM and the server's side."""
    pem, context = authority_and_server(folder)
    return pem.read_text(), context


def kubeconfig(server: str, authority: str, *, as_json: bool = False) -> str:
    data = base64.b64encode(authority.encode()).decode()
    if as_json:
        cluster = {"name": "c", "cluster": {"server": server, "certificate-authority-data": data}}
        return json.dumps({"clusters": [cluster], "users": [{"user": {"token": "t"}}]}, indent=2)
    return (
        f"apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: {data}\n    server: {server}\n"
        "  name: c\nusers:\n- name: admin\n  user: {}\n"
    )
