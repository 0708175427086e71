"""Instructions for agents and their replies."""

from firstlight.core.wire.offers import Standing
from firstlight.core.wire.shape import Answer, Body, Int64
from firstlight.core.wire.words import StepType


class Step(Answer, frozen=True, kw_only=True):
    """One instruction."""

    args: tuple[str, ...]
    step_type: str = ""
    step_id: str = ""


class Steps(Answer, frozen=True, kw_only=True):
    """What an agent shall do next and when to ask again."""

    instructions: tuple[Step, ...]
    next_instruction_seconds: int = 0
    post_step_action: str = ""
    firstlight: Standing | None = None
    """Only for agents whose poll waits."""


class StepReply(Body, frozen=True, kw_only=True):
    """The outcome of one instruction."""

    step_type: StepType | None = None
    step_id: str = ""
    exit_code: Int64 = 0
    output: str = ""
    error: str = ""
