"""An agent killed in every step it knows, and again with the answer in its hands: nothing is lost, nothing done twice.

The real agent with its real steps, in a namespace of its own. What a step runs or fetches is held until it may go on,
so that the agent dies in the middle. The next one is told to do the same, finds that the service takes no answers, and
is killed as well. The last is told nothing and brings the answer.
"""

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from firstlight.core.wire.words import StepType
from firstlight.host.actions.boot_artifacts import ENTRY, INITRD, KERNEL
from firstlight.host.actions.registry import ACTIONS
from tests.agent_sites import text
from tests.host.actions.test_install import a_request
from tests.host.agent.machines import HOST_ID, a_machine, eventually, running_agent
from tests.host.agent.scripted import Asked, Said, Scripted, document, scripted
from tests.namespaces import Bridge, bridge, inside, network_or_skip, program_or_skip

INFRA_ENV_ID = "0f0f0f0f-1111-4222-8333-444444444444"
CLUSTER_ID = "33333333-1111-4222-8333-444444444444"
NEVER_ASKED = {"execute", "next-step-runner"}
"""Named by the protocol, known to no agent."""
HELD = Path(__file__).with_name("held")
PROGRAMS = ("podman", "fio", "chronyc", "systemctl", "systemd-detect-virt", "journalctl", "mount")
DISK = "/dev/firstlight-held"
NOBODY = "10.9.0.77"
IGNITION = {"ignition": {"version": "3.2.0"}, "storage": {"luks": [{"name": "root"}]}}
ADVERTISED = {"payload": "p", "signatures": [{"protected": "a", "signature": "s"}]}
FILES: dict[str, object] = {"/worker": IGNITION, "/adv/abc": ADVERTISED, "/kernel": "kernel", "/initrd": "initrd"}


@dataclass(frozen=True, kw_only=True)
class Place:
    """One machine: its files under `root`, what its programs and the service's files wait for in `folder`."""

    folder: Path
    network: Bridge
    services: str

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def release(self) -> None:
        (self.folder / "finish").touch()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One step: what it is told, what shows that it is under way, and what must be true when all is over."""

    given: Callable[[str, Path], tuple[str, ...]]
    """By the URL of a server and the machine's folder."""
    under_way: str = ""
    """The beginning of a call, or the path of a file that is asked for; without one the network is silent."""
    begins: int | None = 2
    """How often an agent set out to do it; None where that is a matter of luck."""
    calls: int | None = None
    """How often the call above was made in all lives."""
    code: int = 0
    says: str = ""
    """Part of the answer."""
    afterwards: Callable[[Path], bool] = lambda _: True


def one(document: object) -> Callable[[str, Path], tuple[str, ...]]:
    return lambda _url, _folder: (text(document),)


def leases(_url: str, _folder: Path) -> tuple[str, ...]:
    macs = {"api_vip_mac": "00:1a:4a:11:22:33", "ingress_vip_mac": "00:1a:4a:44:55:66"}
    return (text({"interface": "eth0", **macs, "api_vip_lease": "", "ingress_vip_lease": ""}),)


def artifacts(url: str, folder: Path) -> tuple[str, ...]:
    urls = {f"{name}_url": f"{url}/{name}" for name in ("kernel", "rootfs", "initrd")}
    return (text({**urls, "host_fs_mount_dir": str(folder / "installed")}),)


