"""What the bootstrap waits for once the disk is written, in order, and what a worker waits for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from firstlight.core.install.controller_rights import READY_CONFIG_MAP
from firstlight.core.wire.words import HostStage
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.bootstrap import unit_state
from firstlight.host.installer.controller_logs import send_controller_logs
from firstlight.host.installer.nodes import UNINITIALIZED, Node, host_of, node_of, unsettled
from firstlight.host.installer.run import InstallationFailed, Run
from firstlight.host.installer.service import HostDocument
from firstlight.host.installer.watching import other_hosts, tell_of
from firstlight.host.kubernetes import Kube, KubeTrouble, mapping, name_of, read_kubeconfig

PREPARE_CLIENT: Final = "prepare-client"
KUBECONFIG: Final = "/opt/openshift/auth/kubeconfig"
BOOTKUBE_DONE: Final = "/opt/openshift/.bootkube.done"
CONTROL_PLANE: Final[HostStage] = "Waiting for control plane"
BOOTKUBE: Final[HostStage] = "Waiting for bootkube"
CONTROLLER: Final[HostStage] = "Waiting for controller"
CONTROLLER_INFO: Final = "waiting for controller pod ready event"
NAMESPACE: Final = "/api/v1/namespaces/assisted-installer"
READY_EVENT: Final = "AssistedControllerIsReady"
DAY_TWO: Final = "AddHostsCluster"
MASTERS_FOR_WORKERS: Final = 2
USUAL_MASTERS: Final = 3
"""Where neither the service nor the flags say how many: older services knew no other number."""
CALL_SECONDS: Final = 30.0
GLANCE_SECONDS: Final = 10.0
LOGS_EVERY: Final = 300.0
AGENT_INVOKER: Final = "agent-installer"
AGENT_EVERY: Final = 30.0
CLOUDS: Final = frozenset({"vsphere", "nutanix"})
EARLY: Final = frozenset({"Starting installation", "Installing", "Writing image to disk", "Waiting for control plane"})
"""Stages in which a worker still has something to ask the service; writing takes long and is one of them."""


@asynccontextmanager
async def cluster_client(run: Run) -> AsyncGenerator[Kube]:
    text = run.root.text(KUBECONFIG)
    if text is None:
        raise InstallationFailed(f"There is no {KUBECONFIG}, so the new control plane cannot be asked for anything.")
    try:
        client = Kube(read_kubeconfig(text))
    except KubeTrouble as reason:
        raise InstallationFailed(f"{KUBECONFIG} cannot be used: {reason}.") from reason
    async with client:
        yield client


async def prepare_client(run: Run) -> None:
    """The name of the API resolves through what bootkube wrote; a container has a copy from before."""
    if PREPARE_CLIENT not in run.memory.done:
        # Started again later it is further already.
        run.tell(CONTROL_PLANE, "Waiting for bootstrap node preparation")
    if run.settings.place.contained:
        _renew_resolver(run)


def _renew_resolver(run: Run) -> None:
    text = run.root.bytes("/etc/resolv.conf")
    if text is None:
        raise InstallationFailed("The host has no /etc/resolv.conf.")
    try:
        Path("/etc/resolv.conf").write_bytes(text)
    except OSError as reason:
        raise InstallationFailed(f"/etc/resolv.conf cannot be renewed: {reason.strerror}.") from reason


async def wait_for_masters(run: Run) -> None:
    info = "Waiting for masters to join bootstrap control plane"
    try:
        cluster = await run.service.cluster(limit=run.pace.limit(CONTROL_PLANE))
    except (Refused, Unreachable) as reason:
        raise InstallationFailed(f"The cluster could not be looked up: {reason}.") from reason
    count = cluster.control_plane_count or run.settings.control_plane_count or USUAL_MASTERS
    joined: set[str] = set()
    async with cluster_client(run) as kube:

        async def missing(role: str, wanted: int) -> str:
            try:
                nodes = await _nodes(kube, role)
                if cluster.platform_type in CLOUDS:
                    await _let_in(run, kube, nodes)
            except KubeTrouble as reason:
                return str(reason)
            ready = [node for node in nodes if node.ready]
            await _tell_joined(run, [node for node in ready if node.name not in joined], joined)
            if len(ready) >= wanted:
                return ""
            return f"{len(ready)} of {wanted} {role} nodes are ready" + _unready(nodes) + await absent(role, nodes)

        async def absent(role: str, nodes: list[Node]) -> str:
            """Which hosts are not even nodes yet."""
            try:
                hosts = await run.service.hosts(role, limit=run.pace.seconds(GLANCE_SECONDS))
            except (Refused, Unreachable):
                return ""
            there = {"", *(node.name.lower() for node in nodes)}
            others = [host for host in hosts if host.id != run.settings.host_id]
            return _listed("not there yet", [host for host in others if host.requested_hostname.lower() not in there])

        wanted = max(min(count - 1, 2), 0)
        await run.wait(lambda: missing("master", wanted), stage=CONTROL_PLANE, info=info, what="The masters' joining")
        if await _has_arbiter(run):
            await run.wait(
                lambda: missing("arbiter", 1),
                stage=CONTROL_PLANE,
                info="Waiting for arbiter to join bootstrap control plane",
                what="The arbiter's joining",
            )


def _unready(nodes: list[Node]) -> str:
    names = sorted(node.name for node in nodes if not node.ready)
    return f"; not ready: {', '.join(names)}" if names else ""


def _listed(what: str, hosts: list[HostDocument]) -> str:
    """Hosts by name, each with how far it is."""
    words = sorted(f"{host.requested_hostname or host.id} ({host.stage or host.status or 'unknown'})" for host in hosts)
    return f"; {what}: {', '.join(words)}" if words else ""


async def _nodes(kube: Kube, role: str) -> list[Node]:
    items = await kube.items("/api/v1/nodes", labelSelector=f"node-role.kubernetes.io/{role}")
    return [node_of(item) for item in items]


async def _let_in(run: Run, kube: Kube, nodes: list[Node]) -> None:
    """Where no cloud provider runs yet, nobody else takes its taint off."""
    for node in nodes:
        if not node.ready and UNINITIALIZED in node.taints:
            place = f"/spec/taints/{node.taints.index(UNINITIALIZED)}"
            test: dict[str, object] = {"op": "test", "path": f"{place}/key", "value": UNINITIALIZED}
            await kube.patch(f"/api/v1/nodes/{node.name}", [test, {"op": "remove", "path": place}])
            run.log.info("A node was let in.", node=node.name)


async def _tell_joined(run: Run, ready: list[Node], joined: set[str]) -> None:
    if not ready:
        return
    try:
        hosts = await other_hosts(run)
    except (Refused, Unreachable) as reason:
        run.log.warning("The hosts of the cluster cannot be looked at.", reason=reason)
        return
    for node in ready:
        host = host_of(node, hosts)
        is_news = host is not None and host.status != "installed" and host.stage not in ("Joined", "Done")
        if host is None or not is_news or await tell_of(run, host, "Joined"):
            joined.add(node.name)


async def _has_arbiter(run: Run) -> bool:
    try:
        return bool(await run.service.hosts("arbiter", limit=run.pace.limit(CONTROL_PLANE)))
    except (Refused, Unreachable) as reason:
        raise InstallationFailed(f"The arbiters could not be looked up: {reason}.") from reason


async def wait_for_bootkube(run: Run) -> None:
    async def missing() -> str:
        if run.root.exists(BOOTKUBE_DONE):
            return ""
        state = await unit_state(run, "bootkube.service")
        if state == "failed":
            raise InstallationFailed("bootkube.service failed on this host. Its journal says why.")
        return f"there is no {BOOTKUBE_DONE} yet and bootkube.service is {state}"

    await run.wait(missing, stage=BOOTKUBE, info="", what="The end of bootkube")


async def wait_for_etcd(run: Run) -> None:
    async def missing() -> str:
        state = await unit_state(run, "progress.service")
        if state == "failed":
            raise InstallationFailed("progress.service failed on this host: etcd did not leave the bootstrap.")
        return "" if state == "inactive" else f"progress.service is {state}"

    info = "waiting for ETCD bootstrap to be complete"
    await run.wait(missing, stage=BOOTKUBE, info=info, what="The end of the bootstrap of etcd")


async def wait_for_controller(run: Run) -> None:
    loop = asyncio.get_running_loop()
    sent = loop.time()
    async with cluster_client(run) as kube:

        async def missing() -> str:
            nonlocal sent
            try:
                if await _controller_is_ready(kube):
                    return ""
            except KubeTrouble as reason:
                return str(reason)
            if loop.time() - sent >= run.pace.seconds(LOGS_EVERY):
                sent = loop.time()
                await send_controller_logs(run, kube)
            return "the controller has not said that it is ready"

        await run.wait(missing, stage=CONTROLLER, info=CONTROLLER_INFO, what="The start of the controller")
        await send_controller_logs(run, kube)
    try:
        await run.service.cluster_logs_state("requested", limit=run.pace.seconds(CALL_SECONDS))
    except (Refused, Unreachable) as reason:
        run.log.warning("The state of the cluster's logs was not delivered.", reason=reason)


async def _controller_is_ready(kube: Kube) -> bool:
    """By the original's sign, an Event, which expires; or by ours, which stays. Raises `KubeTrouble`."""
    events = await kube.items(f"{NAMESPACE}/events")
    if any(name_of(event) == READY_EVENT for event in events):
        return True
    return await kube.get(f"{NAMESPACE}/configmaps/{READY_CONFIG_MAP}") is not None


