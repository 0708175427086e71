"""What the simulator reads of the service's answers; everything else in them is left alone.

Null and absent mean the same here, so that the answers of the original service can be read as well.
"""

from uuid import UUID

from msgspec import Struct


class Instruction(Struct, frozen=True, kw_only=True):
    step_type: str
    step_id: str = ""
    args: tuple[str, ...] | None = None


class Instructions(Struct, frozen=True, kw_only=True):
    instructions: tuple[Instruction, ...] | None = None
    next_instruction_seconds: int = 0
    post_step_action: str = ""


class StepAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one step. Its type may be one that nobody knows."""

    step_type: str
    step_id: str = ""
    exit_code: int = 0
    output: str = ""
    error: str = ""


class RunnerCommand(Struct, frozen=True, kw_only=True):
    args: tuple[str, ...] | None = None


class Registration(Struct, frozen=True, kw_only=True):
    id: UUID
    next_step_runner_command: RunnerCommand | None = None


class RunnerArguments(Struct, frozen=True, kw_only=True):
    agent_version: str = ""


class Progress(Struct, frozen=True, kw_only=True):
    current_stage: str = ""
    progress_info: str = ""
    installation_percentage: int = 0


NO_PROGRESS = Progress()


class HostDocument(Struct, frozen=True, kw_only=True):
    """A host as anybody may read it."""

    id: UUID
    infra_env_id: UUID | None = None
    cluster_id: UUID | None = None
    kind: str = ""
    status: str = ""
    status_info: str = ""
    role: str = ""
    suggested_role: str = ""
    bootstrap: bool = False
    requested_hostname: str = ""
    validations_info: str = ""
    logs_info: str = ""
    progress: Progress | None = None

    @property
    def reached(self) -> Progress:
        return self.progress or NO_PROGRESS

    @property
    def part(self) -> str:
        """The role it plays, chosen or suggested."""
        chosen = self.suggested_role if self.role == "auto-assign" and self.suggested_role else self.role
        return "bootstrap" if self.bootstrap and chosen == "master" else chosen


class ClusterProgress(Struct, frozen=True, kw_only=True):
    total_percentage: int = 0
    finalizing_stage: str = ""
    finalizing_stage_timed_out: bool = False


class ClusterDocument(Struct, frozen=True, kw_only=True):
    """A cluster as anybody may read it."""

    id: UUID
    name: str = ""
    kind: str = ""
    status: str = ""
    status_info: str = ""
    openshift_version: str = ""
    base_dns_domain: str = ""
    control_plane_count: int = 3
    validations_info: str = ""
    progress: ClusterProgress | None = None


class InfraEnvDocument(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str = ""
    cluster_id: UUID | None = None


class OperatorDocument(Struct, frozen=True, kw_only=True):
    name: str
    operator_type: str = ""
    status: str = ""
    status_info: str = ""


class Validation(Struct, frozen=True, kw_only=True):
    id: str
    status: str = ""
    message: str = ""
