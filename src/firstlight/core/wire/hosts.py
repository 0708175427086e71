"""Hosts as the service answers them."""

from uuid import UUID

from firstlight.core.wire.offers import Offer
from firstlight.core.wire.shape import Answer


class HostProgressInfo(Answer, frozen=True, kw_only=True):
    """The installation stage of one host."""

    stage_started_at: str
    stage_updated_at: str
    installation_percentage: int = 0
    current_stage: str = ""
    progress_info: str = ""
    stage_timed_out: bool = False


class Host(Answer, frozen=True, kw_only=True):
    """A host as GET and PATCH answer it."""

    kind: str
    id: UUID
    href: str
    status: str
    status_info: str
    status_updated_at: str
    stage_started_at: str
    stage_updated_at: str
    progress_stages: tuple[str, ...] | None
    logs_collected_at: str
    logs_started_at: str
    updated_at: str
    created_at: str
    deleted_at: str | None
    checked_in_at: str
    registered_at: str
    cluster_id: UUID | None = None
    infra_env_id: UUID | None = None
    validations_info: str = ""
    logs_info: str = ""
    progress: HostProgressInfo | None = None
    connectivity: str = ""
    api_vip_connectivity: str = ""
    tang_connectivity: str = ""
    inventory: str = ""
    free_addresses: str = ""
    ntp_sources: str = ""
    disks_info: str = ""
    role: str = ""
    suggested_role: str = ""
    bootstrap: bool = False
    installer_version: str = ""
    installation_disk_path: str = ""
    installation_disk_id: str = ""
    connection_timed_out: bool = False
    discovery_agent_version: str = ""
    requested_hostname: str = ""
    user_name: str = ""
    media_status: str | None = None
    ignition_config_overrides: str = ""
    installer_args: str = ""
    timestamp: int = 0
    machine_config_pool_name: str = ""
    images_status: str = ""
    domain_name_resolutions: str = ""
    ignition_endpoint_token_set: bool = False
    node_labels: str = ""
    disks_to_be_formatted: str = ""
    skip_formatting_disks: str = ""
    fencing_credentials: str = ""


class NextStepRunnerCommand(Answer, frozen=True, kw_only=True):
    """How the agent starts the process that asks for instructions."""

    args: tuple[str, ...]
    command: str = ""
    retry_seconds: int = 0


class HostRegistrationResponse(Host, frozen=True, kw_only=True):
    """A registered host and what its agent shall do next."""

    next_step_runner_command: NextStepRunnerCommand
    firstlight: Offer | None = None
