"""A host for the installer: its files in a folder, its programs as scripts that write down how they were called.

The installer is the real one, a process of its own; the service and the new cluster are scripted servers.
"""

import asyncio
import base64
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from tests.host.agent.scripted import Asked, Said, document

INSTALLER = str(Path(sys.executable).parent / "firstlight-installer")
LOGS_SENDER = (
    "import os, sys; from firstlight.host.main import run; sys.exit(run(['logs_sender', *sys.argv[1:]], os.environ))"
)
CLUSTER_ID = "11111111-2222-4333-8444-555555555555"
INFRA_ENV_ID = "22222222-2222-4333-8444-555555555555"
HOST_ID = "33333333-2222-4333-8444-555555555555"
OTHER_IDS = [str(UUID(int=number)) for number in (1, 2)]
TOKEN = "token-nobody-may-see"
PROGRAMS = (
    *("pvs", "vgremove", "pvremove", "dmsetup", "mdadm", "wipefs", "dd", "mkdir", "coreos-installer", "efibootmgr"),
    *("mount", "umount", "test", "podman", "ssh-keygen", "systemctl", "hostname", "hostnamectl", "shutdown"),
    *("ostree", "rpm-ostree", "growpart", "xfs_growfs", "fsfreeze", "getenforce", "setenforce", "touch", "cp", "rsync"),
    *("du", "journalctl", "lsblk", "findmnt", "dmesg", "coredumpctl", "udevadm"),
)
RECORD = """#!/bin/sh
{ printf '%s' "${0##*/}"; for word in "$@"; do printf '\\t%s' "$word"; done; printf '\\n'; } >> "$RIG/calls"
name="${0##*/}"
if [ -n "$HANG" ] && [ "$HANG" = "$name" ] && [ ! -e "$RIG/hung" ]; then /bin/touch "$RIG/hung"; exec sleep 300; fi
[ -e "$RIG/behave/$name" ] && . "$RIG/behave/$name"
exit 0
"""
BEHAVIOUR = {
    "coreos-installer": "printf '> Read disk 1 GiB/2 GiB (3%%)\\r' >&2; printf '> (52%%)\\r> (54%%)\\r' >&2;"
    " printf '> (100%%)\\n' >&2\n",
    "hostname": "echo master-0\n",
    "systemctl": 'case "$1 $2" in "is-active progress.service") echo inactive; exit 3;;'
    ' "is-active bootkube.service") echo active;; esac\n',
    "ssh-keygen": '/bin/mkdir -p "$RIG/root/root/.ssh"; echo key > "$RIG/root/root/.ssh/id_rsa";'
    ' echo "ssh-rsa AAAA me" > "$RIG/root/root/.ssh/id_rsa.pub"\n',
    "journalctl": 'case "$*" in *TAG=installer*) cat "$RIG/root/var/log/assisted-installer.log";; esac\n',
    "podman": 'echo "$PULL_SECRET_TOKEN" > "$RIG/podman-token"\n',
}
IGNITION = {"ignition": {"version": "3.2.0"}}
SECRET_SOURCE = "data:;base64," + base64.b64encode(b'{"auths":{}}').decode()
BOOTSTRAP_IGNITION = {
    "ignition": {"version": "3.2.0"},
    "storage": {"files": [{"path": "/root/.docker/config.json", "mode": 384, "contents": {"source": SECRET_SOURCE}}]},
}


def a_root(folder: Path) -> Path:
    """One disk, sda, with the partitions of an installed system; no EFI."""
    root = folder / "root"
    plant_disk(root, "sda", "8:0", partitions={1: "8:1", 2: "8:2", 3: "8:3", 4: "8:4"})
    for name in ("run", "opt", "var/log/containers", "usr/bin", "proc/sys/kernel/random"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "usr/bin/oc").touch()
    (root / "proc/sys/kernel/random/boot_id").write_text("boot-1\n")
    return root


def plant_disk(root: Path, name: str, number: str, *, partitions: dict[int, str] | None = None) -> None:
    plant_device(root, name, number)
    for index, part_number in (partitions or {}).items():
        part = f"{name}p{index}" if name[-1].isdigit() else f"{name}{index}"
        plant_device(root, part, part_number, inside=name)
        (root / f"sys/class/block/{part}/partition").write_text(f"{index}\n")


def plant_device(
    root: Path, name: str, number: str, *, inside: str = "", on: tuple[str, ...] = (), **files: str
) -> None:
    """A device of sysfs, as folders and the kernel's kind of links; `files` like dm__uuid become dm/uuid."""
    blocks = root / "sys/class/block"
    blocks.mkdir(parents=True, exist_ok=True)
    place = root / "sys/devices" / (f"{inside}/{name}" if inside else name)
    (place / "holders").mkdir(parents=True)
    (place / "slaves").mkdir()
    (blocks / name).symlink_to(os.path.relpath(place, blocks))
    (place / "dev").write_text(f"{number}\n")
    (place / "size").write_text("250000000\n")
    for path, content in files.items():
        file = place / path.replace("__", "/")
        file.parent.mkdir(exist_ok=True)
        file.write_text(content + "\n")
    for below in on:
        under = (blocks / below).resolve()
        (under / "holders" / name).symlink_to(place)
        (place / "slaves" / below).symlink_to(under)


