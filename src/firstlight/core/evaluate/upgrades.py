"""An agent of the wrong version is asked to upgrade itself: that is told when it enters the host's plan."""

from collections.abc import Iterator

from firstlight.core.decision import Change
from firstlight.core.events.host import AgentUpgradeStarted
from firstlight.core.hosts.triggers import Identity
from firstlight.core.model.host import HostState
from firstlight.core.model.plan import StepPlan, StepType


def upgrade_changes(earlier: HostState, plan: StepPlan, *, agent_image: str) -> Iterator[Change]:
    if _asks(plan) and not _asks(earlier.plan):
        who = Identity(earlier.host, earlier.reports)
        event = AgentUpgradeStarted(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            agent_image=agent_image,
        )
        yield Change(event=event, before={"agent": earlier.presence.agent_version}, after={"agent": agent_image})


def _asks(plan: StepPlan | None) -> bool:
    return plan is not None and any(step.type is StepType.UPGRADE_AGENT for step in plan.steps)
