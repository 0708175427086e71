"""`firstlight simulate` and `firstlight demo`: fleets of simulated machines against a service."""

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import typer

from firstlight.cli.api import DEFAULT_URL, UrlOption
from firstlight.cli.ending import Code, stop
from firstlight.cli.output import put

DEMO_SPEED: Final = 20.0


class Show(StrEnum):
    AUTO = "auto"
    TABLE = "table"
    LINES = "lines"
    JSON = "json"


class Until(StrEnum):
    EXPECTED = "expected"
    REGISTERED = "registered"
    KNOWN = "known"
    READY = "ready"
    INSTALLED = "installed"
    ADDED = "added"
    FOREVER = "forever"


SpeedOption = Annotated[
    float, typer.Option(min=0.1, max=10_000, help="Simulated seconds per real second; the service's own clock stays.")
]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same machines and faults.")]
ScenarioOption = Annotated[
    str,
    typer.Option(
        help="Faults, comma separated, each NAME or NAME@MACHINE (lost-link@master-0+worker-1); see --list-scenarios."
    ),
]
ShowOption = Annotated[Show, typer.Option("--show", help="auto: a table at a terminal, lines elsewhere.")]


def simulate(
    infra_env_id: Annotated[UUID | None, typer.Option(help="Boot the machines into this infra-env.")] = None,
    new_cluster: Annotated[
        str, typer.Option(metavar="NAME", help="Create a cluster and infra-env first, and install it.")
    ] = "",
    hosts: Annotated[int, typer.Option(min=0, max=20_000, help="Machines that can play any role.")] = 0,
    masters: Annotated[int, typer.Option(min=0, max=5, help="Machines of the size of masters.")] = 0,
    workers: Annotated[int, typer.Option(min=0, max=20_000, help="Machines of the size of workers.")] = 0,
    clusters: Annotated[int, typer.Option(min=1, max=5_000, help="With --new-cluster: that many, side by side.")] = 1,
    scenario: ScenarioOption = "",
    until: Annotated[
        Until, typer.Option(help="expected: installed, or how the scenario should end. added: day-2 hosts.")
    ] = Until.EXPECTED,
    speed: SpeedOption = DEMO_SPEED,
    seed: SeedOption = 0,
    limit: Annotated[float, typer.Option(min=1, help="Real seconds to wait at most for each part.")] = 1_800,
    kubeconfig: Annotated[Path | None, typer.Option(help="Where the kubeconfig of --new-cluster goes.")] = None,
    show: ShowOption = Show.AUTO,
    list_scenarios: Annotated[bool, typer.Option("--list-scenarios", help="List the faults and end.")] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Boot simulated machines that talk to the service as real ones would.

    The command fails when the end that was asked for is not reached.
    """
    if list_scenarios:
        _list_scenarios()
        return
    if bool(new_cluster) == (infra_env_id is not None):
        stop("name either --infra-env-id or --new-cluster.", Code.USAGE)
    from firstlight.cli.fleets import Wanted, run_crowd, run_in_infra_env, run_new_cluster
    from firstlight.simulate.calls import Refused, Unreachable
    from firstlight.simulate.machines import Plan
    from firstlight.simulate.scenarios import UnknownFault

    plan = Plan(masters=masters, workers=workers, any_role=hosts)
    if plan.count == 0:
        plan = Plan(masters=3, workers=2)
    wanted = Wanted(
        url=url, plan=plan, scenario=scenario, until=until.value, speed=speed, seed=seed, limit=limit, show=show.value
    )
    try:
        if infra_env_id is not None:
            reached = asyncio.run(run_in_infra_env(wanted, infra_env_id))
        elif clusters > 1:
            reached = asyncio.run(run_crowd(wanted, new_cluster, clusters))
        else:
            reached = asyncio.run(
                run_new_cluster(wanted, new_cluster, kubeconfig=kubeconfig or Path(f"{new_cluster}-kubeconfig"))
            )
    except UnknownFault as error:
        stop(str(error), Code.USAGE)
    except Unreachable as error:
        stop(f"the service at {url} does not answer ({error}). Start it with 'firstlight serve'.", Code.UNREACHABLE)
    except Refused as error:
        stop(f"{error}", Code.NOT_FOUND if error.status == 404 else Code.FAILED)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if not reached:
        stop("the end that was asked for was not reached.")


def _list_scenarios() -> None:
    from firstlight.simulate.scenarios import FAULTS

    width = max(map(len, FAULTS))
    for fault in FAULTS.values():
        put(f"{fault.name:<{width}}  {fault.summary}")


def demo(
    scenario: ScenarioOption = "",
    masters: Annotated[int, typer.Option(min=1, max=5)] = 3,
    workers: Annotated[int, typer.Option(min=0, max=50)] = 2,
    speed: SpeedOption = DEMO_SPEED,
    seed: SeedOption = 0,
    keep: Annotated[
        bool | None,
        typer.Option(
            "--keep/--no-keep", help="Leave the service running afterwards; without either, only at a terminal."
        ),
    ] = None,
    show: ShowOption = Show.AUTO,
) -> None:
    """Start a service of its own, boot simulated machines, and install a cluster on them."""
    from firstlight.cli.fleets import Wanted, run_demo
    from firstlight.simulate.machines import Plan

    wanted = Wanted(
        url="",
        plan=Plan(masters=masters, workers=workers),
        scenario=scenario,
        until=Until.EXPECTED.value,
        speed=speed,
        seed=seed,
        limit=300,
        show=show.value,
    )
    stays = sys.stdout.isatty() if keep is None else keep
    try:
        reached = run_demo(wanted, keep=stays)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if not reached:
        stop("the demo did not get to its end.")
