"""The token of an Ignition endpoint reaches the host that has to show it, and nobody else."""

from functools import partial
from pathlib import Path

import pytest

from firstlight.core.model.cluster import ClusterState, IgnitionEndpoint
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.model.host_status import HostKind, HostStatus
from firstlight.core.model.plan import StepType
from firstlight.core.roles import key_of
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import PutSecret
from firstlight.server.usecases.step_inputs import inputs_for
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import host_state
from tests.builders.moments import INFRA_ENV_ID, NOW
from tests.worlds import a_world

pytestmark = pytest.mark.anyio


async def test_a_token_is_in_the_steps_of_its_host_only(tmp_path: Path) -> None:
    hosts = [
        host_state(number, kind=HostKind.DAY_TWO, status=HostStatus.KNOWN, ignition_endpoint_token_set=number == 1)
        for number in (1, 2)
    ]
    endpoint = IgnitionEndpoint(url="https://ignition.example.com/pools")
    cluster = a_cluster(
        kind=ClusterKind.ADD_HOSTS, status=ClusterStatus.ADDING_HOSTS, openshift_version="", ignition_endpoint=endpoint
    )
    state = ClusterState(cluster=cluster, hosts=tuple(hosts), infra_envs={INFRA_ENV_ID: an_infra_env()})
    async with a_world(tmp_path) as world:
        subject = host_subject(key_of(hosts[0]))
        await world.store.commit(PutSecret(subject=subject, name="ignition_endpoint_token", value="shown-there"))
        asked = partial(inputs_for, catalogue=world.catalogue, store=world.store)
        decision = await Evaluator(world.policy, inputs_of=asked).cluster(state, NOW)
    told = {
        key[1]: [step.args[0] for step in plan.steps if step.type is StepType.API_VIP]
        for key, plan in decision.plans.items()
    }
    assert ["Bearer shown-there" in text for text in told[hosts[0].host.id]] == [True]
    assert ["shown-there" in text for text in told[hosts[1].host.id]] == [False]
