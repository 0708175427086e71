"""Fleets against the real service, from nothing to installed, and onwards to day 2."""

import io
import tarfile
from uuid import UUID, uuid4

import msgspec
import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.course import add_hosts
from firstlight.simulate.ends import failing
from firstlight.simulate.machines import Plan, make_machines
from firstlight.simulate.networks import Network
from tests.services import RunningService
from tests.simulate.courses import LIMIT, Course, fleet_for, install, say_nothing

pytestmark = pytest.mark.anyio

BOOTSTRAP = [
    "Starting installation",
    "Installing",
    "Writing image to disk",
    "Waiting for control plane",
    "Waiting for bootkube",
    "Waiting for controller",
    "Rebooting",
    "Configuring",
    "Joined",
    "Done",
]
MASTER = ["Starting installation", "Installing", "Writing image to disk", "Rebooting", "Configuring", "Joined", "Done"]
WORKER = [
    "Starting installation",
    "Installing",
    "Writing image to disk",
    "Waiting for control plane",
    "Rebooting",
    "Configuring",
    "Joined",
    "Done",
]
SINGLE_NODE = [
    "Starting installation",
    "Installing",
    "Waiting for bootkube",
    "Writing image to disk",
    "Rebooting",
    "Joined",
    "Done",
]


async def events_of(service: Service, cluster_id: UUID) -> list[dict[str, str]]:
    query = {"cluster_id": str(cluster_id), "order": "ascending", "limit": "5000"}
    return msgspec.json.decode(await service.ask("GET", "/v2/events", query=query))


def stages_told(events: list[dict[str, str]], host_id: UUID, among: list[str]) -> list[str]:
    """The stages of one host in the order its events tell them, each once."""
    told = [stage_in(event, among) for event in events if event.get("host_id") == str(host_id)]
    return [stage for stage in dict.fromkeys(told) if stage]


def stage_in(event: dict[str, str], among: list[str]) -> str:
    if event["name"] != "host_install_progress_updated":
        return ""
    said = event["message"].partition(": ")[2]
    return next((stage for stage in among if said.startswith(stage)), "")


async def logs_of(service: Service, cluster_id: UUID, query: dict[str, str]) -> list[str]:
    content = await service.ask("GET", f"/v2/clusters/{cluster_id}/logs", query=query)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return archive.getnames()


def told_in_full(course: Course) -> str:
    """Everything that helps when a course ends elsewhere."""
    snapshot = course.result.snapshot
    hosts = [(host.requested_hostname, host.status, failing(host.validations_info)) for host in snapshot.hosts.values()]
    notes = {agent.machine.name: agent.notes[-3:] for agent in course.fleet.agents.values()}
    return f"{snapshot.cluster_status} {hosts} {notes}"


async def test_three_masters_and_two_workers(live: RunningService) -> None:
    course = await install(live.url, "three-two", Plan(masters=3, workers=2))
    assert course.result.reached, told_in_full(course)
    hosts = {host.requested_hostname: host for host in course.result.snapshot.hosts.values()}
    assert {name: host.part.replace("bootstrap", "master") for name, host in hosts.items()} == {
        "master-0": "master",
        "master-1": "master",
        "master-2": "master",
        "worker-0": "worker",
        "worker-1": "worker",
    }
    async with connect(live.url) as service:
        kubeconfig = await service.credentials(course.cluster_id, "kubeconfig")
        assert b"api.three-two.lab.example.com" in kubeconfig
        events = await events_of(service, course.cluster_id)
        names = [event["name"] for event in events]
        assert names.count("reboots_for_node") == 5
        assert "cluster_installation_completed" in names
        for name, host in hosts.items():
            wanted = BOOTSTRAP if host.bootstrap else WORKER if name.startswith("worker") else MASTER
            told = stages_told(events, host.id, [*wanted, "Waiting for ignition", "Copying registry data to disk"])
            assert [stage for stage in told if stage in wanted] == [stage for stage in wanted if stage in told]
            # A node that joins between two looks of the controller is never seen configuring.
            assert set(wanted) - set(told) <= {"Configuring"}, name
        assert await logs_of(service, course.cluster_id, {"logs_type": "controller"}) == [
            "assisted-installer-controller.logs"
        ]
        host = hosts["worker-1"]
        listed = await logs_of(service, course.cluster_id, {"logs_type": "host", "host_id": str(host.id)})
        assert f"logs_host_{host.id}/installer.logs" in listed


