"""Facts about one host that make every rule pass; a test names only what it changes."""

from typing import Any

from msgspec.structs import replace

from firstlight.core.hosts.facts import DiskVerdict, HostContext, HostFacts, Peer
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, Presence, hostname_of
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.policy import HardwareMinimum
from firstlight.core.model.reports import Reports
from tests.builders.clusters import a_cluster, a_policy, an_infra_env, connected
from tests.builders.hosts import a_host, a_pool_host, a_presence, host_state, some_reports
from tests.builders.moments import host_id

MASTER_NEEDS = a_policy().hardware[0].master
ANY_ROLE_NEEDS = HardwareMinimum(cpu_cores=2, ram_mib=8192, disk_size_gb=100)


def a_context(*, cluster: Cluster | None = None, **changes: Any) -> HostContext:
    """Three hosts on one network, all reaching each other."""
    states = [host_state(number) for number in (1, 2, 3)]
    context = HostContext(
        policy=a_policy(),
        cluster=connected(a_cluster(), states) if cluster is None else cluster,
        peers={
            host_id(number): Peer(name=hostname_of(state.host, state.reports), role=HostRole.MASTER)
            for number, state in enumerate(states, start=1)
        },
        host_count=3,
    )
    return replace(context, **changes)


def host_facts(
    *,
    host: Host | None = None,
    presence: Presence | None = None,
    reports: Reports | None = None,
    inventory: Inventory | None = None,
    context: HostContext | None = None,
    cluster: dict[str, Any] | None = None,
    infra_env: InfraEnv | None = None,
    connected: bool = True,
    requirements: HardwareMinimum = MASTER_NEEDS,
    minimum: HardwareMinimum = ANY_ROLE_NEEDS,
    disks: tuple[DiskVerdict, ...] | None = None,
) -> HostFacts:
    """`inventory` replaces the one in the reports; `cluster` names changes to the cluster of the context."""
    context = a_context() if context is None else context
    if cluster is not None and context.cluster is not None:
        context = replace(context, cluster=replace(context.cluster, **cluster))
    reports = some_reports() if reports is None else reports
    if inventory is not None:
        reports = replace(reports, inventory=inventory)
    if disks is None:
        found = () if reports.inventory is None else reports.inventory.disks
        disks = tuple(DiskVerdict(id=disk.id, eligible=not disk.refusals) for disk in found)
    return HostFacts(
        host=a_host() if host is None else host,
        presence=a_presence() if presence is None else presence,
        reports=reports,
        connected=connected,
        context=context,
        infra_env=an_infra_env() if infra_env is None else infra_env,
        requirements=requirements,
        minimum=minimum,
        disks=disks,
    )


def pool_facts(*, host: Host | None = None, infra_env: InfraEnv | None = None, **changes: Any) -> HostFacts:
    """A host bound to no cluster."""
    return host_facts(
        host=a_pool_host() if host is None else host,
        context=HostContext(policy=a_policy(), host_count=1),
        infra_env=an_infra_env(cluster_id=None) if infra_env is None else infra_env,
        **changes,
    )
