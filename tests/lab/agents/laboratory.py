"""The whole laboratory: a switch, a namespace with the services and with Firstlight itself, and five machines."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from assisted_service_client import models

from tests.clients.sdk import PULL_SECRET, SSH_KEY
from tests.lab.agents.hosts import AGENT_IMAGE, Host, Plan, a_host, a_plan
from tests.lab.agents.servers import DOMAIN, PREFIX, SERVICES, Names, Server, chronyd, switched_ports, until
from tests.lab.agents.watching import Timing, Watcher, table
from tests.namespaces import Bridge, ip, program_or_skip
from tests.peers import private_folder

PORT, IMAGES_PORT = 8090, 8888
URL = f"http://{SERVICES}:{PORT}"
API_VIP, INGRESS_VIP = f"{PREFIX}.201", f"{PREFIX}.202"
CLUSTER = "prod"
VERSION = "4.18"
POLL_SECONDS = 3
"""Agents measure this often: a fault shows within seconds, and the suite ends within minutes."""

UNFORESEEN = ("Traceback", "nobody foresaw")

PLANS = (
    a_plan("cp-0", 0, role="master"),
    a_plan("cp-1", 1, role="master"),
    a_plan("cp-2", 2, role="master"),
    a_plan("w-0", 3, role="worker"),
    a_plan("w-1", 4, role="worker"),
)
EXTRA = (a_plan("twin", 5, like=PLANS[4]), a_plan("boxed", 6))
"""Machines that come later: one whose firmware claims to be another, and one that runs the agent's image."""
READY = {"": "ready", **{plan.name: "known" for plan in PLANS}}


