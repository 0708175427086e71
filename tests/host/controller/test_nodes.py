"""Small facts of nodes: taints of clouds that nobody runs, boots in the host's record, and whose Ignition asked."""

import asyncio
import itertools
import shutil
import struct
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from firstlight.host.controller.documents import ClusterDocument, HostDocument, HostProgress
from firstlight.host.controller.kube.access import Access, kubeconfig_text
from firstlight.host.controller.mcs_logs import McsLogs
from firstlight.host.controller.node_labels import NodeLabels
from firstlight.host.controller.node_reports import NodeReports
from firstlight.host.controller.objects import Condition, Metadata, Node, NodeInfo, NodeSpec, NodeStatus, Taint
from firstlight.host.controller.reboots import ATTEMPTS, Reboots, boots
from firstlight.host.controller.taints import UNINITIALIZED, nobody_else_removes, removal
from tests.conftest import missing
from tests.host.agent.scripted import Asked, Said, document
from tests.host.controller.sites import CLUSTER, said, site_at


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --- taints -----------------------------------------------------------------------------------------------------------


def tainted(*taints: str, ready: bool = False) -> Node:
    status = NodeStatus(conditions=(Condition(type="Ready", status=str(ready)),))
    spec = NodeSpec(taints=tuple(Taint(key=one) for one in taints))
    return Node(metadata=Metadata(name="n"), spec=spec, status=status)


def test_the_taint_is_taken_off_by_its_place_and_name() -> None:
    patch = removal(tainted("node.kubernetes.io/not-ready", UNINITIALIZED))
    assert [step["op"] for step in patch] == ["test", "remove"]
    assert {str(step["path"]).removesuffix("/key") for step in patch} == {"/spec/taints/1"}
    assert removal(tainted("node.kubernetes.io/not-ready")) == []
    assert removal(tainted(UNINITIALIZED, ready=True)) == []


REAL = '{"platform": {"vsphere": {"vcenters": [{"user": "u", "password": "p", "server": "vcenter.example.com"}]}}}'
HOLLOW = REAL.replace('"p"', '"passwordplaceholder"')


@pytest.mark.parametrize(
    ("platform", "overrides", "invoker", "version", "ours"),
    [
        ("baremetal", None, "assisted-installer", "4.18.4", False),
        ("nutanix", None, "assisted-installer", "4.18.4", True),
        ("nutanix", REAL, "agent-installer", "4.18.4", True),
        ("vsphere", REAL, "assisted-installer", "4.18.4", True),
        ("vsphere", REAL, "agent-installer", "4.15.0-ec.1", False),
        ("vsphere", REAL, "agent-installer", "4.14.9", True),
        ("vsphere", HOLLOW, "agent-installer", "4.18.4", True),
        ("vsphere", "no json", "agent-installer", "4.18.4", True),
        ("vsphere", None, "agent-installer", "4.18.4", True),
    ],
)
def test_whose_taint_it_is(platform: str, overrides: str | None, invoker: str, version: str, ours: bool) -> None:
    cluster = ClusterDocument(id=CLUSTER, install_config_overrides=overrides)
    assert nobody_else_removes(platform, cluster=cluster, invoker=invoker, version=version) is ours


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_pool_is_let_go_also_if_its_host_never_comes(tmp_path: Path) -> None:
    paused: list[bool] = []

    def script(asked: Asked) -> Said:
        assert asked.path.endswith("/machineconfigpools/worker")
        paused.append(asked.json()["spec"]["paused"])
        # The API server is away for a moment just then.
        return document({"message": "later"}, status=503) if len(paused) == 2 else document({})

    async with site_at(script, tmp_path) as (site, _):
        site.hosts = (
            HostDocument(
                id=UUID(int=1),
                role="worker",
                status="installing-in-progress",
                node_labels='{"example.com/site": "north"}',
                machine_config_pool_name="edge",
            ),
        )
        labels = NodeLabels(site)
        task = asyncio.create_task(labels.run())
        async with asyncio.timeout(60):
            while not labels.paused:
                await asyncio.sleep(0.01)
        # The installation is over.
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert paused == [True, False, False]


