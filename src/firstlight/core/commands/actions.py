"""The user acts: install, cancel, reset, bind, unbind; and what agents report that moves a host at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters import moves as cluster_moves
from firstlight.core.clusters.situation import ClusterSituation
from firstlight.core.clusters.transitions import ClusterTrigger
from firstlight.core.decision import Change, Decision, HostKey, Taken, prepare
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.events.cluster import ValidationsIgnored
from firstlight.core.events.host import BootstrapSet, HostBound, HostInstallationStarted, HostUnbound
from firstlight.core.hosts import moves as host_moves
from firstlight.core.hosts.resets import BIND_DROPS, UNBIND_DROPS, bound
from firstlight.core.hosts.rules.downloads import is_unavailable
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.triggers import HostTrigger, Identity
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import UPDATABLE, ClusterKind, ClusterStatus
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import INSTALLING_STATUSES, HostRole, MediaStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ReportKind
from firstlight.core.roles import choose_bootstrap, key_of


def situation_of(state: HostState, *, cluster: Cluster | None, policy: Policy, now: datetime) -> HostSituation:
    return HostSituation(host=state.host, reports=state.reports, cluster=cluster, policy=policy, now=now)


def fix_roles(state: ClusterState, *, now: datetime) -> Decision:
    """Suggestions become roles: from here on they no longer follow the facts."""
    hosts = {
        key_of(host): replace(host.host, role=host.host.suggested_role, updated_at=now)
        for host in state.hosts
        if host.host.role is HostRole.AUTO_ASSIGN and host.host.suggested_role is not None
    }
    return Decision(hosts=hosts)


def install_cluster(state: ClusterState, *, policy: Policy, now: datetime, why_not: str) -> Decision:
    """Start the installation of a ready cluster. `why_not` tells what its failing checks say."""
    cluster = state.cluster
    if cluster.status is not ClusterStatus.READY:
        raise Conflict(
            f"Cluster is not ready for installation: it is {cluster.status}. {cluster.status_info} {why_not}".strip(),
            code="not-ready",
        )
    facts = ClusterSituation(cluster=cluster, hosts=state.hosts, policy=policy, now=now)
    move = cluster_moves.request(ClusterTrigger.PREPARE, facts)
    chosen = choose_bootstrap(state.hosts)
    if chosen is None:
        raise Conflict(f"Cluster {cluster.name} has no control-plane host that could bootstrap it.", code="not-ready")
    hosts: dict[HostKey, Host] = {}
    changes = list(move.changes)
    if not chosen.host.bootstrap:
        hosts[key_of(chosen)] = replace(chosen.host, bootstrap=True, updated_at=now)
        who = Identity(chosen.host, chosen.reports)
        changes.append(
            Change(
                event=BootstrapSet(
                    host_id=who.host_id,
                    infra_env_id=who.infra_env_id,
                    cluster_id=who.cluster_id,
                    host_name=who.host_name,
                )
            )
        )
    if cluster.ignored_host_validations or cluster.ignored_cluster_validations:
        changes.append(Change(event=ValidationsIgnored(cluster_id=cluster.id)))
    return Decision(
        cluster=move.cluster,
        hosts=hosts,
        dropped_reports={key_of(host): PULL_AGAIN for host in state.hosts if _lacks_images(host)},
        changes=tuple(changes),
        effects=(prepare(move.cluster),),
        taken=(move.taken,),
    )


PULL_AGAIN: Final = frozenset({ReportKind.IMAGES})


def _lacks_images(host: HostState) -> bool:
    """An earlier try failed on an image: it deserves another one, or no retry could ever succeed."""
    return any(map(is_unavailable, (host.reports.images or {}).values()))


def cancel(state: ClusterState, *, policy: Policy, now: datetime) -> Decision:
    return _with_hosts(state, ClusterTrigger.CANCEL, HostTrigger.CANCEL, policy=policy, now=now)


def reset(state: ClusterState, *, policy: Policy, now: datetime) -> Decision:
    return _with_hosts(state, ClusterTrigger.RESET, HostTrigger.RESET, policy=policy, now=now)


def _with_hosts(
    state: ClusterState, on_cluster: ClusterTrigger, on_hosts: HostTrigger, *, policy: Policy, now: datetime
) -> Decision:
    facts = ClusterSituation(cluster=state.cluster, hosts=state.hosts, policy=policy, now=now)
    move = cluster_moves.request(on_cluster, facts)
    hosts: dict[HostKey, Host] = {}
    changes: list[Change] = list(move.changes)
    taken: list[Taken] = [move.taken]
    for host in state.hosts:
        moved = host_moves.request(on_hosts, situation_of(host, cluster=state.cluster, policy=policy, now=now))
        if moved.host != host.host:
            hosts[key_of(host)] = moved.host
        changes.extend(moved.changes)
        taken.append(moved.taken)
    if on_cluster is ClusterTrigger.RESET:
        hosts = {key: _unchosen(host) for key, host in hosts.items()}
    return Decision(cluster=move.cluster, hosts=hosts, changes=tuple(changes), taken=tuple(taken))


def _unchosen(host: Host) -> Host:
    """A reset cluster chooses its bootstrap host anew, and its hosts start anew."""
    return replace(host, bootstrap=False, tries=0)


def install_day_two_host(state: HostState, *, cluster: Cluster | None, policy: Policy, now: datetime) -> Decision:
    host = state.host
    if cluster is None:
        raise NotFound(f"Host {host.id} belongs to no cluster. Bind it to one first.")
    if not host.is_day_two:
        raise Conflict(f"Host {host.id} is installed together with its cluster; install the cluster instead.")
    if host.role is HostRole.AUTO_ASSIGN and host.suggested_role is not None:
        state = replace(state, host=replace(host, role=host.suggested_role))
    moved = host_moves.request(HostTrigger.INSTALL, situation_of(state, cluster=cluster, policy=policy, now=now))
    who = Identity(host, state.reports)
    started = HostInstallationStarted(
        host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
    )
    return _one(state, moved, extra=(Change(event=started),))


def reset_day_two_host(state: HostState, *, cluster: Cluster | None, policy: Policy, now: datetime) -> Decision:
    if not state.host.is_day_two:
        raise Conflict(f"Host {state.host.id} is reset together with its cluster; reset the cluster instead.")
    moved = host_moves.request(HostTrigger.RESET, situation_of(state, cluster=cluster, policy=policy, now=now))
    return _one(state, moved)


def bind(state: HostState, *, cluster: Cluster, policy: Policy, now: datetime) -> Decision:
    host = state.host
    if host.cluster_id is not None:
        raise Conflict(f"Host {host.id} is bound to cluster {host.cluster_id} already. Unbind it first.")
    if cluster.status not in UPDATABLE:
        raise Conflict(f"Cluster {cluster.name} is {cluster.status} and takes no further hosts in this state.")
    require_same_architecture(state, cluster)
    moved = host_moves.request(HostTrigger.BIND, situation_of(state, cluster=cluster, policy=policy, now=now))
    after = replace(bound(moved.host), cluster_id=cluster.id)
    key = key_of(state)
    who = Identity(after, state.reports)
    event = HostBound(
        host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=cluster.id, host_name=who.host_name
    )
    return Decision(
        hosts={key: after},
        dropped_reports={key: BIND_DROPS},
        changes=(Change(event=event, after={"cluster_id": str(cluster.id)}), *moved.changes),
        taken=(moved.taken,),
    )


def require_same_architecture(state: HostState, cluster: Cluster) -> None:
    inventory = state.reports.inventory
    if inventory is None or cluster.cpu_architecture == "multi":
        return
    have = {"aarch64": "arm64", "amd64": "x86_64"}.get(inventory.cpu.architecture, inventory.cpu.architecture)
    if have and have != cluster.cpu_architecture:
        raise Invalid(
            f"Host {state.host.id} has a processor of type {have}, but cluster {cluster.name} is made for "
            f"{cluster.cpu_architecture}. Choose a multi-architecture release or another host."
        )


def unbind(state: HostState, *, infra_env: InfraEnv, cluster: Cluster, policy: Policy, now: datetime) -> Decision:
    host = state.host
    if infra_env.cluster_id is not None:
        raise Conflict(
            f"Infra-env {infra_env.name} itself belongs to cluster {cluster.name}, so its hosts cannot be unbound. "
            "Delete the host instead."
        )
    if host.status in INSTALLING_STATUSES:
        raise Conflict(f"Host {host.id} is {host.status}. Cancel or reset the installation before unbinding it.")
    return leave(state, trigger=HostTrigger.UNBIND, cluster=cluster, policy=policy, now=now)


def leave(
    state: HostState, *, trigger: HostTrigger, cluster: Cluster | None, policy: Policy, now: datetime
) -> Decision:
    """Back to the pool, for whatever reason."""
    moved = host_moves.request(trigger, situation_of(state, cluster=cluster, policy=policy, now=now))
    key = key_of(state)
    who = Identity(state.host, state.reports)
    event = HostUnbound(
        host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
    )
    return Decision(
        hosts={key: moved.host},
        dropped_reports={key: UNBIND_DROPS},
        changes=(Change(event=event, before={"cluster_id": str(state.host.cluster_id)}), *moved.changes),
        taken=(moved.taken,),
    )


def media_gone(state: HostState, *, cluster: Cluster | None, policy: Policy, now: datetime) -> Decision:
    """Any step answered that the discovery medium cannot be read."""
    if state.host.media is MediaStatus.DISCONNECTED:
        return Decision()
    facts = situation_of(state, cluster=cluster, policy=policy, now=now)
    return _if_it_fits(state, HostTrigger.MEDIA_GONE, facts)


def media_back(state: HostState, *, now: datetime) -> Decision:
    if state.host.media is MediaStatus.CONNECTED:
        return Decision()
    return Decision(hosts={key_of(state): replace(state.host, media=MediaStatus.CONNECTED, updated_at=now)})


def install_failed(state: HostState, *, cluster: Cluster | None, policy: Policy, now: datetime) -> Decision:
    facts = situation_of(state, cluster=cluster, policy=policy, now=now)
    return _if_it_fits(state, HostTrigger.INSTALL_FAILED, facts)


def boot_artifacts(
    state: HostState, *, arrived: bool, cluster: Cluster | None, policy: Policy, now: datetime
) -> Decision:
    trigger = HostTrigger.REBOOT_FOR_RECLAIM if arrived else HostTrigger.RECLAIM_FAILED
    return _if_it_fits(state, trigger, situation_of(state, cluster=cluster, policy=policy, now=now))


def _if_it_fits(state: HostState, trigger: HostTrigger, facts: HostSituation) -> Decision:
    """Agents report what they saw; where the state has no use for it, nothing happens."""
    try:
        moved = host_moves.request(trigger, facts)
    except Conflict:
        return Decision()
    return _one(state, moved)


def _one(state: HostState, moved: host_moves.HostMove, *, extra: Sequence[Change] = ()) -> Decision:
    return Decision(hosts={key_of(state): moved.host}, changes=(*extra, *moved.changes), taken=(moved.taken,))


def retry_check(state: HostState, *, kind: ReportKind) -> Decision:
    """Measure again what was measured before."""
    return Decision(dropped_reports={key_of(state): frozenset({kind})})


def transform_to_adding_hosts(cluster: Cluster, *, now: datetime, info: str) -> Decision:
    if cluster.status is not ClusterStatus.INSTALLED or cluster.kind is not ClusterKind.CLUSTER:
        raise Invalid(
            f"Cluster {cluster.name} is {cluster.status}; only an installed cluster can be switched to adding hosts."
        )
    managed = not cluster.user_managed_networking and cluster.api_vips
    dns_name = cluster.api_vips[0] if managed else f"api.{cluster.name}.{cluster.base_dns_domain}"
    after = replace(
        cluster,
        kind=ClusterKind.ADD_HOSTS,
        status=ClusterStatus.ADDING_HOSTS,
        status_info=info,
        status_updated_at=now,
        updated_at=now,
        api_vip_dns_name=dns_name,
    )
    return Decision(cluster=after, changes=(cluster_moves.status_change(cluster, after),))
