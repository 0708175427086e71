"""Answers of the service as the agent reads them: tolerant, since services of other versions say more or less.

Absent scalars are zero and lists may be null; whatever else is there is not looked at.
"""

from uuid import UUID

from msgspec import Struct

from firstlight.core.wire.offers import Offer, Standing


class RunnerCommand(Struct, frozen=True, kw_only=True):
    args: tuple[str, ...] | None = None
    retry_seconds: int = 0


class RunnerArguments(Struct, frozen=True, kw_only=True):
    """The JSON text in the one argument of the runner's command."""

    infra_env_id: UUID | None = None
    host_id: UUID | None = None
    agent_version: str = ""


class Registration(Struct, frozen=True, kw_only=True):
    id: UUID | None = None
    status: str = ""
    status_info: str = ""
    requested_hostname: str = ""
    next_step_runner_command: RunnerCommand | None = None
    firstlight: Offer | None = None


class Step(Struct, frozen=True, kw_only=True):
    step_type: str = ""
    step_id: str = ""
    args: tuple[str, ...] | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.args or ()


class Instructions(Struct, frozen=True, kw_only=True):
    instructions: tuple[Step, ...] | None = None
    next_instruction_seconds: int = 0
    post_step_action: str = ""
    firstlight: Standing | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.instructions or ()

    @property
    def leave(self) -> bool:
        return self.post_step_action == "exit"


class StepReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Exactly the keys that services take; zero and nothing are left out as the original does."""

    step_type: str
    step_id: str = ""
    exit_code: int = 0
    output: str = ""
    error: str = ""


class ArchiveReached(Struct, frozen=True, kw_only=True):
    """How far the service has an archive of logs that comes in pieces."""

    next: int = 0
    complete: bool = False


class LogTaken(Struct, frozen=True, kw_only=True):
    """How far the service has our log."""

    next: int = 0