# --- boots ------------------------------------------------------------------------------------------------------------


def record(kind: int, user: bytes, *, size: int = 384, order: str = "<") -> bytes:
    """One entry of the C library's record of logins and boots."""
    head = struct.pack(f"{order}h2xi32s4s32s256s", kind, 0, b"~", b"~~", user, b"6.1.0")
    time = struct.pack(f"{order}hhiii", 0, 0, 0, 1_700_000_000, 0)
    return (head + time).ljust(size, b"\0")


BOOT, SHUTDOWN, LOGIN = (2, b"reboot"), (1, b"shutdown"), (7, b"core")


@pytest.mark.parametrize(
    ("architecture", "size", "order"),
    [("amd64", 384, "<"), ("", 384, "<"), ("arm64", 400, "<"), ("ppc64le", 384, "<"), ("s390x", 384, ">")],
)
def test_boots_on_every_architecture(architecture: str, size: int, order: str) -> None:
    wtmp = b"".join(record(*one, size=size, order=order) for one in (BOOT, LOGIN, SHUTDOWN, BOOT, LOGIN, BOOT))
    assert boots(wtmp, architecture=architecture) == 3
    # An entry that is being written is none yet.
    assert boots(wtmp[:-1], architecture=architecture) == 2
    assert boots(b"", architecture=architecture) == 0


def test_boots_as_the_real_tool_counts_them(tmp_path: Path) -> None:
    tool = shutil.which("last")
    if tool is None:
        missing("last (util-linux) is not installed")
    for number, entries in enumerate(itertools.product((BOOT, SHUTDOWN, LOGIN), repeat=3)):
        file = tmp_path / str(number)
        file.write_bytes(b"".join(record(*one) for one in entries))
        shown = subprocess.run([tool, "-f", file, "reboot"], capture_output=True, text=True, check=True).stdout
        listed = sum(line.startswith("reboot ") for line in shown.splitlines())
        assert boots(file.read_bytes(), architecture="amd64") == listed


@pytest.mark.anyio
@pytest.mark.parametrize(("failures", "told"), [(0, True), (ATTEMPTS - 1, True), (ATTEMPTS, False)])
async def test_the_user_is_told_unless_the_kubelet_never_answers(failures: int, told: bool, tmp_path: Path) -> None:
    wtmp, asked_of_kubelet, events = b"".join(record(*one) for one in (BOOT, LOGIN, BOOT)), [], []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/downloads/credentials"):
            return Said(body=kubeconfig_text(Access(server="https://192.0.2.1:6443", token=lambda: "admin")).encode())
        if asked.path == "/api/v1/nodes/worker-0/proxy/logs/wtmp":
            asked_of_kubelet.append(asked.headers["authorization"])
            return document({"message": "away"}, status=502) if len(asked_of_kubelet) <= failures else Said(body=wtmp)
        events.append(asked.json())
        return document({}, status=201)

    async with site_at(script, tmp_path, notify_reboots=True, look_seconds=0.001) as (site, _):
        ready = NodeStatus(
            conditions=(Condition(type="Ready", status="True"),), node_info=NodeInfo(architecture="amd64")
        )
        site.nodes.items = {"worker-0": Node(metadata=Metadata(name="worker-0"), status=ready)}
        site.hosts = (HostDocument(id=UUID(int=1), requested_hostname="worker-0", status="installed"),)
        async with asyncio.timeout(60):
            await Reboots(site).run()
        assert set(asked_of_kubelet) == {"Bearer admin"}
        assert ("cannot be counted" in said(site)) is not told
    assert [(one["name"], one["host_id"]) for one in events] == [("reboots_for_node", str(UUID(int=1)))] * told
    assert not told or "worker-0 has booted 2 times" in events[0]["message"]


@pytest.mark.anyio
async def test_nobody_counts_who_was_not_asked_to(tmp_path: Path) -> None:
    async with site_at(lambda asked: document({}), tmp_path) as (site, server):
        await Reboots(site).run()
        assert server.asked == []


