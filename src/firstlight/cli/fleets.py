"""What `simulate` and `demo` do: make machines, choose a screen, and take the fleet to its end."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.cli.output import put
from firstlight.cli.own_service import OwnService
from firstlight.cli.own_token import token_for, trust
from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.course import install_new_cluster
from firstlight.simulate.ends import (
    Snapshot,
    Until,
    all_finished,
    all_known,
    cluster_is,
    everything_registered,
    failing,
    is_complete,
    never,
)
from firstlight.simulate.fleet import Fleet, Result
from firstlight.simulate.machines import Machine, Plan, make_machines
from firstlight.simulate.screen import Lines, LiveTable, Screen

ENDS: Final[dict[str, Until]] = {
    "registered": everything_registered,
    "known": all_known,
    "ready": cluster_is("ready"),
    "installed": cluster_is("installed"),
    "added": all_finished,
    "forever": never,
}
DRIVEN: Final = frozenset({"expected", "known", "ready", "installed"})
"""Ends to which somebody has to set virtual addresses and start the installation."""
FLEETS_LOOKED_AT_PER_SECOND: Final = 20
LOOK_AROUND: Final = ("clusters show demo", "hosts list", "findings demo --all", "events --cluster demo", "logs demo")


class Wanted(Struct, frozen=True, kw_only=True):
    """What the person asked for."""

    url: str
    plan: Plan
    scenario: str
    until: str
    speed: float
    seed: int
    limit: float
    show: str


def screen_for(wanted: Wanted, machines: Sequence[Machine], *, title: str) -> Screen:
    shows_table = wanted.show == "table" or (wanted.show == "auto" and sys.stdout.isatty())
    if shows_table:
        from rich.console import Console

        return LiveTable(machines, console=Console(), title=title)
    return Lines(machines, as_json=wanted.show == "json")


async def run_in_infra_env(wanted: Wanted, infra_env_id: UUID) -> bool:
    """Machines for a cluster that somebody else drives."""
    machines = make_machines(wanted.plan, seed=wanted.seed, salt=str(infra_env_id))
    screen = screen_for(wanted, machines, title=f"{len(machines)} simulated machines")
    async with connect(wanted.url, token=token_for(wanted.url), trust=trust()) as service:
        # Machines would ask for ever; a person who mistyped wants to hear it.
        await service.ask("GET", f"/v2/infra-envs/{infra_env_id}")
        fleet = _fleet(wanted, infra_env_id, machines, service=service, observe=screen.show)
        # Without a scenario the expected end is that somebody installed the cluster or added every host.
        end = ENDS.get(wanted.until) or (None if fleet.scenario.hits else is_complete)
        with screen:
            async with fleet.powered():
                result = await fleet.wait(end, limit=None if wanted.until == "forever" else wanted.limit)
    return _told(result, wanted)


async def run_new_cluster(wanted: Wanted, name: str, *, kubeconfig: Path | None) -> bool:
    """A cluster from nothing to its end; its kubeconfig goes where it is wanted."""
    count = _control_plane_count(wanted.plan)
    async with connect(wanted.url, token=token_for(wanted.url), trust=trust()) as service:
        new = user.NewCluster(name=name, control_plane_count=count)
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(wanted.plan, seed=wanted.seed, salt=str(infra_env_id))
        screen = screen_for(wanted, machines, title=f"Cluster {name}")
        fleet = _fleet(wanted, infra_env_id, machines, service=service, observe=screen.show)
        with screen:
            async with fleet.powered():
                result = await _to_the_end(fleet, cluster_id, count, wanted=wanted, say=screen.say)
        installed = result.reached and result.snapshot.cluster_status == "installed"
        if kubeconfig is not None and installed and wanted.show != "json":
            _keep_secret(kubeconfig, await service.credentials(cluster_id, "kubeconfig"))
            put(f"The kubeconfig is in {kubeconfig}.")
    return _told(result, wanted)


def _keep_secret(target: Path, content: bytes) -> None:
    target.touch(mode=0o600)
    target.chmod(0o600)
    target.write_bytes(content)


async def run_crowd(wanted: Wanted, name: str, clusters: int) -> bool:
    """Many clusters side by side in this one process."""
    states: dict[int, Snapshot] = {}
    count, started = _control_plane_count(wanted.plan), time.monotonic()

    async def one(number: int, service: Service) -> bool:
        new = user.NewCluster(name=f"{name}-{number}", control_plane_count=count)
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        machines = make_machines(wanted.plan, seed=wanted.seed + number, salt=str(infra_env_id))
        fleet = _fleet(
            wanted,
            infra_env_id,
            machines,
            service=service,
            observe=lambda snapshot: states.__setitem__(number, snapshot),
            look_seconds=max(0.5, clusters / FLEETS_LOOKED_AT_PER_SECOND),
        )
        async with fleet.powered():
            result = await _to_the_end(fleet, cluster_id, count, wanted=wanted, say=_say_nothing)
        return result.reached

    async def narrate() -> None:
        while True:
            await asyncio.sleep(2)
            put(f"{time.monotonic() - started:7.1f} s  {_crowd_line(states.values())}")

    async with connect(wanted.url, token=token_for(wanted.url), trust=trust()) as service:
        narrator = asyncio.create_task(narrate())
        try:
            reached = await asyncio.gather(*(one(number, service) for number in range(clusters)))
        finally:
            narrator.cancel()
    put(f"{sum(reached)} of {clusters} clusters reached the end: {_crowd_line(states.values())}")
    return all(reached)


async def _to_the_end(
    fleet: Fleet, cluster_id: UUID, control_plane_count: int, *, wanted: Wanted, say: Callable[[str], None]
) -> Result:
    if wanted.until not in DRIVEN:
        return await fleet.wait(ENDS[wanted.until], limit=None if wanted.until == "forever" else wanted.limit)
    return await install_new_cluster(
        fleet,
        cluster_id,
        control_plane_count=control_plane_count,
        limit=wanted.limit,
        say=say,
        only_ready=wanted.until in ("known", "ready"),
    )


def run_demo(wanted: Wanted, *, keep: bool) -> bool:
    """A service of its own, and a cluster on it."""
    with OwnService() as service:
        reached = asyncio.run(
            run_new_cluster(
                _at(wanted, service.url), "demo", kubeconfig=service.folder / "kubeconfig" if keep else None
            )
        )
        if not keep:
            put("Run 'firstlight demo --keep' to look around in the service afterwards.")
            return reached
        put(f"The service is at {service.url} (the API's pages: {service.url}/api/docs). Look around:")
        for command in LOOK_AROUND:
            put(f"  FIRSTLIGHT_URL={service.url} firstlight {command}")
        put("It runs until you press Ctrl-C; then its temporary folder is removed.")
        service.wait()
    return reached


def _at(wanted: Wanted, url: str) -> Wanted:
    from msgspec.structs import replace

    return replace(wanted, url=url)


def _fleet(
    wanted: Wanted,
    infra_env_id: UUID,
    machines: Sequence[Machine],
    *,
    service: Service,
    observe: Callable[[Snapshot], None],
    look_seconds: float = 0.5,
) -> Fleet:
    return Fleet(
        wanted.url,
        infra_env_id,
        machines,
        scenario=wanted.scenario,
        speed=wanted.speed,
        seed=wanted.seed,
        service=service,
        observe=observe,
        look_seconds=look_seconds,
    )


def _control_plane_count(plan: Plan) -> int:
    if plan.masters:
        return plan.masters
    return 1 if plan.count == 1 else 3


def _told(result: Result, wanted: Wanted) -> bool:
    """Say how it ended; whether it was the end that was asked for."""
    snapshot = result.snapshot
    if wanted.show == "json":
        return result.reached
    hosts = ", ".join(f"{count} {status}" for status, count in snapshot.status_counts().items()) or "none registered"
    cluster = f"the cluster is {snapshot.cluster_status}" if snapshot.cluster is not None else "there is no cluster"
    put(f"{'Reached the end' if result.reached else 'Did not reach the end'}: {cluster}; hosts: {hosts}.")
    for host in snapshot.hosts.values():
        for finding, message in failing(host.validations_info).items():
            put(f"  {host.requested_hostname or host.id}: {finding}: {message}")
    if snapshot.cluster is not None:
        for finding, message in failing(snapshot.cluster.validations_info).items():
            put(f"  cluster: {finding}: {message}")
    return result.reached


def _say_nothing(_: str) -> None:
    return


def _crowd_line(states: Iterable[Snapshot]) -> str:
    clusters: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    for snapshot in states:
        clusters[snapshot.cluster_status] += 1
        hosts.update(snapshot.status_counts())
    return f"clusters {_counted(clusters)}; hosts {_counted(hosts)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "none yet"
