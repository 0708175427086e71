"""The Infrastructure object: where the cluster runs and how many of its parts may fail."""

from collections.abc import Mapping
from typing import Final

from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document, mapping, sequence
from firstlight.core.install.identity import Identity
from firstlight.core.install.kube_objects import config_object
from firstlight.core.model.cluster_status import PlatformType

TYPES: Final = {
    PlatformType.BAREMETAL: "BareMetal",
    PlatformType.VSPHERE: "VSphere",
    PlatformType.NUTANIX: "Nutanix",
    PlatformType.EXTERNAL: "External",
    PlatformType.NONE: "None",
}
SINGLE, DUAL, ARBITER, AVAILABLE = "SingleReplica", "DualReplica", "HighlyAvailableArbiter", "HighlyAvailable"


def infrastructure(cluster: ClusterInputs, config: Mapping[str, object], identity: Identity) -> Document:
    kind = TYPES[cluster.platform]
    control_plane = control_plane_topology(config)
    spec, status = platform_parts(cluster, config)
    return config_object(
        "Infrastructure",
        spec={"cloudConfig": {"name": ""}, "platformSpec": {"type": kind, **spec}},
        status={
            "infrastructureName": identity.infra_id,
            "apiServerURL": f"https://api.{cluster.domain}:6443",
            "apiServerInternalURI": f"https://api-int.{cluster.domain}:6443",
            "controlPlaneTopology": control_plane,
            "infrastructureTopology": infrastructure_topology(config, control_plane),
            "cpuPartitioning": config.get("cpuPartitioningMode") or "None",
            "etcdDiscoveryDomain": "",
            "platform": kind,
            "platformStatus": {"type": kind, **status},
        },
    )


def replicas(config: Mapping[str, object], pool: str) -> int:
    section = config.get(pool)
    found = sequence(section)[:1] if pool == "compute" else [section]
    count = mapping(found[0]).get("replicas", 0) if found else 0
    return count if isinstance(count, int) else 0


def control_plane_topology(config: Mapping[str, object]) -> str:
    if replicas(config, "arbiter"):
        return ARBITER
    return {1: SINGLE, 2: DUAL}.get(replicas(config, "controlPlane"), AVAILABLE)


def infrastructure_topology(config: Mapping[str, object], control_plane: str) -> str:
    """One worker still counts as available: the masters can take its load."""
    return SINGLE if replicas(config, "compute") == 0 and control_plane == SINGLE else AVAILABLE


def platform_parts(cluster: ClusterInputs, config: Mapping[str, object]) -> tuple[Document, Document]:
    """What spec and status say about the platform beyond its type."""
    key = str(cluster.platform)
    block = mapping(mapping(config.get("platform")).get(key))
    match cluster.platform:
        case PlatformType.NONE:
            return {}, {}
        case PlatformType.EXTERNAL:
            manager = "External" if block.get("cloudControllerManager") == "External" else "None"
            name = {"platformName": block.get("platformName", "")}
            return {key: name}, {key: {"cloudControllerManager": {"state": manager}}}
        case _:
            return vip_parts(key, block, config)


def vip_parts(key: str, block: Document, config: Mapping[str, object]) -> tuple[Document, Document]:
    api, ingress = sequence(block.get("apiVIPs")), sequence(block.get("ingressVIPs"))
    networks = sequence(mapping(config.get("networking")).get("machineNetwork"))
    shared: Document = {"apiServerInternalIPs": api, "ingressIPs": ingress} if api and ingress else {}
    if key != "nutanix":
        shared["machineNetworks"] = [mapping(network).get("cidr", "") for network in networks]
    status = dict(shared)
    if api and ingress:
        status |= {"apiServerInternalIP": api[0], "ingressIP": ingress[0]}
    if block.get("loadBalancer"):
        status["loadBalancer"] = block["loadBalancer"]
    return {key: shared}, {key: status}
