"""A service with clusters in different states, and the command line against it."""

import asyncio
import subprocess
from collections.abc import Iterator

import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import connect
from firstlight.simulate.course import install_new_cluster
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.cli.running import Cli, run_cli
from tests.services import RunningService, run_service


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """`lab` is ready; `broken` has a machine with too small a disk; `done` is installed."""
    with run_service(tmp_path_factory.mktemp("service")) as service:
        asyncio.run(_fill(service.url))
        yield service
        assert service.complaints() == ""


async def _fill(url: str) -> None:
    await _make(url, "lab", Plan(masters=3, workers=1))
    await _make(url, "broken", Plan(masters=3, workers=1), scenario="small-disk@worker-0")
    await _make(url, "done", Plan(masters=1), only_ready=False)


async def _make(url: str, name: str, plan: Plan, *, scenario: str = "", only_ready: bool = True) -> None:
    async with connect(url) as service:
        new = user.NewCluster(name=name, control_plane_count=plan.masters)
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(plan, seed=len(name), salt=str(infra_env_id))
        fleet = Fleet(url, infra_env_id, machines, scenario=scenario, speed=150, service=service, look_seconds=0.1)
        async with fleet.powered():
            result = await install_new_cluster(
                fleet,
                cluster_id,
                control_plane_count=plan.masters,
                limit=100,
                say=lambda _: None,
                only_ready=only_ready,
            )
        assert result.reached, result.snapshot


@pytest.fixture(scope="session")
def cli(running: RunningService) -> Cli:
    """Run `firstlight …` against the service."""

    def run(*args: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return run_cli(*args, code=code, env={"FIRSTLIGHT_URL": running.url}, stdin=stdin)

    return run
