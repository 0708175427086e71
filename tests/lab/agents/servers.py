"""What a data centre has beside machines: DHCP, DNS and time, from dnsmasq and chronyd."""

import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.namespaces import Bridge, program_or_skip

DOMAIN = "lab.example"
PREFIX = "10.77.0"
NETWORK = f"{PREFIX}.0/24"
SERVICES = f"{PREFIX}.1"
STOP_SECONDS = 10


def until(true: Callable[[], object], *, what: str, seconds: float = 180.0, pause: float = 0.1) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"after {seconds:g} seconds still not: {what}"
        time.sleep(pause)


class Server:
    """A program in a namespace, or outside of all, that is started, stopped and started again with other words."""

    def __init__(self, stack: ExitStack, *, log: Path, namespace: str = "") -> None:
        self._namespace = namespace
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        stack.callback(self.stop)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *command: str | Path, environment: dict[str, str] | None = None) -> None:
        assert not self.runs
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [*(("ip", "netns", "exec", self._namespace) if self._namespace else ()), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd="/",
            )

    def stop(self) -> None:
        if self._process is not None and self.runs:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_SECONDS)

    def logged(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""


class Names:
    """dnsmasq: leases by MAC, names of the laboratory, and a wildcard record when somebody configures one."""

    def __init__(self, stack: ExitStack, *, namespace: str, folder: Path, reservations: dict[str, str]) -> None:
        self._program = program_or_skip("dnsmasq", package="dnsmasq-base")
        self._folder = folder
        self._reservations = reservations
        self._server = Server(stack, namespace=namespace, log=folder / "dnsmasq.log")

    def start(self, *records: str) -> None:
        folder = self._folder
        self._server.stop()
        self._server.start(
            *(self._program, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts"),
            *("--user=root", "--log-facility=-", "--interface=eth0", "--bind-interfaces", "--dhcp-authoritative"),
            *(f"--pid-file={folder}/dnsmasq.pid", f"--dhcp-leasefile={folder}/leases"),
            *(f"--dhcp-range={PREFIX}.10,{PREFIX}.99,1h", f"--dhcp-option=option:router,{SERVICES}"),
            *(f"--dhcp-host={mac},{address}" for mac, address in self._reservations.items()),
            *(f"--domain={DOMAIN}", f"--local=/{DOMAIN}/", f"--host-record=ntp.{DOMAIN},{SERVICES}"),
            *records,
        )


def chronyd(server: Server, folder: Path, *lines: str) -> Path:
    """Start a clock daemon that never touches the clock; its command socket."""
    program = program_or_skip("chronyd", package="chrony")
    folder.mkdir(mode=0o750, exist_ok=True)
    socket = folder / "command.sock"
    settings = [f"pidfile {folder}/pid", f"bindcmdaddress {socket}", "cmdport 0", "user root", *lines]
    (folder / "conf").write_text("\n".join(settings) + "\n")
    (folder / "pid").unlink(missing_ok=True)
    server.start(program, "-d", "-x", "-f", folder / "conf")
    until(lambda: socket.exists() or not server.runs, what="chronyd listens")
    assert server.runs, server.logged()
    return socket


def switched_ports(network: Bridge, *ports: str, bridge: str) -> None:
    """Plug ports of the switch into one of its bridges."""
    for port in ports:
        network.run(network.switch, "ip", "link", "set", port, "master", bridge, "up")
