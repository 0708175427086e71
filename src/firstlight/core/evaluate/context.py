"""Gathering what the rules read, for all hosts of a cluster at once."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters.managed_dns import brings_its_own_dns
from firstlight.core.hosts.disks import judge_disks
from firstlight.core.hosts.facts import HostContext, HostFacts, Peer
from firstlight.core.hosts.requirements import least_of_any_role, pool_minimum, role_minimum
from firstlight.core.model.cluster import Cluster, ClusterProgress, Preparation
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.host_status import AFTER_REBOOT, HostRole, LogsState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.operators.requirements import host_requirements
from firstlight.core.operators.spec import count_roles

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def at_rest(cluster: Cluster) -> Cluster:
    """The cluster without what moves as the installation goes on."""
    return replace(
        cluster,
        status=ClusterStatus.INSUFFICIENT,
        status_info="",
        status_updated_at=EPOCH,
        updated_at=EPOCH,
        progress=ClusterProgress(),
        preparation=Preparation(),
        install_started_at=None,
        install_completed_at=None,
        kubeconfig_complete=False,
        logs=LogsState.NONE,
        controller_logs_started_at=None,
        controller_logs_collected_at=None,
        ui_settings="",
        usages=(),
        dhcp_since=None,
        dhcp_timeout_told=False,
    )


def context_of(cluster: Cluster, hosts: Sequence[HostState], policy: Policy) -> HostContext:
    named = [(host.host, hostname_of(host.host, host.reports)) for host in hosts if host.reports.inventory is not None]
    counts = Counter(name for _, name in named)
    return HostContext(
        policy=policy,
        cluster=at_rest(cluster),
        peers={host.id: Peer(name, host.effective_role) for host, name in named},
        host_count=len(hosts),
        role_counts=count_roles(hosts),
        duplicate_names=frozenset(name for name, times in counts.items() if times > 1),
        shared_ids=frozenset(host.host.claimed_id for host in hosts if host.host.claimed_id is not None),
        managed_dns=brings_its_own_dns(cluster, hosts),
    )


def pool_context(policy: Policy) -> HostContext:
    return HostContext(policy=policy)


def facts_of(
    host: HostState, *, context: HostContext, infra_env: InfraEnv | None, connected: bool, role: HostRole | None = None
) -> HostFacts:
    """The facts of one host; `role` asks what it would be like in another one."""
    record = host.host if role is None else replace(host.host, role=role, suggested_role=role)
    state = host if role is None else replace(host, host=record)
    cluster, policy = context.cluster, context.policy
    inventory = host.reports.inventory
    if cluster is None:
        version = infra_env.openshift_version if infra_env is not None else ""
        requirements = minimum = pool_minimum(policy.hardware, version=version)
    else:
        version = cluster.openshift_version
        base = role_minimum(record.effective_role, cluster=cluster, inventory=inventory, policy=policy)
        requirements = host_requirements(state, cluster, policy, base, roles=context.role_counts)
        minimum = least_of_any_role(policy.hardware, version=version, single_node=cluster.is_single_node)
    disks = ()
    if inventory is not None:
        disks = judge_disks(inventory, minimum_gb=requirements.disk_size_gb, version=version)
    return HostFacts(
        host=record,
        presence=host.presence,
        reports=host.reports,
        connected=connected,
        context=context,
        infra_env=infra_env,
        requirements=requirements,
        minimum=minimum,
        disks=disks,
    )


def silent_from(host: HostState, policy: Policy) -> datetime | None:
    """When this host's silence counts; None in stages where nobody speaks."""
    record = host.host
    if record.progress.stage in AFTER_REBOOT:
        return None
    limits = policy.timeouts
    limit = limits.silence_bootstrap if record.bootstrap else limits.silence
    heard = host.presence.checked_in_at or record.registered_at
    return max(heard, record.registered_at) + limit + limits.silence_grace


def band_of(offset_seconds: float | None) -> int | None:
    """Clock offsets that every rule treats alike are one."""
    if offset_seconds is None:
        return None
    if offset_seconds < -20 * 60:
        return -1
    return 1 if offset_seconds > 60 * 60 else 0


def read_by_rules(host: HostState, *, context: HostContext) -> tuple[object, ...]:
    """Everything the findings of one host are made from, its infra-env and whether it is heard of excepted."""
    return (
        host.host,
        host.reports,
        host.presence.agent_version,
        band_of(host.presence.clock_offset_seconds),
        context,
    )