class Laboratory:
    records: tuple[str, ...] = ()
    """What dnsmasq is told beyond leases and its own names."""

    def __init__(self, stack: ExitStack, network: Bridge, folder: Path) -> None:
        self._stack = stack
        self.network = network
        self.folder = folder
        self.services = network.plug("svc", f"{SERVICES}/24", mac="52:54:00:77:01:01")
        reservations = {plan.mac: plan.address for plan in (*PLANS, *EXTRA)}
        self.names = Names(stack, namespace=self.services, folder=folder, reservations=reservations)
        self.clock = Server(stack, namespace=self.services, log=folder / "chronyd.log")
        self.service = Server(stack, namespace=self.services, log=folder / "service.log")
        self.hosts: dict[str, Host] = {}
        self.infra_env_id = ""
        self.timings: list[Timing] = []
        self.names.start(*self.records)
        self.start_clock()
        self.start_service()
        self.watcher = Watcher(self.services, url=URL)
        stack.callback(self.watcher.close)
        self.wait_for_service()

    # --- services -----------------------------------------------------------------------------------------------------

    def start_clock(self) -> None:
        chronyd(self.clock, self.folder / "chrony", "local stratum 8", "allow", "port 123")

    def start_service(self) -> None:
        environment = os.environ | {
            "FIRSTLIGHT_LISTEN": f"{SERVICES}:{PORT}",
            "FIRSTLIGHT_IMAGES_LISTEN": f"{SERVICES}:{IMAGES_PORT}",
            "FIRSTLIGHT_DATA_DIR": str(self.folder / "data"),
            "FIRSTLIGHT_LOG_LEVEL": "warning",
            "FIRSTLIGHT_INSTALLER": "built-in",
            "FIRSTLIGHT_POLL_SECONDS": str(POLL_SECONDS),
            "SERVICE_BASE_URL": URL,
            "AGENT_DOCKER_IMAGE": AGENT_IMAGE,
            **self.settings(),
        }
        self.service.start(Path(sys.executable).parent / "firstlight", "serve", environment=environment)

    def settings(self) -> dict[str, str]:
        """Variables of the service beyond the laboratory's own."""
        return {}

    def wait_for_service(self) -> None:
        until(lambda: self.watcher.is_ready() or not self.service.runs, what="the service is ready")
        assert self.service.runs, self.service.logged()

    def complaints(self) -> list[str]:
        """What service and agents wrote about errors nobody foresaw."""
        logs = [self.service.logged(), *(host.agent.logged() for host in self.hosts.values())]
        return [log[log.index(word) :][:2000] for log in logs for word in UNFORESEEN if word in log]

    # --- machines -----------------------------------------------------------------------------------------------------

    def add(self, plan: Plan) -> Host:
        host = a_host(self._stack, self.network, plan, folder=self.folder / plan.name)
        self.hosts[plan.name] = host
        return host

    def start_agent(self, host: Host) -> None:
        host.start_agent(self.infra_env_id, url=URL)

    def create_cluster(self) -> None:
        watcher, sdk = self.watcher, self.watcher.sdk
        wanted = {"api_vips": [models.ApiVip(ip=API_VIP)], "ingress_vips": [models.IngressVip(ip=INGRESS_VIP)]}
        settings = {"base_dns_domain": DOMAIN, "additional_ntp_source": SERVICES, "ssh_public_key": SSH_KEY}
        cluster = watcher.call(lambda: sdk.a_cluster(name=CLUSTER, **wanted, **settings, pull_secret=PULL_SECRET))
        watcher.cluster_id = cluster.id
        self.infra_env_id = watcher.call(lambda: sdk.an_infra_env(cluster)).id

    def change(self, host_id: str, **settings: str) -> None:
        change, update = models.HostUpdateParams(**settings), self.watcher.sdk.installer.v2_update_host
        self.watcher.call(lambda: update(self.infra_env_id, host_id, change))

    def remove(self, name: str) -> None:
        """Switch a machine off and forget its host."""
        self.hosts.pop(name).agent.stop()
        [known] = [host for host in self.watcher.cluster.hosts if host.requested_hostname == name]
        delete = self.watcher.sdk.installer.v2_deregister_host
        self.watcher.call(lambda: delete(self.infra_env_id, known.id))

    # --- faults -------------------------------------------------------------------------------------------------------

    @contextmanager
    def rules(self, *rules: str) -> Iterator[None]:
        """Rules on frames that the switch forwards."""
        program_or_skip("nft", package="nftables")
        chain = "type filter hook forward priority 0; " + " ".join(f"{rule};" for rule in rules)
        self.network.run(
            self.network.switch, "nft", "-f", "-", given=f"table bridge faults {{\nchain passing {{ {chain} }}\n}}\n"
        )
        try:
            yield
        finally:
            self.network.run(self.network.switch, "nft", "delete", "table", "bridge", "faults")

    @contextmanager
    def slow_cable(self, first: Host, second: Host, *, seconds: float) -> Iterator[None]:
        """The first machine moves behind a relay that keeps frames of this pair waiting."""
        network, switch, port = self.network, self.network.switch, f"p-{first.plan.name}"
        relay = Server(self._stack, namespace=switch, log=self.folder / "relay.log")
        macs = (first.plan.mac, second.plan.mac)
        relay.start(sys.executable, "-m", "lab.relay", "left", "right", str(seconds), *macs, environment=_importing())
        try:
            until(lambda: "ready" in relay.logged() or not relay.runs, what="the relay is ready")
            assert relay.runs, relay.logged()
            ip("link", "add", "br1", "type", "bridge", namespace=switch)
            ip("link", "set", "br1", "up", namespace=switch)
            switched_ports(network, "left", bridge="br0")
            switched_ports(network, "right", port, bridge="br1")
            yield
        finally:
            switched_ports(network, port, bridge="br0")
            relay.stop()
            ip("link", "delete", "br1", namespace=switch)


def _importing() -> dict[str, str]:
    """Where this project's own packages are found from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


@contextmanager
def a_laboratory() -> Iterator[Laboratory]:
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("agents"))
        network = Bridge(stack)
        laboratory = Laboratory(stack, network, folder)
        yield laboratory
        if laboratory.timings:
            sys.stdout.write("\n" + table(laboratory.timings) + "\n")
