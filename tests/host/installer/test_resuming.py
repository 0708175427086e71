"""Killed in any phase and started again: what has ended is not done a second time, and the installation gets done."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from firstlight.host.installer.memory import Memory
from firstlight.host.installer.phases import BOOTSTRAP, MASTER, SINGLE_NODE, WORKER
from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.installer.planes import Plane, kubeconfig, tls
from tests.host.installer.rig import HOST_ID, Hub, Rig, ended, eventually, left_behind, plant_disk

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    openshift = rig.root / "opt/openshift"
    (openshift / "auth").mkdir(parents=True)
    (openshift / ".bootkube.done").touch()
    (openshift / "master.ign").write_text(json.dumps({"ignition": {"version": "3.2.0"}}))
    (rig.root / "sys/firmware/efi").mkdir(parents=True)
    yield rig
    for process in left_behind(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


HANGS = [
    ("bootstrap", "podman", "lay-over-bootstrap"),
    ("bootstrap", "coreos-installer", "write-image /dev/sda"),
    ("master", "wipefs", "clean-disk /dev/sda"),
    ("master", "shutdown", "reboot"),
    ("single", "podman", "lay-over-bootstrap"),
]
"""Every phase of every host is in test_killed_everywhere.py; here a program of the host is under way."""


@pytest.mark.parametrize(("kind", "program", "phase"), HANGS)
async def test_killed_in_a_program(rig: Rig, kind: str, program: str, phase: str) -> None:
    role = "master" if kind == "master" else "bootstrap"
    flags = ("--control-plane-count", "1" if kind == "single" else "3")
    flow = {"bootstrap": BOOTSTRAP, "master": MASTER, "single": SINGLE_NODE}[kind]
    hub, plane = Hub(), Plane()
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (rig.root / "opt/openshift/auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        process = await rig.start(server.url, *flags, role=role, HANG=program)
        await eventually((rig.folder / "hung").exists)
        await ended(process, how=signal.SIGKILL)
        assert rig.journal()["begun"] == phase
        before = rig.journal()["done"]
        assert await rig.finish(server.url, *flags, role=role) == 0, rig.log()
    done = rig.journal()["done"]
    assert done[: len(before)] == before
    assert [one.split()[0] for one in dict.fromkeys(done)] == [one.name for one in flow]
    ran = Counter(words[0] for words in rig.calls())
    assert ran["coreos-installer"] == 1 + (program == "coreos-installer")
    assert ran["shutdown"] == 1 + (program == "shutdown")
    assert len([words for words in rig.calls("podman") if "--once-from" in words]) == (
        (role == "bootstrap") * (1 + (phase == "lay-over-bootstrap"))
    )


@pytest.mark.parametrize("stage", ["Waiting for control plane", "Waiting for controller"])
async def test_killed_in_a_wait(rig: Rig, stage: str) -> None:
    hub, plane = Hub(), Plane()
    nodes, events = plane.nodes, plane.events
    plane.nodes, plane.events = (nodes, []) if stage == "Waiting for controller" else ([], events)
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (rig.root / "opt/openshift/auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        process = await rig.start(server.url, "--control-plane-count", "3", role="bootstrap")
        await eventually(lambda: bool(hub.own()) and hub.own()[-1][0] == stage and ": " in hub.own()[-1][1])
        await ended(process, how=signal.SIGKILL)
        plane.nodes, plane.events = nodes, events
        assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 0, rig.log()
    assert len(rig.calls("coreos-installer")) == 1
    assert len([words for words in rig.calls("systemctl") if words[1] == "start"]) == 3
    assert hub.order()[-1] == "Rebooting"


async def test_told_to_stop_it_says_so_and_takes_its_children_along(rig: Rig) -> None:
    hub = Hub()
    async with scripted(hub) as server:
        process = await rig.start(server.url, role="master", HANG="coreos-installer")
        await eventually((rig.folder / "hung").exists)
        await ended(process, how=signal.SIGTERM)
        assert process.returncode == 143
        assert hub.own()[-1] == ("Writing image to disk", "The installer was stopped on this host.")
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert not left_behind(rig.folder)


async def test_a_service_that_is_away_from_the_start(rig: Rig) -> None:
    hub = Hub()
    away = True

    def refuse(asked: Asked) -> Said | None:
        return Said(raw=b"") if away else None

    hub.refuse = refuse
    async with scripted(hub) as server:
        process = await rig.start(server.url, role="master")
        try:
            await server.until(lambda asked: len([one for one in asked if one.path.endswith("/ignition")]) > 3)
            away = False
            assert await process.wait() == 0, rig.log()
        finally:
            await ended(process)
    assert hub.order()[0] == "Starting installation"
    assert hub.order()[-1] == "Rebooting"


async def test_a_failed_host_can_be_tried_again(rig: Rig) -> None:
    """It cleans the disk and begins anew, also on another one."""
    plant_disk(rig.root, "sdb", "8:16", partitions={1: "8:17"})
    works = (rig.folder / "behave/coreos-installer").read_text()
    hub = Hub()
    async with scripted(hub) as server:
        for disk in ("/dev/sda", "/dev/sdb"):
            rig.behave("coreos-installer", "exit 1\n")
            assert await rig.finish(server.url, role="master") == 1
            assert hub.own()[-1][0] == "Failed"
            rig.behave("coreos-installer", works)
            (rig.folder / "calls").unlink()
            hub.stages.clear()
            assert await rig.finish(server.url, "--boot-device", disk, role="master") == 0
            assert hub.order()[0] == "Starting installation"
            assert rig.calls("wipefs")[-1][-1] == disk
            assert [words[-1] for words in rig.calls("coreos-installer")] == [disk]
            (rig.root / "run/firstlight-installer/journal.json").unlink()


@pytest.mark.parametrize(
    ("status", "stage", "writes"), [("installing", "", 2), ("installing-in-progress", "Writing image to disk", 1)]
)
async def test_the_service_may_want_everything_anew(rig: Rig, status: str, stage: str, writes: int) -> None:
    """A host that was stopped goes on where it was, unless it is tried again: then it has no stage."""
    hub = Hub()
    async with scripted(hub) as server:
        process = await rig.start(server.url, role="master", HANG="shutdown")
        await eventually((rig.folder / "hung").exists)
        await ended(process, how=signal.SIGTERM)
        hub.masters = [{"id": HOST_ID, "status": status, "progress": {"current_stage": stage}}]
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert len(rig.calls("coreos-installer")) == writes, rig.log()


async def test_a_bootstrap_that_failed_goes_on_where_it_was(rig: Rig) -> None:
    """Its services run without it, and nobody tries it again from the start."""
    hub = Hub()
    openshift = rig.root / "opt/openshift"
    kubeconfig_gone = openshift / "auth/kubeconfig"
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 1
        assert str(kubeconfig_gone.name) in hub.own()[-1][1]
        hub.masters = [{"id": HOST_ID, "status": "installing"}]
        authority, context = tls(rig.folder)
        async with scripted(Plane(), tls=context) as api:
            kubeconfig_gone.write_text(kubeconfig(api.url, authority))
            assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 0, rig.log()
    assert len(rig.calls("coreos-installer")) == 1
    assert len([words for words in rig.calls("systemctl") if words[1] == "start"]) == 3


async def test_started_again_after_the_end_it_does_nothing(rig: Rig) -> None:
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0
        assert await rig.finish(server.url, role="master") == 0
        assert len(rig.calls("coreos-installer")) == 1, "what is done is done"
        assert len(rig.calls("shutdown")) == 1


def test_the_pages_of_another_run_or_boot_say_nothing(tmp_path: Path) -> None:
    memory = Memory(tmp_path, run="a", boot_id="1")
    memory.begin("x")
    memory.finish("x")
    assert Memory(tmp_path, run="a", boot_id="1").done == ("x",)
    assert Memory(tmp_path, run="b", boot_id="1").done == ()
    assert Memory(tmp_path, run="a", boot_id="2").done == ()
    (tmp_path / "journal.json").write_text("{")
    assert Memory(tmp_path, run="a", boot_id="1").done == ()


def test_names_of_phases_are_distinct() -> None:
    for flow in (BOOTSTRAP, MASTER, WORKER, SINGLE_NODE):
        assert len({phase.name for phase in flow}) == len(flow)
