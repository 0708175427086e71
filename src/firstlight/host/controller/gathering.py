"""What the new cluster says of itself after a failure: our own small gather, which needs no program beside us.

With the installation's own kubeconfig it sees everything; without, what the controller's account may see.
"""

from typing import Final

import msgspec

from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.objects import Pod
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.site import BARE_METAL, CERTIFICATES, CONFIG, MACHINES, NODES, OLM, Site
from firstlight.host.root import Root

LISTS: Final = {
    "cluster-operators.json": f"{CONFIG}/clusteroperators",
    "cluster-versions.json": f"{CONFIG}/clusterversions",
    "nodes.json": NODES,
    "certificate-requests.json": CERTIFICATES,
    "events.json": "/api/v1/events",
    "subscriptions.json": f"{OLM}/subscriptions",
    "cluster-service-versions.json": f"{OLM}/clusterserviceversions",
    "install-plans.json": f"{OLM}/installplans",
    "machines.json": MACHINES,
    "bare-metal-hosts.json": BARE_METAL,
    "machine-config-pools.json": "/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
}
PODS: Final = "/api/v1/pods"
RESOLVERS: Final = ("/etc/resolv.conf", "/tmp/host-resolv.conf", "/tmp/var-run-resolv.conf")  # noqa: S108 - mounts
WELL: Final = frozenset({"Running", "Succeeded"})
MOST_LOGS: Final = 60
LINES: Final = 1000


class _Pods(msgspec.Struct):
    items: tuple[Pod, ...] | None = None


def worth_reading(pods: tuple[Pod, ...]) -> list[tuple[Pod, str]]:
    """Pods in trouble with the container to read, those that restart most often first."""
    found: list[tuple[int, Pod, str]] = []
    for pod in pods:
        for container in pod.status.container_statuses:
            done = pod.status.phase == "Succeeded"
            if container.restart_count or (not container.ready and not done) or pod.status.phase not in WELL:
                found.append((container.restart_count, pod, container.name))
    found.sort(key=lambda row: (-row[0], row[1].key, row[2]))
    return [(pod, name) for _, pod, name in found]


async def gather(site: Site, *, root: Root) -> dict[str, bytes]:
    """File → content; what is missing says why."""
    found = {f"resolvers{path}": text.encode() for path in RESOLVERS if (text := root.text(path)) is not None}
    try:
        async with await site.as_admin() as admin:
            return found | await _lists(admin) | await _logs(admin)
    except TROUBLE as trouble:
        site.log.warning(f"Only what the controller itself may see is gathered: {trouble}.")
    return found | await _lists(site.kube)


async def _lists(kube: Kube) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, path in (*LISTS.items(), ("pods.json", PODS)):
        try:
            found[f"cluster/{name}"] = await kube.ask("GET", path)
        except (Refused, Unreachable) as trouble:
            found[f"cluster/{name}.missing"] = f"{trouble}\n".encode()
    return found


async def _logs(kube: Kube) -> dict[str, bytes]:
    """The ends of the logs of pods in trouble, also of the lives before."""
    found: dict[str, bytes] = {}
    try:
        pods = (await kube.read(_Pods, PODS)).items or ()
    except (Refused, Unreachable):
        return found
    for pod, container in worth_reading(pods)[:MOST_LOGS]:
        path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}/log"
        for previous in ("false", "true")[: 2 if pod.restarts else 1]:
            name = f"cluster/pods/{pod.key}/{container}{'.previous' if previous == 'true' else ''}.log"
            query = {"container": container, "tailLines": str(LINES), "previous": previous}
            try:
                found[name] = await kube.ask("GET", path, query=query)
            except (Refused, Unreachable) as trouble:
                found[f"{name}.missing"] = f"{trouble}\n".encode()
    return found
