"""One program under several names, as the original's: the name it is started by says what it does."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.host.flags import HelpWanted, read_flags
from firstlight.host.settings import AGENT_FLAGS, AgentSettings, agent_settings

WRONG_USE: Final = 2
Role = Callable[[Sequence[str], Mapping[str, str]], int]


def main() -> None:
    sys.exit(run(sys.argv, os.environ))


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code. `command` begins with the name the program was started by."""
    name = Path(command[0]).name
    role = ROLES.get(name)
    if role is None:
        return _complain(f"This program does not know what to do under the name {name}. It knows: {', '.join(ROLES)}.")
    try:
        return role(command[1:], environment)
    except HelpWanted:
        sys.stdout.write(_usage(name))
        return 0
    except Invalid as complaint:
        return _complain(str(complaint), code=WRONG_USE)


def _complain(sentence: str, *, code: int = 1) -> int:
    sys.stderr.write(sentence + "\n")
    return code


def _usage(name: str) -> str:
    if name in INSTALLER_NAMES:
        from firstlight.host.installer.settings import FLAGS

        known = FLAGS
    else:
        known = AGENT_FLAGS
    flags = "".join(f"  -{flag}{'' if boolean else ' value'}\n" for flag, boolean in known.items())
    return f"Usage of {name}:\n{flags}The token is read from the variable PULL_SECRET_TOKEN.\n"


# --- roles; what only one of them needs is imported by that one, since every process on the host pays for it


def _agent(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    return _run_agent(agent_settings(arguments, environment), environment, name="agent", registers=True)


def _next_step_runner(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    settings = agent_settings(arguments, environment)
    if settings.host_id is None and settings.dry_run is None:
        raise Invalid(
            "The flag -host-id is missing: somebody else has registered this host, and only they know its id."
        )
    return _run_agent(settings, environment, name="next_step_runner", registers=False)


def _run_agent(settings: AgentSettings, environment: Mapping[str, str], *, name: str, registers: bool) -> int:
    from firstlight.host.agent.logs.writing import Log
    from firstlight.host.agent.running import Agent, log_folder, run_until_told, this_machine
    from firstlight.host.collect.lab import load_lab

    lab = load_lab(environment)
    dry_id = str(settings.dry_run.host_id) if settings.dry_run and settings.dry_run.host_id else ""
    log = Log(settings.logging, role=name, folder=log_folder(settings), secrets=(settings.token,), dry_id=dry_id)

    async def live() -> int:
        return await run_until_told(Agent(settings, this_machine(settings, lab=lab), log, registers=registers))

    return asyncio.run(live())


def _inventory(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.roles import inventory

    return inventory(arguments, environment)


def _free_addresses(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.roles import one_step

    return one_step("free-network-addresses", arguments, environment)


def _disk_speed_check(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.roles import one_step

    return one_step("installation-disk-speed-check", arguments, environment)


def _logs_sender(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.agent.logs.sender import send_logs

    return send_logs(arguments, environment)


def _installer(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.installer.running import install

    return install(arguments, environment)


INSTALLER_NAMES: Final = ("firstlight-installer", "installer")


def _controller(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    from firstlight.host.controller.running import run_controller
    from firstlight.host.controller.settings import LOG_FILE, ROOT, controller_settings
    from firstlight.host.root import Root

    read_flags(arguments, known={})
    root = Root(Path(environment.get(ROOT) or "/"))
    settings = controller_settings(environment, root=root)
    return run_controller(settings, environment, root=root, log_file=root.path(LOG_FILE))


ROLES: Final[Mapping[str, Role]] = {
    "agent": _agent,
    "firstlight-agent": _agent,
    "next_step_runner": _next_step_runner,
    "inventory": _inventory,
    "free_addresses": _free_addresses,
    "disk_speed_check": _disk_speed_check,
    "logs_sender": _logs_sender,
    "firstlight-controller": _controller,
    "assisted-installer-controller": _controller,
    **dict.fromkeys(INSTALLER_NAMES, _installer),
}

if __name__ == "__main__":
    main()
