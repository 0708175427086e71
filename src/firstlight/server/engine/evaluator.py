"""`core.evaluate` with what it needs around it: memos per cluster, step inputs, and how long somebody has listened."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from firstlight.core.decision import Decision
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster, evaluate_pool_host
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.steps.inputs import NO_INPUTS, StepInputs
from firstlight.server.usecases.turns import Turns

MEMOS: Final = 256
"""Clusters whose judgements are remembered."""
LARGE: Final = 50
"""Hosts from which on an evaluation leaves the event loop."""

MOVING: Final = frozenset({ClusterStatus.PREPARING_FOR_INSTALLATION})
"""Of a cluster that begins to install every host takes several steps in one evaluation. It leaves the loop, too."""

InputsOf = Callable[[ClusterState], Awaitable[StepInputs]]
PoolInputsOf = Callable[[HostState, InfraEnv], Awaitable[StepInputs]]


def _takes_long(state: ClusterState) -> bool:
    return len(state.hosts) > LARGE or state.cluster.status in MOVING


async def no_inputs(*_state: object) -> StepInputs:
    return NO_INPUTS


class Evaluator:
    def __init__(
        self,
        policy: Policy,
        *,
        inputs_of: InputsOf = no_inputs,
        pool_inputs_of: PoolInputsOf = no_inputs,
        forgiven_until: Callable[[datetime], datetime | None] = lambda _: None,
    ) -> None:
        """`forgiven_until` says before which moment silence does not count, asked at the moment of deciding."""
        self._policy = policy
        self._inputs_of = inputs_of
        self._pool_inputs_of = pool_inputs_of
        self._forgiven_until = forgiven_until
        self._memos: OrderedDict[UUID, Memo] = OrderedDict()
        self._turns = Turns()

    async def cluster(self, state: ClusterState, now: datetime) -> Decision:
        around = self._around(now, await self._inputs_of(state))
        turn = self._turns.of(str(state.cluster.id))
        if not _takes_long(state) and not turn.locked():
            return evaluate_cluster(state, around, memo=self._memo(state.cluster.id))
        # A memo serves one evaluation at a time; the loop goes on serving meanwhile.
        async with turn:
            memo = self._memo(state.cluster.id)
            return await asyncio.to_thread(evaluate_cluster, state, around, memo=memo)

    async def pool_host(self, state: HostState, infra_env: InfraEnv, now: datetime) -> Decision:
        around = self._around(now, await self._pool_inputs_of(state, infra_env))
        return evaluate_pool_host(state, infra_env, around)

    def _around(self, now: datetime, inputs: StepInputs) -> Surroundings:
        since = self._forgiven_until(now)
        return Surroundings(policy=self._policy, now=now, inputs=inputs, listening_since=since)

    def _memo(self, cluster_id: UUID) -> Memo:
        memo = self._memos.pop(cluster_id, None) or Memo()
        self._memos[cluster_id] = memo
        while len(self._memos) > MEMOS:
            self._memos.popitem(last=False)
        return memo
