"""The cluster whose machines are installed for real: what its user asks for, up to its end."""

import json
from contextlib import ExitStack

from msgspec.structs import replace

from firstlight.simulate import user
from firstlight.simulate.calls import connect
from firstlight.simulate.ends import Snapshot, cluster_is
from firstlight.simulate.machines import GIB, Plan, make_machines
from firstlight.simulate.networks import Network
from tests.lab.guests.fleets import Guest, GuestFleet
from tests.lab.guests.releases import VERSION
from tests.lab.guests.scripts import asking, discovery_override
from tests.lab.guests.wards import Ward
from tests.lab.images.environments import static_network

NETWORK = "10.0.2.0/24"
"""QEMU's own."""
PLAN = Plan(masters=4, workers=1)
"""So many masters that the simulated ones can do without the real one, and it without them."""
SPEED = 150.0
LIMIT, BOOTS_LIMIT = 300.0, 3000.0
KERNEL_ARGUMENT = "lab.appended=1"


async def install_guests(ward: Ward, roles: set[str]) -> dict[str, Guest]:
    async with connect(ward.service.url) as service:
        new = user.NewCluster(name="guests", control_plane_count=PLAN.masters, version=VERSION)
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        made = make_machines(PLAN, seed=5, salt=str(infra_env_id), network=Network(NETWORK))
        machines = tuple(
            replace(machine, memory_bytes=32 * GIB, cpu_cores=8, disks=machine.disks[:1]) for machine in made
        )
        wishes = {
            "ignition_config_override": discovery_override(ward.courier.url, with_agent=False),
            "static_network_config": static_network({machine.mac: machine.address for machine in machines}),
            "image_type": "full-iso",
        }
        await service.send("PATCH", f"/v2/infra-envs/{infra_env_id}", wishes)
        with ExitStack() as stack:
            fleet = GuestFleet(
                service.url,
                infra_env_id,
                machines,
                ward=ward,
                roles=roles,
                stack=stack,
                speed=SPEED,
                seed=5,
                service=service,
            )
            async with fleet.powered():
                assert (await fleet.wait(user.inventories_are_in, limit=LIMIT)).reached
                for machine in machines:
                    host = f"/v2/infra-envs/{infra_env_id}/hosts/{machine.id}"
                    arguments = ["--image-url", f"{ward.courier.url}/file/disk.raw.gz"]
                    arguments += ["--append-karg", KERNEL_ARGUMENT, "--delete-karg", "console=tty0"]
                    await service.send("PATCH", f"{host}/installer-args", {"args": arguments})
                    await service.send("PATCH", f"{host}/ignition", {"config": json.dumps(asking(ward.courier.url))})
                await user.set_vips(service, cluster_id, fleet.site.network)
                assert (await fleet.wait(cluster_is("ready"), limit=LIMIT)).reached
                await user.install(service, cluster_id)

                def settled(snapshot: Snapshot) -> bool:
                    return bool(fleet.failures) or cluster_is("installed")(snapshot)

                result = await fleet.wait(settled, limit=BOOTS_LIMIT)
                if fleet.failures:
                    raise fleet.failures[0]
                assert result.reached, {host.id: host.reached for host in result.snapshot.hosts.values()}
                return {guest.role: guest for guest in fleet.guests.values()}