CUT_OFF = "not run a second time"
LOGS = {"cluster_id": CLUSTER_ID, "host_id": HOST_ID, "infra_env_id": INFRA_ENV_ID, "bootstrap": False}
IMAGE = "quay.io/example/one:1"
CASES: dict[str, Case] = {
    "inventory": Case(given=lambda _u, _f: (HOST_ID,), under_way="systemd-detect-virt", says="box-1"),
    "connectivity-check": Case(
        given=one([{"host_id": CLUSTER_ID, "nics": [{"name": "e", "mac": "", "ip_addresses": [NOBODY]}]}]),
        says=CLUSTER_ID,
    ),
    "free-network-addresses": Case(given=one(["10.9.0.0/24"]), says=NOBODY),
    "verify-vips": Case(given=one([{"vip": NOBODY, "vip_type": "api"}]), says="succeeded"),
    "domain-resolution": Case(given=one({"domains": [{"domain_name": "api.example."}]}), says="api.example."),
    "dhcp-lease-allocate": Case(given=leases, says="10.9.0.1"),
    "ntp-synchronizer": Case(given=one({"ntp_source": ""}), under_way="chronyc -n sources", says="synced"),
    "api-vip-connectivity-check": Case(
        given=lambda url, _: (text({"url": f"{url}/worker"}),), under_way="/worker", says='"is_success":true'
    ),
    "tang-connectivity-check": Case(
        given=lambda url, _: (text({"tang_servers": text([{"url": url, "thumbprint": "abc"}])}),),
        under_way="/adv/abc",
        says='"is_success":true',
    ),
    "container-image-availability": Case(
        given=one({"images": [IMAGE], "timeout": 600}), under_way=f"podman pull --quiet {IMAGE}", says='"success"'
    ),
    "upgrade-agent": Case(
        given=one({"agent_image": IMAGE}), under_way=f"podman pull --quiet {IMAGE}", says='"success"'
    ),
    "logs-gather": Case(given=one({**LOGS, "installer_gather": False, "master_ips": None}), under_way="journalctl"),
    "stop-installation": Case(given=lambda _u, _f: (), under_way="podman stop"),
    "download-boot-artifacts": Case(
        given=artifacts,
        under_way="/kernel",
        says="put in place",
        afterwards=lambda folder: all((folder / "installed" / name).exists() for name in (KERNEL, INITRD, ENTRY)),
    ),
    "installation-disk-speed-check": Case(
        given=lambda _u, _f: (text({"path": DISK}), "480.00"),
        under_way="fio",
        begins=1,
        calls=2,
        code=-1,
        says=CUT_OFF,
    ),
    "reboot-for-reclaim": Case(
        given=lambda _, folder: (text({"host_fs_mount_dir": str(folder / "prepared")}),),
        under_way="systemctl reboot",
        begins=1,
        calls=1,
        code=-1,
        says=CUT_OFF,
    ),
    # It goes on without the agent, and is waited for or has ended when the next one looks.
    "install": Case(
        given=one(a_request(role="worker", boot_device=DISK)), under_way="podman run", begins=None, calls=1
    ),
}


def test_no_step_is_forgotten() -> None:
    assert set(CASES) == set(ACTIONS) == set(get_args(StepType)) - NEVER_ASKED
    assert {kind for kind, case in CASES.items() if case.calls is not None} == {
        kind for kind, action in ACTIONS.items() if action.once
    }


@pytest.fixture(scope="module")
def network() -> Iterator[tuple[Bridge, str, str]]:
    network_or_skip()
    with bridge() as made:
        machine = made.plug("one", "10.9.0.1/24", mac="52:54:00:00:00:01")
        yield made, machine, made.plug("svc", "10.9.0.2/24", mac="52:54:00:00:00:02")


class Service:
    """Asks for one step once in each life of the agent, takes answers or does not, and holds its files."""

    def __init__(self, place: Place, *, takes_answers: bool) -> None:
        self.place = place
        self.takes_answers = takes_answers
        self.asks: list[dict[str, Any]] = []
        self.registered = 0
        self.replies: list[dict[str, Any]] = []
        self.uploads = 0
        self.fetched: list[str] = []

    async def __call__(self, asked: Asked) -> Said:
        if asked.path in FILES:
            self.fetched.append(asked.path)
            while not (self.place.folder / "finish").exists():
                await asyncio.sleep(0.05)
            return document(FILES[asked.path])
        if asked.path.endswith("/hosts"):
            self.registered += 1
            return document({"id": HOST_ID}, 201)
        if asked.path.endswith("/logs"):
            self.uploads += 1
            return Said(204, b"")
        if asked.path.endswith("/logs-progress"):
            return Said(204, b"")
        if asked.method == "POST":
            if not self.takes_answers:
                return Said(503, b"{}")
            self.replies.append(asked.json())
            return Said(204, b"")
        asks, self.asks = self.asks, []
        return document({"instructions": asks, "next_instruction_seconds": 1})


