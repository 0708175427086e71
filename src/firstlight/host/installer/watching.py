"""What the bootstrap sees of the other hosts, and tells the service for them: who fetched Ignition, who joined."""

from typing import Final

from firstlight.core.wire.words import HostStage
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.mcs_log import LogReader
from firstlight.host.installer.run import Run
from firstlight.host.installer.service import SETTLED, HostDocument
from firstlight.host.recognising import identity_in

EVERY_SECONDS: Final = 30.0
CALL_SECONDS: Final = 30.0
BEYOND: Final = frozenset({"Configuring", "Joined", "Done", "Waiting for ignition", "Failed"})
LIVE: Final = frozenset(
    {"", "Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk"}
)
"""Stages in which a host cannot have booted from its disk; one that is tried again begins without any."""
ROLES: Final = ("master", "worker", "arbiter")


async def other_hosts(run: Run) -> tuple[HostDocument, ...]:
    """All hosts of the cluster but this one. Raises `Refused` and `Unreachable`."""
    found: list[HostDocument] = []
    for role in ROLES:
        found += await run.service.hosts(role, limit=run.pace.seconds(CALL_SECONDS), with_inventory=True)
    return tuple(host for host in found if host.id != run.settings.host_id and host.status != "disabled")


async def watch_ignition(run: Run) -> None:
    """Until the run ends: also whoever has been seen may be tried again."""
    reader = LogReader(run.root)
    seen: set[object] = set()
    while True:
        seen |= reader.addresses()
        try:
            waiting = [host for host in await other_hosts(run) if host.stage not in BEYOND]
        except (Refused, Unreachable) as reason:
            run.log.warning("The hosts of the cluster cannot be looked at.", reason=reason)
        else:
            for host in waiting:
                addresses = identity_in(host.inventory).addresses
                if host.stage in LIVE:
                    # What it asked for in an earlier life, before it was tried again, says nothing.
                    seen -= addresses
                elif seen & addresses:
                    # The bootstrap does not serve the pool of the workers yet: they ask again later.
                    await tell_of(run, host, "Waiting for ignition" if host.role == "worker" else "Configuring")
        await run.pace.rest(EVERY_SECONDS)


async def tell_of(run: Run, host: HostDocument, stage: HostStage) -> bool:
    """Whether the service has heard it, whatever it thinks of it."""
    if host.infra_env_id is None:
        return True
    try:
        await run.service.progress(host.infra_env_id, host.id, stage, limit=run.pace.seconds(CALL_SECONDS))
        run.log.info("Another host came further.", host=host.requested_hostname or host.id, stage=stage)
    except Refused as refusal:
        if refusal.status != SETTLED:
            run.log.warning("A report about another host was refused.", host=host.id, reason=refusal)
    except Unreachable as reason:
        run.log.warning("A report about another host was not delivered.", host=host.id, reason=reason)
        return False
    return True
