"""Whole courses for tests: a new cluster, its fleet, and the end it came to."""

from uuid import UUID

from msgspec import Struct

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.course import install_new_cluster
from firstlight.simulate.fleet import Fleet, Result
from firstlight.simulate.machines import Machine, Plan, make_machines

SPEED = 150.0
LIMIT = 300.0


def say_nothing(_: str) -> None:
    return


class Course(Struct, frozen=True, kw_only=True):
    cluster_id: UUID
    infra_env_id: UUID
    fleet: Fleet
    result: Result


def fleet_for(service: Service, infra_env_id: UUID, machines: tuple[Machine, ...], *, scenario: str = "") -> Fleet:
    return Fleet(
        service.url, infra_env_id, machines, scenario=scenario, speed=SPEED, seed=7, service=service, look_seconds=0.2
    )


async def install(url: str, name: str, plan: Plan, *, scenario: str = "") -> Course:
    """From nothing to the end that the scenario leads to."""
    async with connect(url) as service:
        count = plan.masters
        ids = await user.create_cluster(service, user.NewCluster(name=name, control_plane_count=count))
        machines = make_machines(plan, seed=7, salt=str(ids[1]))
        fleet = fleet_for(service, ids[1], machines, scenario=scenario)
        async with fleet.powered():
            result = await install_new_cluster(fleet, ids[0], control_plane_count=count, limit=LIMIT, say=say_nothing)
        return Course(cluster_id=ids[0], infra_env_id=ids[1], fleet=fleet, result=result)
