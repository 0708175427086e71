"""The laboratory with everything an installation needs: a release to install, machines with power, a new cluster."""

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.clients.command_line import Aicli
from tests.conftest import missing
from tests.lab.agents.hosts import Plan, a_plan, write_program
from tests.lab.agents.laboratory import API_VIP, INGRESS_VIP, URL, Laboratory
from tests.lab.agents.servers import DOMAIN, SERVICES
from tests.lab.agents.watching import V1
from tests.lab.installs.machines import Machine, a_machine
from tests.lab.installs.new_cluster import NewCluster
from tests.lab.installs.release import HOST, VERSION, push_release, start_registry
from tests.namespaces import Bridge, enter, program_or_skip
from tests.peers import Missing, peer_path, private_folder

CLUSTER = "prod"
SINGLE = "solo"
ALONE, LATE = a_plan("alone", 5), a_plan("w-2", 6)
"""The single node, and the worker that joins a running cluster."""
IMAGE_BYTES = 64 * 2**20
STATUS = re.compile(r"The cluster is now ([a-z-]+):")
FIRST_BOOT = "The installed system runs: Ignition is done, "
APPLIES = f"{FIRST_BOOT}the image of the node is being applied"
WAITS_ALONE = f"{FIRST_BOOT}waiting for the kubelet"
"""A single node has its whole configuration on the disk and no server to ask."""
FINALIZING = ("Waiting for cluster operators", "Adding router ca")
"""Then the cluster is installed; what the controller may still say is not waited for."""
FIRST_BOOT_UNIT = "machine-config-daemon-firstboot.service"
INSTALLER_IMAGE = "quay.io/firstlight/installer:lab"


