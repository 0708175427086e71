"""Whether what an earlier start did still counts: the service may want this host installed from the beginning."""

from typing import Final

from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.run import Run

ASK_SECONDS: Final = 30.0
LEAST_SECONDS: Final = 10.0
"""However fast a laboratory's time passes, a machine with much to do needs some."""
FRESH: Final = "installing"


async def forget_if_told(run: Run) -> None:
    """A host that waits for its first stage is being tried again. Who cannot be asked is not waited for.

    The one that bootstraps is never tried again: the others depend on what it has done.
    """
    settings = run.settings
    if not run.memory.done or settings.host_id is None or settings.dry_run or settings.role == "bootstrap":
        return
    try:
        hosts = await run.service.hosts(run.node_role, limit=run.pace.seconds(ASK_SECONDS) + LEAST_SECONDS)
    except (Refused, Unreachable) as reason:
        run.log.warning("Whether to begin anew could not be asked; going on from where it was.", reason=reason)
        return
    own = next((host for host in hosts if host.id == settings.host_id), None)
    if own is not None and own.status == FRESH and not own.stage:
        run.log.info("The service wants this host installed from the beginning.")
        run.memory.forget()
