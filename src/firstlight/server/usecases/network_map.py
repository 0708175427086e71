"""Hosts and networks of a cluster as a map: who does not reach whom, and which addresses are taken and free."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from ipaddress import IPv4Network
from itertools import groupby
from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.addresses import (
    address_of,
    addresses_of_inventory,
    in_network,
    network_of,
    networks_of_inventory,
    same_network,
    version_of,
)
from firstlight.core.network.connectivity import ids_of
from firstlight.core.network.free_addresses import LONGEST_BITMAP, free_for_all, free_list
from firstlight.core.network.host_networks import all_networks
from firstlight.server.usecases.deciding import load_cluster
from firstlight.server.usecases.world import World

MOST_HOSTS: Final = 100
"""Hosts on the map. Those with a broken path come first; the counts tell of all."""
MOST_NETWORKS: Final = 50

Fault = Literal["unreached", "partial", "mtu", "lossy", "slow"]


class MappedHost(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID
    name: str
    role: str
    status: str
    networks: tuple[str, ...]
    reported_at: datetime | None
    """When it last told whom it reaches; none: never."""


class BrokenPath(Struct, frozen=True, kw_only=True):
    """What one host found wrong on the way to another. Paths that are fine are left out."""

    source: UUID
    target: UUID
    fault: Fault
    over: tuple[str, ...]
    """Networks, or `IPv4` and `IPv6` for the way through routers."""
    measured: str = ""
    """Loss, delay or interface, where it was measured."""


class TakenAddress(Struct, frozen=True, kw_only=True):
    address: str
    offset: int | None
    """From the first address of its network; none where addresses are too many to draw."""
    kind: Literal["host", "api", "ingress", "gateway"]
    name: str
    host_id: UUID | None = None


class MappedNetwork(Struct, frozen=True, kw_only=True):
    cidr: str
    machine: bool
    """The cluster's machine network."""
    size: int | None
    """How many addresses; none where they are too many to draw."""
    scanned: bool
    """Whether any host looked for free addresses in it."""
    free: tuple[tuple[int, int], ...]
    """Free addresses that every host which looked found free: first and last offset of each run."""
    taken: tuple[TakenAddress, ...]


class NetworkMap(Struct, frozen=True, kw_only=True):
    total: int
    hosts: tuple[MappedHost, ...]
    broken: tuple[BrokenPath, ...]
    """Between hosts on the map."""
    networks: tuple[MappedNetwork, ...]


async def network_map(world: World, cluster_id: UUID) -> NetworkMap:
    # Everybody with everybody: a large cluster would hold up all others.
    return await asyncio.to_thread(map_of, await load_cluster(world, cluster_id))


def map_of(state: ClusterState) -> NetworkMap:
    ends = [_end(host.host.id, host.reports.inventory) for host in state.hosts if host.reports.inventory is not None]
    broken = [path for source in state.hosts for path in _broken_paths(source, ends)]
    concerned = {host_id for path in broken for host_id in (path.source, path.target)}
    ordered = sorted(
        state.hosts, key=lambda host: (host.host.id not in concerned, hostname_of(host.host, host.reports))
    )
    shown = {host.host.id for host in ordered[:MOST_HOSTS]}
    return NetworkMap(
        total=len(state.hosts),
        hosts=tuple(_mapped(host) for host in ordered[:MOST_HOSTS]),
        broken=tuple(path for path in broken if path.source in shown and path.target in shown),
        networks=tuple(
            _network(cidr, state.cluster, state.hosts) for cidr in all_networks(state.hosts)[:MOST_NETWORKS]
        ),
    )


def _mapped(state: HostState) -> MappedHost:
    host, inventory = state.host, state.reports.inventory
    told = state.reports.connectivity is not None
    return MappedHost(
        id=host.id,
        infra_env_id=host.infra_env_id,
        name=hostname_of(host, state.reports),
        role=host.effective_role.value,
        status=host.status.value,
        networks=networks_of_inventory(inventory) if inventory else (),
        reported_at=state.reports.measured_at.get(ReportKind.CONNECTIVITY) if told else None,
    )


# --- paths


class _End(Struct, frozen=True, kw_only=True):
    """One end of a path."""

    id: UUID
    networks: frozenset[str]
    versions: frozenset[int | None]


def _end(host_id: UUID, inventory: Inventory) -> _End:
    return _End(
        id=host_id,
        networks=frozenset(networks_of_inventory(inventory)),
        versions=frozenset(version_of(address) for address in addresses_of_inventory(inventory)),
    )


