"""Writing the system to the disk with coreos-installer, which says how far it is while it works."""

from typing import Final

from firstlight.host.installer.devices import find, read_graph
from firstlight.host.installer.percent import Percents
from firstlight.host.installer.run import InstallationFailed, Run, complaint_of

ATTEMPTS: Final = 3
STAGE: Final = "Writing image to disk"


async def write_image(run: Run) -> None:
    run.tell(STAGE)
    program = "dry-installer" if run.settings.dry_run else "coreos-installer"
    # The image is part of the live system that was itself verified; there is no signature to check it against.
    command = (program, "install", "--insecure", "-i", run.ignition, *run.settings.installer_arguments, run.device)
    complaint = ""
    for attempt in range(1, ATTEMPTS + 1):
        percents = Percents()

        def heard(piece: bytes, percents: Percents = percents) -> None:
            percent = percents.hear(piece)
            if percent is not None:
                run.tell(STAGE, f"{percent}%")

        # Slow media take hours and are no fault as long as it goes on: the service counts from the last word, too.
        outcome = await run.host.run(
            *command,
            limit=run.pace.longest_wait,
            silence_limit=run.pace.limit(STAGE),
            environment=run.children,
            heard=heard,
        )
        if outcome.succeeded:
            run.log.info("The image is on the disk.", disk=run.device, attempt=attempt)
            return
        complaint = complaint_of(outcome) + _without_disk(run)
        run.log.warning("The image could not be written.", disk=run.device, attempt=attempt, complaint=complaint)
        if attempt < ATTEMPTS:
            run.tell(STAGE, f"attempt {attempt} of {ATTEMPTS} failed ({complaint}); trying again")
            await run.pace.rest(1.0)
    raise InstallationFailed(f"The image could not be written to {run.device} in {ATTEMPTS} attempts: {complaint}")


def _without_disk(run: Run) -> str:
    """Said where there is no disk any more: a cable or a controller is another matter than a bad block."""
    if find(run.root, read_graph(run.root), run.device) is not None:
        return ""
    return f" (the kernel knows no device {run.device} any more: it was there when the installation began)"
