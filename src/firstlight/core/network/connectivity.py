"""Who reaches whom: majority groups per network and IP version, addresses everybody reaches, address collisions.

Hosts are numbered by ascending id, so the outcome does not depend on the order in which they are given.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.host import HostState
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.reports import Connectivity
from firstlight.core.network.addresses import addresses_of_inventory, networks_of_inventory, normal_network, version_of
from firstlight.core.network.mesh import largest_mesh, members_of

ID_BYTES: Final = 16
FAMILIES: Final = {4: "IPv4", 6: "IPv6"}


class Groups(Struct, frozen=True, kw_only=True):
    majority_groups: dict[str, tuple[UUID, ...]]
    """Network of any host's inventory, "IPv4" and "IPv6" → hosts that all reach each other; empty if too few do."""
    connected_addresses: dict[UUID, tuple[str, ...]]
    """Host → its addresses that every other host reaches; hosts without such an address are left out."""


class _Row(Struct, frozen=True):
    """One host's report, unpacked for one numbering of hosts."""

    report: Connectivity
    layer2: dict[str, int]
    layer3: dict[int, int]
    partial: dict[tuple[UUID, int], frozenset[str]]


class ConnectivityMemo:
    """What one evaluation leaves for the next one of the same cluster: rows that did not change stay unpacked.

    Rows are recognised by being the same object, so the memo keeps them alive. Using it never changes the outcome.
    """

    def __init__(self) -> None:
        self.ids: tuple[UUID, ...] = ()
        self.rows: dict[UUID, _Row] = {}
        self.meshes: dict[str, tuple[tuple[int, ...], int, tuple[UUID, ...]]] = {}

    def renumber(self, ids: tuple[UUID, ...]) -> None:
        if ids != self.ids:
            self.ids, self.rows, self.meshes = ids, {}, {}

    def mesh(self, name: str, rows: tuple[int, ...], smallest: int) -> tuple[UUID, ...]:
        known = self.meshes.get(name)
        if known is not None and known[0] == rows and known[1] == smallest:
            return known[2]
        group = tuple(self.ids[position] for position in members_of(largest_mesh(rows, smallest=smallest)))
        self.meshes[name] = (rows, smallest, group)
        return group


def pack(ids: Iterable[UUID]) -> bytes:
    """Peers as 16 bytes each, ascending, each once."""
    return b"".join(sorted({peer.bytes for peer in ids}))


def unpack(packed: bytes) -> tuple[UUID, ...]:
    return tuple(UUID(bytes=chunk) for chunk in _chunks(packed))


def groups_of(hosts: Sequence[HostState], *, smallest: int, memo: ConnectivityMemo | None = None) -> Groups:
    """Majority groups and connected addresses of a cluster's hosts; `smallest` is the least size of a group."""
    memo = ConnectivityMemo() if memo is None else memo
    ordered = sorted(hosts, key=lambda state: state.host.id)
    memo.renumber(tuple(state.host.id for state in ordered))
    rows = _rows(ordered, memo)
    groups: dict[str, tuple[UUID, ...]] = dict.fromkeys(_networks(ordered), ())
    # Private networks of single hosts can be many; only those that could hold a group are looked at.
    reporters = Counter(network for row in rows if row is not None for network in row.layer2)
    for network in groups:
        if reporters[network] >= smallest:
            reached = tuple(0 if row is None else row.layer2.get(network, 0) for row in rows)
            groups[network] = memo.mesh(network, reached, smallest)
    for version, family in FAMILIES.items():
        reached = tuple(0 if row is None else row.layer3.get(version, 0) for row in rows)
        groups[family] = memo.mesh(family, reached, smallest)
    return Groups(majority_groups=groups, connected_addresses=_connected_addresses(ordered, rows))


def ip_collisions(hosts: Iterable[HostState]) -> dict[str, tuple[str, ...]]:
    """Address → all MACs that any host saw answering for it, where a host saw more than one; sorted."""
    found: dict[str, set[str]] = {}
    for state in hosts:
        if state.reports.connectivity is not None:
            for address, macs in state.reports.connectivity.collisions.items():
                found.setdefault(address, set()).update(macs)
    return {address: tuple(sorted(found[address])) for address in sorted(found)}


