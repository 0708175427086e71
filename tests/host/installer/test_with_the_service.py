"""The real installer and the real service: every report is taken, every file is found, nothing is refused."""

import io
import json
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Progress, hostname_of
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.server.ports.writes import PutHost
from firstlight.server.usecases import retrying
from firstlight.server.usecases.caller import SERVICE
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.api.calling import an_app
from tests.api.files import a_prepared_cluster
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.core.install.validator import verdict
from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.installer.planes import Plane, a_node, kubeconfig, tls
from tests.host.installer.rig import Rig
from tests.http.client import ask
from tests.worlds import a_world

pytestmark = pytest.mark.anyio
BOOTSTRAP, MASTER = 1, 2
BASE = "/api/assisted-install/v2"
LOGS = f"{BASE}/clusters/{CLUSTER_ID}/logs"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def world(tmp_path: Path, anyio_backend: str) -> AsyncIterator[World]:
    folder = tmp_path / "service"
    folder.mkdir()
    async with a_world(folder) as made:
        yield made


class Hub:
    """The service's application behind a socket; what it refuses is kept."""

    def __init__(self, world: World) -> None:
        self.app = an_app(world)
        self.refused: list[str] = []

    async def __call__(self, asked: Asked) -> Said:
        answer = await ask(
            self.app, asked.method, asked.path, query=asked.query, body=asked.body, headers=asked.headers
        )
        if answer.status >= 400:
            self.refused.append(f"{asked.method} {asked.path} {answer.status} {answer.body!r}")
        headers = {name: value for name, value in answer.headers.items() if name.lower() != "content-length"}
        return Said(answer.status, answer.body, headers)


async def begin(world: World) -> None:
    """Everybody is told to install."""
    state = await a_prepared_cluster(world, status=ClusterStatus.INSTALLING)
    for host in state.hosts:
        later = replace(host.host, status=HostStatus.INSTALLING)
        await world.store.commit(PutHost(host=later))


async def progress_of(world: World, number: int) -> Progress:
    host = await world.store.host((INFRA_ENV_ID, host_id(number)))
    assert host is not None
    return host.host.progress


def flags(number: int) -> tuple[str, ...]:
    return (
        *("--cluster-id", str(CLUSTER_ID), "--infra-env-id", str(INFRA_ENV_ID), "--host-id", str(host_id(number))),
        *("--control-plane-count", "3"),
    )


async def test_a_master(world: World, tmp_path: Path) -> None:
    await begin(world)
    hub, rig = Hub(world), Rig(tmp_path)
    async with scripted(hub) as server:
        assert await rig.finish(server.url, *flags(MASTER), role="master") == 0, rig.log()
    assert (await progress_of(world, MASTER)).stage is Stage.REBOOTING
    assert hub.refused == []
    written = rig.root / f"opt/install-dir/master-{host_id(MASTER)}.ign"
    assert verdict(written.read_bytes()) == ""


async def statuses(world: World) -> tuple[HostStatus, ClusterStatus]:
    """Of the master and of its cluster, once the service has thought about them."""
    await settle_cluster(world, CLUSTER_ID)
    world.sessions.forget_all()
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    host = next(one.host for one in state.hosts if one.host.id == host_id(MASTER))
    return host.status, state.cluster.status


