"""After a failure: which images gather, whose logs are read, what the router answers, what is left when all fails."""

import asyncio
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from firstlight.host.controller.gathering import gather, worth_reading
from firstlight.host.controller.kube.access import Access, from_kubeconfig, kubeconfig_text
from firstlight.host.controller.logs import OWN_LOG, send_last_logs
from firstlight.host.controller.must_gather import images, must_gather
from firstlight.host.controller.objects import (
    ContainerStatus,
    Metadata,
    Node,
    NodeAddress,
    NodeStatus,
    Pod,
    PodStatus,
)
from firstlight.host.controller.router_probe import probe, targets
from firstlight.host.fetching import fetcher
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root
from tests.host.agent.scripted import Asked, Said, document, scripted
from tests.host.controller.sites import said, site_at

pytestmark = pytest.mark.anyio
KUBECONFIG = kubeconfig_text(Access(server="https://api.example.com:6443", token=lambda: "admin-token"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


MAP = '{"ocp": "ocp-image", "cnv": "cnv-image", "odf": "odf-image", "lso": ""}'


@pytest.mark.parametrize(
    ("setting", "failed", "chosen"),
    [
        ("", ["cnv"], ()),
        ("registry.example.com/must-gather:1", ["cnv"], ("registry.example.com/must-gather:1",)),
        (MAP, [], ("ocp-image",)),
        (MAP, ["odf", "cnv", "unknown", "lso"], ("ocp-image", "cnv-image", "odf-image")),
        ('{"cnv": "same", "odf": "same"}', ["odf", "cnv"], ("same",)),
    ],
)
def test_images(setting: str, failed: list[str], chosen: tuple[str, ...]) -> None:
    assert images(setting, failed=failed) == chosen


def a_pod(name: str, phase: str = "Running", *, ready: bool = True, restarts: int = 0) -> Pod:
    container = ContainerStatus(name="main", ready=ready, restart_count=restarts)
    return Pod(
        metadata=Metadata(name=name, namespace="space"), status=PodStatus(phase=phase, container_statuses=(container,))
    )


def test_whose_logs_are_read() -> None:
    pods = (
        a_pod("well"),
        a_pod("done", "Succeeded", ready=False),
        a_pod("failed", "Failed", ready=False),
        a_pod("not-ready", ready=False),
        a_pod("restarts", restarts=3),
    )
    assert [pod.metadata.name for pod, _ in worth_reading(pods)] == ["restarts", "failed", "not-ready"]


def test_access_for_another_program() -> None:
    access = Access(
        server="https://[fd02::1]:443", authorities="CA", server_name="api.prod", certificate="CERT", key="KEY"
    )
    again = from_kubeconfig(kubeconfig_text(access))
    assert again == access


async def test_the_router_is_asked(tmp_path: Path) -> None:
    addresses = tuple(NodeAddress(type="InternalIP", address=one) for one in ("192.0.2.5", "fd00::5"))
    found = targets([Node(status=NodeStatus(addresses=addresses))], domain="prod.example.com")
    assert found == [
        "http://192.0.2.5/_______internal_router_healthz",
        "http://[fd00::5]/_______internal_router_healthz",
        "https://canary-openshift-ingress-canary.apps.prod.example.com",
    ]
    stuck = asyncio.Event()

    async def hold() -> Said:
        await stuck.wait()
        return Said()

    def script(asked: Asked) -> Any:
        return hold() if asked.path == "/stuck" else document({"no": "router"}, status=503)

    async with scripted(script) as server:
        fetch = fetcher(root=Root(tmp_path), environment={})
        lines = (
            await probe(fetch, [f"{server.url}/x", f"{server.url}/stuck", "http://127.0.0.1:1/"], seconds=1)
        ).split("\n")
        stuck.set()
    assert "answered 503" in lines[0]
    assert "/stuck" in lines[1]
    assert "127.0.0.1:1" in lines[2]


def service_and_cluster(asked: Asked, *, kubeconfig: bool = True, uploads: list[bytes] | None = None) -> Said:
    """A service with a kubeconfig and a failed operator, and a cluster with one pod that restarts."""
    if asked.path.endswith("/downloads/credentials"):
        return Said(body=KUBECONFIG.encode()) if kubeconfig else document({"reason": "not there"}, status=404)
    if asked.path.endswith("/monitored-operators"):
        return document([{"name": "cnv", "status": "failed"}, {"name": "lso", "status": "available"}])
    if asked.path.endswith("/logs") and asked.method == "POST":
        if uploads is not None:
            uploads.append(asked.body)
        return Said(204, b"")
    if asked.path.endswith("/log"):
        return Said(body=b"previous life" if "previous=true" in asked.query else b"this life")
    if asked.path == "/api/v1/pods":
        status = {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 2}]}
        return document({"items": [{"metadata": {"name": "p", "namespace": "s"}, "status": status}]})
    if asked.path == "/api/v1/nodes":
        return document({"items": []})
    return document({"message": "no such kind"}, status=404)