async def wait_for_late_workers(run: Run) -> None:
    """Where this host also runs the service, no worker may still need it."""
    info = "waiting for workers to leave the live system"
    origin: list[str] = []
    async with cluster_client(run) as kube:

        async def unknown() -> str:
            try:
                origin.append(await _invoker(kube))
            except KubeTrouble as reason:
                # Who leaves without knowing may take the service away from workers that need it.
                return str(reason)
            return ""

        await run.wait(unknown, stage=CONTROLLER, info=CONTROLLER_INFO, what="Learning who installs this cluster")
    if origin[-1] != AGENT_INVOKER:
        return

    async def missing() -> str:
        try:
            workers = await run.service.hosts("worker", limit=run.pace.seconds(CALL_SECONDS))
        except (Refused, Unreachable) as reason:
            return str(reason)
        names = sorted(host.requested_hostname for host in workers if host.stage in EARLY)
        return f"workers {', '.join(names)} still need the service on this host" if names else ""

    await run.wait(missing, stage=CONTROLLER, info=info, what="The workers' reboot", every=AGENT_EVERY)


async def _invoker(kube: Kube) -> str:
    found = await kube.get("/api/v1/namespaces/openshift-config/configmaps/openshift-install-manifests")
    return str(mapping((found or {}).get("data")).get("invoker", "assisted-service"))


