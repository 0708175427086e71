"""Reading off fetched Ignition whether an imported cluster brings its own DNS."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.clusters.managed_dns import brings_its_own_dns
from firstlight.core.model.host import HostState
from firstlight.core.model.reports import ApiVipReply
from tests.builders.clusters import a_cluster
from tests.builders.hosts import host_state, some_reports

IMPORTED = a_cluster(imported=True)


def fetched(ignition: str, *, success: bool = True) -> HostState:
    return host_state(reports=some_reports(api_vip=ApiVipReply(success=success, ignition=ignition)))


def ignition(*files: dict[str, Any]) -> str:
    return json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": list(files)}})


def kubeconfig(server: str) -> dict[str, Any]:
    text = f"clusters:\n- cluster:\n    server: {server}\n  name: local\n"
    return {"path": "/etc/kubernetes/kubeconfig", "contents": {"source": f"data:,{quote(text)}"}}


@pytest.mark.parametrize(
    ("text", "managed"),
    [
        pytest.param(ignition({"path": "/etc/kubernetes/manifests/coredns.yaml"}), True, id="coredns"),
        pytest.param(ignition({"path": "/etc/kubernetes/manifests/keepalived.yaml"}), True, id="keepalived"),
        pytest.param(ignition(kubeconfig("https://api-int.east.example.com:6443")), False, id="by-name"),
        pytest.param(ignition(kubeconfig('"https://api-int.east.example.com:6443"')), False, id="quoted-name"),
        pytest.param(ignition(kubeconfig("https://192.0.2.5:6443")), True, id="by-address"),
        pytest.param(ignition(kubeconfig("https://[2001:db8::5]:6443")), True, id="by-ipv6-address"),
        pytest.param(ignition(), True, id="no-kubeconfig"),
        pytest.param(ignition({"path": "/etc/kubernetes/kubeconfig"}), True, id="no-contents"),
        pytest.param(ignition({"path": "/etc/kubernetes/kubeconfig", "contents": {}}), True, id="no-source"),
        pytest.param("{}", True, id="empty"),
        pytest.param('{"storage": {"files": null}}', True, id="no-files"),
        pytest.param("not json", True, id="unreadable"),
        pytest.param("[" * 100_000, True, id="too-deep"),
        pytest.param("", True, id="nothing"),
    ],
)
def test_what_the_ignition_says(text: str, managed: bool) -> None:
    assert brings_its_own_dns(IMPORTED, [fetched(text)]) is managed


def test_only_imported_clusters_leave_the_question_open() -> None:
    host = fetched(ignition(kubeconfig("https://api-int.east.example.com:6443")))
    assert brings_its_own_dns(a_cluster(), [host]) is None
    assert brings_its_own_dns(IMPORTED, []) is None
    assert brings_its_own_dns(IMPORTED, [host_state()]) is None
    assert brings_its_own_dns(IMPORTED, [fetched("{}", success=False)]) is None
    assert brings_its_own_dns(IMPORTED, [fetched("{}", success=False), host_state(2), host]) is False


@given(text=st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert brings_its_own_dns(IMPORTED, [fetched(text)]) in (True, False)