class Site(Laboratory):
    records = (
        *(f"--host-record={name}.{CLUSTER}.{DOMAIN},{API_VIP}" for name in ("api", "api-int")),
        *(f"--host-record={name}.{SINGLE}.{DOMAIN},{ALONE.address}" for name in ("api", "api-int")),
        f"--address=/apps.{CLUSTER}.{DOMAIN}/{INGRESS_VIP}",
        f"--address=/apps.{SINGLE}.{DOMAIN}/{ALONE.address}",
    )

    def __init__(self, stack: ExitStack, network: Bridge, folder: Path) -> None:
        self._things = stack
        self._release = ""
        self.machines: dict[str, Machine] = {}
        self.clusters: list[NewCluster] = []
        self.first_boots: dict[str, str] = {}
        """What the service showed of each machine before it joined."""
        self.took: list[tuple[str, float]] = []
        """What was waited for, and the seconds it took."""
        program_or_skip("curl", package="curl")
        program_or_skip("ssh-keygen", package="openssh-client")
        self.image = an_image(folder)
        self.coreos_installer = the_peer("coreos-installer")
        super().__init__(stack, network, folder)
        home = folder / "home"
        home.mkdir()
        self._aicli = Aicli(URL, home)
        (folder / "resolv.conf").write_text(f"nameserver {SERVICES}\n")
        write_program(folder / "at-desk", f"mount --bind {folder}/resolv.conf /etc/resolv.conf", 'exec "$@"')

    def settings(self) -> dict[str, str]:
        if not self._release:
            registry = start_registry(self._things, namespace=self.services, folder=self.folder)
            with ThreadPoolExecutor(1, initializer=enter, initargs=(self.services,)) as thread:
                began = time.monotonic()
                self._release = thread.submit(push_release, registry).result()
                self.took.append(("a release image with openshift-install is pushed", time.monotonic() - began))
        offered = {
            "openshift_version": "4.19",
            "version": VERSION,
            "cpu_architecture": "x86_64",
            "url": self._release,
            "default": True,
            "support_level": "production",
        }
        return {
            "FIRSTLIGHT_INSTALLER": "release",
            "FIRSTLIGHT_PLAIN_REGISTRIES": HOST,
            "PUBLIC_CONTAINER_REGISTRIES": f"quay.io,{HOST}",
            "RELEASE_IMAGES": json.dumps([offered]),
            "ENABLE_IMAGE_SERVICE": "false",
            "INSTALLER_IMAGE": INSTALLER_IMAGE,
        }

    # --- the user's desk ----------------------------------------------------------------------------------------------

    def aicli(self, *words: str) -> str:
        return self.watcher.call(lambda: self._aicli(*words))

    def at_desk(self, *command: str | Path) -> str:
        """A program of the user, in the laboratory's network and with its name server."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.services, "unshare", "--mount", self.folder / "at-desk", *command],
            env={**os.environ, "HOME": str(self._aicli.home)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def home(self) -> Path:
        return self._aicli.home

    def create(self, name: str, **wishes: Any) -> str:
        """A cluster with its infra-env, whose id is given back; from now on it is the one that is looked at."""
        wished = {"base_dns_domain": DOMAIN, "openshift_version": "4.19", "additional_ntp_source": SERVICES, **wishes}
        self.aicli("create", "cluster", "--paramfile", self._aicli.parameters(**wished), name)
        self.watcher.cluster_id = self.watcher.call(lambda: self._aicli.cluster(name)["id"])
        return self.watcher.call(lambda: self._aicli.infra_env_id(name))

    def kubectl(self, name: str, *words: str) -> str:
        """By the kubeconfig that aicli downloads."""
        kubeconfig = self.home / f"kubeconfig.{name}"
        if not kubeconfig.exists():
            self.aicli("download", "kubeconfig", name)
        return self.at_desk(the_peer("kubectl"), f"--kubeconfig={kubeconfig}", *words)

    def nodes(self, name: str) -> dict[str, str]:
        """Name and state of each node, in kubectl's words."""
        lines = self.kubectl(name, "get", "nodes", "--no-headers").splitlines()
        return {words[0]: words[1] for words in map(str.split, lines)}

    def stages(self) -> dict[str, tuple[str, ...]]:
        """All stages each host went through, in order, from the service's events; the cluster's own have no name."""
        told = self.watcher.get(f"{V1}/v1/clusters/{self.watcher.cluster_id}/timeline")
        lanes = {lane["name"]: lane["spans"] for lane in told["lanes"]} | {"": told["finalizing"][:2]}
        return {name: tuple(span["stage"] for span in spans) for name, spans in lanes.items()}

    def statuses(self) -> list[str]:
        """The cluster's since its installation began, from the service's events."""
        watcher = self.watcher
        events = watcher.call(lambda: watcher.sdk.events.v2_list_events(cluster_id=watcher.cluster_id, limit=-1))
        found = [STATUS.match(event["message"]) for event in sorted(events, key=lambda event: event["event_time"])]
        changes = [kept for kept, _ in itertools.groupby(match[1] for match in found if match is not None)]
        return changes[changes.index("preparing-for-installation") :]

    def has_image(self, machine: Machine) -> bool:
        """Whether its disk begins with every byte of the image."""
        with Path(machine.host.device).open("rb") as disk:
            return disk.read(IMAGE_BYTES) == self.image.with_suffix("").read_bytes()

    # --- machines -----------------------------------------------------------------------------------------------------

    def switch_on(self, plan: Plan, infra_env_id: str) -> Machine:
        machine = a_machine(
            self._things,
            self.network,
            plan,
            folder=self.folder / plan.name,
            image=self.image,
            coreos_installer=self.coreos_installer,
        )
        self.machines[plan.name] = machine
        self.hosts[plan.name] = machine.host
        machine.start_agent(infra_env_id, url=URL)
        return machine

    def a_cluster(self, name: str, *members: str, address: str, where: Callable[[], str]) -> NewCluster:
        made = NewCluster(
            self._things,
            members=frozenset(members),
            domain=f"{name}.{DOMAIN}",
            address=address,
            folder=self.folder / f"cluster-{name}",
            where=where,
        )
        self.clusters.append(made)
        return made

    def attend(self) -> None:
        """Reboot who asked for it, let machines join whose first boot was seen, and let clusters go on."""
        hosts = [host for host in self.watcher.cluster.hosts if host.progress is not None]
        told = {host.requested_hostname: (host.progress.current_stage, host.progress.progress_info) for host in hosts}
        for machine in self.machines.values():
            if machine.wants_reboot:
                machine.reboot()
            if machine.is_installed and not machine.may_join:
                self._follow_boot(machine, *told.get(machine.name, ("", "")))
            assert "Traceback" not in machine.node_log(), machine.node_log()
        for cluster in self.clusters:
            cluster.attend(self.machines)

    def _follow_boot(self, machine: Machine, stage: str, info: str | None) -> None:
        """It joins when the service has shown what the machine itself tells of its boot; on day 2 it shows nothing."""
        if stage == "Configuring":
            machine.set_unit(FIRST_BOOT_UNIT, "activating")
        if stage == "Done" or info in (APPLIES, WAITS_ALONE):
            self.first_boots[machine.name] = info or ""
            machine.let_join()

    def installs_until(self, status: str, *, seconds: float) -> None:
        """Until the cluster has this status; one that can lead nowhere ends the wait."""

        def reached() -> bool:
            found = str(self.watcher.cluster.status)
            assert found not in ("ready", "error", "cancelled"), self.state()
            return found == status

        self.until(reached, what=f"{self.watcher.cluster.name} is {status}", seconds=seconds)

    def until(self, true: Callable[[], object], *, what: str, seconds: float) -> None:
        begin = time.monotonic()
        end = begin + seconds
        while not true():
            self.attend()
            assert time.monotonic() < end, f"after {seconds:g} seconds still not: {what}\n{self.state()}"
            time.sleep(0.3)
        self.took.append((what, time.monotonic() - begin))

    def state(self) -> str:
        """For whoever reads a failure: where everybody is."""
        lines = [f"cluster {self.watcher.cluster.status}: {self.watcher.cluster.status_info}"]
        for host in self.watcher.cluster.hosts:
            stage = host.progress.current_stage if host.progress else ""
            info = host.progress.progress_info if host.progress else ""
            lines.append(f"{host.requested_hostname} {host.status} {stage} {info} {host.status_info}")
        for name, machine in self.machines.items():
            lines += [f"--- {name}", machine.installer_log()[-1500:], machine.node_log()[-1500:]]
            lines.append(machine.further_logs()[-6000:])
        return "\n".join([*lines, "--- service", self.service.logged()[-6000:]])


def an_image(folder: Path) -> Path:
    """What is to be on each disk: partitions with CoreOS's names and numbers, and noise in them."""
    raw = folder / "disk.raw"
    with raw.open("wb") as file:
        file.truncate(IMAGE_BYTES)
        file.seek(8 * 2**20)
        file.write(os.urandom(32 * 2**20))
    words = [program_or_skip("sgdisk", package="gdisk")]
    for number, (name, end) in enumerate((("BIOS-BOOT", 4), ("EFI-SYSTEM", 8), ("boot", 24), ("root", 60)), start=1):
        words += ["-n", f"{number}:0:{end}M", "-c", f"{number}:{name}"]
    subprocess.run([*words, str(raw)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gzip", "-1", "--keep", raw], check=True)
    return folder / "disk.raw.gz"


def the_peer(name: str) -> Path:
    try:
        return peer_path(name)
    except Missing as reason:
        missing(str(reason))


@contextmanager
def a_site() -> Iterator[Site]:
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("installs"))
        site = Site(stack, Bridge(stack), folder)
        yield site
        sys.stdout.write("\n" + "".join(f"{what:<60}{seconds:>8.1f} s\n" for what, seconds in site.took))
