"""An agent whose steps are made up, as a process that can be killed: each writes down that it ran."""

import asyncio
import os
import sys
import time
from pathlib import Path

from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.running import Agent, Machine, run_until_told
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root
from firstlight.host.settings import agent_settings
from tests.host.agent.setting import HOST_ID, Scene


async def note(arguments: tuple[str, ...], site: Site) -> Done:
    """Writes a line, then works until the file `finish` is there."""
    place = Path(arguments[0])
    with (place / "ran").open("a") as file:
        file.write(f"{arguments[1]}\n")
    while not (place / "finish").exists():
        await asyncio.sleep(0.02)
    return Done(output=f"done {arguments[1]}")


def _jump(path: Path) -> float:
    """How far the machine's clock is off by now."""
    return float(path.read_text()) if path.exists() else 0.0


def main() -> int:
    settings = agent_settings(sys.argv[1:], os.environ)
    actions = {
        kind: Action(step_type=kind, perform=note, limit_seconds=60, once=once)
        for kind, once in (("installation-disk-speed-check", True), ("reboot-for-reclaim", True), ("inventory", False))
    }
    machine = Machine(
        root=Root(settings.place.root),
        programs=LocalPrograms(),
        host=Scene(),
        host_id=HOST_ID,
        actions=actions,
        wall_clock=lambda: time.time() + _jump(settings.place.root.parent / "jump"),
    )
    return asyncio.run(live(Agent(settings, machine, Log(settings.logging))))


async def live(agent: Agent) -> int:
    return await run_until_told(agent)


if __name__ == "__main__":
    sys.exit(main())
