"""Install stages per role: their order, percentages and time limits."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import HostRole, Stage
from firstlight.core.model.policy import Policy

BOOTSTRAP: Final = (
    Stage.STARTING,
    Stage.INSTALLING,
    Stage.WRITING_IMAGE,
    Stage.COPYING_REGISTRY,
    Stage.WAITING_FOR_CONTROL_PLANE,
    Stage.WAITING_FOR_BOOTKUBE,
    Stage.WAITING_FOR_CONTROLLER,
    Stage.REBOOTING,
    Stage.CONFIGURING,
    Stage.JOINED,
    Stage.DONE,
)
MASTER: Final = (
    Stage.STARTING,
    Stage.INSTALLING,
    Stage.WRITING_IMAGE,
    Stage.COPYING_REGISTRY,
    Stage.REBOOTING,
    Stage.CONFIGURING,
    Stage.JOINED,
    Stage.DONE,
)
WORKER: Final = (
    Stage.STARTING,
    Stage.INSTALLING,
    Stage.WRITING_IMAGE,
    Stage.WAITING_FOR_CONTROL_PLANE,
    Stage.REBOOTING,
    Stage.WAITING_FOR_IGNITION,
    Stage.CONFIGURING,
    Stage.JOINED,
    Stage.DONE,
)
SINGLE_NODE: Final = (
    Stage.STARTING,
    Stage.INSTALLING,
    Stage.WAITING_FOR_BOOTKUBE,
    Stage.WRITING_IMAGE,
    Stage.COPYING_REGISTRY,
    Stage.REBOOTING,
    Stage.JOINED,
    Stage.DONE,
)
SLOW_DISK: Final = frozenset({Stage.WRITING_IMAGE, Stage.COPYING_REGISTRY})
"""Stages whose time limit means: no progress on the disk."""
WAITS_FOR_OTHERS: Final = frozenset(
    {Stage.WAITING_FOR_CONTROL_PLANE, Stage.WAITING_FOR_CONTROLLER, Stage.WAITING_FOR_BOOTKUBE, Stage.REBOOTING}
)
"""Stages whose timer stands still while the cluster waits for its user."""


def stages_of(host: Host, cluster: Cluster | None, policy: Policy) -> tuple[Stage, ...]:
    """The stages this host goes through, in order; the same answer wherever the host is shown."""
    stages = _role_stages(host, cluster)
    if host.is_day_two and not policy.kube_api:
        # Nobody reports for a day-2 host after its reboot, so the reboot is the end.
        return stages[: stages.index(Stage.REBOOTING) + 1]
    return stages


def _role_stages(host: Host, cluster: Cluster | None) -> tuple[Stage, ...]:
    if host.bootstrap or host.role is HostRole.BOOTSTRAP:
        return SINGLE_NODE if cluster is not None and cluster.is_single_node else BOOTSTRAP
    if host.effective_role in (HostRole.MASTER, HostRole.ARBITER):
        return MASTER
    return WORKER


def percentage(stage: Stage | None, stages: Sequence[Stage]) -> int:
    """Share of the way done once `stage` is reached."""
    if stage is None:
        return 0
    if stage is Stage.DONE:
        return 100
    return (stages.index(stage) + 1) * 100 // len(stages) if stage in stages else 0


def time_limit(stage: Stage, cluster: Cluster | None, policy: Policy) -> timedelta:
    if stage is Stage.REBOOTING and cluster is not None and cluster.is_single_node:
        return policy.timeouts.single_node_reboot
    return policy.timeouts.stages[stage]
