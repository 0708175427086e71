"""A machine made up file by file, and the real agent running for it as a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.host.collect.trees import a_disk, plant

T = TypeVar("T")
AGENT = str(Path(sys.executable).parent / "firstlight-agent")
IMAGE = "quay.io/edge-infrastructure/assisted-installer-agent:latest"
SERIAL = "CN7220016A00B7"
HOST_ID = "d626ff1d-7374-6dea-7559-e2240d8124fa"
PATIENCE = 60.0


def a_machine(folder: Path) -> Path:
    """Eight processors, 32 GiB, one disk of 128 GiB: good enough for every role."""
    processor = "processor\t: {}\nmodel name\t: Example\ncpu MHz\t\t: 3000\nflags\t\t: fpu vmx\n\n"
    plant(
        folder,
        {
            **a_disk("sda", queue__rotational="0\n", device__vendor="ATA\n", device__model="Example\n"),
            "proc/cpuinfo": "".join(processor.format(number) for number in range(8)),
            "proc/meminfo": "MemTotal:       33554432 kB\n",
            "proc/cmdline": "quiet\n",
            "proc/1/mountinfo": "22 1 0:21 / / rw - tmpfs tmpfs rw\n",
            "proc/sys/kernel/hostname": "box-1\n",
            "proc/sys/kernel/random/boot_id": "0b0b0b0b-0000-4000-8000-000000000000\n",
            "sys/class/dmi/id/board_serial": f"{SERIAL}\n",
            "sys/class/dmi/id/sys_vendor": "Example\n",
            "sys/class/dmi/id/product_name": "Box\n",
        },
    )
    return folder


@dataclass(frozen=True)
class RunningAgent:
    process: "subprocess.Popen[bytes]"
    log: Path

    def said(self) -> str:
        return self.log.read_text()


@contextmanager
def running_agent(
    folder: Path, *, url: str, infra_env_id: str, command: tuple[str, ...] = (AGENT,), **environment: str
) -> Iterator[RunningAgent]:
    """`folder` has the machine's files under `root`; the agent ends with the block."""
    flags = ("--url", url, "--infra-env-id", infra_env_id, "--agent-version", IMAGE, "--interval", "1")
    quiet = ("--with-journal-logging=false", "--with-stdout-logging=true")
    known = {**os.environ, "FIRSTLIGHT_AGENT_ROOT": str(folder / "root"), **environment}
    log = folder / "agent.log"
    with log.open("ab") as output:
        process = subprocess.Popen((*command, *flags, *quiet), env=known, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield RunningAgent(process, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def eventually(look: Callable[[], T], wanted: Callable[[T], bool], *, seconds: float = PATIENCE) -> T:
    """What is seen once it is as wanted."""
    end = time.monotonic() + seconds
    while not wanted(found := look()):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found
