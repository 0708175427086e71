"""Hosts as rows of a table: small, filtered, sorted and cut here, so that a page of thousands stays quick."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import NotFound
from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.hosts.stages import stages_of
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.host_status import Stage
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.policy import Policy
from firstlight.core.rules import Finding, Status
from firstlight.server.ports.listed_hosts import HostsOf, ListedHost, Place
from firstlight.server.usecases.parts import Part
from firstlight.server.usecases.world import World

SortKey = Literal["name", "role", "status", "registered_at", "cpus", "memory", "disk", "percent", "failing", "serial"]
SHOWN_ADDRESSES: Final = 4
FAILING: Final = frozenset({Status.FAILURE, Status.ERROR})
_DIGITS: Final = re.compile(r"(\d+)")


class HostRow(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID
    cluster_id: UUID | None
    name: str
    role: str
    """As asked for."""
    effective_role: str
    bootstrap: bool
    day_two: bool
    status: str
    status_info: str
    stage: str
    stage_info: str
    percent: int
    stage_number: int
    """Counts from 1; 0 before the first."""
    stage_count: int
    stage_late: bool
    registered_at: datetime
    checked_in_at: datetime | None
    cpus: int
    memory_bytes: int
    disk_bytes: int
    disks: int
    install_disk: str
    addresses: tuple[str, ...]
    vendor: str
    serial: str
    labels: dict[str, str]
    failing: int
    pending: int


class HostFilter(Part, frozen=True, kw_only=True):
    """Empty conditions hold for every host."""

    text: str = ""
    """Part of a name, id, address, MAC, vendor, serial number or label."""
    status: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    check: str = ""
    """Only hosts on which this check does not pass."""
    sort: SortKey = "name"
    descending: bool = False


class HostPage(Struct, frozen=True, kw_only=True):
    total: int
    """All hosts, before the filter."""
    matching: int
    statuses: dict[str, int]
    """How many hosts of all have each status."""
    roles: dict[str, int]
    hosts: tuple[HostRow, ...]


async def hosts_of_cluster(world: World, cluster_id: UUID, wanted: HostFilter) -> HostPage:
    cluster = await world.store.cluster(cluster_id)
    if cluster is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    hosts = await world.store.listed_hosts(HostsOf(Place.CLUSTER, cluster_id))
    return page_of(hosts, wanted, cluster=cluster, policy=world.policy)


async def hosts_of_infra_env(world: World, infra_env_id: UUID, wanted: HostFilter) -> HostPage:
    if await world.store.infra_env(infra_env_id) is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    hosts = await world.store.listed_hosts(HostsOf(Place.INFRA_ENV, infra_env_id))
    return page_of(hosts, wanted, cluster=None, policy=world.policy)


def page_of(hosts: Sequence[ListedHost], wanted: HostFilter, *, cluster: Cluster | None, policy: Policy) -> HostPage:
    """Only the rows of the page are made; conditions and order read the states themselves."""
    found = [host for host in hosts if _matches(host.state, wanted)]
    # Names settle ties, and ids those of names, so that pages do not overlap.
    found.sort(key=_natural_name)
    if wanted.sort != "name":
        key = SORTS[wanted.sort]
        found.sort(key=lambda host: key(host.state), reverse=wanted.descending)
    elif wanted.descending:
        found.reverse()
    return HostPage(
        total=len(hosts),
        matching=len(found),
        statuses=dict(Counter(it.state.host.status.value for it in hosts)),
        roles=dict(Counter(it.state.host.effective_role.value for it in hosts)),
        hosts=tuple(
            row_of(host, stages_of(host.state.host, cluster, policy))
            for host in found[wanted.offset : wanted.offset + wanted.limit]
        ),
    )


def row_of(listed: ListedHost, stages: tuple[Stage, ...]) -> HostRow:
    """`stages` are those the host goes through."""
    state = listed.state
    host, inventory = state.host, state.reports.inventory
    stage = host.progress.stage
    findings = shown_findings(state.findings, host)
    vendor = inventory.vendor if inventory else None
    return HostRow(
        id=host.id,
        infra_env_id=host.infra_env_id,
        cluster_id=host.cluster_id,
        name=hostname_of(host, state.reports),
        role=host.role.value,
        effective_role=host.effective_role.value,
        bootstrap=host.bootstrap,
        day_two=host.is_day_two,
        status=host.status.value,
        status_info=host.status_info,
        stage=stage.value if stage else "",
        stage_info=host.progress.info,
        percent=host.progress.percentage,
        stage_number=stages.index(stage) + 1 if stage in stages else 0,
        stage_count=len(stages),
        stage_late=host.progress.timed_out,
        registered_at=host.registered_at,
        checked_in_at=listed.checked_in_at,
        cpus=inventory.cpu.count if inventory else 0,
        memory_bytes=inventory.memory.physical_bytes if inventory else 0,
        disk_bytes=_disk_bytes(inventory),
        disks=len(inventory.disks) if inventory else 0,
        install_disk=host.installation_disk_path,
        addresses=tuple(_addresses(inventory))[:SHOWN_ADDRESSES],
        vendor=f"{vendor.manufacturer} {vendor.product_name}".strip() if vendor else "",
        serial=vendor.serial_number if vendor else "",
        labels={label.key: label.value for label in host.node_labels},
        failing=_count(findings, FAILING),
        pending=_count(findings, {Status.PENDING}),
    )


def _matches(state: HostState, wanted: HostFilter) -> bool:
    host = state.host
    return (
        (not wanted.status or host.status.value in wanted.status)
        and (not wanted.role or host.effective_role.value in wanted.role)
        and (not wanted.check or _fails(state.findings, wanted.check))
        and (not wanted.text or wanted.text.casefold() in _searched(state))
    )


def _fails(findings: Iterable[Finding], check: str) -> bool:
    return any(finding.id == check and not finding.holds for finding in findings)


def _searched(state: HostState) -> str:
    host, inventory = state.host, state.reports.inventory
    words = [hostname_of(host, state.reports), str(host.id), *(f"{it.key}={it.value}" for it in host.node_labels)]
    if inventory is not None:
        words += [word for nic in inventory.interfaces for word in (nic.mac, *nic.addresses)]
        if inventory.vendor is not None:
            words += [inventory.vendor.manufacturer, inventory.vendor.product_name, inventory.vendor.serial_number]
    return "\n".join(words).casefold()


def _count(findings: Iterable[Finding], statuses: Collection[Status]) -> int:
    return sum(finding.status in statuses for finding in findings)


def _disk_bytes(inventory: Inventory | None) -> int:
    return sum(disk.size_bytes for disk in inventory.disks) if inventory else 0


def _addresses(inventory: Inventory | None) -> Iterable[str]:
    return (address for nic in inventory.interfaces for address in nic.addresses) if inventory else ()


def _natural_name(listed: ListedHost) -> tuple[list[tuple[int, str]], int]:
    """host-2 comes before host-10."""
    state = listed.state
    parts = _DIGITS.split(hostname_of(state.host, state.reports))
    return [(int(part[:18]), "") if part.isdecimal() else (-1, part) for part in parts], state.host.id.int


def _serial(state: HostState) -> str:
    inventory = state.reports.inventory
    return inventory.vendor.serial_number if inventory and inventory.vendor else ""


SORTS: Final[Mapping[SortKey, Callable[[HostState], str | int | float]]] = {
    "role": lambda state: state.host.effective_role.value,
    "status": lambda state: state.host.status.value,
    "registered_at": lambda state: state.host.registered_at.timestamp(),
    "cpus": lambda state: state.reports.inventory.cpu.count if state.reports.inventory else 0,
    "memory": lambda state: state.reports.inventory.memory.physical_bytes if state.reports.inventory else 0,
    "disk": lambda state: _disk_bytes(state.reports.inventory),
    "percent": lambda state: state.host.progress.percentage,
    "failing": lambda state: _count(state.findings, FAILING),
    "serial": _serial,
}