async def test_masters_join_before_the_bootstrap_leaves_and_before_workers_start(live: RunningService) -> None:
    course = await install(live.url, "order", Plan(masters=3, workers=1))
    assert course.result.reached, told_in_full(course)
    hosts = course.result.snapshot.hosts
    bootstrap = next(host.id for host in hosts.values() if host.bootstrap)
    worker = next(host.id for host in hosts.values() if host.part == "worker")
    masters = [host.id for host in hosts.values() if host.part == "master"]
    async with connect(live.url) as service:
        events = await events_of(service, course.cluster_id)

    def first(host_id: UUID, stage: str) -> int:
        return next(
            place
            for place, event in enumerate(events)
            if event.get("host_id") == str(host_id) and stage_in(event, [stage])
        )

    assert all(first(master, "Joined") < first(bootstrap, "Rebooting") for master in masters)
    assert all(first(master, "Done") < first(worker, "Rebooting") for master in masters)


async def test_single_node(live: RunningService) -> None:
    course = await install(live.url, "single", Plan(masters=1))
    assert course.result.reached, told_in_full(course)
    async with connect(live.url) as service:
        events = await events_of(service, course.cluster_id)
    told = stages_told(events, course.fleet.machines[0].id, [*SINGLE_NODE, "Configuring"])
    assert told == SINGLE_NODE


async def test_compact_cluster_grows_on_day_two(live: RunningService) -> None:
    course = await install(live.url, "compact", Plan(masters=3))
    assert course.result.reached, told_in_full(course)
    async with connect(live.url) as service:
        await service.ask("POST", f"/v2/clusters/{course.cluster_id}/actions/allow-add-hosts")
        new = user.NewCluster(name="compact-more")
        infra_env_id = await user.create_infra_env(service, new, cluster_id=course.cluster_id)
        machines = make_machines(Plan(workers=2), seed=8, salt=str(infra_env_id), network=course.fleet.site.network)
        fleet = fleet_for(service, infra_env_id, machines)
        async with fleet.powered():
            result = await add_hosts(fleet, limit=LIMIT, say=say_nothing)
        assert {host.status for host in result.snapshot.hosts.values()} == {"added-to-existing-cluster"}


async def test_hosts_of_an_imported_cluster(live: RunningService) -> None:
    async with connect(live.url) as service:
        new = user.NewCluster(name="adopted")
        _, infra_env_id = await user.import_cluster(service, new, openshift_cluster_id=uuid4())
        machines = make_machines(Plan(workers=1), seed=9, salt=str(infra_env_id))
        fleet = fleet_for(service, infra_env_id, machines)
        async with fleet.powered():
            result = await add_hosts(fleet, limit=LIMIT, say=say_nothing)
        assert result.reached, result.snapshot


async def test_machines_without_a_cluster_wait_in_the_pool_and_can_be_bound(live: RunningService) -> None:
    async with connect(live.url) as service:
        new = user.NewCluster(name="pool")
        wanted = {"name": "pool", "pull_secret": user.simulated_pull_secret()}
        answer = await service.send("POST", "/v2/infra-envs", wanted)
        infra_env_id = UUID(msgspec.json.decode(answer)["id"])
        machines = make_machines(Plan(any_role=3), seed=3, salt=str(infra_env_id), network=Network("192.168.77.0/24"))
        fleet = fleet_for(service, infra_env_id, machines)
        async with fleet.powered():
            result = await fleet.wait(
                lambda seen: [host.status for host in seen.hosts.values()] == ["known-unbound"] * 3, limit=LIMIT
            )
            assert result.reached, result.snapshot
            cluster_id, _ = await user.create_cluster(service, new)
            for machine in machines:
                path = f"/v2/infra-envs/{infra_env_id}/hosts/{machine.id}/actions/bind"
                await service.send("POST", path, {"cluster_id": str(cluster_id)})
            await fleet.wait(user.inventories_are_in, limit=LIMIT)
            await user.set_vips(service, cluster_id, fleet.site.network)
            result = await fleet.wait(lambda seen: seen.cluster_status == "ready", limit=LIMIT)
            assert result.reached, result.snapshot
