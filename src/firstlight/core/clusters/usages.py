"""feature_usage: which features a cluster makes use of, as statistics of the original name them."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.model.cluster import Cluster, Usage
from firstlight.core.model.cluster_status import OperatorKind, PlatformType
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.network.machine_networks import is_dual_stack_cluster

Data = dict[str, object]
NETWORK_TYPES: Final = {"OVNKubernetes": "OVN", "OpenShiftSDN": "SDN"}
OTHER_ARCHITECTURES: Final = ("arm64", "ppc64le", "s390x")


class _Fips(Struct):
    fips: bool = False


def with_usages(cluster: Cluster, hosts: Sequence[HostState] = ()) -> Cluster:
    """The cluster with what it uses now, sorted by name."""
    found = {name: data for name, using in _CLUSTER_FEATURES.items() if (data := using(cluster)) is not None}
    found |= {name: data for name, using in _HOST_FEATURES.items() if (data := using(hosts)) is not None}
    found[f"{NETWORK_TYPES.get(cluster.network_type, cluster.network_type)} network type"] = {}
    if cluster.cpu_architecture in OTHER_ARCHITECTURES:
        found[f"{cluster.cpu_architecture} architecture"] = {}
    for operator in cluster.operators:
        if operator.kind is OperatorKind.OLM:
            found[operator.name.upper()] = {"properties": operator.properties} if operator.properties else {}
    usages = tuple(Usage(id=usage_id(name), name=name, data=found[name]) for name in sorted(found))
    return cluster if usages == cluster.usages else replace(cluster, usages=usages)


def usage_id(name: str) -> str:
    return name.upper().replace(" ", "_")


def _when(condition: Callable[[Cluster], object]) -> Callable[[Cluster], Data | None]:
    return lambda cluster: {} if condition(cluster) else None


def _proxy(cluster: Cluster) -> Data | None:
    proxy = cluster.proxy
    used: Data = {"http_proxy": bool(proxy.http), "https_proxy": bool(proxy.https), "no_proxy": bool(proxy.no_proxy)}
    return used if any(used.values()) else None


def _ntp(cluster: Cluster) -> Data | None:
    count = len((cluster.additional_ntp_source or cluster.ntp_sources).split(","))
    return {"source_count": count} if cluster.additional_ntp_source or cluster.ntp_sources else None


def _encryption(cluster: Cluster) -> Data | None:
    used = cluster.disk_encryption
    return None if used.enable_on == "none" else {"enable_on": used.enable_on, "mode": used.mode.value}


def _platform(cluster: Cluster) -> Data | None:
    kind = cluster.platform.type
    usual = PlatformType.NONE if cluster.user_managed_networking else PlatformType.BAREMETAL
    return None if kind is usual else {"platform_type": kind.value}


def _fips(cluster: Cluster) -> bool:
    try:
        return msgspec.json.decode(cluster.install_config_overrides or "{}", type=_Fips).fips
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Overrides are checked where they come in.
        return False


def _named(hosts: Sequence[HostState]) -> Data | None:
    count = sum(bool(host.host.requested_hostname) for host in hosts)
    return {"host_count": count} if count else None


def _virtual(hosts: Sequence[HostState]) -> int:
    inventories = (host.reports.inventory for host in hosts)
    return sum(found is not None and found.vendor is not None and found.vendor.virtual for found in inventories)


def _auto_assigned(hosts: Sequence[HostState]) -> Data | None:
    count = sum(host.host.role is HostRole.AUTO_ASSIGN for host in hosts)
    return {"assigned_hosts": count} if count else None


_CLUSTER_FEATURES: Final[dict[str, Callable[[Cluster], Data | None]]] = {
    "Additional NTP Source": _ntp,
    "Proxy": _proxy,
    "SNO": _when(lambda cluster: cluster.is_single_node),
    "VIP auto alloc.": _when(lambda cluster: cluster.vip_dhcp_allocation),
    "Dual-stack": _when(is_dual_stack_cluster),
    "Dual-stack VIPs": _when(lambda cluster: len(cluster.api_vips) > 1),
    "Platform selection": _platform,
    "Schedulable masters": _when(lambda cluster: cluster.schedulable_masters),
    "Custom manifest": _when(lambda cluster: cluster.has_custom_manifests),
    "Disk encryption": _encryption,
    "Install Config Overrides": _when(lambda cluster: cluster.install_config_overrides),
    "FIPS": _when(_fips),
    "Cluster Tags": lambda cluster: {"tags": cluster.tags} if cluster.tags else None,
    "Nutanix integration": _when(lambda cluster: cluster.platform.type is PlatformType.NUTANIX),
    "Hyperthreading": lambda cluster: (
        None if cluster.hyperthreading == "all" else {"hyperthreading_enabled": cluster.hyperthreading}
    ),
    "User Managed Networking With Multi Node": _when(
        lambda cluster: cluster.user_managed_networking and not cluster.is_single_node
    ),
    "Single Node Expansion": _when(lambda cluster: cluster.is_single_node and cluster.is_day_two),
    "Validations have been ignored for this cluster": _when(
        lambda cluster: cluster.ignored_cluster_validations or cluster.ignored_host_validations
    ),
}
_HOST_FEATURES: Final[dict[str, Callable[[Sequence[HostState]], Data | None]]] = {
    "Requested hostname": _named,
    "auto assign role": _auto_assigned,
    "Day2 hosts": lambda hosts: (
        {"day2_host_count": count} if (count := sum(h.host.is_day_two for h in hosts)) else None
    ),
    "Cluster managed networking with VMs": lambda hosts: {"VM Hosts": count} if (count := _virtual(hosts)) else None,
    "Ignition Config Override": lambda hosts: {} if any(host.host.ignition_override for host in hosts) else None,
}
