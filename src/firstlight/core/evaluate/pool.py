"""A host that belongs to no cluster."""

from msgspec.structs import replace

from firstlight.core.decision import Change, Decision, Taken
from firstlight.core.evaluate.context import pool_context
from firstlight.core.evaluate.hosts import finding_changes, judge_host, silence_of, sooner
from firstlight.core.evaluate.surroundings import Surroundings
from firstlight.core.evaluate.upgrades import upgrade_changes
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.roles import key_of
from firstlight.core.steps.due import plan_steps

MAX_ROUNDS = 8


def evaluate_pool_host(state: HostState, infra_env: InfraEnv, around: Surroundings) -> Decision:
    context = pool_context(around.policy)
    current = state
    changes: list[Change] = []
    taken: list[Taken] = []
    for _ in range(MAX_ROUNDS):
        judged = judge_host(current, cluster=None, context=context, infra_env=infra_env, around=around)
        changes.extend(judged.changes)
        taken.extend(judged.taken)
        moved = judged.host != current.host
        current = replace(current, host=judged.host, findings=judged.findings)
        if not moved:
            break
    else:
        raise RuntimeError(f"host {state.host.id} does not come to rest")
    key = key_of(state)
    plan = plan_steps(None, current, policy=around.policy, inputs=around.inputs, infra_env=infra_env)
    changes.extend(finding_changes(state, current.host, current.findings))
    changes.extend(upgrade_changes(state, plan, agent_image=around.policy.agent_image))
    return Decision(
        hosts={} if current.host == state.host else {key: current.host},
        host_findings={} if current.findings == state.findings else {key: current.findings},
        plans={} if plan == state.plan else {key: plan},
        changes=tuple(changes),
        taken=tuple(taken),
        next_deadline=sooner(judged.deadline, silence_of(current, around), now=around.now),
    )
