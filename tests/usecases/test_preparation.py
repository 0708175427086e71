"""From "install" to files: what is made, what a kill in the middle costs, and what the user reads when it fails."""

import asyncio
import dataclasses
import itertools
import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.errors import Unavailable
from firstlight.core.install import ignition
from firstlight.core.install.certificates import Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.model.cluster import Cluster, Preparation
from firstlight.core.model.cluster_status import ClusterStatus, PreparationStatus
from firstlight.core.model.host_status import HostRole
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.ports.writes import PutCluster, PutSecret
from firstlight.server.usecases.generated_files import clear_generated
from firstlight.server.usecases.installer_runs import output_name
from firstlight.server.usecases.object_names import logs_object
from firstlight.server.usecases.preparation import MOMENT, UNEXPECTED, operations, prepare_installation
from firstlight.server.usecases.preparation_keys import KEYS
from firstlight.server.usecases.world import World
from tests.core.install.validator import verdict
from tests.usecases.preparing import (
    QuickPki,
    a_preparing_cluster,
    a_preparing_state,
    claimed,
    claimed_again,
    cluster_of,
    put_manifest,
    run,
    silent,
)
from tests.worlds import PULL_SECRET, SetClock, put_cluster

pytestmark = pytest.mark.anyio


async def names(world: World, cluster_id: UUID) -> set[str]:
    return {info.key.partition("/")[2] for info in await world.blobs.list_under(str(cluster_id))}


async def document(world: World, cluster_id: UUID, name: str) -> Any:
    return json.loads(await world.blobs.get(f"{cluster_id}/{name}"))


async def told(world: World, cluster_id: UUID) -> list[str]:
    page = await world.store.events(EventQuery(cluster_id=cluster_id))
    return [event.name for event in page.events]


async def state_of_operation(world: World, cluster: Cluster) -> list[str]:
    return [row.state for row in await world.store.operations(f"cluster:{cluster.id}")]


async def in_bootstrap(world: World, cluster_id: UUID, path: str) -> Any:
    config = ignition.parse((await world.blobs.get(f"{cluster_id}/bootstrap.ign")).decode())
    content = ignition.content_of(config, path)
    assert content is not None, path
    return json.loads(content)