# --- logs of machine-config servers -----------------------------------------------------------------------------------

LINE = 'Pool worker requested by address:"{}:38120" User-Agent:"Ignition/2.14.0"\n'


@pytest.mark.anyio
async def test_nobody_is_overlooked(tmp_path: Path) -> None:
    """The first look is at all there is, also of the life before; later ones go on where the last one ended."""
    asked_for: list[str] = []
    state = {"restarts": 1, "broken": False}

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/log"):
            asked_for.append(asked.query)
            if state["broken"]:
                return document({"message": "kubelet is away"}, status=502)
            address = "10.0.0.1" if "previous=true" in asked.query else f"10.0.0.{1 + len(asked_for)}"
            return Said(body=LINE.format(address).encode())
        statuses = [{"name": "machine-config-server", "restartCount": state["restarts"]}]
        pod = {"metadata": {"name": "mcs-1", "uid": "u"}, "status": {"containerStatuses": statuses}}
        return document({"items": [pod]})

    async with site_at(script, tmp_path) as (site, _):
        logs = McsLogs(site)
        assert {str(one) for one in await logs.addresses()} == {"10.0.0.1", "10.0.0.3"}
        assert ["previous" in query for query in asked_for] == [True, False]
        assert not any("sinceTime" in query for query in asked_for)
        state["broken"] = True
        assert len(await logs.addresses()) == 2
        assert "kubelet is away" in said(site)
        state["broken"] = False
        assert {str(one) for one in await logs.addresses()} == {"10.0.0.1", "10.0.0.3", "10.0.0.5"}
        assert asked_for[-1].count("sinceTime") == 1
        # What was not read in the meantime is asked for again.
        assert asked_for[-1] == asked_for[-2]
        state["restarts"] = 2
        await logs.addresses()
        assert ["previous" in query for query in asked_for[-2:]] == [True, False]


def stamped(address: str) -> str:
    """As a kubelet tells it, to the nanosecond."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}123Z {LINE.format(address)}"


@pytest.mark.anyio
async def test_a_host_that_is_tried_again_asks_again(tmp_path: Path) -> None:
    """What it asked for in an earlier life says nothing although it is still in the log, and is told anew."""
    told: list[str] = []
    lines: list[str] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/progress"):
            told.append(asked.json()["current_stage"])
            return document({})
        if asked.path.endswith("/log"):
            return Said(body="".join(lines).encode())
        return document({"items": [{"metadata": {"name": "mcs-1", "uid": "u"}, "status": {}}]})

    inventory = '{"interfaces": [{"ipv4_addresses": ["10.0.0.5/24"]}]}'

    def a_host(stage: str, number: int = 1, **parts: str) -> HostDocument:
        progress = HostProgress(current_stage=stage)
        return HostDocument(id=UUID(int=number), status="installing-in-progress", progress=progress, **parts)

    async with site_at(script, tmp_path, look_seconds=0.01) as (site, server):

        async def seen_at(stage: str) -> None:
            """Another host keeps the logs interesting, so that looks can be counted."""
            site.heard(ClusterDocument(id=CLUSTER), (a_host(stage, inventory=inventory), a_host("Rebooting", 2)))
            so_far = len(server.asked)
            await server.until(lambda asked: len(asked) > so_far + 4, seconds=60)

        task = asyncio.create_task(NodeReports(site).run())
        try:
            lines.append(stamped("10.0.0.5"))
            await seen_at("Rebooting")
            assert told == ["Configuring"]
            await seen_at("Writing image to disk")
            await seen_at("Rebooting")
            assert told == ["Configuring"], "it has not asked again yet"
            lines.append(stamped("10.0.0.5"))
            await server.until(lambda _: len(told) > 1, seconds=60)
            assert told == ["Configuring", "Configuring"]
            assert all("timestamps=true" in asked.query for asked in server.asked if asked.path.endswith("/log"))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
