"""A driver for the installer: killed at the very end of every phase, then left to finish.

Each life is a fork of this process, so that twenty of them cost no more than a start or two. A phase that is killed at
its end has done everything but is not in the journal yet, which is the worst moment there is.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from firstlight.host.installer import phases, running
from firstlight.host.installer.phases import Phase
from firstlight.host.installer.run import Run
from firstlight.host.installer.settings import installer_settings

FLOW = phases.flow_of(installer_settings(sys.argv[1:], os.environ))
RECORD = Path(os.environ["RIG"]) / "phases"


def dying(phase: Phase, *, victim: bool) -> Phase:
    act: Callable[[Run], Awaitable[None]] = phase.act

    async def acted(run: Run) -> None:
        note(f"begin {phase.name}")
        await act(run)
        note(f"end {phase.name}")
        if victim:
            os.kill(os.getpid(), signal.SIGKILL)

    return replace(phase, act=acted)


def note(line: str) -> None:
    with RECORD.open("a") as file:
        file.write(line + "\n")


def live(victim: str) -> int:
    """One life of the installer: its exit code, negative if a signal ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        flow = tuple(dying(phase, victim=phase.name == victim) for phase in FLOW)
        setattr(running, "flow_of", lambda _: flow)  # noqa: B010 - the program's own function gives way
        code = running.install(sys.argv[1:], os.environ)
    finally:
        os._exit(code)


def main() -> int:
    for phase in FLOW:
        code = live(phase.name)
        if code != -signal.SIGKILL:
            sys.stderr.write(f"killed in {phase.name}, it ended with {code}\n")
            return 71
    return live("")


if __name__ == "__main__":
    sys.exit(main())
