"""How far an installation is, in percent."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firstlight.core.hosts.stages import stages_of
from firstlight.core.model.cluster import Cluster, ClusterProgress, Operator
from firstlight.core.model.cluster_status import ClusterStatus, OperatorKind, OperatorStatus
from firstlight.core.model.host import Host
from firstlight.core.model.policy import Policy

PREPARING_SHARE: Final = 10
INSTALLING_SHARE: Final = 70
FINALIZING_SHARE: Final = 19
"""The last percent belongs to `installed`."""


def installing_percentage(cluster: Cluster, hosts: Sequence[Host], policy: Policy) -> int:
    done = steps = 0
    for host in hosts:
        stages = stages_of(host, cluster, policy)
        steps += len(stages)
        stage = host.progress.stage
        if stage is not None and stage in stages:
            done += stages.index(stage) + 1
    return done * 100 // steps if steps else 0


def is_settled(operator: Operator) -> bool:
    """Builtin operators must be available; an OLM operator may also have failed."""
    if operator.kind is OperatorKind.BUILTIN:
        return operator.status is OperatorStatus.AVAILABLE
    return operator.status in (OperatorStatus.AVAILABLE, OperatorStatus.FAILED)


def finalizing_percentage(operators: Sequence[Operator]) -> int:
    if not operators:
        return 0
    return sum(map(is_settled, operators)) * 100 // len(operators)


def progress_of(cluster: Cluster, hosts: Sequence[Host], policy: Policy) -> ClusterProgress:
    """The percentages that follow from the facts. They never go down during one installation."""
    before = cluster.progress
    if cluster.is_day_two or cluster.status not in _COUNTED:
        return before
    if cluster.status is ClusterStatus.INSTALLED:
        return replace(before, preparing=100, installing=100, finalizing=100, total=100)
    installing = max(before.installing, installing_percentage(cluster, hosts, policy))
    finalizing = before.finalizing
    if cluster.status is ClusterStatus.FINALIZING:
        finalizing = max(finalizing, finalizing_percentage(cluster.operators))
    total = (100 * PREPARING_SHARE + installing * INSTALLING_SHARE + finalizing * FINALIZING_SHARE) // 100
    return replace(before, preparing=100, installing=installing, finalizing=finalizing, total=max(before.total, total))


_COUNTED: Final = frozenset(
    {
        ClusterStatus.INSTALLING,
        ClusterStatus.INSTALLING_PENDING_USER_ACTION,
        ClusterStatus.FINALIZING,
        ClusterStatus.INSTALLED,
    }
)