def _broken_paths(source: HostState, ends: Sequence[_End]) -> Iterator[BrokenPath]:
    """The worst that is wrong on each way, once."""
    report, inventory = source.reports.connectivity, source.reports.inventory
    if report is None or inventory is None:
        return
    own = _end(source.host.id, inventory)
    asked = ids_of(report.asked) - {own.id}
    inside = {cidr: _answering(report.layer2, cidr) for cidr in networks_of_inventory(inventory)}
    routed = {version: ids_of(report.layer3.get(version, b"")) for version in (4, 6) if version in own.versions}
    some = {(one.host_id, one.version) for one in report.partial}
    measured: dict[UUID, list[BrokenPath]] = {}
    for path in _measured(source):
        measured.setdefault(path.target, []).append(path)
    for peer in ends:
        if peer.id not in asked:
            continue
        missed = [cidr for cidr, known in inside.items() if peer.id not in known and cidr in peer.networks]
        silent = [version for version, known in routed.items() if peer.id not in known and version in peer.versions]
        if missed or silent:
            partial = not missed and all((peer.id, version) in some for version in silent)
            over = (*missed, *(f"IPv{version}" for version in silent))
            yield BrokenPath(source=own.id, target=peer.id, fault="partial" if partial else "unreached", over=over)
        elif peer.id in measured:
            yield measured[peer.id][0]


def _answering(layer2: Mapping[str, bytes], cidr: str) -> frozenset[UUID]:
    return frozenset[UUID]().union(*(ids_of(packed) for known, packed in layer2.items() if same_network(known, cidr)))


def _measured(source: HostState) -> Iterator[BrokenPath]:
    """Worst first."""
    report, origin = source.reports.connectivity, source.host.id
    if report is None:
        return
    for mtu in report.broken_mtu:
        yield BrokenPath(source=origin, target=mtu.host_id, fault="mtu", over=(mtu.address,), measured=mtu.interface)
    for lossy in report.lossy:
        loss = f"{lossy.loss_percent:.3g} % of the packets lost"
        yield BrokenPath(source=origin, target=lossy.host_id, fault="lossy", over=(lossy.address,), measured=loss)
    for slow in report.slow:
        delay = f"{slow.rtt_ms:.3g} ms there and back"
        yield BrokenPath(source=origin, target=slow.host_id, fault="slow", over=(slow.address,), measured=delay)


# --- addresses


def _network(cidr: str, cluster: Cluster, hosts: Sequence[HostState]) -> MappedNetwork:
    network = network_of(cidr)
    drawn = isinstance(network, IPv4Network) and network.num_addresses <= LONGEST_BITMAP
    first = int(network.network_address) if network is not None and drawn else None
    bitmap = free_for_all(hosts, cidr=cidr) if drawn else None
    taken = tuple(_taken(cidr, cluster, hosts, first=first))
    busy = {one.offset for one in taken}
    free = () if bitmap is None or first is None else _offsets(free_list(bitmap, cidr), first=first)
    return MappedNetwork(
        cidr=cidr,
        machine=any(same_network(cidr, known) for known in cluster.machine_networks),
        size=network.num_addresses if network is not None and drawn else None,
        scanned=bitmap is not None,
        free=tuple(_runs(offset for offset in free if offset not in busy)),
        taken=taken,
    )


def _offsets(addresses: Sequence[str], *, first: int) -> tuple[int, ...]:
    return tuple(int(address) - first for text in addresses if (address := address_of(text)) is not None)


def _taken(cidr: str, cluster: Cluster, hosts: Sequence[HostState], *, first: int | None) -> Iterator[TakenAddress]:
    def at(text: str) -> int | None:
        address = address_of(text)
        return None if first is None or address is None else int(address) - first

    for address in cluster.api_vips:
        if in_network(address, cidr):
            yield TakenAddress(address=address, offset=at(address), kind="api", name="API")
    for address in cluster.ingress_vips:
        if in_network(address, cidr):
            yield TakenAddress(address=address, offset=at(address), kind="ingress", name="Ingress")
    gateways = {route.gateway for host in hosts if host.reports.inventory for route in host.reports.inventory.routes}
    for address in sorted(address for address in gateways if in_network(address, cidr)):
        yield TakenAddress(address=address, offset=at(address), kind="gateway", name="Gateway")
    for host in hosts:
        name, inventory = hostname_of(host.host, host.reports), host.reports.inventory
        for address in addresses_of_inventory(inventory) if inventory else ():
            if in_network(address, cidr):
                yield TakenAddress(address=address, offset=at(address), kind="host", name=name, host_id=host.host.id)


def _runs(offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    for _, run in groupby(enumerate(offsets), key=lambda pair: pair[1] - pair[0]):
        members = [offset for _, offset in run]
        yield members[0], members[-1]
