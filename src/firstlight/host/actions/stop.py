"""`stop-installation`: end the installer's container, if there is one."""

from typing import Final

from firstlight.host.actions.action import Action, Done, Site, failed

INSTALLER_NAME: Final = "assisted-installer"
_GRACE: Final = "5"


async def stop(_arguments: tuple[str, ...], site: Site) -> Done:
    outcome = await site.host.run("podman", "stop", "-i", "-t", _GRACE, INSTALLER_NAME, limit=120.0)
    if not outcome.succeeded:
        sentence = f"The installer's container could not be stopped: {outcome.complaint}"
        return failed(sentence, exit_code=outcome.exit_code)
    return Done(output=outcome.text)


STOP: Final = Action(step_type="stop-installation", perform=stop, limit_seconds=180.0, exclusive=True)
