"""A host as the service remembers it: what the user asked for and where its life has come to."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.fingerprint import Fingerprint
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, LogsState, MediaStatus, Stage
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import NO_REPORTS, Reports
from firstlight.core.rules import Finding


class Progress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    stage: Stage | None = None
    info: str = ""
    percentage: int = 0
    started_at: datetime | None = None
    updated_at: datetime | None = None
    """Last sign of life inside the stage: the stage's time limit counts from here."""
    timed_out: bool = False
    """Soft time limits only: the stage is slow and the user has been told."""
    paused_since: datetime | None = None
    """The stage timer stands still while the cluster waits for its user."""


class NodeLabel(Struct, frozen=True):
    key: str
    value: str


class HttpHeader(Struct, frozen=True):
    key: str
    value: str


class FencingCredentials(Struct, frozen=True, kw_only=True, omit_defaults=True):
    address: str
    username: str
    password: str
    certificate_verification: str = ""


class Host(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: UUID
    infra_env_id: UUID
    cluster_id: UUID | None = None
    kind: HostKind = HostKind.HOST
    status: HostStatus
    status_info: str = ""
    status_updated_at: datetime
    created_at: datetime
    updated_at: datetime
    registered_at: datetime

    role: HostRole = HostRole.AUTO_ASSIGN
    suggested_role: HostRole | None = None
    bootstrap: bool = False
    requested_hostname: str = ""
    installation_disk_id: str = ""
    installation_disk_path: str = ""
    disks_to_be_formatted: tuple[str, ...] = ()
    skip_formatting_disks: tuple[str, ...] = ()
    disk_problems: dict[str, tuple[str, ...]] = {}
    """Disk id → why the service would not install there; the agent's own reasons stay in the inventory."""
    installer_args: tuple[str, ...] = ()
    ignition_override: str = ""
    machine_config_pool_name: str = ""
    node_labels: tuple[NodeLabel, ...] = ()
    fencing: FencingCredentials | None = None
    ignition_endpoint_token_set: bool = False
    ignition_endpoint_headers: tuple[HttpHeader, ...] = ()

    progress: Progress = Progress()
    media: MediaStatus = MediaStatus.CONNECTED
    connection_timed_out: bool = False
    """Soft time limits only: silent during installation, and the user has been told."""
    logs: LogsState = LogsState.NONE
    logs_started_at: datetime | None = None
    logs_collected_at: datetime | None = None
    installer_version: str = ""
    user_name: str = ""
    fingerprint: Fingerprint | None = None
    """What tells it from another machine with the same id; None if its agent does not say."""
    tries: int = 0
    """How often it was tried again in this installation: above 0 it joins one that is under way."""
    kept_status: HostStatus | None = None
    """What it was when its cluster failed: where it returns to once a failed host is tried again."""
    claimed_id: UUID | None = None
    """The id its firmware gives it, where another machine had that one first."""

    @property
    def effective_role(self) -> HostRole:
        if self.role is HostRole.AUTO_ASSIGN and self.suggested_role is not None:
            return self.suggested_role
        return HostRole.MASTER if self.role is HostRole.BOOTSTRAP else self.role

    @property
    def is_day_two(self) -> bool:
        return self.kind is HostKind.DAY_TWO


class Presence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The narrow, often written part: when the agent was last heard of and what its clock said."""

    checked_in_at: datetime | None = None
    clock_offset_seconds: float | None = None
    """Agent clock minus our clock at arrival; None until an agent sent its time."""
    agent_version: str = ""


class HostState(Struct, frozen=True, kw_only=True):
    """One host with everything a decision about it may read."""

    host: Host
    presence: Presence = Presence()
    reports: Reports = NO_REPORTS
    findings: tuple[Finding, ...] = ()
    """As last decided; edges between these and new ones become events."""
    plan: StepPlan | None = None
    """As last decided."""


def hostname_of(host: Host, reports: Reports) -> str:
    """The name the node will carry: the user's, else the machine's own, else its id."""
    if host.requested_hostname:
        return host.requested_hostname
    if reports.inventory is not None and reports.inventory.hostname:
        return reports.inventory.hostname
    return str(host.id)
