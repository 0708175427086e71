"""An agent that is asked to upgrade itself: told once, in a cluster and in the pool."""

from msgspec.structs import replace

from firstlight.core.decision import Decision, applied, host_after
from firstlight.core.evaluate import Surroundings, evaluate_cluster, evaluate_pool_host
from firstlight.core.events.host import AgentUpgradeStarted
from firstlight.core.model.policy import Policy
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, a_presence, host_state
from tests.builders.moments import NOW, host_id

AROUND = Surroundings(policy=Policy(), now=NOW)
OLD = a_presence(agent_version="registry/agent:old")


def upgrades(decision: Decision) -> list[AgentUpgradeStarted]:
    return [change.event for change in decision.changes if isinstance(change.event, AgentUpgradeStarted)]


def test_in_a_cluster() -> None:
    state = cluster_state(hosts=(host_state(1, presence=OLD), host_state(2)))
    first = evaluate_cluster(state, AROUND)
    (event,) = upgrades(first)
    assert (event.host_id, event.agent_image) == (host_id(1), Policy().agent_image)
    change = next(change for change in first.changes if change.event is event)
    assert (change.before, change.after) == ({"agent": "registry/agent:old"}, {"agent": Policy().agent_image})
    after = applied(state, first)
    assert upgrades(evaluate_cluster(after, AROUND)) == []
    settled = replace(after, hosts=tuple(replace(host, presence=a_presence()) for host in after.hosts))
    calm = applied(settled, evaluate_cluster(settled, AROUND))
    again = replace(calm, hosts=tuple(replace(host, presence=OLD) for host in calm.hosts))
    assert len(upgrades(evaluate_cluster(again, AROUND))) == 2, "another time, another telling"


def test_in_the_pool() -> None:
    state = host_state(1, host=a_pool_host(), presence=OLD)
    infra_env = an_infra_env(cluster_id=None)
    first = evaluate_pool_host(state, infra_env, AROUND)
    assert [event.cluster_id for event in upgrades(first)] == [None]
    assert upgrades(evaluate_pool_host(host_after(state, first), infra_env, AROUND)) == []


def test_not_when_it_is_switched_off() -> None:
    around = Surroundings(policy=Policy(upgrade_agent=False), now=NOW)
    state = cluster_state(hosts=(host_state(1, presence=OLD),))
    assert upgrades(evaluate_cluster(state, around)) == []
