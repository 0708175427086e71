"""Installations by the agent-based installer, whose service runs on one of the hosts and ends with its live system.

A single node never had a service beside it. Otherwise the service is there until the controller says that it is ready,
so everything that is needed of it is taken over before: who the hosts are, and the kubeconfig. Nothing is finalized.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Final

import msgspec

from firstlight.host.controller.bells import Bell
from firstlight.host.controller.documents import ClusterDocument, HostDocument, without_hardware
from firstlight.host.controller.install_config import install_config_of
from firstlight.host.controller.objects import ClusterOperator, ConfigMap, Node
from firstlight.host.controller.operator_objects import APPLIED, ObjectsFromCluster, Progress
from firstlight.host.controller.operators import standing
from firstlight.host.controller.readiness import put_signs, sign_path
from firstlight.host.controller.repeating import TROUBLE, repeat
from firstlight.host.controller.site import Site
from firstlight.host.controller.taints import without_credentials
from firstlight.host.controller.tending import tending

SERVICE_SECONDS: Final = 300.0
"""So long the service may take to appear; then it has gone already."""
PATIENCE_LOOKS: Final = 15
OBJECTS_SECONDS: Final = 4200.0
"""So long the objects of operators may take after the cluster itself is there."""
INSTALLATION: Final = "installation"
MASTER: Final = "node-role.kubernetes.io/master"
VERSION: Final = "version"


class _Kept(msgspec.Struct, frozen=True):
    """What is remembered of the service, in the new cluster itself."""

    cluster: ClusterDocument
    hosts: tuple[HostDocument, ...]


async def live_alone(site: Site) -> None:
    """A single node: the account of the bootstrap may do everything, and nobody else is to be asked."""
    site.kept_admin = site.kube.access
    objects = ObjectsFromCluster(site)
    await _live(site, objects, [objects.run()], masters=0)


async def live_with_departing_service(site: Site) -> None:
    await _take_over(site)
    objects = ObjectsFromCluster(site)
    loops = [*tending(site), objects.run(), _listen(site)]
    await _live(site, objects, loops, masters=site.settings.control_plane_count)


def is_complete(version: ClusterOperator | None, nodes: Mapping[str, Node], *, masters: int) -> bool:
    """The cluster works, and the host that the service ran on has come back as a node."""
    there = sum(MASTER in node.metadata.labels for node in nodes.values())
    return version is not None and standing(version).status == "available" and there >= masters


async def _live(
    site: Site, objects: ObjectsFromCluster, loops: Sequence[Coroutine[None, None, None]], *, masters: int
) -> None:
    tasks = [asyncio.create_task(one) for one in (*(watch.run() for watch in site.watched), *loops)]
    bell = site.bell()
    site.versions.wakes(bell)
    site.nodes.wakes(bell)
    seconds = site.settings.look_seconds

    async def complete() -> bool:
        await asyncio.sleep(0)
        return is_complete(site.versions.items.get(VERSION), site.nodes.items, masters=masters)

    async def applied() -> bool:
        await asyncio.sleep(0)
        return objects.progress is not Progress.UNDER_WAY

    try:
        await repeat(complete, about="Waiting for the cluster", bell=bell, seconds=seconds, log=site.log)
        async with asyncio.timeout(OBJECTS_SECONDS):
            await repeat(applied, about="Waiting for operators", bell=bell, seconds=seconds, log=site.log)
    except TimeoutError:
        site.log.warning("The operators did not come in time. Apply their objects by hand.")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    site.log.info("The installation is over.")


async def _take_over(site: Site) -> None:
    """All we need of the service, while it is there, and then the signs that let it go."""

    async def take() -> bool:
        cluster, hosts = await site.service.cluster(), await site.service.hosts()
        site.kept_admin = await site.admin_access()
        site.heard(cluster, hosts)
        # Whoever may look into the cluster may read this.
        kept = _Kept(without_credentials(cluster), tuple(map(without_hardware, hosts)))
        site.kept = {**await _kept_before(site), INSTALLATION: msgspec.json.encode(kept).decode()}
        return True

    async def remember() -> bool:
        site.kept = await _kept_before(site)
        _restore(site)
        config = await install_config_of(site.kube)
        site.known_platform = config.platform_type if config is not None else ""
        return True

    async def ready() -> bool:
        await put_signs(site)
        return True

    seconds = site.settings.look_seconds
    try:
        async with asyncio.timeout(min(SERVICE_SECONDS, PATIENCE_LOOKS * seconds)):
            await repeat(take, about="Taking over from the service", bell=Bell(), seconds=seconds, log=site.log)
    except TimeoutError:
        site.log.warning("The service has gone already. What is kept of it in the cluster has to do.")
        # Nobody gives us the installation's kubeconfig any more: what our own account may not do is left to the user.
        site.kept_admin = site.kube.access
        await repeat(remember, about="Remembering the installation", bell=Bell(), seconds=seconds, log=site.log)
    await repeat(ready, about="Becoming ready", bell=Bell(), seconds=seconds, log=site.log)


async def _kept_before(site: Site) -> dict[str, str]:
    found = await site.kube.find(ConfigMap, sign_path(site))
    data = found.data if found is not None else {}
    return {name: data[name] for name in (INSTALLATION, APPLIED) if name in data}


def _restore(site: Site) -> None:
    """Hosts as an earlier life of the controller kept them; without them, no certificate is approved."""
    try:
        kept = msgspec.json.decode(site.kept.get(INSTALLATION, ""), type=_Kept)
    except msgspec.MsgspecError as reason:
        site.log.warning(f"Nothing is known of the hosts, so certificates have to be approved by hand: {reason}.")
    else:
        site.heard(kept.cluster, kept.hosts)


async def _listen(site: Site) -> None:
    """The service's news as long as there are any; hosts that it knew stay known."""
    while True:
        try:
            site.heard(await site.service.cluster(), await site.service.hosts())
        except TROUBLE as trouble:
            site.log.once("service", f"The service does not answer any more: {trouble}.")
        await asyncio.sleep(site.settings.look_seconds)
