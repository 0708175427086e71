"""A host that failed on day 1 is tried again, or another machine takes its place, while its cluster waits."""

from datetime import datetime

from msgspec.structs import replace

from firstlight.core.clusters import moves as cluster_moves
from firstlight.core.clusters.retrying import bootstrap_of, failed_itself, why_not
from firstlight.core.clusters.situation import ClusterSituation
from firstlight.core.clusters.transitions import ClusterTrigger
from firstlight.core.commands.actions import leave, require_same_architecture
from firstlight.core.decision import Change, Decision, HostKey, Taken, combined
from firstlight.core.errors import Conflict, NotFound
from firstlight.core.evaluate.context import silent_from
from firstlight.core.events.own import HostReplaced
from firstlight.core.hosts import moves as host_moves
from firstlight.core.hosts.resets import BIND_DROPS, bound
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.triggers import HostTrigger, Identity
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Host, HostState, Progress, hostname_of
from firstlight.core.model.policy import Policy
from firstlight.core.roles import key_of
from firstlight.core.rules import Finding, Fix, Status

RETRY_PATH = "/v1/infra-envs/{infra_env_id}/hosts/{host_id}/actions/retry"
CHECK = "host-installed"
INSTALLATION = "installation"
"""The category of what is found about an installation under way; the original knows no such check."""


def retry_host(state: ClusterState, key: HostKey, *, policy: Policy, now: datetime) -> Decision:
    """The failed host gets a new install step; what failed along with it goes on."""
    host = _failed_host(state, key, policy=policy, now=now)
    moved = host_moves.request(HostTrigger.RETRY, _situation(host, state, policy=policy, now=now))
    again = Decision(hosts={key: moved.host}, changes=moved.changes, taken=(moved.taken,))
    return combined(_resumed(state, policy=policy, now=now), again)


def replace_host(
    state: ClusterState, key: HostKey, replacement: HostState, *, keep_name: bool, policy: Policy, now: datetime
) -> Decision:
    """Another machine takes the place of the failed one, which leaves the cluster."""
    failed = _failed_host(state, key, policy=policy, now=now)
    if replacement.host.cluster_id is not None:
        raise Conflict(
            f"Host {replacement.host.id} belongs to cluster {replacement.host.cluster_id} already. Unbind it first, or "
            "boot another machine from the discovery image."
        )
    require_same_architecture(replacement, state.cluster)
    left = leave(failed, trigger=HostTrigger.UNBIND, cluster=state.cluster, policy=policy, now=now)
    joined = _joined(state, failed, replacement, keep_name=keep_name, policy=policy, now=now)
    return combined(combined(_resumed(state, policy=policy, now=now), left), joined)


def retry_finding(state: ClusterState, host: HostState, *, policy: Policy, now: datetime) -> Finding | None:
    """What people read beside the checks of a host that failed itself, with the request that tries it again."""
    if not failed_itself(host.host) or state.cluster.is_day_two:
        return None
    refusal = _refusal(state, host, policy=policy, now=now)
    title = f"Try {hostname_of(host.host, host.reports)} again"
    return Finding(
        id=CHECK,
        category=INSTALLATION,
        status=Status.FAILURE,
        message=f"{host.host.status_info.rstrip('.')}. {refusal}".strip(),
        cause="too-late" if refusal else "failed",
        evidence={"stage": host.host.progress.stage or "", "tries": host.host.tries},
        measured_at=host.host.status_updated_at,
        fixes=() if refusal else (Fix(title=title, method="POST", path=RETRY_PATH),),
    )


def _failed_host(state: ClusterState, key: HostKey, *, policy: Policy, now: datetime) -> HostState:
    host = next((host for host in state.hosts if key_of(host) == key), None)
    if host is None:
        raise NotFound(f"There is no host {key[1]} in cluster {state.cluster.name}.")
    refusal = _refusal(state, host, policy=policy, now=now)
    if refusal:
        raise Conflict(refusal, code="no-retry")
    return host


def _refusal(state: ClusterState, host: HostState, *, policy: Policy, now: datetime) -> str:
    records = tuple(one.host for one in state.hosts)
    first = bootstrap_of(records)
    bootstrap = next((one for one in state.hosts if one.host is first), None)
    return why_not(
        state.cluster,
        records,
        host.host,
        name=hostname_of(host.host, host.reports),
        failed=", ".join(sorted(hostname_of(one.host, one.reports) for one in state.hosts if failed_itself(one.host))),
        bootstrap_silent=bootstrap is None or _is_silent(bootstrap, policy=policy, now=now),
    )


def _silence(host: HostState, policy: Policy) -> datetime | None:
    """When its silence counts, whatever stage it had reached."""
    return silent_from(replace(host, host=replace(host.host, progress=Progress())), policy)


def _is_silent(host: HostState, *, policy: Policy, now: datetime) -> bool:
    silent = _silence(host, policy)
    return silent is not None and now >= silent


def _situation(host: HostState, state: ClusterState, *, policy: Policy, now: datetime) -> HostSituation:
    return HostSituation(
        host=host.host,
        reports=host.reports,
        cluster=state.cluster,
        policy=policy,
        now=now,
        silent_from=_silence(host, policy),
    )


def _resumed(state: ClusterState, *, policy: Policy, now: datetime) -> Decision:
    """The cluster as it goes on, with every host that failed only along with it."""
    facts = ClusterSituation(cluster=state.cluster, hosts=state.hosts, policy=policy, now=now)
    move = cluster_moves.request(ClusterTrigger.RETRY, facts)
    hosts: dict[HostKey, Host] = {}
    changes: list[Change] = [*move.changes]
    taken: list[Taken] = [move.taken]
    kept = [host for host in state.hosts if host.host.kept_status is not None]
    for host in kept if state.cluster.status is ClusterStatus.ERROR else ():
        moved = host_moves.request(HostTrigger.RESUME, _situation(host, state, policy=policy, now=now))
        hosts[key_of(host)] = moved.host
        changes.extend(moved.changes)
        taken.append(moved.taken)
    return Decision(cluster=move.cluster, hosts=hosts, changes=tuple(changes), taken=tuple(taken))


def _joined(
    state: ClusterState, failed: HostState, replacement: HostState, *, keep_name: bool, policy: Policy, now: datetime
) -> Decision:
    """It takes over what belongs to the place; what belongs to the machine (disks, network) is its own."""
    moved = host_moves.request(HostTrigger.BIND, _situation(replacement, state, policy=policy, now=now))
    old, name = failed.host, hostname_of(failed.host, failed.reports)
    after = replace(
        bound(moved.host),
        cluster_id=state.cluster.id,
        role=old.effective_role,
        suggested_role=old.effective_role,
        machine_config_pool_name=old.machine_config_pool_name,
        node_labels=old.node_labels,
        requested_hostname=name if keep_name else moved.host.requested_hostname,
        tries=1,
    )
    key, who = key_of(replacement), Identity(after, replacement.reports)
    event = HostReplaced(
        host_id=who.host_id,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        host_name=who.host_name,
        replaced_name=name,
        replaced_id=str(old.id),
        role=after.role.value,
    )
    return Decision(
        hosts={key: after},
        dropped_reports={key: BIND_DROPS},
        changes=(Change(event=event, after={"cluster_id": str(state.cluster.id)}), *moved.changes),
        taken=(moved.taken,),
    )
