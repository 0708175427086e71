"""A cluster is given up: its own hosts go with it, hosts that only visited return to their infra-envs."""

from datetime import datetime

from msgspec import Struct

from firstlight.core.commands.actions import leave
from firstlight.core.decision import Decision, HostKey, combined
from firstlight.core.errors import Conflict
from firstlight.core.hosts.triggers import HostTrigger
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.policy import Policy
from firstlight.core.roles import key_of


class Ending(Struct, frozen=True, kw_only=True):
    deleted: tuple[HostKey, ...] = ()
    returned: Decision = Decision()
    """Hosts that go back to the pool."""


def end_cluster(state: ClusterState, *, policy: Policy, now: datetime) -> Ending:
    cluster = state.cluster
    if cluster.status is ClusterStatus.INSTALLING:
        raise Conflict(
            f"Cluster {cluster.name} is installing and cannot be deleted. Cancel or reset the installation first.",
            code="wrong-state",
        )
    deleted: list[HostKey] = []
    returned = Decision()
    for host in state.hosts:
        infra_env = state.infra_envs.get(host.host.infra_env_id)
        if infra_env is None or infra_env.cluster_id == cluster.id:
            deleted.append(key_of(host))
            continue
        try:
            left = leave(host, trigger=HostTrigger.UNBIND, cluster=cluster, policy=policy, now=now)
        except Conflict:
            # Nothing leads back from here; the machine registers anew when it boots its infra-env's image.
            deleted.append(key_of(host))
            continue
        returned = combined(returned, left)
    return Ending(deleted=tuple(deleted), returned=returned)