async def test_everything_a_user_or_a_host_may_ask_for_is_there(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await run(world, row)
    cluster_id = state.cluster.id
    found = await names(world, cluster_id)
    hosts = {f"{'master' if index < 3 else 'worker'}-{one.host.id}.ign" for index, one in enumerate(state.hosts)}
    fixed = {
        "bootstrap.ign",
        "master.ign",
        "worker.ign",
        "metadata.json",
        "install-config.yaml",
        "kubeadmin-password",
        "kubeconfig-noingress",
        "custom_manifests.json",
    }
    assert {name for name in found if not name.startswith("manifests/")} == fixed | hosts
    assert "manifests/openshift/50-masters-chrony-configuration.yaml" in found
    config = await document(world, cluster_id, "install-config.yaml")
    assert config["pullSecret"] == PULL_SECRET
    assert config["compute"][0]["replicas"] == 1


async def test_the_result_is_one_commit_with_its_event(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await run(world, row)
    cluster = await cluster_of(world, state.cluster.id)
    metadata = await document(world, cluster.id, "metadata.json")
    assert cluster.preparation == Preparation(status=PreparationStatus.SUCCESS, attempt=1)
    assert str(cluster.openshift_cluster_id) == metadata["clusterID"]
    assert cluster.status is ClusterStatus.INSTALLING, "all hosts were prepared already"
    assert "cluster_prepare_installation_started" in await told(world, cluster.id)
    assert await state_of_operation(world, cluster) == ["done"]
    assert await world.store.secret(row.subject, KEYS) is None
    rows = await world.store.manifests(cluster.id)
    assert {one.source for one in rows} == {"system"}


async def test_ignition_accepts_every_config(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await run(world, row)
    configs = [name for name in await names(world, state.cluster.id) if name.endswith(".ign")]
    assert len(configs) == 3 + len(state.hosts)
    for name in configs:
        assert verdict(await world.blobs.get(f"{state.cluster.id}/{name}")) == "", name


@pytest.mark.parametrize("attempt", [0, 2])
async def test_an_operation_of_another_attempt_does_nothing(world: World, attempt: int) -> None:
    state, row = await a_preparing_cluster(world, preparation=Preparation(attempt=attempt))
    cluster = state.cluster
    changed = replace(cluster, preparation=Preparation(attempt=1 - attempt + 1))
    await world.store.commit(PutCluster(cluster=changed, expect_revision=state.revision))
    await run(world, row)
    assert await names(world, cluster.id) == set()
    assert (await cluster_of(world, cluster.id)).preparation == changed.preparation
    assert await state_of_operation(world, cluster) == ["done"]


async def test_a_cancelled_preparation_is_not_finished_behind_the_users_back(world: World) -> None:
    state, row = await a_preparing_cluster(world, status=ClusterStatus.CANCELLED)
    await world.store.commit(PutSecret(subject=row.subject, name=output_name(row), value="left by a killed replica"))
    await run(world, row)
    assert await names(world, state.cluster.id) == set()
    assert await world.store.secret(row.subject, output_name(row)) is None, "keys of a cluster that never was"
    assert await state_of_operation(world, state.cluster) == ["done"]


class Halting:
    """A folder whose `puts`-th write does not come back, as when the process is killed."""

    def __init__(self, world: World, *, puts: int) -> None:
        self.world = world
        self.left = puts
        self.reached = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world.blobs, name)

    async def put(self, key: str, data: bytes) -> None:
        if self.left == 0:
            self.reached.set()
            await asyncio.Event().wait()
        self.left -= 1
        await self.world.blobs.put(key, data)


@pytest.mark.parametrize("puts", [0, 1, 5, 12])
async def test_a_killed_preparation_is_taken_up_and_gives_the_same_cluster(world: World, puts: int) -> None:
    state, row = await a_preparing_cluster(world)
    keys = QuickPki()
    blobs = Halting(world, puts=puts)
    halted = asyncio.create_task(prepare_installation(_with_blobs(world, blobs), row, silent, pki=keys))
    await blobs.reached.wait()
    halted.cancel()
    with pytest.raises(asyncio.CancelledError):
        await halted
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.NOT_STARTED
    before = {key: await world.blobs.get(key) for key in await _keys(world, state.cluster.id)}
    again = await claimed_again(world)
    await run(world, again, pki=keys)
    assert keys.made == 1, "the second run uses the first one's keys"
    after = {key: await world.blobs.get(key) for key in before}
    assert after == before
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.SUCCESS


async def _keys(world: World, cluster_id: UUID) -> list[str]:
    return [info.key for info in await world.blobs.list_under(str(cluster_id))]


def _with_blobs(world: World, blobs: Any) -> World:
    return dataclasses.replace(world, blobs=blobs)


@pytest.mark.parametrize("turn", [0, 1, 7, 15])
async def test_an_attempt_that_stalled_leaves_the_files_of_a_later_one_alone(world: World, turn: int) -> None:
    """It wakes up before one of its writes, when the cluster was reset and prepared again."""
    state, row = await a_preparing_cluster(world)
    cluster_id, turns = state.cluster.id, itertools.count()
    later: dict[str, bytes] = {}

    async def stalling(progress: str) -> None:
        if progress != "storing files" or next(turns) != turn:
            return
        later_one = replace(state.cluster, preparation=Preparation(attempt=2))
        await world.store.commit(PutCluster(cluster=later_one, expect_revision=await revision(world, cluster_id)))
        again = await claimed(world, later_one)
        await run(world, again)
        later.update({key: await world.blobs.get(key) for key in await _keys(world, cluster_id)})

    await prepare_installation(_with_blobs(world, Slow(world, each=MOMENT)), row, stalling, pki=QuickPki())
    assert later
    assert {key: await world.blobs.get(key) for key in await _keys(world, cluster_id)} == later
    cluster = await cluster_of(world, cluster_id)
    assert (cluster.preparation.attempt, cluster.preparation.status) == (2, PreparationStatus.SUCCESS)
    assert cluster.openshift_cluster_id == await openshift_id(world, cluster_id)
    assert await state_of_operation(world, state.cluster) == ["done", "done"]


class Slow:
    """A folder whose every write takes its time."""

    def __init__(self, world: World, *, each: timedelta) -> None:
        self.world = world
        self.each = each
        self.puts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world.blobs, name)

    async def put(self, key: str, data: bytes) -> None:
        self.puts += 1
        await self.world.blobs.put(key, data)
        clock = self.world.clock
        assert isinstance(clock, SetClock)
        clock.forward(self.each)


@pytest.mark.parametrize(("each", "every"), [(MOMENT, 1), (MOMENT / 2 - timedelta(microseconds=1), 3)])
async def test_the_right_to_write_is_asked_for_anew_after_a_moment(world: World, each: timedelta, every: int) -> None:
    _, row = await a_preparing_cluster(world)
    blobs, asked = Slow(world, each=each), list[int]()

    async def asking(progress: str) -> None:
        if progress == "storing files":
            asked.append(blobs.puts)

    await prepare_installation(_with_blobs(world, blobs), row, asking, pki=QuickPki())
    assert blobs.puts > 10
    assert asked == list(range(0, blobs.puts, every))


async def revision(world: World, cluster_id: UUID) -> int:
    state = await world.store.cluster_state(cluster_id)
    assert state is not None
    return state.revision


async def openshift_id(world: World, cluster_id: UUID) -> UUID:
    overrides = await in_bootstrap(world, cluster_id, "/opt/openshift/manifests/cvo-overrides.yaml")
    return UUID(overrides["spec"]["clusterID"])


async def test_whoever_was_overtaken_writes_no_file(world: World) -> None:
    """Another replica took the same attempt over; the engine tells so when progress is reported."""

    class TakenOver(Exception):
        pass

    async def overtaken(progress: str) -> None:
        if progress == "storing files":
            raise TakenOver

    state, row = await a_preparing_cluster(world)
    with pytest.raises(TakenOver):
        await prepare_installation(world, row, overtaken, pki=QuickPki())
    assert await names(world, state.cluster.id) == set()


async def test_whoever_was_overtaken_cannot_write_a_result(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await claimed_again(world)
    with pytest.raises(LostRace):
        await run(world, row)
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.NOT_STARTED
    assert await state_of_operation(world, state.cluster) == ["running"]


async def test_a_store_that_cannot_answer_fails_nothing(world: World) -> None:
    class Down(Halting):
        async def put(self, key: str, data: bytes) -> None:
            raise Unavailable("The store is away.")

    state, row = await a_preparing_cluster(world)
    with pytest.raises(Unavailable):
        await prepare_installation(_with_blobs(world, Down(world, puts=0)), row, silent, pki=QuickPki())
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.NOT_STARTED
    await run(world, await claimed_again(world))
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.SUCCESS


async def test_a_failure_is_shown_with_its_reason(world: World) -> None:
    pool = {"machine_config_pool_name": "infra"}
    state = a_preparing_state()
    hosts = (*state.hosts[:3], replace(state.hosts[3], host=replace(state.hosts[3].host, **pool)))
    kept = await put_cluster(world, replace(state, hosts=hosts))
    row = await claimed(world, kept.cluster)
    await run(world, row)
    cluster = await cluster_of(world, kept.cluster.id)
    assert cluster.preparation.status is PreparationStatus.FAILED
    assert "machine config pool infra" in cluster.preparation.reason
    assert cluster.status is ClusterStatus.READY
    assert "prepare_installation_failed" in await told(world, cluster.id)
    assert await state_of_operation(world, cluster) == ["failed"]


async def test_a_bug_is_told_without_its_words(world: World) -> None:
    class Broken(QuickPki):
        def make_certificates(self, cluster: ClusterInputs, *, now: datetime) -> Certificates:
            raise RuntimeError("secret-of-the-house")

    state, row = await a_preparing_cluster(world)
    await run(world, row, pki=Broken())
    cluster = await cluster_of(world, state.cluster.id)
    assert cluster.preparation == Preparation(status=PreparationStatus.FAILED, reason=UNEXPECTED, attempt=1)


async def test_old_logs_and_files_of_an_earlier_attempt_go(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    cluster_id = state.cluster.id
    await world.blobs.put(logs_object(cluster_id, "controller"), b"old")
    await world.blobs.put(f"{cluster_id}/kubeconfig", b"old")
    await world.blobs.put(f"{cluster_id}/arbiter.ign", b"old")
    await run(world, row)
    found = await names(world, cluster_id)
    assert not {"kubeconfig", "arbiter.ign", "logs/controller/logs.tar.gz"} & found


async def test_users_manifests_reach_the_bootstrap_host(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    cluster_id = state.cluster.id
    two = b"kind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: b}\n"
    await put_manifest(world, cluster_id, "two.yaml", two)
    await put_manifest(world, cluster_id, "one.json", b'{"kind": "ConfigMap", "metadata": {"name": "c"}}')
    patch = b"- {op: replace, path: /spec/networkType, value: Cilium}\n"
    await put_manifest(world, cluster_id, "cluster-network-02-config.yml.patch_cni", patch, folder="openshift")
    await run(world, row)
    network = await in_bootstrap(world, cluster_id, "/opt/openshift/manifests/cluster-network-02-config.yml")
    assert network["spec"]["networkType"] == "Cilium"
    assert (await in_bootstrap(world, cluster_id, "/opt/openshift/manifests/one.json"))["metadata"]["name"] == "c"
    config = ignition.parse((await world.blobs.get(f"{cluster_id}/bootstrap.ign")).decode())
    paths = [file.path for file in config.storage.files]
    assert [path.rpartition("/")[2][:4] for path in paths if "/two-" in path] == ["two-", "two-"]
    assert not [path for path in paths if "patch" in path.rpartition("/")[2] and "cni" in path]
    assert "manifests/manifests/two.yaml" in await names(world, cluster_id)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nothing.yaml.patch_x", b"- {op: remove, path: /a}", "not among the cluster's manifests"),
        ("cluster-network-02-config.yml.patch_x", b"- {op: remove, path: /nowhere}", "operation 1"),
        ("50-masters-chrony-configuration.yaml", b"kind: X", "writes a manifest called"),
        ("dns.yaml", b"apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: cluster}", "the same object"),
    ],
)
async def test_manifests_that_do_not_fit_fail_the_preparation(
    world: World, name: str, content: bytes, reason: str
) -> None:
    state, row = await a_preparing_cluster(world)
    await put_manifest(world, state.cluster.id, name, content)
    await run(world, row)
    cluster = await cluster_of(world, state.cluster.id)
    assert cluster.preparation.status is PreparationStatus.FAILED
    assert reason in cluster.preparation.reason


async def test_the_cluster_knows_its_machines_without_inspecting_them(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await run(world, row)
    for index, member in enumerate(state.hosts):
        path = f"/opt/openshift/openshift/99_openshift-cluster-api_hosts-{index}.yaml"
        found = await in_bootstrap(world, state.cluster.id, path)
        assert found["spec"]["externallyProvisioned"] is True
        status = json.loads(found["metadata"]["annotations"]["baremetalhost.metal3.io/status"])
        inventory = member.reports.inventory
        assert inventory is not None
        assert status["poweredOn"] is True
        assert status["hardware"]["hostname"] == inventory.hostname
        assert [nic["mac"] for nic in status["hardware"]["nics"]] == [inventory.interfaces[0].mac]
        assert status["hardware"]["nics"][0]["ip"] == inventory.interfaces[0].ipv4[0].partition("/")[0]
        assert [disk["sizeBytes"] for disk in status["hardware"]["storage"]] == [inventory.disks[0].size_bytes]
        paused = "baremetalhost.metal3.io/paused" in found["metadata"]["annotations"]
        assert paused is (member.host.role is HostRole.WORKER)


async def test_masters_that_take_work_are_patched_to_do_so(world: World) -> None:
    state, row = await a_preparing_cluster(world, schedulable_masters=True)
    await run(world, row)
    path = "/opt/openshift/manifests/cluster-scheduler-02-config.yml"
    assert (await in_bootstrap(world, state.cluster.id, path))["spec"]["mastersSchedulable"] is True


async def test_a_reset_clears_everything_but_manifests_of_the_user_and_logs(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    cluster_id = state.cluster.id
    await put_manifest(world, cluster_id, "mine.yaml", b"kind: ConfigMap\nmetadata: {name: a}\n")
    await run(world, row)
    await world.blobs.put(logs_object(cluster_id, "controller"), b"new")
    await clear_generated(world, cluster_id)
    await clear_generated(world, cluster_id)
    assert await names(world, cluster_id) == {"manifests/manifests/mine.yaml", "logs/controller/logs.tar.gz"}
    assert [one.file_name for one in await world.store.manifests(cluster_id)] == ["mine.yaml"]


async def test_the_engine_knows_it_by_its_kind(world: World) -> None:
    state, row = await a_preparing_cluster(world)
    await operations(QuickPki())[row.kind](world, row, silent)
    assert (await cluster_of(world, state.cluster.id)).preparation.status is PreparationStatus.SUCCESS
