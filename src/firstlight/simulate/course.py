"""From a new cluster to its end, with a simulated person at the keyboard."""

from collections.abc import Callable
from uuid import UUID

from firstlight.simulate import user
from firstlight.simulate.ends import Snapshot, all_finished, all_known, cluster_is, scenario_shows
from firstlight.simulate.fleet import Fleet, Result
from firstlight.simulate.scenarios import Stops

Narrator = Callable[[str], None]


async def install_new_cluster(
    fleet: Fleet, cluster_id: UUID, *, control_plane_count: int, limit: float, say: Narrator, only_ready: bool = False
) -> Result:
    """Take a powered fleet to the end its scenario leads to. A healthy one ends `installed`, or `ready` if asked to."""
    service, scenario, machines = fleet.connected, fleet.scenario, fleet.machines
    say("waiting for the machines to be discovered")
    result = await fleet.wait(user.inventories_are_in, limit=limit)
    if not result.reached:
        return result
    if control_plane_count > 1:
        network = fleet.site.network
        say(f"setting the virtual addresses {network.api_vip} and {network.ingress_vip}")
        await user.set_vips(service, cluster_id, network)
    stopping = scenario.only(Stops.START)
    if stopping.hits:
        say("waiting for the service to find what is wrong")
        return await fleet.wait(scenario_shows(stopping, machines), limit=limit)
    result = await fleet.wait(_is_ready_and_shows(fleet), limit=limit)
    if only_ready or not result.reached:
        return result
    say("starting the installation")
    await user.install(service, cluster_id)
    failing = scenario.only(Stops.INSTALLATION)
    if failing.hits:
        result = await fleet.wait(scenario_shows(failing, machines), limit=limit)
        if not result.reached or not all(hit.fault.mended_by_retry for hit in failing.hits):
            return result
        say("trying the failed machines again")
        for index in sorted({index for hit in failing.hits for index in hit.indexes}):
            await user.retry_host(service, fleet.infra_env_id, machines[index].id)
    result = await fleet.wait(_is_installed_and_shows(fleet), limit=limit)
    if result.reached:
        await fleet.last_words()
    return result


async def add_hosts(fleet: Fleet, *, limit: float, say: Narrator) -> Result:
    """Day 2: every machine is installed on its own as soon as it can be."""
    say("waiting for the machines to be discovered")
    result = await fleet.wait(all_known, limit=limit)
    if not result.reached:
        return result
    say("starting the installations")
    for machine in fleet.machines:
        await user.install_host(fleet.connected, fleet.infra_env_id, machine.id)
    return await fleet.wait(all_finished, limit=limit)


def _is_ready_and_shows(fleet: Fleet) -> Callable[[Snapshot], bool]:
    """Harmless faults have to be told before the installation hides them."""
    ready = cluster_is("ready")
    harmless = [hit for hit in fleet.scenario.only(Stops.NOTHING).hits if hit.fault.expected.host_finding]
    shows = scenario_shows(type(fleet.scenario)(hits=tuple(harmless)), fleet.machines)
    return lambda snapshot: ready(snapshot) and shows(snapshot)


def _is_installed_and_shows(fleet: Fleet) -> Callable[[Snapshot], bool]:
    installed = cluster_is("installed")
    told = [hit for hit in fleet.scenario.only(Stops.NOTHING).hits if not hit.fault.expected.host_finding]
    shows = scenario_shows(type(fleet.scenario)(hits=tuple(told)), fleet.machines)
    return lambda snapshot: installed(snapshot) and shows(snapshot)
