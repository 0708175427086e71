"""`inventory`: what this machine is made of. The first argument is the host's id, the others are limits."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.view import View
from firstlight.host.programs import NOT_STARTED, OUTPUT_LIMIT, Outcome, Programs


class OwnOrHost:
    """Programs of our image, and where it lacks one, those of the host: a live system has no ipmitool."""

    def __init__(self, own: Programs, host: Programs) -> None:
        self._own = own
        self._host = host

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
    ) -> Outcome:
        outcome = await self._own.run(*command, limit=limit, given=given, environment=environment, keep=keep)
        if outcome.exit_code != NOT_STARTED or self._own is self._host:
            return outcome
        return await self._host.run(*command, limit=limit, given=given, environment=environment, keep=keep)


async def collect(arguments: tuple[str, ...], site: Site) -> Done:
    if not arguments:
        raise Invalid("the host's id is expected as the first argument, and there is none.")
    try:
        UUID(arguments[0])
    except ValueError as reason:
        raise Invalid(f"{arguments[0]!r} is not the id of a host.") from reason
    view = View(root=site.root, programs=OwnOrHost(site.programs, site.host), lab=site.lab, dry_run=site.dry_run)
    return Done(output=(await inventory_document(view, arguments[1:])).decode())


INVENTORY: Final = Action(step_type="inventory", perform=collect, limit_seconds=300.0, exclusive=True)
