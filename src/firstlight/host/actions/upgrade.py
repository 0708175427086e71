"""`upgrade-agent`: pull the agent image that the service wants; then this program ends and its successor starts."""

from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import UpgradeAgentRequest
from firstlight.core.wire.step_outputs import UpgradeAgentResponse
from firstlight.host.actions.action import Action, Done, Site, first_document, replied
from firstlight.host.actions.images import is_reference, pulled

_PULL_SECONDS: Final = 900.0


_WANTED: Final = Reader(UpgradeAgentRequest)


async def upgrade(arguments: tuple[str, ...], site: Site) -> Done:
    image = first_document(arguments, _WANTED).agent_image
    if not is_reference(image):
        raise Invalid(f"{image!r} is not the name of an image.")
    outcome = await pulled(image, site.host, limit=_PULL_SECONDS)
    if not outcome.succeeded:
        return replied(UpgradeAgentResponse(agent_image=image, result="failure"), error=outcome.complaint)
    done = replied(UpgradeAgentResponse(agent_image=image, result="success"))
    return Done(output=done.output, stop_polling=True)


UPGRADE: Final = Action(step_type="upgrade-agent", perform=upgrade, limit_seconds=960.0, exclusive=True)
