"""The taint of a cloud provider that nobody runs yet: while it is there, a node of such a platform never gets ready."""

from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.versions.numbers import parse
from firstlight.host.controller.documents import ClusterDocument
from firstlight.host.controller.objects import Node
from firstlight.host.controller.repeating import for_each, repeat
from firstlight.host.controller.settings import AGENT_INSTALLER
from firstlight.host.controller.site import NODES, Site
from firstlight.host.controller.stages import all_ended

UNINITIALIZED: Final = "node.cloudprovider.kubernetes.io/uninitialized"
CLOUDS: Final = frozenset({"nutanix", "vsphere"})
PROVIDER_FROM: Final = "4.15"
PLACEHOLDER: Final = "placeholder"
ABOUT: Final = "Letting nodes in"
_CREDENTIALS: Final = '{"platform":{"vsphere":{"vcenters":[{"user":"***","password":"***","server":"***"}]}}}'
JSON_PATCH: Final = "application/json-patch+json"


class _Center(msgspec.Struct, frozen=True):
    user: str = ""
    password: str = ""
    server: str = ""


class _Vsphere(msgspec.Struct, frozen=True):
    vcenters: tuple[_Center, ...] = ()


class _Platform(msgspec.Struct, frozen=True):
    vsphere: _Vsphere = _Vsphere()


class _Overrides(msgspec.Struct, frozen=True):
    platform: _Platform = _Platform()


def nobody_else_removes(platform: str, *, cluster: ClusterDocument | None, invoker: str, version: str) -> bool:
    """Whether the taint is ours to take off: no cloud provider starts without the credentials of a real vCenter."""
    if platform not in CLOUDS:
        return False
    return not (platform == "vsphere" and invoker == AGENT_INSTALLER and _is_new(version) and _has_credentials(cluster))


def removal(node: Node) -> list[dict[str, object]]:
    """A JSON patch, which fails if the list of taints changed meanwhile; empty where there is nothing to do."""
    for place, taint in enumerate(node.spec.taints):
        if taint.key == UNINITIALIZED and not node.is_ready:
            path = f"/spec/taints/{place}"
            return [{"op": "test", "path": f"{path}/key", "value": UNINITIALIZED}, {"op": "remove", "path": path}]
    return []


async def let_nodes_in(site: Site) -> None:
    bell = site.bell()
    site.nodes.wakes(bell)
    version = site.settings.openshift_version

    async def let_in(node: Node) -> None:
        if patch := removal(node):
            await site.kube.ask("PATCH", f"{NODES}/{node.metadata.name}", document=patch, content_type=JSON_PATCH)
            site.log.info(f"The node {node.metadata.name} no longer waits for a cloud provider.")

    async def look() -> bool:
        if nobody_else_removes(site.platform, cluster=site.cluster, invoker=site.invoker, version=version):
            await for_each(site.nodes.items.items(), let_in, about=ABOUT, log=site.log)
        return all_ended(site.hosts)

    await repeat(look, about=ABOUT, bell=bell, seconds=30.0, log=site.log)


def _is_new(version: str) -> bool:
    try:
        return parse(version).to_minor() >= parse(PROVIDER_FROM)
    except Invalid:
        return False


def without_credentials(cluster: ClusterDocument) -> ClusterDocument:
    """The same, without secrets: of the credentials only that there are some."""
    overrides = _CREDENTIALS if _has_credentials(cluster) else None
    return msgspec.structs.replace(cluster, install_config_overrides=overrides)


def _has_credentials(cluster: ClusterDocument | None) -> bool:
    text = (cluster.install_config_overrides if cluster is not None else None) or "{}"
    try:
        centers = msgspec.json.decode(text, type=_Overrides).platform.vsphere.vcenters
    except msgspec.MsgspecError:
        return False
    given = (centers[0].user, centers[0].password, centers[0].server) if centers else ("",)
    return all(value and PLACEHOLDER not in value for value in given)
