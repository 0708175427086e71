"""What users, agents and installers may ask of a host."""

from uuid import UUID

from firstlight.core.wire.shape import Body
from firstlight.core.wire.words import CertificateVerification, DiskRole, HostRoleChoice, HostStage, LogsState


class HostCreateParams(Body, frozen=True, kw_only=True):
    """An agent's registration."""

    host_id: UUID
    discovery_agent_version: str | None = None


class DiskConfigParams(Body, frozen=True, kw_only=True):
    """The user's choice for one disk."""

    id: str
    role: DiskRole | None = None


class DiskSkipFormattingParams(Body, frozen=True, kw_only=True):
    """Whether one disk keeps its contents."""

    disk_id: str
    skip_formatting: bool


class IgnitionEndpointHttpHeader(Body, frozen=True, kw_only=True):
    """A header sent when fetching Ignition."""

    key: str
    value: str


class NodeLabelParams(Body, frozen=True, kw_only=True):
    """A Kubernetes label of the node."""

    key: str
    value: str


class FencingCredentialsParams(Body, frozen=True, kw_only=True):
    """How the baseboard controller of a two-node cluster's host is reached."""

    address: str
    username: str
    password: str
    certificate_verification: CertificateVerification | None = None
    mac_address: str | None = None


class HostUpdateParams(Body, frozen=True, kw_only=True):
    """A change to a host; `None` leaves a field as it is."""

    host_role: HostRoleChoice | None = None
    host_name: str | None = None
    disks_selected_config: tuple[DiskConfigParams, ...] | None = None
    disks_skip_formatting: tuple[DiskSkipFormattingParams, ...] | None = None
    machine_config_pool_name: str | None = None
    ignition_endpoint_token: str | None = None
    ignition_endpoint_http_headers: tuple[IgnitionEndpointHttpHeader, ...] | None = None
    node_labels: tuple[NodeLabelParams, ...] | None = None
    fencing_credentials: FencingCredentialsParams | None = None


class InstallerArgsParams(Body, frozen=True, kw_only=True):
    """Extra arguments for coreos-installer."""

    args: tuple[str, ...] | None = None


class HostIgnitionParams(Body, frozen=True, kw_only=True):
    """An Ignition document as text."""

    config: str | None = None


class BindHostParams(Body, frozen=True, kw_only=True):
    """The cluster a host is given to."""

    cluster_id: UUID


class HostProgress(Body, frozen=True, kw_only=True):
    """The stage an installer or controller reports for a host."""

    current_stage: HostStage | None = None
    progress_info: str | None = None


class LogsProgressParams(Body, frozen=True, kw_only=True):
    """How far log collection is."""

    logs_state: LogsState