async def test_our_own_gather(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("nameserver 192.0.2.53\n")
    async with site_at(service_and_cluster, tmp_path) as (site, server):
        found = await gather(site, root=Root(tmp_path))
        tokens = {one.headers.get("authorization") for one in server.asked if one.path.startswith("/api/v1/")}
    assert found["resolvers/etc/resolv.conf"] == b"nameserver 192.0.2.53\n"
    assert found["cluster/pods/s/p/main.log"] == b"this life"
    assert found["cluster/pods/s/p/main.previous.log"] == b"previous life"
    assert "cluster/nodes.json" in found
    assert b"404" in found["cluster/machines.json.missing"]
    assert tokens == {"Bearer admin-token"}


async def test_without_the_kubeconfig_what_the_account_sees(tmp_path: Path) -> None:
    async with site_at(lambda asked: service_and_cluster(asked, kubeconfig=False), tmp_path) as (site, _):
        found = await gather(site, root=Root(tmp_path))
        assert await must_gather(site, LocalPrograms(), folder=tmp_path) == {}
    assert "cluster/pods.json" in found
    assert not any(name.endswith(".log") for name in found)
    assert "Only what the controller itself may see" in said(site)


OC = """#!/bin/sh
for word in "$@"; do
    case $word in --dest-dir=*) folder=${word#*=} ;; --kubeconfig=*) kubeconfig=${word#*=} ;; esac
done
stat -c %a "$kubeconfig" > "$folder/mode"
cp "$kubeconfig" "$folder/kubeconfig"
echo "$@" > "$folder/arguments"
echo 'one of the nodes is silent' >&2
exit 3
"""


@pytest.mark.parametrize("has_oc", [True, False])
async def test_the_clusters_own_tool(has_oc: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may see everything, by a file that nobody else may read; what it leaves behind is taken, also if it fails."""
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    if has_oc:
        (programs / "oc").write_text(OC)
        (programs / "oc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin" if has_oc else str(programs))
    async with site_at(service_and_cluster, tmp_path, must_gather_image=MAP) as (site, _):
        found = await must_gather(site, LocalPrograms(), folder=work)
    if not has_oc:
        assert found == {}
        assert "There is no oc here" in said(site)
        return
    assert list(found) == ["must-gather.tar.gz"]
    result = work / "must-gather"
    arguments = (result / "arguments").read_text()
    assert "adm must-gather" in arguments
    assert "--image=ocp-image --image=cnv-image\n" in arguments
    assert "admin-token" not in arguments
    assert (result / "mode").read_text() == "600\n"
    assert json.loads((result / "kubeconfig").read_text())["users"][0]["user"] == {"token": "admin-token"}
    assert "one of the nodes is silent" in said(site)


async def test_what_a_tool_left_that_was_killed_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    (programs / "oc").write_text(OC.replace("exit 3", "kill -9 $$"))
    (programs / "oc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    async with site_at(service_and_cluster, tmp_path) as (site, _):
        assert list(await must_gather(site, LocalPrograms(), folder=work)) == ["must-gather.tar.gz"]
        assert "The cluster's own gathering failed." in said(site)


@pytest.mark.parametrize(("answer", "attempts"), [(503, 31), (None, 31), (404, 1), (413, 1)])
async def test_the_last_logs_wait_for_a_service_that_is_away(answer: int | None, attempts: int, tmp_path: Path) -> None:
    """But not for one that does not want them."""
    uploads: list[bytes] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/logs-progress"):
            return Said(204, b"")
        uploads.append(asked.body)
        if len(uploads) > 30:
            return Said(204, b"")
        return Said(raw=b"") if answer is None else document({"reason": "not now"}, status=answer)

    async with site_at(script, tmp_path, look_seconds=0.01) as (site, _):
        await send_last_logs(site, failed=False, root=Root(tmp_path), programs=LocalPrograms())
    assert len(uploads) == attempts


async def test_the_own_log_goes_first_and_again_with_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    uploads: list[bytes] = []
    states: list[str] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/logs-progress"):
            states.append(asked.json()["logs_state"])
            return Said(204, b"")
        return service_and_cluster(asked, uploads=uploads)

    async with site_at(script, tmp_path, control_plane_count=1) as (site, _):
        await send_last_logs(site, failed=True, root=Root(tmp_path), programs=LocalPrograms())
    assert states == ["requested", "completed"]
    assert len(uploads) == 2
    assert len(uploads[0]) < len(uploads[1])
    assert OWN_LOG in members(uploads[0])
    assert {OWN_LOG, "router.txt", "cluster/nodes.json"} <= members(uploads[1])


def members(form: bytes) -> set[str]:
    """Files in an uploaded archive."""
    archive = form[form.index(b"\x1f\x8b") : form.rindex(b"\r\n--")]
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
        return set(opened.getnames())
