"""`inventory`: what this machine is made of. The first argument is the host's id, the others are limits."""

from typing import Final
from uuid import UUID

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.view import View


async def collect(arguments: tuple[str, ...], site: Site) -> Done:
    if not arguments:
        raise Invalid("the host's id is expected as the first argument, and there is none.")
    try:
        UUID(arguments[0])
    except ValueError as reason:
        raise Invalid(f"{arguments[0]!r} is not the id of a host.") from reason
    view = View(root=site.root, programs=site.host, lab=site.lab)
    return Done(output=(await inventory_document(view, arguments[1:])).decode())


INVENTORY: Final = Action(step_type="inventory", perform=collect, limit_seconds=300.0, exclusive=True)
