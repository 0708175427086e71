"""What an evaluation needs besides the subject itself."""

from datetime import datetime

from msgspec import Struct

from firstlight.core.model.policy import Policy
from firstlight.core.steps.inputs import NO_INPUTS, StepInputs


class Surroundings(Struct, frozen=True, kw_only=True):
    policy: Policy
    now: datetime
    inputs: StepInputs = NO_INPUTS
    """What step arguments need beyond the state."""
    listening_since: datetime | None = None
    """Nobody listened for a while before: silence and time limits cannot have passed earlier than this."""
