"""`install`: start the installer's container and wait for its end.

The container's name is the lock: as long as one runs, a second request is answered as podman itself would. An agent
that was started anew finds the container running and waits for it instead; one that has ended makes room.
"""

from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.host.actions.action import IMAGE_NOT_PULLED, Action, Done, Site, failed, first_document
from firstlight.host.actions.images import is_present, pulled
from firstlight.host.actions.install_command import InstallRequest, check, install_command
from firstlight.host.actions.stop import INSTALLER_NAME
from firstlight.host.programs import Programs

LONGEST_SECONDS: Final = 24 * 3600.0
NAME_TAKEN: Final = 125
_PULLS: Final = 3
_PULL_SECONDS: Final = 600.0
_ASK_SECONDS: Final = 120.0
_KEPT_OUTPUT: Final = 64 * 1024
_TUI_LOG: Final = "/var/log/agent/agent-tui.log"
_TUI_FOLDER: Final = "/var/log/agent"
_KEYFILES: Final = "/etc/NetworkManager/system-connections"

_REQUEST: Final = Reader(InstallRequest)
_attended: set[str] = set()
"""Containers that an action of this process waits for."""


async def install(arguments: tuple[str, ...], site: Site) -> Done:
    request = first_document(arguments, _REQUEST)
    check(request)
    for device in request.devices:
        if not site.root.exists(device):
            raise Invalid(f"there is no device {device} on this host.")
    if INSTALLER_NAME in _attended:
        return _name_taken()
    _attended.add(INSTALLER_NAME)
    try:
        return await _attend(request, site)
    finally:
        _attended.discard(INSTALLER_NAME)


async def _attend(request: InstallRequest, site: Site) -> Done:
    state = await _state(site.host)
    if state in ("running", "paused", "stopping"):
        return await _awaited(site.host)
    if state:
        await site.host.run("podman", "rm", "--force", INSTALLER_NAME, limit=_ASK_SECONDS)
    complaint = await _pulled(request.installer_image, site)
    if complaint:
        return failed(
            f"The installer's image {request.installer_image} could not be pulled: {complaint}",
            exit_code=IMAGE_NOT_PULLED,
        )
    command = install_command(request, site=site, copy_network=await _network_was_edited(site))
    outcome = await site.host.run(
        *command,
        limit=LONGEST_SECONDS,
        environment={"PULL_SECRET_TOKEN": site.token},
        keep=_KEPT_OUTPUT,
    )
    if outcome.succeeded:
        return Done(output=outcome.text)
    return Done(exit_code=outcome.exit_code, output=outcome.text, error=outcome.complaint)


async def _state(host: Programs) -> str:
    """Podman's word for the container's state, empty if there is none."""
    shown = await host.run(
        "podman", "container", "inspect", "--format", "{{.State.Status}}", INSTALLER_NAME, limit=_ASK_SECONDS
    )
    return shown.text.strip() if shown.succeeded else ""


async def _awaited(host: Programs) -> Done:
    """The end of a container that a former agent started."""
    waited = await host.run("podman", "wait", INSTALLER_NAME, limit=LONGEST_SECONDS)
    code = waited.text.strip()
    if not waited.succeeded or not code.lstrip("-").isdigit():
        return failed(f"The installer could not be waited for: {waited.complaint}")
    if code == "0":
        return Done()
    logs = await host.run("podman", "logs", "--tail", "40", INSTALLER_NAME, limit=_ASK_SECONDS)
    last_words = (logs.errors + logs.output).decode("utf-8", "replace").strip()
    return failed(f"The installer ended with code {code}. {last_words}", exit_code=int(code))


async def _pulled(image: str, site: Site) -> str:
    """Why the image is not there, empty if it is. The registry has the last word, a copy of the image is enough."""
    complaint = ""
    for _ in range(_PULLS):
        outcome = await pulled(image, site.host, limit=_PULL_SECONDS)
        if outcome.succeeded:
            return ""
        complaint = outcome.complaint
    return "" if await is_present(image, site.host) else complaint


async def _network_was_edited(site: Site) -> bool:
    """Whether somebody used the console's network editor: then the installed system shall keep what it wrote."""
    if not site.root.exists(_TUI_LOG):
        return False
    born = await site.host.run("stat", "--format", "%W", _TUI_FOLDER, limit=_ASK_SECONDS)
    try:
        birth = int(born.text)
        files = [site.root.path(f"{_KEYFILES}/{name}") for name in site.root.names(_KEYFILES)]
        return any(file.stat().st_mtime >= birth for file in files if file.suffix == ".nmconnection")
    except (OSError, ValueError):
        return False


def _name_taken() -> Done:
    sentence = f'the container name "{INSTALLER_NAME}" is already in use: the installation is under way.'
    return failed(sentence, exit_code=NAME_TAKEN)


INSTALL: Final = Action(
    step_type="install", perform=install, limit_seconds=LONGEST_SECONDS + 2 * _PULLS * _PULL_SECONDS, once=True
)
