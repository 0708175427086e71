"""The real installer and the real service: every report is taken, every file is found, nothing is refused."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Progress, hostname_of
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.server.ports.store import PutHost
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
        self._app = an_app(world)
        self.refused: list[str] = []

    async def __call__(self, asked: Asked) -> Said:
        answer = await ask(
            self._app, asked.method, asked.path, query=asked.query, body=asked.body, headers=asked.headers
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


async def test_a_failed_master_shows_why(world: World, tmp_path: Path) -> None:
    await begin(world)
    hub, rig = Hub(world), Rig(tmp_path)
    rig.behave("coreos-installer", "echo 'Error: no space left' >&2; exit 1\n")
    async with scripted(hub) as server:
        assert await rig.finish(server.url, *flags(MASTER), role="master") == 1
    host = await world.store.host((INFRA_ENV_ID, host_id(MASTER)))
    assert host is not None
    assert host.host.status is HostStatus.ERROR
    assert "no space left" in host.host.status_info


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
