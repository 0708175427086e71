"""Network namespaces for tests: small machines on a bridge, and code that runs inside one of them.

Needs root and the `ip` program; without them the tests that ask for a network are skipped by name (never in CI).
"""

import asyncio
import ctypes
import itertools
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from tests.conftest import missing

T = TypeVar("T")

_CLONE_NEWNET: Final = 0x4000_0000
_NUMBERS: Final = itertools.count()
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def why_not() -> str:
    """Why namespaces cannot be made here, empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the program ip (package iproute2) is missing"
    tried = f"fl-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", tried], check=False, capture_output=True)
    if made.returncode:
        return f"network namespaces cannot be made: {made.stderr.decode().strip()}"
    subprocess.run(["ip", "netns", "delete", tried], check=True)
    return ""


def network_or_skip() -> None:
    """Skip the calling test by name where namespaces cannot be made; in CI that is a failure."""
    reason = why_not()
    if reason:
        missing(reason)


def program_or_skip(name: str, *, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        missing(f"the program {name} (package {package}) is missing")
    return found


def ip(*words: str, namespace: str = "") -> None:
    subprocess.run(["ip", *(("-n", namespace) if namespace else ()), *words], check=True)


def enter(namespace: str) -> None:
    """Move the calling thread, which should be nobody else's, into a namespace for good."""
    descriptor = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if _LIBC.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns failed")
    finally:
        os.close(descriptor)


def inside(namespace: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in an event loop on a thread that has entered the namespace; sockets made there belong to it."""
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            enter(namespace)
            results.append(asyncio.run(work()))
        except BaseException as reason:
            failures.append(reason)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class Bridge:
    """A bridge in a namespace of its own, and machines plugged into it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.prefix = f"fl{os.getpid()}x{next(_NUMBERS)}"
        self.switch = self._namespace("sw")
        ip("link", "add", "br0", "mtu", "9000", "type", "bridge", namespace=self.switch)
        ip("link", "set", "br0", "up", namespace=self.switch)

    def _namespace(self, name: str) -> str:
        full = f"{self.prefix}-{name}"
        ip("netns", "add", full)
        self._stack.callback(lambda: ip("netns", "delete", full))
        ip("link", "set", "lo", "up", namespace=full)
        # Duplicate address detection would keep new IPv6 addresses silent for a second.
        self.run(full, "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.default.dad_transmits=0")
        return full

    def plug(self, name: str, *addresses: str, mac: str = "", mtu: int = 1500) -> str:
        """A machine with one link `eth0`; its port on the switch is `p-` and its name."""
        machine, port = self._namespace(name), f"p-{name}"
        ip("link", "add", port, "netns", self.switch, "type", "veth", "peer", "name", "eth0", "netns", machine)
        ip("link", "set", port, "mtu", "9000", "master", "br0", "up", namespace=self.switch)
        if mac:
            ip("link", "set", "eth0", "address", mac, namespace=machine)
        ip("link", "set", "eth0", "mtu", str(mtu), "up", namespace=machine)
        for address in addresses:
            extra = ("nodad",) if ":" in address else ()
            ip("address", "add", address, "dev", "eth0", *extra, namespace=machine)
        return machine

    def run(self, machine: str, *command: str | Path, given: str | None = None) -> str:
        """A program inside a machine; its output."""
        done = subprocess.run(
            ["ip", "netns", "exec", machine, *command], check=False, capture_output=True, text=True, input=given
        )
        assert done.returncode == 0, f"{command} in {machine}: {done.stderr}"
        return done.stdout

    def serve(self, machine: str, *command: str | Path, log: Path) -> subprocess.Popen[bytes]:
        """A server inside a machine, ended with the bridge."""
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["ip", "netns", "exec", machine, *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

        def end() -> None:
            process.terminate()
            process.wait(10)

        self._stack.callback(end)
        return process


@contextmanager
def bridge() -> Iterator[Bridge]:
    with ExitStack() as stack:
        yield Bridge(stack)
