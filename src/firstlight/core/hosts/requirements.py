"""Which hardware minimum counts for a host: by the release to be installed and by the role the host will play."""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeVar

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.policy import HardwareMinimum, Policy, VersionedHardware
from firstlight.core.versions.numbers import parse

DEFAULT: Final = "default"
EXACT: Final = "exact"
MIN_VERSION: Final = "min_version"


class NeedsOf(StrEnum):
    """The names under which minimums are kept."""

    MASTER = "master"
    WORKER = "worker"
    ARBITER = "arbiter"
    SINGLE_NODE = "sno"
    EDGE_WORKER = "edge-worker"


N = TypeVar("N", int, float)
_EDGE_ARCHITECTURES: Final = frozenset({"aarch64", "arm64"})


@lru_cache(maxsize=1024)
def hardware_for(table: tuple[VersionedHardware, ...], *, version: str) -> VersionedHardware:
    """The entry for one release: exactly it, else the newest minimum version it reaches, else the default.

    A version nobody can read (a pool host without one) gets the default. Invalid when no entry fits at all.
    """
    for entry in table:
        if entry.version != DEFAULT and entry.match_type == EXACT and _same(entry.version, version):
            return entry
    have = release_number(version)
    if have is not None:
        reached = [
            (number, entry)
            for entry in table
            if entry.match_type == MIN_VERSION and (number := release_number(entry.version)) and number <= have
        ]
        if reached:
            return max(reached, key=lambda pair: pair[0])[1]
    for entry in table:
        if entry.version == DEFAULT:
            return entry
    raise Invalid(
        f"There are no hardware requirements for OpenShift '{version}'. Add an entry for it, or one named"
        " 'default', to HW_VALIDATOR_REQUIREMENTS."
    )


def needs_of(role: HostRole, *, cluster: Cluster | None, inventory: Inventory | None, policy: Policy) -> NeedsOf:
    """Under which name the minimum of a host with this effective role is found."""
    if role in (HostRole.MASTER, HostRole.BOOTSTRAP):
        return NeedsOf.SINGLE_NODE if cluster is not None and cluster.is_single_node else NeedsOf.MASTER
    if role is HostRole.ARBITER:
        return NeedsOf.ARBITER
    return NeedsOf.EDGE_WORKER if _is_edge(inventory, policy) else NeedsOf.WORKER


def minimum_of(hardware: VersionedHardware, name: NeedsOf) -> HardwareMinimum:
    match name:
        case NeedsOf.MASTER:
            return hardware.master
        case NeedsOf.ARBITER:
            return hardware.arbiter
        case NeedsOf.SINGLE_NODE:
            return hardware.sno
        case NeedsOf.EDGE_WORKER:
            return hardware.edge_worker
        case _:
            return hardware.worker


def role_minimum(role: HostRole, *, cluster: Cluster, inventory: Inventory | None, policy: Policy) -> HardwareMinimum:
    """What OpenShift itself asks of a host of this effective role, operators not counted."""
    hardware = hardware_for(policy.hardware, version=cluster.openshift_version)
    return minimum_of(hardware, needs_of(role, cluster=cluster, inventory=inventory, policy=policy))


@lru_cache(maxsize=1024)
def least_of_any_role(table: tuple[VersionedHardware, ...], *, version: str, single_node: bool) -> HardwareMinimum:
    """The least a machine needs to be of use at all, whatever role it gets: neither operators nor arbiters count."""
    hardware = hardware_for(table, version=version)
    master, worker = hardware.sno if single_node else hardware.master, hardware.worker
    return HardwareMinimum(
        cpu_cores=min(master.cpu_cores, worker.cpu_cores),
        ram_mib=min(master.ram_mib, worker.ram_mib),
        disk_size_gb=min(master.disk_size_gb, worker.disk_size_gb),
        disk_speed_threshold_ms=_lowest((master.disk_speed_threshold_ms, worker.disk_speed_threshold_ms)),
    )


@lru_cache(maxsize=1024)
def pool_minimum(table: tuple[VersionedHardware, ...], *, version: str) -> HardwareMinimum:
    """What a host without a cluster needs: the role content with the smallest disk."""
    hardware = hardware_for(table, version=version)
    return min((hardware.worker, hardware.master, hardware.arbiter), key=lambda minimum: minimum.disk_size_gb)


def release_number(text: str) -> tuple[int, int, int] | None:
    """A version as comparable numbers; pre-releases weigh as much as the release they lead to."""
    try:
        version = parse(text)
    except Invalid:
        return None
    return version.major, version.minor, version.patch or 0


def _same(first: str, second: str) -> bool:
    number = release_number(first)
    return number is not None and number == release_number(second)


def _is_edge(inventory: Inventory | None, policy: Policy) -> bool:
    if inventory is None or inventory.vendor is None or inventory.cpu.architecture not in _EDGE_ARCHITECTURES:
        return False
    return inventory.vendor.product_name.lower().replace(" ", "") in policy.edge_worker_products


def _lowest(limits: Iterable[N | None]) -> N | None:
    return min((limit for limit in limits if limit is not None), default=None)