def _networks(hosts: Sequence[HostState]) -> list[str]:
    """All networks of all inventories, sorted."""
    networks: set[str] = set()
    for state in hosts:
        if state.reports.inventory is not None:
            networks.update(networks_of_inventory(state.reports.inventory))
    return sorted(networks)


def _rows(hosts: Sequence[HostState], memo: ConnectivityMemo) -> list[_Row | None]:
    positions = {peer.bytes: 1 << position for position, peer in enumerate(memo.ids)}
    everyone = b"".join(peer.bytes for peer in memo.ids)
    rows: list[_Row | None] = []
    for position, state in enumerate(hosts):
        report = state.reports.connectivity
        row = None if report is None else memo.rows.get(state.host.id)
        if report is not None and (row is None or row.report is not report):
            row = _row(report, positions, everyone, position)
            memo.rows[state.host.id] = row
        rows.append(row)
    return rows


def _row(report: Connectivity, positions: dict[bytes, int], everyone: bytes, position: int) -> _Row:
    itself = position * ID_BYTES
    others = everyone[:itself] + everyone[itself + ID_BYTES :]
    all_others = (1 << len(positions)) - 1 & ~(1 << position)

    def reached(packed: bytes) -> int:
        # The usual report, everybody answered, is recognised by one comparison.
        if packed == others:
            return all_others
        bits = 0
        for chunk in _chunks(packed):
            bits |= positions.get(chunk, 0)
        return bits & all_others

    layer2: dict[str, int] = {}
    for cidr, packed in report.layer2.items():
        network = normal_network(cidr)
        if network is not None:
            layer2[network] = layer2.get(network, 0) | reached(packed)
    return _Row(
        report=report,
        layer2=layer2,
        layer3={version: reached(packed) for version, packed in report.layer3.items()},
        partial={(peer.host_id, peer.version): frozenset(peer.answered) for peer in report.partial},
    )


def ids_of(packed: bytes) -> frozenset[UUID]:
    """Hosts as reports keep them."""
    return frozenset(UUID(bytes=chunk) for chunk in _chunks(packed))


def _chunks(packed: bytes) -> Iterator[bytes]:
    for start in range(0, len(packed) - ID_BYTES + 1, ID_BYTES):
        yield packed[start : start + ID_BYTES]


def _connected_addresses(hosts: Sequence[HostState], rows: Sequence[_Row | None]) -> dict[UUID, tuple[str, ...]]:
    """Addresses every other host reports. A silent host reports nothing, so with one there are none but its own."""
    if len(hosts) < 2:
        return {}
    connected: dict[UUID, list[str]] = {}
    for version in FAMILIES:
        reached = [0 if row is None else row.layer3.get(version, 0) for row in rows]
        by_all = (1 << len(hosts)) - 1
        for position, row in enumerate(reached):
            by_all &= row | 1 << position
        for position, state in enumerate(hosts):
            own = _own_addresses(state.reports.inventory, version)
            if own and not by_all >> position & 1:
                own = _answered_by_all(own, position, state.host.id, version, rows, reached)
            if own:
                connected.setdefault(state.host.id, []).extend(own)
    return {host_id: tuple(sorted(found)) for host_id, found in sorted(connected.items())}


def _own_addresses(inventory: Inventory | None, version: int) -> Sequence[str]:
    if inventory is None:
        return ()
    return [address for address in addresses_of_inventory(inventory) if version_of(address) == version]


def _answered_by_all(
    own: Sequence[str],
    position: int,
    host_id: UUID,
    version: int,
    rows: Sequence[_Row | None],
    reached: Sequence[int],
) -> Sequence[str]:
    """The addresses left when some hosts reached only part of them; empty as soon as one reached none."""
    for other, row in enumerate(rows):
        if other == position or reached[other] >> position & 1:
            continue
        answered = frozenset[str]() if row is None else row.partial.get((host_id, version), frozenset[str]())
        own = [address for address in own if address in answered]
        if not own:
            return ()
    return own
