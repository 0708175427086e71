"""One change to many hosts: names from a pattern, role, labels. Each host gets a verdict, a cluster one commit."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.decision import Decision, HostKey, combined
from firstlight.core.errors import Error
from firstlight.core.hosts.changes import update_host
from firstlight.core.hosts.naming import name_from
from firstlight.core.hosts.wishes import HostWish
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import HostState, NodeLabel, hostname_of
from firstlight.core.model.host_status import HostRole
from firstlight.core.roles import key_of
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster, load_cluster, no_such_host
from firstlight.server.usecases.one_host import change_host
from firstlight.server.usecases.world import World


class ManyHostsWish(Struct, frozen=True, kw_only=True):
    """None leaves a field as it is; a label whose value is None goes."""

    name_pattern: str | None = None
    first_number: int = 1
    role: HostRole | None = None
    labels: Mapping[str, str | None] | None = None

    def of(self, state: HostState, *, position: int) -> HostWish:
        """What one host, the `position`th of those named, is asked for."""
        name = None
        if self.name_pattern is not None:
            name = name_from(self.name_pattern, number=self.first_number + position, state=state)
        labels = None
        if self.labels is not None:
            merged: dict[str, str | None] = {label.key: label.value for label in state.host.node_labels}
            merged.update(self.labels)
            labels = tuple(NodeLabel(key, value) for key, value in merged.items() if value is not None)
        return HostWish(role=self.role, name=name, node_labels=labels)


class HostVerdict(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID
    name: str
    """As it is, or would be, after the change."""
    error: str
    """Why this host stays as it was; empty when it changed."""


async def change_hosts(
    world: World, keys: Iterable[HostKey], wish: ManyHostsWish, *, dry_run: bool, caller: Caller
) -> tuple[HostVerdict, ...]:
    """The verdicts in the order of `keys`."""
    positions = {key: position for position, key in enumerate(dict.fromkeys(keys))}
    verdicts: dict[HostKey, HostVerdict] = {}
    clusters: dict[UUID, dict[HostKey, int]] = {}
    for key, position in positions.items():
        known = await world.store.host(key)
        if known is None:
            verdicts[key] = _verdict(key, "", str(no_such_host(key)))
        elif known.host.cluster_id is None:
            verdicts[key] = await _change_in_pool(world, known, wish, position, dry_run=dry_run, caller=caller)
        else:
            clusters.setdefault(known.host.cluster_id, {})[key] = position
    for cluster_id, asked in clusters.items():
        verdicts |= await _change_in_cluster(world, cluster_id, asked, wish, dry_run=dry_run, caller=caller)
    return tuple(verdicts[key] for key in positions)


async def _change_in_pool(
    world: World, known: HostState, wish: ManyHostsWish, position: int, *, dry_run: bool, caller: Caller
) -> HostVerdict:
    def decide(state: HostState, cluster: Cluster | None, now: datetime) -> Decision:
        return update_host(state, wish.of(state, position=position), cluster=cluster, policy=world.policy, now=now)

    key = key_of(known)
    try:
        if not dry_run:
            placed = await change_host(world, key, decide, caller=caller)
            return _verdict(key, hostname_of(placed.state.host, placed.state.reports), "")
        decision = decide(known, None, world.clock.now())
    except Error as refusal:
        return _verdict(key, hostname_of(known.host, known.reports), str(refusal))
    return _verdict(key, hostname_of(decision.hosts.get(key, known.host), known.reports), "")


async def _change_in_cluster(
    world: World,
    cluster_id: UUID,
    asked: Mapping[HostKey, int],
    wish: ManyHostsWish,
    *,
    dry_run: bool,
    caller: Caller,
) -> Mapping[HostKey, HostVerdict]:
    verdicts: dict[HostKey, HostVerdict] = {}

    def command(state: ClusterState, now: datetime) -> Decision:
        verdicts.clear()
        together = Decision()
        hosts = {key_of(host): host for host in state.hosts}
        for key, position in asked.items():
            host = hosts.get(key)
            if host is None:
                verdicts[key] = _verdict(key, "", str(no_such_host(key)))
                continue
            try:
                wished = wish.of(host, position=position)
                decision = update_host(host, wished, cluster=state.cluster, policy=world.policy, now=now)
            except Error as refusal:
                verdicts[key] = _verdict(key, hostname_of(host.host, host.reports), str(refusal))
                continue
            verdicts[key] = _verdict(key, hostname_of(decision.hosts.get(key, host.host), host.reports), "")
            together = combined(together, decision)
        return together

    if dry_run:
        command(await load_cluster(world, cluster_id), world.clock.now())
    else:
        await change_cluster(world, cluster_id, command, caller=caller)
    return verdicts


def _verdict(key: HostKey, name: str, error: str) -> HostVerdict:
    return HostVerdict(id=key[1], infra_env_id=key[0], name=name, error=error)
