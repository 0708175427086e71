"""A machine of the laboratory: a namespace on the bridge with a leased address, a clock daemon, a disk and an agent."""

import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from tests.lab.agents.servers import DOMAIN, PREFIX, SERVICES, Server, chronyd, until
from tests.namespaces import Bridge, program_or_skip

AGENT = Path(sys.executable).parent / "firstlight-agent"
AGENT_IMAGE = "quay.io/firstlight/agent:lab"
PROGRAMS = Path(__file__).parent / "programs"
"""Stand-ins for programs that would do harm, or show nothing, on the machine that runs the tests."""
MEMORY = Path("/dev/shm")
DISK_BYTES = 120_000_000_000
LEASED = """#!/bin/sh
case $1 in bound | renew) ip address replace "$ip/$mask" dev eth0; ip route replace default via "$router" ;; esac
"""
BEGINS = re.compile(r"A step begins\. step=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Who a machine is."""

    name: str
    number: int
    uuid: UUID
    role: str = "auto-assign"

    @property
    def mac(self) -> str:
        return f"52:54:00:77:00:{self.number:02x}"

    @property
    def address(self) -> str:
        return f"{PREFIX}.{10 + self.number}"


def a_plan(name: str, number: int, *, role: str = "auto-assign", like: "Plan | None" = None) -> Plan:
    own = UUID(f"4c616200-0000-4000-8000-{number:012x}")
    return Plan(name=name, number=number, uuid=like.uuid if like is not None else own, role=role)


@dataclass(slots=True, kw_only=True)
class Host:
    plan: Plan
    network: Bridge
    namespace: str
    folder: Path
    device: str
    agent: Server
    clock: Server
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def start_agent(self, infra_env_id: str, *, url: str) -> None:
        """In a namespace for the name and the mounts, too: who changes those of one machine changes no other's."""
        self.agent.start(
            *("unshare", "--uts", "--mount", self.folder / "boot", AGENT, "--url", url),
            *("--infra-env-id", infra_env_id, "--agent-version", AGENT_IMAGE, "--interval", "1"),
            *("--with-journal-logging=false", "--with-stdout-logging=true"),
            environment={**os.environ, **self.environment},
        )

    def rename(self, name: str) -> None:
        command = ["nsenter", "--target", str(self.agent.pid), "--uts", "hostname", name]
        subprocess.run(command, check=True)

    def begun(self, step: str) -> int:
        """How many steps of a type the agents of this machine have begun."""
        return BEGINS.findall(self.agent.logged()).count(step)

    def calls(self, program: str) -> list[str]:
        """How a stand-in was called, line by line."""
        record = self.folder / "calls" / program
        return record.read_text().splitlines() if record.exists() else []


def a_host(
    stack: ExitStack,
    network: Bridge,
    plan: Plan,
    *,
    folder: Path,
    programs: Path = PROGRAMS,
    boot: tuple[str, ...] = (),
) -> Host:
    """`boot` are lines of shell that the machine runs before anything else."""
    folder.mkdir()
    namespace = network.plug(plan.name, mac=plan.mac)
    device = _disk(stack, folder)
    clock = Server(stack, namespace=namespace, log=folder / "chronyd.log")
    agent = Server(stack, namespace=namespace, log=folder / "agent.log")
    _lease(network, namespace, folder)
    # As a machine that got its time server with its lease: polled each second, so that faults show soon.
    socket = chronyd(clock, folder / "chrony", f"server {SERVICES} iburst minpoll 0 maxpoll 0")
    _write_programs(folder, plan.name, socket, programs=programs, boot=boot)
    lab = folder / "lab.json"
    lab.write_text(json.dumps(_lab(plan, device)))
    environment = {
        "FIRSTLIGHT_AGENT_LAB": str(lab),
        "FIRSTLIGHT_AGENT_STATE": str(folder / "state"),
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "LAB_HOST": str(folder),
    }
    return Host(
        plan=plan,
        network=network,
        namespace=namespace,
        folder=folder,
        device=device,
        agent=agent,
        clock=clock,
        environment=environment,
    )


def _disk(stack: ExitStack, folder: Path) -> str:
    """In memory where there is room: its speed is measured, and this machine's own disk is busy."""
    program_or_skip("losetup", package="mount")
    place = MEMORY if MEMORY.is_dir() else folder
    image = Path(stack.enter_context(TemporaryDirectory(prefix="firstlight-disk-", dir=place))) / "disk"
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    # Whoever installs asks the kernel to read partitions; without this flag a loop device would refuse.
    command = ["losetup", "--partscan", "--find", "--show", image]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    stack.callback(lambda: subprocess.run(["losetup", "--detach", device], check=True))
    return device


def _lease(network: Bridge, namespace: str, folder: Path) -> None:
    busybox = program_or_skip("busybox", package="busybox")
    script = folder / "leased"
    script.write_text(LEASED)
    script.chmod(0o755)
    network.run(namespace, busybox, "udhcpc", "-i", "eth0", "-n", "-q", "-f", "-t", "10", "-T", "1", "-s", script)


def _write_programs(folder: Path, name: str, socket: Path, *, programs: Path, boot: tuple[str, ...]) -> None:
    """What the machine has of its own: its boot, and programs that differ from this machine's."""
    (folder / "resolv.conf").write_text(f"search {DOMAIN}\nnameserver {SERVICES}\noptions timeout:1 attempts:2\n")
    binaries = folder / "bin"
    binaries.mkdir()
    write_program(
        folder / "boot",
        *boot,
        f"hostname {name}",
        f"mount --bind {folder}/resolv.conf /etc/resolv.conf",
        'exec "$@"',
    )
    for program in programs.iterdir():
        (binaries / program.name).symlink_to(program)
    write_program(binaries / "chronyc", f'exec /usr/bin/chronyc -h {socket} "$@"')


def write_program(path: Path, *lines: str) -> None:
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)


def _lab(plan: Plan, device: str) -> dict[str, object]:
    disk = {"device": device, "model": "Lab Disk", "serial": f"LAB{plan.number:05}", "vendor": "Lab"}
    dmi = {
        "product_uuid": str(plan.uuid),
        "sys_vendor": "Laboratory",
        "product_name": "Namespace",
        "product_serial": f"SN{plan.number:05}",
    }
    return {"disks": [disk], "dmi": dmi, "cpu_count": 8, "memory_bytes": 32 * 2**30}


def wait_for_step(host: Host, step: str, *, after: int, seconds: float = 60.0) -> None:
    """Until the agent has begun one more step of the type than `after`."""
    until(lambda: host.begun(step) > after, what=f"{host.plan.name} begins {step}", seconds=seconds, pause=0.02)
