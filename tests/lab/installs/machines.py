"""A machine that is installed for real: its live system in memory, its power, its disk, and the boot from it.

The live system is this machine's own file tree under folders that belong to the one machine alone: what the installer
writes to /opt, /etc, /root, /usr and /var/log stays there.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from tests.lab.agents.hosts import AGENT, AGENT_IMAGE, MEMORY, Host, Plan, a_host
from tests.lab.agents.servers import Server, until
from tests.namespaces import Bridge

PROGRAMS = Path(__file__).parent / "programs"
PROJECT = Path(__file__).parents[3]
BINARIES = Path(sys.executable).parent
TREES = ("etc", "root", "usr")
TIME_SCALE = "0.1"
"""Rests and limits of the installer; its stages may take minutes then."""
BOOT = (
    "set -e",
    "mount -t tmpfs tmpfs /run",
    "mkdir /run/udev",
    "touch /run/udev/control",
    'mount --bind "$LAB_OWN/opt" /opt',
    'mount --bind "$LAB_OWN/log" /var/log',
    f"for tree in {' '.join(TREES)}; do",
    '  mount -t overlay overlay -o "lowerdir=/$tree,upperdir=$LAB_OWN/$tree,workdir=$LAB_OWN/.$tree" "/$tree"',
    "done",
)
END_SECONDS = 30.0


@dataclass(kw_only=True)
class Machine:
    host: Host
    stack: ExitStack
    image: Path
    coreos_installer: Path
    own: Path = Path()
    """What the running system has written."""
    boots: int = 0
    server_log: Path = Path("/dev/null")
    """Of the machine-config server that this machine, once a node, shows."""
    live: Path = Path()
    """What the live system has written."""
    _first: Server = field(init=False)
    _node: Server = field(init=False)
    _further: dict[str, Server] = field(default_factory=dict[str, Server])

    def __post_init__(self) -> None:
        self._first = Server(self.stack, namespace=self.host.namespace, log=self.host.folder / "first.log")
        self._node = Server(self.stack, log=self.host.folder / "node.log")
        self.stack.callback(self.power_off)

    @property
    def name(self) -> str:
        return self.host.plan.name

    # --- power --------------------------------------------------------------------------------------------------------

    def power_on(self) -> None:
        """The machine's first process; everything else is started beside it."""
        place = MEMORY if MEMORY.is_dir() else self.host.folder
        self.own = Path(mkdtemp(prefix="firstlight-live-", dir=place))
        self.stack.callback(shutil.rmtree, self.own, ignore_errors=True)
        for name in ("opt", "log/containers", *TREES, *(f".{tree}" for tree in TREES)):
            (self.own / name).mkdir(parents=True)
        self.boots += 1
        self.live = self.own if self.boots == 1 else self.live
        self._first.start(
            *("unshare", "--uts", "--mount", self.host.folder / "boot", "sh", "-c", "echo booted; exec sleep infinity"),
            environment=self.environment,
        )
        until(lambda: self._first.logged().count("booted") == self.boots or not self._first.runs, what="the boot")
        assert self._first.runs, self._first.logged()

    def power_off(self) -> None:
        """At once, whatever runs; only the clock daemon has a battery."""

        def left() -> list[int]:
            listed = subprocess.run(
                ["ip", "netns", "pids", self.host.namespace], capture_output=True, text=True, check=False
            )
            spared = {self.host.clock.pid if self.host.clock.runs else 0}
            return [int(word) for word in listed.stdout.split() if int(word) not in spared]

        def all_gone() -> bool:
            for pid in left():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            for server in (self._first, self._node, self.host.agent, *self._further.values()):
                server.stop()
            return not left()

        until(all_gone, what=f"{self.name} is off", seconds=END_SECONDS)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self.host.environment,
            "LAB_OWN": str(self.own),
            "LAB_BIN": str(BINARIES),
            "LAB_IMAGE": str(self.image),
            "LAB_COREOS_INSTALLER": str(self.coreos_installer),
            "LAB_BOOTS": str(self.boots),
            "LAB_MCS_LOG": str(self.server_log),
            "PYTHONPATH": str(PROJECT),
            "FIRSTLIGHT_INSTALLER_TIME_SCALE": TIME_SCALE,
        }

    # --- programs -----------------------------------------------------------------------------------------------------

    def inside(self, *command: str | Path) -> list[str | Path]:
        return ["nsenter", "--target", str(self._first.pid), "--net", "--mount", "--uts", "--", *command]

    def start(self, name: str, *command: str | Path, **environment: str) -> Server:
        """A further program of the machine."""
        server = self._further.setdefault(name, Server(self.stack, log=self.host.folder / f"{name}.log"))
        server.start(*self.inside(*command), environment=self.environment | environment)
        return server

    def start_agent(self, infra_env_id: str, *, url: str) -> None:
        self.host.agent.start(
            *self.inside(AGENT, "--url", url, "--infra-env-id", infra_env_id, "--agent-version", AGENT_IMAGE),
            *("--interval", "1", "--with-journal-logging=false", "--with-stdout-logging=true"),
            environment=self.environment,
        )

    def unit(self, name: str) -> str:
        """The state of a unit, empty if nobody has started it."""
        file = self.host.folder / "units" / name
        return file.read_text().strip() if file.exists() else ""

    def set_unit(self, name: str, state: str) -> None:
        file = self.host.folder / "units" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{state}\n")

    # --- installation -------------------------------------------------------------------------------------------------

    @property
    def is_installed(self) -> bool:
        return self.boots > 1

    @property
    def wants_reboot(self) -> bool:
        """Whether the installer asked for it; unless it is to happen now, what is under way is told first."""
        asked = self.host.calls("shutdown")
        if self.is_installed or not asked:
            return False
        return asked[-1].startswith("-r now") or self._told_end()

    def _told_end(self) -> bool:
        """Whether the end of the installer was brought to the service, by the agent's own journal."""
        journal = json.loads((self.host.folder / "state/once.json").read_text())
        return any(one["step_type"] == "install" and one.get("delivered", False) for one in journal["entries"])

    def reboot(self) -> None:
        """From its disk, with what coreos-installer was told to put there."""
        [words] = [shlex.split(call) for call in self.host.calls("coreos-installer")]
        ignition = self.own / words[words.index("-i") + 1].lstrip("/")
        kept = self.host.folder / "disk.ign"
        shutil.copyfile(ignition, kept)
        self.power_off()
        shutil.rmtree(self.host.folder / "units")
        self.power_on()
        self._node.start(
            *self.inside(sys.executable, "-m", "lab.cluster.node", kept, self.host.plan.address),
            environment=self.environment,
        )

    def let_join(self) -> None:
        """Its first boot has come as far as the kubelet."""
        (self.host.folder / "join").touch()

    @property
    def may_join(self) -> bool:
        return (self.host.folder / "join").exists()

    def node_log(self) -> str:
        return self._node.logged()

    def further_logs(self) -> str:
        return "".join(f"--- {name} on {self.name}\n{one.logged()}" for name, one in self._further.items())

    def installer_log(self) -> str:
        log = self.live / "log/assisted-installer.log"
        return log.read_text() if log.exists() else ""


def a_machine(
    stack: ExitStack, network: Bridge, plan: Plan, *, folder: Path, image: Path, coreos_installer: Path
) -> Machine:
    host = a_host(stack, network, plan, folder=folder, programs=PROGRAMS, boot=BOOT)
    (folder / "bin/logs_sender").symlink_to(AGENT)
    machine = Machine(host=host, stack=stack, image=image, coreos_installer=coreos_installer)
    machine.power_on()
    return machine