@dataclass
class Hub:
    """The service's side: what it was told, and what it says."""

    stages: list[tuple[str, str, str]] = field(default_factory=list)
    """Host, stage, info."""
    cluster: dict[str, Any] = field(default_factory=lambda: {"kind": "Cluster", "control_plane_count": 3})
    masters: list[dict[str, Any]] = field(default_factory=list)
    workers: list[dict[str, Any]] = field(default_factory=list)
    host_ignition: Any = field(default_factory=lambda: IGNITION)
    refuse: Callable[[Asked], Said | None] = lambda asked: None
    tokens: set[str] = field(default_factory=set)
    uploads: int = 0

    def __call__(self, asked: Asked) -> Said | Awaitable[Said]:
        self.tokens.add(asked.headers.get("x-secret-key", ""))
        refused = self.refuse(asked)
        if refused is not None:
            return refused
        if asked.path.endswith("/progress"):
            body = asked.json()
            self.stages.append((asked.path.split("/")[-2], body["current_stage"], body.get("progress_info", "")))
            return document({})
        if asked.path.endswith("/downloads/ignition"):
            assert "/infra-env/" in asked.path
            return document(self.host_ignition)
        if asked.path.endswith("/downloads/files"):
            return document(BOOTSTRAP_IGNITION)
        if asked.path.endswith("/hosts"):
            return document(self.hosts_for(dict(parse_qsl(asked.query))))
        if asked.path.endswith("/logs"):
            self.uploads += 1
            return Said(204, b"")
        if asked.path.endswith("/logs-progress"):
            return Said(204, b"")
        return document(self.cluster)

    def hosts_for(self, query: dict[str, str]) -> list[dict[str, Any]]:
        """As the service answers: without their inventories unless somebody asks for them."""
        found = {"master": self.masters, "worker": self.workers}.get(query["role"], [])
        return found if query.get("with-inventory") == "true" else [{**one, "inventory": ""} for one in found]

    def own(self) -> list[tuple[str, str]]:
        return [(stage, info) for host, stage, info in self.stages if host == HOST_ID]

    def order(self) -> list[str]:
        """The stages in the order in which they were entered."""
        found: list[str] = []
        for stage, _ in self.own():
            if not found or found[-1] != stage:
                found.append(stage)
        return found


class Rig:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program: tuple[str, ...] = (INSTALLER,)
        self.root = a_root(folder)
        self.bin = folder / "bin"
        self.bin.mkdir()
        (folder / "behave").mkdir()
        for name in PROGRAMS:
            script = self.bin / name
            script.write_text(RECORD)
            script.chmod(0o755)
        for name, text in BEHAVIOUR.items():
            self.behave(name, text)

    def behave(self, name: str, text: str) -> None:
        (self.folder / "behave" / name).write_text(text)

    def calls(self, name: str = "") -> list[list[str]]:
        try:
            lines = (self.folder / "calls").read_text().splitlines()
        except FileNotFoundError:
            return []
        found = [line.split("\t") for line in lines]
        return [words for words in found if not name or words[0] == name]

    def journal(self) -> dict[str, Any]:
        try:
            return json.loads((self.root / "run/firstlight-installer/journal.json").read_text())
        except FileNotFoundError:
            return {"done": [], "begun": ""}

    def log(self) -> str:
        return (self.root / "var/log/assisted-installer.log").read_text()

    async def start(self, url: str, *flags: str, role: str, **environment: str) -> asyncio.subprocess.Process:
        known = {
            **os.environ,
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "RIG": str(self.folder),
            "FIRSTLIGHT_AGENT_ROOT": str(self.root),
            "FIRSTLIGHT_INSTALLER_TIME_SCALE": "0.02",
            "PULL_SECRET_TOKEN": TOKEN,
            **environment,
        }
        words = (
            *("--role", role, "--cluster-id", CLUSTER_ID, "--infra-env-id", INFRA_ENV_ID, "--host-id", HOST_ID),
            *("--boot-device", "/dev/sda", "--url", url, "--mco-image", "mco:1", "--agent-image", "agent:1"),
        )
        return await asyncio.create_subprocess_exec(
            *self.program, *words, *flags, env=known, stdout=asyncio.subprocess.DEVNULL
        )

    async def send_logs(self, url: str, wanted: dict[str, Any]) -> int:
        """What the agent does when the service asks for logs, as a program of its own."""
        words = (
            *("-url", url, "-cluster-id", wanted["cluster_id"], "-host-id", wanted["host_id"]),
            *("-infra-env-id", wanted["infra_env_id"], f"-bootstrap={'true' if wanted['bootstrap'] else 'false'}"),
        )
        environment = {
            **os.environ,
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "RIG": str(self.folder),
            "FIRSTLIGHT_AGENT_ROOT": str(self.root),
            "PULL_SECRET_TOKEN": TOKEN,
        }
        sender = await asyncio.create_subprocess_exec(sys.executable, "-c", LOGS_SENDER, *words, env=environment)
        async with asyncio.timeout(60):
            return await sender.wait()

    async def finish(self, url: str, *flags: str, role: str, seconds: float = 60.0, **environment: str) -> int:
        process = await self.start(url, *flags, role=role, **environment)
        try:
            async with asyncio.timeout(seconds):
                return await process.wait()
        finally:
            await ended(process)


def left_behind(folder: Path) -> list[int]:
    """Programs of a rig that are still there."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if f"RIG={folder}\0".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


async def ended(process: asyncio.subprocess.Process, *, how: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(how)
    await process.wait()


async def eventually(condition: Callable[[], bool], *, seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)