def a_place(folder: Path, network: Bridge, services: str) -> Place:
    root = a_machine(folder / "root")
    for name in ("dev", "etc", "var/log"):
        (root / name).mkdir(parents=True, exist_ok=True)
    os.mknod(root / DISK.lstrip("/"), stat.S_IFBLK | 0o600, os.makedev(7, 0))
    (root / "etc/resolv.conf").write_text(f"nameserver {NOBODY}\noptions timeout:3 attempts:2\n")
    (folder / "installed/boot").mkdir(parents=True)
    entry = folder / "prepared" / ENTRY
    entry.parent.mkdir(parents=True)
    entry.write_text("options quiet\n")
    (folder / "bin").mkdir()
    for program in PROGRAMS:
        (folder / "bin" / program).symlink_to(HELD)
    return Place(folder=folder, network=network, services=services)


def lease_addresses(stack: ExitStack, place: Place) -> None:
    program = program_or_skip("dnsmasq", package="dnsmasq-base")
    server = place.network.serve(
        place.services,
        *(program, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root"),
        *("--port=0", "--interface=eth0", "--bind-interfaces", "--dhcp-authoritative"),
        *(f"--pid-file={place.folder}/dnsmasq.pid", f"--dhcp-leasefile={place.folder}/leases"),
        "--dhcp-range=10.9.0.100,10.9.0.199,1h",
        log=place.folder / "dnsmasq.log",
    )
    stack.callback(server.terminate)


async def killed_twice(kind: str, case: Case, place: Place) -> tuple[Service, Service, str]:
    """The service as the first two lives of the agent met it, as the last did, and what the agents wrote."""
    deaf, service, folder = Service(place, takes_answers=False), Service(place, takes_answers=True), place.folder
    log = folder / "agent.log"

    def count(words: str) -> int:
        return (log.read_text() if log.exists() else "").count(words)

    def is_under_way() -> bool:
        seen = sum(call.startswith(case.under_way) for call in (*place.calls, *deaf.fetched))
        return count(f"A step begins. step={kind} ") > 0 and (not case.under_way or seen >= (case.calls or 1))

    async def live(server: Scripted, true: Callable[[], bool], *, killed: bool) -> None:
        known = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HELD": str(folder), "HOLD": case.under_way or "nothing"}
        with running_agent(folder, url=server.url, infra_env_id=INFRA_ENV_ID, **known) as agent:
            await asyncio.to_thread(eventually, true, bool)
            if killed:
                agent.process.kill()
                agent.process.wait()

    with ExitStack() as stack:
        async with scripted(deaf) as server:
            step = {"step_type": kind, "step_id": f"{kind}-1", "args": list(case.given(server.url, folder))}
            deaf.asks = [step]
            await live(server, is_under_way, killed=True)
            assert count(f"A step has ended. step={kind} ") == 0, "it died in the middle"
            if kind == "dhcp-lease-allocate":
                lease_addresses(stack, place)
            place.release()
            deaf.asks = [step]
            waits = f"A reply waits for the service to come back. step={kind} "
            await live(server, lambda: count(waits) > 0, killed=True)
        async with scripted(service) as server:
            await live(server, lambda: bool(service.replies), killed=False)
    return deaf, service, log.read_text()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", CASES)
def test_killed_in_the_step_and_with_its_answer(kind: str, network: tuple[Bridge, str, str], tmp_path: Path) -> None:
    case = CASES[kind]
    made, machine, services = network
    place = a_place(tmp_path, made, services)
    deaf, service, log = inside(machine, lambda: killed_twice(kind, case, place))
    [reply] = service.replies
    assert (reply["step_type"], reply["step_id"]) == (kind, f"{kind}-1")
    assert reply.get("exit_code", 0) == case.code, reply
    assert case.says in reply.get("output", "") + reply.get("error", "")
    assert case.begins in (None, log.count(f"A step begins. step={kind} "))
    if case.calls is not None:
        assert sum(call.startswith(case.under_way) for call in place.calls) == case.calls
    assert case.afterwards(tmp_path)
    assert (deaf.registered, service.registered) == ((1, 0) if kind == "install" else (2, 1))
    assert deaf.uploads == (kind == "logs-gather")
    assert "nobody foresaw" not in log