async def wait_for_machine_configs(run: Run) -> None:
    """Before the bootstrap's etcd goes, the masters must agree on what they run, or their pool deadlocks later."""
    async with cluster_client(run) as kube:

        async def missing() -> str:
            try:
                nodes = await _nodes(kube, "master")
                configs = await kube.items("/apis/machineconfiguration.openshift.io/v1/machineconfigs")
            except KubeTrouble as reason:
                return str(reason)
            return unsettled(nodes, configs=frozenset(name_of(config) for config in configs))

        info = "waiting for the machine configs of the masters"
        await run.wait(missing, stage=CONTROLLER, info=info, what="The masters' agreement on a machine config")


async def wait_for_two_masters(run: Run) -> None:
    """A worker stays in the live system until there is somebody to serve its Ignition. On day 2 there is."""

    async def missing() -> str:
        limit = run.pace.seconds(CALL_SECONDS)
        try:
            if (await run.service.cluster(limit=limit)).kind == DAY_TWO:
                return ""
            hosts = [*await run.service.hosts("master", limit=limit), *await run.service.hosts("arbiter", limit=limit)]
        except (Refused, Unreachable) as reason:
            return str(reason)
        awaited = [host for host in hosts if host.stage != "Done"]
        done = len(hosts) - len(awaited)
        if done >= MASTERS_FOR_WORKERS:
            return ""
        return f"{done} of {MASTERS_FOR_WORKERS} masters are done" + _listed("not yet", awaited)

    await run.wait(missing, stage=CONTROL_PLANE, info="", what="The installation of two masters")