async def test_a_failed_master_has_its_logs_in_the_service_and_is_tried_again(world: World, tmp_path: Path) -> None:
    await begin(world)
    hub, rig, master = Hub(world), Rig(tmp_path), f"{BASE}/infra-envs/{INFRA_ENV_ID}/hosts/{host_id(MASTER)}"
    works = (rig.folder / "behave/coreos-installer").read_text()
    rig.behave("coreos-installer", "echo 'Error: no space left' >&2; exit 1\n")
    async with scripted(hub) as server:
        assert await rig.finish(server.url, *flags(MASTER), role="master") == 1
        assert await statuses(world) == (HostStatus.ERROR, ClusterStatus.ERROR)
        plan = (await ask(hub.app, "GET", f"{master}/instructions")).json()["instructions"]
        (wanted,) = [json.loads(step["args"][0]) for step in plan if step["step_type"] == "logs-gather"]
        assert await rig.send_logs(server.url, wanted) == 0
        logs = await ask(hub.app, "GET", LOGS, query=f"logs_type=host&host_id={host_id(MASTER)}")
        assert logs.status == 200, logs.body
        assert b"no space left" in installer_log(logs.body)
        rig.behave("coreos-installer", works)
        await retrying.retry(world, (INFRA_ENV_ID, host_id(MASTER)), caller=SERVICE)
        assert await statuses(world) == (HostStatus.INSTALLING, ClusterStatus.INSTALLING)
        kept = await ask(hub.app, "GET", LOGS, query=f"logs_type=host&host_id={host_id(MASTER)}")
        assert kept.body == logs.body, "until there are new ones"
        assert await rig.finish(server.url, *flags(MASTER), role="master") == 0, rig.log()
    assert (await progress_of(world, MASTER)).stage is Stage.REBOOTING
    assert await statuses(world) == (HostStatus.INSTALLING_IN_PROGRESS, ClusterStatus.INSTALLING)
    assert hub.refused == []


def installer_log(archive: bytes) -> bytes:
    """What the installer said, in the archive that the service hands out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as outer:
        names = outer.getnames()
        inner = next((name for name in names if name.endswith(".tar.gz")), None)
        if inner is not None:
            found = outer.extractfile(inner)
            assert found is not None
            return installer_log(found.read())
        found = outer.extractfile(next(name for name in names if name.endswith("installer.logs")))
        assert found is not None
        return found.read()


async def test_a_master_that_boots_the_wrong_medium_goes_on_once_it_boots_its_disk(
    world: World, tmp_path: Path
) -> None:
    await begin(world)
    hub, rig = Hub(world), Rig(tmp_path)
    hosts = f"{BASE}/infra-envs/{INFRA_ENV_ID}/hosts"
    json_headers = {"content-type": "application/json"}
    register = json.dumps({"host_id": str(host_id(MASTER))}).encode()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, *flags(MASTER), role="master") == 0, rig.log()
    assert (await ask(hub.app, "POST", hosts, body=register, headers=json_headers)).status == 201
    waiting = (HostStatus.INSTALLING_PENDING_USER_ACTION, ClusterStatus.INSTALLING_PENDING_USER_ACTION)
    assert await statuses(world) == waiting
    assert (await ask(hub.app, "POST", hosts, body=register, headers=json_headers)).status == 400
    seen = json.dumps({"current_stage": "Configuring"}).encode()
    path = f"{hosts}/{host_id(MASTER)}/progress"
    assert (await ask(hub.app, "PUT", path, body=seen, headers=json_headers)).status == 200
    assert await statuses(world) == (HostStatus.INSTALLING_IN_PROGRESS, ClusterStatus.INSTALLING)


async def test_the_bootstrap_speaks_for_the_others(world: World, tmp_path: Path) -> None:
    await begin(world)
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    names = {host.host.id: hostname_of(host.host, host.reports) for host in state.hosts}
    others = [names[host_id(number)] for number in (2, 3)]
    hub, rig, plane = Hub(world), Rig(tmp_path), Plane(nodes=[a_node(name) for name in others])
    openshift = rig.root / "opt/openshift"
    (openshift / "auth").mkdir(parents=True)
    (openshift / ".bootkube.done").touch()
    authority, context = tls(tmp_path)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (openshift / "auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        assert await rig.finish(server.url, *flags(BOOTSTRAP), role="bootstrap") == 0, rig.log()
    assert (await progress_of(world, BOOTSTRAP)).stage is Stage.REBOOTING
    assert [(await progress_of(world, number)).stage for number in (2, 3)] == [Stage.JOINED, Stage.JOINED], rig.log()
    assert hub.refused == []
    secret = json.loads((rig.root / "root/.docker/config.json").read_text())
    assert "auths" in secret
